"""Copy the notebooks of a download into ``submitted/``, each into its student's folder, and record the original file names."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from autograder.base.files import write_atomically
from autograder.base.formatting import pluralize
from autograder.base.sanitize import sanitize
from autograder.classroom.delivery import folder_of
from autograder.classroom.gradebook.entries import gradebook_url
from autograder.classroom.gradebook.people import Person, enter_roster, read_class_list
from autograder.cli.output import group_messages
from autograder.course.course import Course, chapter_of
from autograder.course.notebook import NotebookError, parse_notebook
from autograder.course.secret import course_secret
from autograder.extras.export.gradebook import read_book
from autograder.extras.export.roster import layout_of, matched, read_roster
from autograder.extras.lms.downloads import (
    MAX_INNER_BYTES,
    File,
    Handin,
    HostileArchiveError,
    System,
    list_names,
    read_download,
    unpack,
)
from autograder.grading.submission import BESIDE, beside

__all__ = ["RECORD", "Collected", "collect", "record_of", "report"]

RECORD = ".collected.json"  # a file next to a collected notebook that says where it comes from
Status = Literal["collected", "replaced", "unchanged", "kept", "unknown", "rejected"]
_TIMES = (
    "%A, %d %B %Y, %I:%M %p",
    "%A, %B %d, %Y, %I:%M %p",
    "%A, %d %B %Y, %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%d/%m/%y, %H:%M",
)
_MOST = 40  # the most unknown students that a message lists
_ATTEMPT = re.compile(r"(?:-(\d+)| \((\d+)\))?\Z")  # the numbers that Canvas and browsers add to files of the same name


@dataclass(frozen=True)
class Collected:
    """The result for one student of a download. ``file`` is a path in the download. ``student`` is empty for an unknown student.

    ``attempts`` contains the chapter's notebooks in the order of submission, and ``notes`` remarks on which of them was collected.
    ``who`` is the system's name for an unknown student.
    """

    student: str
    file: str
    status: Status
    reason: str = ""
    late: bool = False
    timestamp: str = ""
    attempts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    who: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON for the command line."""
        shown = {name: getattr(self, name) for name in ("student", "file", "status", "reason", "late", "timestamp")}
        return {**shown, "attempts": list(self.attempts), "notes": list(self.notes)}


def collect(
    course: Course,
    chapter: str,
    path: Path,
    system: System,
    *,
    roster: Path | None = None,
    times: Mapping[str, str] = MappingProxyType({}),
    add: bool = False,
    force: bool = False,
) -> list[Collected]:
    """Copy the notebooks of ``chapter`` in the download ``path`` to ``submitted/``, and return the result for each student.

    ``roster`` is Canvas's gradebook or Moodle's grading worksheet, which identifies the students. ``times`` maps the
    student's number in the system to the text of ``timestamp.txt``. With ``add``, unknown students are entered in the gradebook.
    With ``force``, notebooks that are newer or came from elsewhere are replaced, too. Collecting the same download again changes
    nothing. Raises ``CourseError`` or ``GradebookError``.
    """
    handins, others = read_download(path, system, chapter)
    url = gradebook_url(course)
    listed = read_class_list(url)
    people = dict(listed.people) if listed else {}
    rows = _rows(people.values(), roster, system) if roster else {}
    whose, problems = _whose(handins, people, rows, system)
    if add:
        new = [_new_person(one, rows.get(one.user), system) for one, why in problems.items() if not why]
        ids = Counter(person.id for person in new)
        # Two students with the same generated id stay unknown, until a roster gives them ids.
        fresh = {person.id: person for person in new if ids[person.id] == 1 and person.id not in people}
        if fresh:
            enter_roster(course, list(fresh.values()))
            people |= fresh
            rows = _rows(people.values(), roster, system) if roster else {}
        whose, problems = _whose(handins, people, rows, system)
    book = read_book(url, chapter)
    due = book.due if book else None
    done = []
    for one in handins:
        if one in whose:
            when = _When(rows.get(one.user), due, times.get(one.user, ""))
            done.append(_collected(course, chapter, one, whose[one], when, system, force=force))
    unknown = "No student in the gradebook has this id or name."
    done += [Collected("", _first(one), "unknown", why or unknown, who=one.who) for one, why in problems.items()]
    nobody = "The file's name does not identify a student, so the file was left out."
    done += [Collected("", sanitize(name), "rejected", nobody, who=sanitize(name)) for name in others]
    return done


