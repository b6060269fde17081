"""Audit a chapter's checks: which mistakes they catch and identify, and which correct solutions they wrongly reject."""

from __future__ import annotations

from autograder.authoring.audit.audit_page import audit_page
from autograder.authoring.audit.classroom import AnswerGroup, undiagnosed_groups
from autograder.authoring.audit.measure import audit
from autograder.authoring.audit.report import ChapterAudit, ExerciseAudit

__all__ = ["AnswerGroup", "ChapterAudit", "ExerciseAudit", "audit", "audit_page", "undiagnosed_groups"]
