"""The old address of ``autograder.preprocessors.execute``, which configurations of existing courses name."""

from autograder.preprocessors.execute import CannotExecuteError, ExecuteConfined

__all__ = ["CannotExecuteError", "ExecuteConfined"]