def _first(one: Handin) -> str:
    return sanitize(one.files[0].path.as_posix())


# --- Whose files they are ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    """A row of a class list from the system. ``student`` is the student's id in the gradebook, or empty if unknown."""

    student: str
    texts: Mapping[str, str]


def _rows(people: Iterable[Person], path: Path, system: System) -> dict[str, _Row]:
    """Return the rows of a roster by the number that the system gives the student."""
    to = "moodle" if system == "moodle" else "canvas"
    roster = read_roster(path)
    layout = layout_of(roster, to)
    heads = [cell.strip() for cell in roster.rows[0]]
    number = layout.get("Identifier" if to == "moodle" else "ID", 0)
    students = matched(people, roster, to, layout)
    known = {at: name for name, at in layout.items()}
    found = {}
    for index, row in enumerate(roster.rows[1:]):
        texts = {known.get(at, head): row[at].strip() for at, head in enumerate(heads) if at < len(row)}
        if digits := re.search(r"\d+\Z", row[number].strip() if number < len(row) else ""):
            found[digits[0]] = _Row(students[index].id if index in students else "", texts)
    return found


def _plain(name: str) -> str:
    """Return a name without case, accents, spaces and punctuation."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if letter.isalnum())


def _whose(
    handins: Sequence[Handin], people: Mapping[str, Person], rows: Mapping[str, _Row], system: System
) -> tuple[dict[Handin, str], dict[Handin, str]]:
    """Return the students of the identified hand-ins, and the reasons why the others were left out. A reason is empty if no student matches."""
    by_lms: dict[str, set[str]] = {}
    by_text: dict[str, set[str]] = {}
    by_name: dict[str, set[str]] = {}
    for person in people.values():
        by_lms.setdefault(person.lms_user_id, set()).add(person.id)
        for text in (person.id, person.lms_user_id, person.email):
            by_text.setdefault(text.casefold(), set()).add(person.id)
        for name in {f"{person.first_name}{person.last_name}", f"{person.last_name}{person.first_name}"}:
            by_name.setdefault(_plain(name), set()).add(person.id)
    found: dict[Handin, str] = {}
    problems: dict[Handin, str] = {}
    for one in handins:
        row = rows.get(one.user)
        fits = {row.student} if row and row.student else set()
        if not fits and system == "canvas":
            fits = by_lms.get(one.user, set())
        if not fits and system == "folder" and one.name:
            fits = by_text.get(one.name.casefold(), set())
        if not fits and not row and _plain(one.name):
            # Names can be shared: a student with a different Canvas id is a different person.
            fits = by_name.get(_plain(one.name), set())
            if system == "canvas":
                fits = {s for s in fits if not people[s].lms_user_id.isdigit() or people[s].lms_user_id == one.user}
        if len(fits) > 1:
            which = f"{len(fits)} students in the gradebook match: {', '.join(sorted(fits))}."
            problems[one] = (
                f"{which} To identify each student, add --roster FILE with a file from {system.capitalize()}."
            )
        elif fits:
            [found[one]] = fits
        else:
            problems[one] = ""
    owners: dict[str, list[Handin]] = {}
    for one, student in found.items():
        owners.setdefault(student, []).append(one)
    for student, several in owners.items():
        if len(several) > 1:
            for one in several:
                del found[one]
                problems[one] = (
                    f"{' and '.join(other.who for other in several)} match the same student ({student}), so none of them was collected."
                )
    return found, problems


def _new_person(one: Handin, row: _Row | None, system: System) -> Person:
    """Return a new person for an unknown student. The id comes from the roster's ``row``, or is made from the names in the download."""
    texts = row.texts if row else {}
    email = texts.get("Email address", "")
    given = [texts.get(head, "") for head in ("Username", "SIS Login ID", "SIS User ID", "ID number")]
    name = texts.get("Full name") or (one.name if system == "moodle" else "")
    first, _, last = name.rpartition(" ")
    if "," in texts.get("Student", ""):
        last, _, first = (part.strip() for part in texts["Student"].partition(","))
    made = re.sub(r"\W+", "_", one.name.casefold()).strip("_")
    start = {"canvas": one.user, "moodle": made, "folder": one.name}[system]
    chosen = next(
        (text for text in [*given, email, start] if text and not set(text) & set("/\\+\0") and text not in {".", ".."}),
        made,
    )
    return Person(chosen[:128], first, last, email, one.user if system == "canvas" else "")


