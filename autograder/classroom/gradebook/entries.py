"""Enter verdicts in nbgrader's gradebook.

Each batch is one transaction. Manual scores and comments are never changed. Functions import nbgrader when they run, because
the import takes seconds and grading can start without it.
"""

from __future__ import annotations

import csv
import datetime as dt
import importlib
import math
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

from traitlets import TraitError
from traitlets.config import Config
from traitlets.config.loader import LazyConfigValue

from autograder.base.errors import CourseError
from autograder.base.nbgrader_steps import PENALTY, set_late_penalty
from autograder.base.sanitize import sanitize
from autograder.base.verdict import Disclosure, ExerciseVerdict, Place, crash, disclosed_exercise
from autograder.classroom.gradebook.database import (
    exclusive_lock,
    gradebook_errors,
    require_address,
    require_gradebook,
    require_version,
    retry_conflicts,
)
from autograder.course.course import Course, load_config
from autograder.course.notebook import load_source
from autograder.grading.document import checksum
from autograder.grading.submission import Outcome
from autograder.pages import summary_blocks

__all__ = [
    "EXTENSIONS", "UNGRADED", "GradebookWriter", "comment_on", "enter_extensions", "gradebook_url", "load_nbgrader", "nbgrader_config",
    "parse_timestamp", "read_extensions", "run_nbgrader", "write_entries",
]  # fmt: skip

UNGRADED = "This notebook could not be graded: {reason}"
NO_RESPONSE = "No response."  # nbgrader's own comment on an unchanged cell
UNCONFINED = {"local", "in-process"}
# The character before the address of a link or picture, or the backslash that starts a formula without dollar signs.
_ACTIVE = re.compile(r"\](?=[(:])|\\(?=[(\[]|begin\{)")

EXTENSIONS = "extensions.csv"  # in the course folder, with the columns chapter, student and hours
BATCH = 200  # the most outcomes in one transaction


def nbgrader_config(course: Course) -> Config:
    """Return the configuration that nbgrader itself would read in the course folder."""
    path = course.root / "nbgrader_config.py"
    config = load_config(path) if path.is_file() else Config(course.config)
    set_late_penalty(config)
    plugin = config.get("AssignLatePenalties", {}).get("plugin_class", PENALTY)
    if course.late_penalty and plugin != PENALTY:
        raise CourseError(
            f"c.Course.late_penalty and c.AssignLatePenalties.plugin_class ({plugin!r}) are both set. Remove one of them."
        )
    return config


def gradebook_url(course: Course) -> str:
    """Return the address of the course's gradebook, as nbgrader would choose it, without loading nbgrader.

    Raises ``CourseError`` if the configured value is not an address.
    """
    configured = nbgrader_config(course).get("CourseDirectory", {}).get("db_url")
    if configured is None or isinstance(configured, LazyConfigValue):
        return f"sqlite:///{course.root.absolute() / 'gradebook.db'}"
    require_address(configured)
    return str(configured)


def load_nbgrader() -> None:
    """Import the modules that are needed to enter marks. This takes seconds."""
    # Compiling a grammar for addresses takes more than a second. No notebook has addresses, and jsonschema works without the grammar.
    name = "rfc3987_syntax"
    loaded = {"jsonschema", name} & sys.modules.keys()
    if not loaded:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        importlib.import_module("nbgrader.api")
        importlib.import_module("nbgrader.preprocessors")
    finally:
        if not loaded:
            del sys.modules[name]
    # For each new gradebook, nbgrader would start the command `alembic`, which imports nbgrader again.
    sys.modules["nbgrader.api"].get_alembic_version = _newest_revision  # type: ignore[attr-defined]


def _newest_revision() -> str:
    """Return the newest revision of nbgrader's tables, which new gradebooks have."""
    from alembic.script import ScriptDirectory  # noqa: PLC0415
    from nbgrader.dbutil import ALEMBIC_DIR  # noqa: PLC0415

    return str(ScriptDirectory(ALEMBIC_DIR).get_current_head())


def run_nbgrader() -> None:
    """Run the nbgrader command that this process's arguments name."""
    load_nbgrader()
    importlib.import_module("nbgrader.apps.nbgraderapp").main()


