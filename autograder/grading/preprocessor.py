"""The old address of ``autograder.preprocessors.grade``, which configurations of existing courses name."""

from autograder.preprocessors.grade import GradeConfined, RecordExamples, RestoreCells, SaveOutcome, UngradableError

__all__ = ["GradeConfined", "RecordExamples", "RestoreCells", "SaveOutcome", "UngradableError"]