# --- The notebook ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Choice:
    file: File
    data: bytes
    attempts: tuple[str, ...]
    notes: tuple[str, ...]


class _NoNotebook(Exception):  # noqa: N818 - its text is the reason, not an error of the program
    """Raised if it is not clear which notebook the student meant to submit. The message says what was submitted."""


def _choose(course: Course, chapter: str, files: Sequence[File]) -> _Choice:
    """Return the notebook that a student meant to submit. Raises ``_NoNotebook`` if that is not clear."""
    every = unpack(files)
    notebooks = [file for file in every if file.name.suffix.casefold() == ".ipynb"]
    if not notebooks:
        raise _NoNotebook(f"None of the files is a notebook: {list_names(f.name.as_posix() for f in every)}.")
    if sum(file.size for file in notebooks) > MAX_INNER_BYTES:
        raise _NoNotebook(
            f"Together, the notebooks are larger than {MAX_INNER_BYTES >> 20} MB: {list_names(f.name.as_posix() for f in notebooks)}."
        )
    rated = [(file, file.read()) for file in notebooks]
    named = [(file, data) for file, data in rated if _stem(file) == chapter.casefold()]
    meant = named or ([one for one in rated if _is_of(one[1], course, chapter)] if len(rated) > 1 else rated)
    families = {(file.name.parent, _stem(file)) for file, _data in meant}
    if (len(families) > 1 and len({data for _file, data in meant}) > 1) or not meant:
        raise _NoNotebook(
            f"It is unclear which notebook is meant: {list_names(file.name.as_posix() for file, _ in rated)}. Ask the student, or copy the right "
            "one to the folder yourself."
        )
    ordered = sorted(meant, key=lambda one: (_number(one[0]), one[0].number))
    file, data = ordered[-1]
    attempts = tuple(one.name.as_posix() for one, _data in ordered)
    notes = []
    if file.name.as_posix() != f"{chapter}.ipynb" and (len(attempts) == 1 or not named):
        notes.append(f"{sanitize(file.name.as_posix())} was collected as {chapter}.ipynb.")
    if len(attempts) > 1 and len(families) == 1:
        notes.append(f"{len(attempts)} attempts: {list_names(attempts)}. The last one counts.")
    rest = [one.name.as_posix() for one in every if one not in [f for f, _ in meant]]
    if any(name.casefold().endswith(".ipynb") for name in rest):
        notes.append(
            f"Other notebooks were left out: {list_names(name for name in rest if name.casefold().endswith('.ipynb'))}."
        )
    return _Choice(file, data, attempts, tuple(notes))


def _stem(file: File) -> str:
    return _ATTEMPT.sub("", file.name.stem.casefold())


def _number(file: File) -> int:
    match = _ATTEMPT.search(file.name.stem)
    return int(match[1] or match[2] or 0) if match else 0


def _is_of(data: bytes, course: Course, chapter: str) -> bool:
    try:
        return chapter_of(parse_notebook(data), course) == chapter
    except NotebookError:
        return False


# --- The folder --------------------------------------------------------------------------------------------------------


def record_of(course: Course, chapter: str, student: str) -> dict[str, Any]:
    """Return what ``collect`` recorded about a student's notebook. The result is empty if the notebook came from elsewhere.

    With nbgrader's exchange, a student can put any file next to the notebook, so a record counts only if the course signed it.
    """
    try:
        found = json.loads((folder_of(course, "submitted") / student / chapter / RECORD).read_bytes())
        signature = found.pop("signature", "")
    except (OSError, ValueError, AttributeError):
        return {}
    return found if hmac.compare_digest(str(signature), _signature(course, chapter, student, found)) else {}


def _signature(course: Course, chapter: str, student: str, record: Mapping[str, Any]) -> str:
    text = json.dumps([chapter, student, record], sort_keys=True)
    return hmac.new(course_secret(course), text.encode(), "sha256").hexdigest()