def write_entries(
    course: Course,
    outcomes: Sequence[Outcome],
    *,
    allow_unsafe: bool = False,
    db_url: str | None = None,
    kept: dict[str, tuple[float, float]] | None = None,
) -> int:
    """Write the marks of ``outcomes`` to the gradebook, and return the number of submissions that changed.

    Manual scores, extra credit and manual comments are never changed. A submission whose scores are the same as before is not changed
    either. Several processes may write at the same time. If another process interferes, the whole transaction is repeated.

    If an outcome ``may_be_superseded`` and would lower its student's mark, nothing is written for this student. Instead, the new and
    the earlier mark are added to ``kept``. ``db_url`` defaults to the configured address.

    Raises ``CourseError`` if a verdict was made without confinement (unless ``allow_unsafe`` is set), or if the gradebook lacks a
    cell of the chapter.
    """
    unsafe = [one.verdict.notebook for one in outcomes if one.verdict.sandbox in UNCONFINED]
    if unsafe and not allow_unsafe:
        raise CourseError(
            f"{len(unsafe)} notebooks were graded without a sandbox (--unsafe-local), such as {unsafe[0]}. "
            "Such marks are not entered in the gradebook, because a student's code could have "
            "changed them. `autograder doctor` says how to get a sandbox."
        )
    load_nbgrader()
    from nbgrader.api import Gradebook  # noqa: PLC0415
    from nbgrader.coursedir import CourseDirectory  # noqa: PLC0415

    config = nbgrader_config(course)
    coursedir = CourseDirectory(config=config, root=str(course.root))
    db_url = db_url or coursedir.db_url
    by_chapter: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.verdict.chapter is not None and outcome.verdict.student is not None:
            by_chapter[outcome.verdict.chapter].append(outcome)

    def write() -> int:
        with exclusive_lock(db_url), Gradebook(db_url, coursedir.course_id) as gradebook:
            try:
                changed = 0
                lost: dict[str, tuple[float, float]] = {}
                for chapter, of_chapter in by_chapter.items():
                    _ensure_assignment(gradebook, course, chapter, config, db_url)
                    students = [str(outcome.verdict.student) for outcome in of_chapter]
                    changed += _ChapterWriter(gradebook, course, chapter, config, students).write(of_chapter, lost)
                gradebook.db.commit()
                if kept is not None:
                    kept.update(lost)
            except BaseException:
                gradebook.db.rollback()
                raise
        return changed

    with gradebook_errors(db_url):
        return retry_conflicts(write)


def parse_timestamp(timestamp: str) -> dt.datetime | None:
    """Return the time in a ``timestamp.txt`` as nbgrader reads it, in UTC, or None if the text is not a time."""
    from nbgrader.utils import parse_utc  # noqa: PLC0415

    try:
        return parse_utc(timestamp.strip()) if timestamp.strip() else None
    except Exception:  # noqa: BLE001 - a student's own text: whatever error it causes, it is not a time
        return None


def comment_on(exercise: ExerciseVerdict, disclosure: Disclosure, place: Place = "kind") -> str | None:
    """Return the comment on the stub's cell, as Markdown without any markup from the student."""
    exercise = disclosed_exercise(exercise, disclosure, place)
    if exercise.status == "not_attempted":
        return NO_RESPONSE
    # In Markdown, two spaces at the end of a line keep the line break.
    found = (b.text if b.kind == "prose" else b.text.replace("\n", "  \n") for b in summary_blocks(exercise))
    return _inert("\n\n".join(found)) or None


def _inert(text: str) -> str:
    """Return ``text`` without Markdown markup, links, pictures or MathJax formulas.

    nbgrader's feedback renders a comment, but formgrader shows it unchanged. So markup is broken with a space rather than
    with an escape, if possible. Two or more dollar signs could be a formula, so they become fullwidth dollar signs.
    """
    text = sanitize(text).replace("&", "&amp;").replace("<", "&lt;")
    if text.count("$") > 1:
        text = text.replace("$", "\N{FULLWIDTH DOLLAR SIGN}")
    return _ACTIVE.sub(r"\g<0> ", text)


