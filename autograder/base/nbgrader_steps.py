"""The preprocessors with which nbgrader's own commands release and grade a course. ``nbgrader_config.py`` loads them.

They are nbgrader's defaults with these changes:

- ClearSolutions is removed: source notebooks contain no solutions, and it would wipe the stubs.
- InstantiateTests is removed: it writes asserts into the notebook, but our checks stay outside.
- RecordExamples adds the file that ``check()`` needs to a released notebook's folder.
- RestoreCells replaces DeduplicateIds, because with the latter a copied cell aborts the whole batch.
- GradeConfined replaces Execute: the code runs in a sandbox and the checks outside of it.
- SaveOutcome writes the results of the checks to the gradebook.
"""

from __future__ import annotations

from collections.abc import Callable

from traitlets.config import Config

__all__ = ["USE", "configure", "grades_confined", "preprocessor_steps", "records_examples"]

# The lines of a course's nbgrader_config.py.
USE = ("from autograder.base.nbgrader_steps import configure", "configure(get_config(), load_subconfig)")

# As names, because importing nbgrader takes seconds and reading the configuration does not need it.
_RELEASE = (
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.LockCells",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
    "autograder.nbgrader.grade.RecordExamples",
)
_SANITIZE = (
    "nbgrader.preprocessors.ClearOutput",
    "autograder.nbgrader.grade.RestoreCells",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
)
_AUTOGRADE = (
    "autograder.nbgrader.grade.GradeConfined",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "autograder.nbgrader.grade.SaveOutcome",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
)


def preprocessor_steps() -> Config:
    """Return the three lists of preprocessors as nbgrader settings."""
    return Config(
        GenerateAssignment={"preprocessors": list(_RELEASE)},
        Autograde={"sanitize_preprocessors": list(_SANITIZE), "autograde_preprocessors": list(_AUTOGRADE)},
    )


def configure(config: Config, load_subconfig: Callable[[str], None]) -> None:
    """Make nbgrader's commands use the course's checks and the sandbox, then load ``course_config.py``.

    ``config`` and ``load_subconfig`` come from the configuration file. Settings in ``course_config.py`` take precedence, so
    a course may define its own list of preprocessors.
    """
    config.merge(preprocessor_steps())
    load_subconfig("course_config.py")


def records_examples(config: Config) -> bool:
    """Return whether nbgrader, with this ``config``, releases the examples that ``check()`` needs."""
    return _has(config, "GenerateAssignment", "preprocessors", "RecordExamples")


def grades_confined(config: Config) -> bool:
    """Return whether ``nbgrader autograde``, with this ``config``, grades in the sandbox with the course's checks."""
    return _has(config, "Autograde", "autograde_preprocessors", "GradeConfined")


def _has(config: Config, section: str, option: str, step: str) -> bool:
    """Return whether a preprocessor is in a list of steps, by name or as a class."""
    steps = config.get(section, {}).get(option, ())
    names = (entry if isinstance(entry, str) else getattr(entry, "__name__", "") for entry in steps)
    return any(name.rpartition(".")[2] == step for name in names)