def _collected(
    course: Course, chapter: str, one: Handin, student: str, when: _When, system: System, *, force: bool
) -> Collected:
    try:
        choice = _choose(course, chapter, one.files)
    except (_NoNotebook, HostileArchiveError) as error:
        return Collected(student, _first(one), "rejected", str(error))
    target = folder_of(course, "submitted") / student / chapter / f"{chapter}.ipynb"
    notes = list(choice.notes)
    time = _time(one, choice.file, when, notes)
    shown = sanitize(choice.file.path.as_posix())
    result = Collected(student, shown, "collected", "", choice.file.late, time, choice.attempts, tuple(notes))
    record = {
        "from": system,
        "file": choice.file.given,
        "folder": one.folder,
        "number": choice.file.number,
        "sha256": hashlib.sha256(choice.data).hexdigest(),
        "timestamp": time,
    }
    for path in (target.parent.parent, target.parent, target):
        if path.is_symlink():
            return replace(result, status="rejected", reason=f"{path} is a link. Nothing was written there.")
    before, there = record_of(course, chapter, student), _bytes(target)
    same, now = there == choice.data, beside(target, BESIDE[0]) or ""
    if there is not None and not same and not force:
        if not before:
            kept = f"{target} already exists, and it did not come from `autograder collect`. --force replaces it."
            return replace(result, status="kept", reason=kept)
        if choice.file.number < before.get("number", 0):
            return replace(
                result, status="kept", reason="A later attempt was collected before. --force replaces it with this one."
            )
    # A time that was corrected manually is not changed.
    stamped = time != before.get("timestamp", "") and now == before.get("timestamp", "")
    if not same:
        write_atomically(target, choice.data)
    stamp = target.with_name(BESIDE[0])
    if time and (stamped or not same):
        write_atomically(stamp, time.encode())
    elif not time and now and now == before.get("timestamp"):
        stamp.unlink()  # the timestamp of an earlier attempt, which was late
    if before != record:
        signed = {**record, "signature": _signature(course, chapter, student, record)}
        text = json.dumps(signed, ensure_ascii=False, indent=1)
        write_atomically(target.with_name(RECORD), text.encode("utf-8", "replace"))
    if there is None:
        return result
    return replace(result, status="unchanged" if same and not stamped else "replaced")


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


@dataclass(frozen=True)
class _When:
    """The sources for the time of a submission: the student's row, the due date, and the time from the system's API."""

    row: _Row | None
    due: dt.datetime | None
    known: str = ""


def _time(one: Handin, file: File, when: _When, notes: list[str]) -> str:
    """Return the text of ``timestamp.txt``, in UTC. The result is empty if no time is known."""
    own = next((f for f in one.files if f.name == file.name.with_name(BESIDE[0])), None)
    if own is not None:
        return own.read()[:100].decode("utf-8", "replace").strip()
    if when.known:
        return when.known
    if when.row and (text := when.row.texts.get("Last modified (submission)", "")) not in {"", "-"}:
        for form in _TIMES:
            try:
                found = dt.datetime.strptime(text, form)  # noqa: DTZ007 - Moodle writes local times
            except ValueError:
                continue
            return f"{found.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S} UTC"
        notes.append(
            "The time in the worksheet cannot be read, so no time was saved. Download the worksheet in English."
        )
    if not file.late:
        return ""
    if when.due is None:
        notes.append("Canvas marks the file LATE, but the gradebook has no due date, so no time was saved.")
        return ""
    notes.append(
        "Canvas marks the file LATE without a time, so timestamp.txt has the first second after the due date. To read the real time, add --url."
    )
    return f"{when.due + dt.timedelta(seconds=1):%Y-%m-%d %H:%M:%S} UTC"


def report(done: Sequence[Collected], chapter: str) -> str:
    """Return a line with the number of students by status, and below it the results that an instructor should look at."""
    names: Mapping[Status, str] = {
        "collected": "collected",
        "replaced": "replaced",
        "unchanged": "unchanged",
        "kept": "kept",
        "unknown": "from unknown students",
        "rejected": "not collected",
    }
    counts = {status: sum(one.status == status for one in done) for status in names}
    shown = [f"{count} {names[status]}" for status, count in counts.items() if count]
    lines = [f"{chapter}: {', '.join(shown)}, of {pluralize(len(done), 'submission')}."]
    notes = [(note, one.student) for one in done for note in one.notes if one.status != "unchanged"]
    unknown = [one.who for one in done if one.status == "unknown" and one.reason.startswith("No student")]
    reasons = [(one.reason, one.student or one.who) for one in done if one.who not in unknown]
    lines += filter(None, [group_messages([*notes, *reasons])])
    if unknown:
        more = f" and {len(unknown) - _MOST} more (--json lists all)" if len(unknown) > _MOST else ""
        lines.append(f"Not in the gradebook: {', '.join(unknown[:_MOST])}{more}.")
        lines.append("To enter these students, add --add. To enter a class list, run `autograder roster students.csv`.")
    return "\n".join(lines)