def _ensure_assignment(gradebook: Any, course: Course, chapter: str, config: Config, db_url: str) -> None:
    """Enter the chapter as ``nbgrader generate_assignment`` does, if that command was not run or did not finish.

    nbgrader enters a chapter in many transactions, its source cells last. If a process is killed between them, cells are missing.
    """
    from nbgrader.api import MissingEntry  # noqa: PLC0415

    cells = [cell["metadata"].get("nbgrader", {}) for cell in load_source(course.source(chapter))[0]["cells"]]
    names = {meta["grade_id"] for meta in cells if any(map(meta.get, ("grade", "solution", "locked", "task")))}
    try:
        entered = gradebook.find_notebook(chapter, chapter)
        complete = names <= {cell.name for cell in entered.source_cells} or bool(entered.submissions)
    except MissingEntry:
        complete = False
    if not complete:
        import nbformat  # noqa: PLC0415
        from nbgrader.preprocessors import ComputeChecksums, SaveCells  # noqa: PLC0415

        if not gradebook.assignments:
            _set_version(gradebook.db)
        gradebook.update_or_create_assignment(chapter)
        notebook = nbformat.read(course.source(chapter), as_version=4)
        resources = {"nbgrader": {"notebook": chapter, "assignment": chapter, "student": ".", "db_url": db_url}}
        for step in (ComputeChecksums, SaveCells):
            notebook, resources = step(config=config).preprocess(notebook, resources)
        gradebook.db.expire_all()


def _set_version(database: Any) -> None:
    """Set the version of new tables. nbgrader does so only in a database without tables, and may be killed before it does."""
    from sqlalchemy import text  # noqa: PLC0415

    database.execute(text("CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL)"))
    if not database.execute(text("SELECT 1 FROM alembic_version")).first():
        database.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": _newest_revision()})
    database.commit()


