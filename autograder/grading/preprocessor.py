"""The old address of ``autograder.nbgrader.grade``, which configurations of existing courses name."""

from autograder.nbgrader.grade import GradeConfined, RecordExamples, RestoreCells, SaveOutcome, UngradableError

__all__ = ["GradeConfined", "RecordExamples", "RestoreCells", "SaveOutcome", "UngradableError"]
