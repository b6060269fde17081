"""Checks that are themselves checked: what they catch, what they name, what they wrongly refuse."""

from __future__ import annotations

from autograder.audit.classroom import Group, unexplained
from autograder.audit.measure import audit
from autograder.audit.page import audit_page
from autograder.audit.report import ChapterAudit, ExerciseAudit

__all__ = ["ChapterAudit", "ExerciseAudit", "Group", "audit", "audit_page", "unexplained"]