class _ChapterWriter:
    """A writer of the entries of one chapter. The number of queries does not depend on the number of entries."""

    def __init__(self, gradebook: Any, course: Course, chapter: str, config: Config, students: Sequence[str]) -> None:
        from nbgrader import api  # noqa: PLC0415
        from nbgrader.preprocessors import AssignLatePenalties  # noqa: PLC0415

        self.api, self.db, self.course, self.chapter = api, gradebook.db, course, chapter
        self.assignment = gradebook.find_assignment(chapter)
        self.notebook = gradebook.find_notebook(chapter, chapter)
        self.grade_cells = {cell.name: cell for cell in self.notebook.grade_cells}
        self.solution_cells = {cell.name: cell for cell in self.notebook.solution_cells}
        self.task_cells = {cell.name: cell for cell in self.notebook.task_cells}  # graded manually
        try:
            self.penalties = AssignLatePenalties(config=config)
            self.penalties.init_plugin()
        except (TraitError, ImportError) as error:
            named = config.get("AssignLatePenalties", {}).get("plugin_class")
            raise CourseError(
                f"c.AssignLatePenalties.plugin_class is {named!r}, which Python cannot find or run. If the plugin is a "
                f"file in the course folder, run the command in that folder, with PYTHONPATH=. in front. No mark was entered, but graded notebooks are saved."
            ) from error
        self.extensions = read_extensions(course, chapter)
        known = self.db.query(api.Student).filter(api.Student.id.in_(students)).all()
        self.students = {student.id: student for student in known}
        # Select only these students, because otherwise each batch would read the whole class.
        of_assignment = api.SubmittedAssignment.assignment_id == self.assignment.id
        theirs = api.SubmittedNotebook.assignment.has(of_assignment & api.SubmittedAssignment.student_id.in_(students))
        of_notebook = (api.SubmittedNotebook.notebook_id == self.notebook.id) & theirs
        submitted = self.db.query(api.SubmittedNotebook).filter(of_notebook).all()
        self.submitted = {notebook.assignment.student_id: (notebook.assignment, notebook) for notebook in submitted}
        self.grades = self._by_cell(api.Grade, of_notebook)
        self.comments = self._by_cell(api.Comment, of_notebook)

    def write(self, outcomes: Iterable[Outcome], lost: dict[str, tuple[float, float]]) -> int:
        """Enter every outcome and return how many submissions changed. For each student who keeps the old mark, add the new and the old mark to ``lost``."""
        with self.db.no_autoflush:
            return sum(self._contest(one, lost) if one.may_be_superseded else self._write(one) for one in outcomes)

    def _contest(self, outcome: Outcome, lost: dict[str, tuple[float, float]]) -> bool:
        """Enter an outcome, but undo this if the student's mark drops."""
        student = str(outcome.verdict.student)
        before = self._state(student)
        changed = self._write(outcome)
        if before is None:
            return changed
        was, now = _total(before), _total(self._state(student) or [])
        if now >= was - 1e-9:
            return changed
        for row, values in before:
            for name, value in values.items():
                setattr(row, name, value)
        lost[student] = now, was
        return False

    def _state(self, student: str) -> list[tuple[Any, dict[str, Any]]] | None:
        """Return the rows of a student's work, each with the values that ``_write`` may change, or None if there are none."""
        if student not in self.submitted:
            return None
        submission, submitted = self.submitted[student]
        entries = [*self.grades.items(), *self.comments.items()]
        mine = [row for (notebook, _cell), row in entries if notebook == submitted.id]
        names = ("timestamp", "late_submission_penalty", "auto_score", "needs_manual_grade", "auto_comment")
        rows = [submission, submitted, *mine]
        columns = {id(row): row.__table__.columns.keys() for row in rows}
        return [(row, {n: getattr(row, n) for n in names if n in columns[id(row)]}) for row in rows]

    def _by_cell(self, kind: Any, of_notebook: Any) -> dict[tuple[str, str], Any]:
        rows = self.db.query(kind).join(self.api.SubmittedNotebook).filter(of_notebook).all()
        return {(row.notebook_id, row.cell_id): row for row in rows}

    def _write(self, outcome: Outcome) -> bool:
        submission, submitted, new = self._submission(str(outcome.verdict.student))
        changed = self._stamp(submission, outcome.timestamp) or new
        try:
            scores, comments = self._marks(outcome)
        except CourseError:
            raise
        except Exception as error:  # noqa: BLE001 - the text of one notebook must not prevent the entry of a class's marks
            why = crash("Entering this notebook's marks", error)
            verdict = replace(outcome.verdict, status="ungradable", reason=why)
            scores, comments = self._marks(replace(outcome, verdict=verdict))
        for name, cell in (self.grade_cells | self.task_cells).items():
            grade = self._row(self.api.Grade, self.grades, submitted, cell)
            changed |= self._grade(grade, scores.get(name), new=new, rewritten=name in outcome.rewritten)
        for name, cell in (self.solution_cells | self.task_cells).items():
            comment = self._row(self.api.Comment, self.comments, submitted, cell)
            if comment.auto_comment != comments.get(name):
                comment.auto_comment, changed = comments.get(name), True
        return self._penalise(submission, submitted) or changed

    def _submission(self, student: str) -> tuple[Any, Any, bool]:
        """Return the student's submission, the notebook in it, and whether both are new."""
        if student in self.submitted:
            return *self.submitted[student], False
        if student not in self.students:
            self.students[student] = self._new(self.api.Student, id=student)
        who = self.students[student]
        extension = self.extensions.get(student)
        made = self.api.SubmittedAssignment
        submission = self._new(made, assignment=self.assignment, student=who, extension=extension)
        for notebook in self.assignment.notebooks:
            submitted = self._new(self.api.SubmittedNotebook, notebook=notebook, assignment=submission)
            if notebook is self.notebook:
                self.submitted[student] = submission, submitted
        return *self.submitted[student], True

    def _row(self, kind: Any, rows: dict[tuple[str, str], Any], submitted: Any, cell: Any) -> Any:
        key = (submitted.id, cell.id)
        if key not in rows:
            rows[key] = self._new(kind, cell_id=cell.id, notebook=submitted)
        return rows[key]

    def _new(self, kind: Any, **fields: Any) -> Any:
        # Set an id immediately, so that rows can be distinguished before anything is written.
        row = kind(**{"id": self.api.new_uuid(), **fields})
        self.db.add(row)
        return row

    def _marks(self, outcome: Outcome) -> tuple[dict[str, float | None], dict[str, str | None]]:
        """Return the score of each graded cell (None if it needs manual grading) and the comment on each answered cell."""
        verdict = outcome.verdict
        if verdict.status == "ungradable":
            first = list(self.solution_cells)[:1]
            return {}, dict.fromkeys(first, _inert(UNGRADED.format(reason=verdict.reason)))
        scores: dict[str, float | None] = {}
        comments: dict[str, str | None] = {}
        for exercise in verdict.exercises:
            name = f"check_{exercise.name}"
            if name not in self.grade_cells:
                raise CourseError(
                    f"The gradebook has no cell {name!r} for chapter {self.chapter!r}: the chapter has changed "
                    f"since it was released. Run `nbgrader generate_assignment {self.chapter} --force` and grade again."
                )
            scores[name] = min(max(float(exercise.score), 0.0), float(self.grade_cells[name].max_score))
            comments[exercise.name] = comment_on(exercise, self.course.disclosure, self.course.located)
        for cell in outcome.document.get("cells", []):
            meta = cell["metadata"].get("nbgrader", {})
            if meta.get("grade") and meta.get("solution"):  # graded manually, unless the cell is unchanged
                untouched = meta.get("checksum") == checksum(cell)
                scores[meta["grade_id"]] = 0.0 if untouched else None
                comments[meta["grade_id"]] = NO_RESPONSE if untouched else None
        return scores, comments

    @staticmethod
    def _grade(grade: Any, score: float | None, *, new: bool, rewritten: bool) -> bool:
        if not new and grade.id is not None and grade.auto_score == score and not rewritten:
            return False  # the same score as before, so manual decisions stay
        grade.auto_score = score
        grade.needs_manual_grade = score is None or grade.manual_score is not None
        return True

    def _stamp(self, submission: Any, timestamp: str | None) -> bool:
        moment = parse_timestamp(timestamp or "")
        if moment is None or moment == submission.timestamp:
            return False
        submission.timestamp = moment
        return True

    def _penalise(self, submission: Any, submitted: Any) -> bool:
        """Set the late penalty as nbgrader's ``AssignLatePenalties`` does, with the course's plugin. Return whether it changed."""
        before, submitted.late_submission_penalty = submitted.late_submission_penalty, None
        late = submission.total_seconds_late
        if late > 0:
            cells = (self.grade_cells | self.task_cells).values()
            grades = [self.grades[submitted.id, cell.id] for cell in cells]
            score = math.fsum(
                (g.manual_score if g.manual_score is not None else g.auto_score or 0.0) + (g.extra_credit or 0.0)
                for g in grades
                if g.manual_score is not None or g.auto_score is not None
            )
            student = submission.student.id
            penalty = self.penalties.plugin_inst.late_submission_penalty(student, score, late)
            if penalty is not None:
                submitted.late_submission_penalty = min(max(penalty, 0), score)
        return bool(submitted.late_submission_penalty != before)


