"""List the preprocessors that nbgrader's own commands use to release and grade a course. ``nbgrader_config.py`` calls ``configure``.

The lists are nbgrader's own, with these changes:

- ClearSolutions is left out. No source notebook has answers, and ClearSolutions would remove the stubs.
- InstantiateTests is left out. It writes asserts into the notebook, but our checks are never in the notebook.
- RecordExamples puts the data for ``check()`` next to a released notebook.
- RestoreCells replaces DeduplicateIds, because DeduplicateIds stops the whole batch at a single duplicate cell.
- GradeConfined replaces Execute. The code runs in a sandbox, and the checks run outside of it.
- SaveOutcome writes the messages of the checks into the gradebook.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from traitlets.config import Config

__all__ = [
    "PENALTY", "USE", "configure", "grades_confined", "preprocessor_steps", "records_examples", "set_late_penalty",
]  # fmt: skip

PENALTY = "autograder.nbgrader.late_penalty.PenaltyPerDay"  # the plugin for ``c.Course.late_penalty``

# The lines of a course's nbgrader_config.py.
USE = ("from autograder.base.nbgrader_steps import configure", "configure(get_config(), load_subconfig)")

# Names instead of classes, so that reading the configuration does not import nbgrader, which takes seconds.
_RELEASE = (
    "IncludeHeaderFooter", "LockCells", "ClearOutput", "CheckCellMetadata", "ComputeChecksums", "SaveCells",
    "ClearHiddenTests", "ClearMarkScheme", "ComputeChecksums", "CheckCellMetadata",
    "autograder.nbgrader.grade.RecordExamples",
)  # fmt: skip
_SANITIZE = (
    "ClearOutput", "autograder.nbgrader.grade.RestoreCells", "OverwriteKernelspec", "OverwriteCells",
    "CheckCellMetadata",
)  # fmt: skip
_AUTOGRADE = (
    "autograder.nbgrader.grade.GradeConfined", "IgnorePattern", "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "LimitOutput", "SaveAutoGrades", "autograder.nbgrader.grade.SaveOutcome", "AssignLatePenalties", "CheckCellMetadata",
)  # fmt: skip


def _whole(names: Sequence[str]) -> list[str]:
    """Return ``names``, with nbgrader's package in front of each name that has no package."""
    return [name if "." in name else f"nbgrader.preprocessors.{name}" for name in names]


def preprocessor_steps() -> Config:
    """Return the lists of preprocessors as an nbgrader configuration."""
    grading = {"sanitize_preprocessors": _whole(_SANITIZE), "autograde_preprocessors": _whole(_AUTOGRADE)}
    exchange = {"release_feedback": "autograder.nbgrader.grade.ReleaseFeedback"}
    return Config(GenerateAssignment={"preprocessors": _whole(_RELEASE)}, Autograde=grading, ExchangeFactory=exchange)


def configure(config: Config, load_subconfig: Callable[[str], None]) -> None:
    """Configure nbgrader's commands to use the course's checks and the sandbox, and load ``course_config.py``.

    ``config`` and ``load_subconfig`` come from ``nbgrader_config.py``. ``course_config.py`` may replace any of the lists.
    """
    config.merge(preprocessor_steps())
    load_subconfig("course_config.py")
    set_late_penalty(config)


def set_late_penalty(config: Config) -> None:
    """Configure nbgrader to apply ``c.Course.late_penalty``, unless another penalty plugin is configured."""
    own = config.get("AssignLatePenalties", {})
    if config.get("Course", {}).get("late_penalty") and "plugin_class" not in own:
        config.merge(Config(AssignLatePenalties={"plugin_class": PENALTY}))


def records_examples(config: Config) -> bool:
    """Return whether ``config`` makes nbgrader release the examples for ``check()`` and keep the stubs."""
    return _has(config, "GenerateAssignment", "preprocessors", "RecordExamples")


def grades_confined(config: Config) -> bool:
    """Return whether ``config`` makes ``nbgrader autograde`` grade in the sandbox with the course's checks."""
    return _has(config, "Autograde", "autograde_preprocessors", "GradeConfined")


def _has(config: Config, section: str, chain: str, step: str) -> bool:
    """Return whether the preprocessor list ``chain`` contains ``step``, as a name or as a class."""
    steps = config.get(section, {}).get(chain, ())
    names = (one if isinstance(one, str) else getattr(one, "__name__", "") for one in steps)
    return any(name.rpartition(".")[2] == step for name in names)
