"""Checks that are themselves checked: what they catch, what they name, what they wrongly refuse."""

from __future__ import annotations

from autograder.authoring.audit.audit_page import audit_page
from autograder.authoring.audit.classroom import AnswerGroup, undiagnosed_groups
from autograder.authoring.audit.measure import audit
from autograder.authoring.audit.report import ChapterAudit, ExerciseAudit

__all__ = ["AnswerGroup", "ChapterAudit", "ExerciseAudit", "audit", "audit_page", "undiagnosed_groups"]