def _total(state: Sequence[tuple[Any, dict[str, Any]]]) -> float:
    """Return the final mark from the values that ``_state`` stored. The rows themselves may have changed since."""
    grades = [(row, values["auto_score"]) for row, values in state if "auto_score" in values]
    given = [(auto if row.manual_score is None else row.manual_score, row.extra_credit) for row, auto in grades]
    score = math.fsum(mark + (extra or 0.0) for mark, extra in given if mark is not None)
    penalty = math.fsum(values.get("late_submission_penalty") or 0.0 for _row, values in state)
    return max(0.0, score - penalty)


def enter_extensions(course: Course, chapter: str, extensions: Mapping[str, dt.timedelta]) -> int:
    """Give students more time, and compute their late penalties again. Return how many of them have a submission.

    For students without a submission, the extension counts once a submission is entered (see ``read_extensions``).
    """
    load_nbgrader()
    from nbgrader.api import Gradebook, MissingEntry  # noqa: PLC0415

    url, config = gradebook_url(course), nbgrader_config(course)
    course_id = config.get("CourseDirectory", {}).get("course_id") or course.course_id

    def write() -> int:
        with exclusive_lock(url), Gradebook(url, str(course_id)) as gradebook:
            try:
                gradebook.find_notebook(chapter, chapter)
            except MissingEntry:
                return 0
            writer = _ChapterWriter(gradebook, course, chapter, config, list(extensions))
            for student, (submission, submitted) in writer.submitted.items():
                submission.extension = extensions[student]
                gradebook.db.flush()
                writer._penalise(submission, submitted)  # noqa: SLF001 - the class is in this module
            gradebook.db.commit()
            return len(writer.submitted)

    require_version(url)
    with gradebook_errors(url):
        return retry_conflicts(write)


