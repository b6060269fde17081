"""The chains of steps by which nbgrader's own commands release and grade a course; ``nbgrader_config.py`` asks for them.

They are nbgrader's own, with these changes:

- ClearSolutions is left out: no answer is ever in a source notebook, and it would wipe the stubs;
- InstantiateTests is left out: it writes asserts into the notebook, and here the checks stay outside;
- RecordExamples puts what ``check()`` needs beside a released notebook;
- RestoreCells takes the place of DeduplicateIds, after which a cell that was copied stops the whole batch;
- GradeConfined takes the place of Execute: the code runs in a jail, the checks outside it;
- SaveOutcome writes what the checks say into the gradebook.
"""

from __future__ import annotations

from collections.abc import Callable

from traitlets.config import Config

__all__ = ["USE", "configure", "grades_confined", "preprocessor_steps", "records_examples"]

# What a course's nbgrader_config.py reads.
USE = ("from autograder.base.nbgrader_steps import configure", "configure(get_config(), load_subconfig)")

# By name: whoever only reads the configuration imports no nbgrader, which takes seconds.
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
    """The three chains, as settings of nbgrader's."""
    return Config(
        GenerateAssignment={"preprocessors": list(_RELEASE)},
        Autograde={"sanitize_preprocessors": list(_SANITIZE), "autograde_preprocessors": list(_AUTOGRADE)},
    )


def configure(config: Config, load_subconfig: Callable[[str], None]) -> None:
    """Have nbgrader's commands work through the course's checks and the jail, and read ``course_config.py`` beside.

    ``config`` and ``load_subconfig`` are those of the configuration file. What the course's own file says counts: a course may
    have a chain of its own.
    """
    config.merge(preprocessor_steps())
    load_subconfig("course_config.py")


def records_examples(config: Config) -> bool:
    """Whether what nbgrader releases by ``config`` has the examples by which ``check()`` judges, and its stubs as they are."""
    return _has(config, "GenerateAssignment", "preprocessors", "RecordExamples")


def grades_confined(config: Config) -> bool:
    """Whether ``nbgrader autograde`` by ``config`` grades in the jail, by the course's checks."""
    return _has(config, "Autograde", "autograde_preprocessors", "GradeConfined")


def _has(config: Config, section: str, chain: str, step: str) -> bool:
    """Whether a step stands in a chain, written as a name or as the class itself."""
    steps = config.get(section, {}).get(chain, ())
    names = (one if isinstance(one, str) else getattr(one, "__name__", "") for one in steps)
    return any(name.rpartition(".")[2] == step for name in names)
