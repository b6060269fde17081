"""The old address of ``autograder.nbgrader.execute``, which configurations of existing courses name."""

from autograder.nbgrader.execute import CannotExecuteError, ExecuteConfined

__all__ = ["CannotExecuteError", "ExecuteConfined"]