def read_extensions(course: Course, chapter: str) -> dict[str, dt.timedelta]:
    """Return the extensions in the course's ``extensions.csv``, by student. `autograder extend` writes this file.

    Raises ``CourseError`` if the file was edited and is no longer valid.
    """
    path = course.root / EXTENSIONS
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines())) if path.is_file() else []
    try:
        return {student: dt.timedelta(hours=float(hours)) for name, student, hours in rows if name == chapter}
    except (ValueError, OverflowError) as error:
        raise CourseError(
            f"{path} must have three columns, chapter, student and hours: {error}. Correct the file."
        ) from error


class GradebookWriter:
    """A writer that enters outcomes in the gradebook at ``url``, in batches and in a thread of its own, so that grading does not wait.

    Without a ``url``, nothing is entered, and ``close`` prints a note about this. An error in the thread is raised by the next method call.

    Args:
        after: called in the thread after each transaction, with its outcomes. The second argument contains the new and the earlier
            mark of each student whose earlier mark is better and was kept.
    """

    def __init__(
        self,
        course: Course,
        url: str | None,
        after: Callable[[list[Outcome], Mapping[str, tuple[float, float]]], object],
    ) -> None:
        self._course, self._url, self._after = course, url, after
        self._waiting: list[Outcome] = []
        self._unentered = 0
        self._ready = threading.Event()
        self._batches: SimpleQueue[list[Outcome] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def begin(self, *, wait: bool) -> None:
        """Start the thread, which needs seconds to load nbgrader. With ``wait``, return once the gradebook is known to be usable."""
        if self._url is not None:
            self._start()
            if wait:
                self._ready.wait()
            self._check()

    def enter(self, outcome: Outcome) -> None:
        """Queue ``outcome``. A batch is entered once it is full, and ``close`` enters the last batch."""
        self._check()  # if the gradebook is unusable, do not grade the rest of the class
        self._waiting.append(outcome)
        if len(self._waiting) >= BATCH:
            self._flush()

    def close(self) -> None:
        """Wait until everything is written."""
        self._flush()
        if self._thread is not None:
            self._batches.put(None)
            self._thread.join()
            self._thread = None
        self._check()
        if self._unentered:
            sys.stderr.write("Marks from grading without a sandbox are not entered in the gradebook.\n")

    def _flush(self) -> None:
        batch, self._waiting = self._waiting, []
        if batch and self._url is None:
            self._unentered += len(batch)
            self._after(batch, {})
        elif batch:
            self._check()
            self._batches.put(batch)
            self._start()

    def _start(self) -> None:
        if self._thread is None:
            # A daemon, so that a second Ctrl-C can end the program during a transaction, which is then rolled back.
            self._thread = threading.Thread(target=self._write, daemon=True, name="gradebook")
            self._thread.start()

    def _write(self) -> None:
        try:
            load_nbgrader()
            require_gradebook(str(self._url), nbgrader_config(self._course))
            self._ready.set()
            while (batch := self._batches.get()) is not None:
                kept: dict[str, tuple[float, float]] = {}
                write_entries(self._course, batch, kept=kept)
                self._after(batch, kept)
        except BaseException as error:  # noqa: BLE001 - raised by the next method call
            self._error = error
        finally:
            self._ready.set()

    def _check(self) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
