"""``autograder watch``: the checks of a notebook at each save, redrawn, and a few keys."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from rich.console import Console

from autograder.base.errors import CourseError
from autograder.base.files import disk_error_advice
from autograder.course.notebook import NotebookError, read_notebook
from autograder.student.examples import ExerciseExamples
from autograder.student.notebook_check import progress
from autograder.student.notebook_check.checking import card_of
from autograder.student.terminal import screen
from autograder.student.terminal.checking import Checker, CheckRun
from autograder.student.terminal.layout import can_reset, reset
from autograder.student.terminal.screen import ScreenLine, keys
from autograder.student.terminal.starting import next_chapter

__all__ = ["Watch", "watch"]

POLL = 0.1  # seconds between two looks at the file
SETTLE = 2.0  # seconds for which a file that is no notebook may still be in the middle of being saved
SHOWN_AFTER = 1.0  # seconds of checking from which on the time is told
KEYS = [("h", "hint"), ("n", "next exercise"), ("l", "list"), ("r", "reset"), ("q", "quit")]

Stamp = tuple[int, int, int]


def watch(notebook: Path) -> int:
    """Watch ``notebook`` until q, Ctrl-C or the end of the terminal; the exit status."""
    console = Console(soft_wrap=True)
    watched = Watch(notebook, console)
    try:
        with keys() as key:
            watched.begin()
            while watched.step(key(POLL)):
                pass
    finally:
        watched.close()
    return 0


class Watch:
    """One notebook that is watched: what was found in it, which exercise is shown, and what stands below it."""

    def __init__(self, notebook: Path, console: Console) -> None:
        self.notebook = notebook
        self.found = CheckRun()
        self.focus = ""  # the exercise that is shown
        self._console = console
        self._checker = Checker()
        self._stamp: Stamp | None = None
        self._began = 0.0
        self._below: list[ScreenLine] = []  # a hint, the list, an answer to a key
        self._panel = ""  # what ``_below`` is: "", "hint", "list", "ask"
        self._noted: dict[str, str] = {}  # exercise → its code when its failure was noted last
        self._shown = ""  # what the screen shows
        self._hint = 0
        self._told = False  # whether what stands below is about the save that is coming

    def begin(self) -> None:
        """Check it for the first time."""
        self._stamp = _stamp(self.notebook)
        if self._stamp is None:
            raise CourseError(f"There is no {self.notebook} any more.")
        self._check()

    def close(self) -> None:
        """End what still runs."""
        self._checker.stop()

    def step(self, key: str) -> bool:
        """Take a key (``""`` for none), look at the file and at what was found, and draw; False once it is over."""
        if key and not self._pressed(key):
            return False
        stamp = _stamp(self.notebook)
        # Where it is gone for a moment, an editor is about to put the new one in its place.
        if stamp is not None and stamp != self._stamp:
            self._stamp = stamp
            self._check()
        result = self._checker.result()
        if result is not None:
            self._take(result)
        self._draw(checked=result is not None or bool(key))
        return True

    # --- the file and its checks ------------------------------------------------------------------------------------

    def _check(self) -> None:
        self._began = time.monotonic()
        self._checker.begin(self.notebook)

    def _take(self, found: CheckRun) -> None:
        if found.trouble and time.monotonic() - self._began < SETTLE and not _is_whole(self.notebook):
            self._checker.begin(self.notebook)  # saved half-way: the rest is coming
            return
        if found.trouble or found.examples is None:
            self.found = CheckRun(self.found.examples, self.found.exercises, self.found.code, found.trouble)
            return
        before, self.found = self.found.code, found
        edited = [name for name, code in found.code.items() if before and code != before.get(name)]
        if self.focus not in found.exercises or (edited and self.focus not in edited):
            below = self._panel, self._below
            self._focus(next(iter(edited), "") or self._after("") or next(iter(found.exercises), ""))
            self._panel, self._below = below
        if edited and not self._told:
            self._show("")
        self._told = False
        self._note()

    def _note(self) -> None:
        """Keep progress, as ``check`` in the notebook does: what holds, and once for each version what does not."""
        assert self.found.examples is not None  # noqa: S101 - there was a verdict
        chapter = self.found.examples.chapter
        folder = progress.folder_of(self.notebook.resolve().parent, chapter)
        standing = progress.read(folder)
        for name, outcome in self.found.exercises.items():
            code = self.found.code.get(name, "")
            if outcome.status == "passed":
                if standing.of(chapter, name).status != "done":
                    progress.record(folder, chapter, name, passed=True)
            elif outcome.status != "not_attempted" and self._noted.get(name) != code:
                if name in self._noted or standing.of(chapter, name).status == "":
                    progress.record(folder, chapter, name, passed=False)
                self._noted[name] = code

    # --- keys -------------------------------------------------------------------------------------------------------

    def _pressed(self, key: str) -> bool:
        if self._panel == "ask":
            self._answer(key)
        elif key == "q":
            return False
        elif key == "h":
            self._next_hint()
        elif key == "n":
            self._go_on()
        elif key == "l" and self.found.examples is not None:
            self._show("" if self._panel == "list" else "list")
        elif key == "r":
            self._ask()
        return True

    def _next_hint(self) -> None:
        exercise = self._exercise()
        if exercise is None or self.found.examples is None:
            return
        chapter, total = self.found.examples.chapter, len(exercise.hints)
        folder = progress.folder_of(self.notebook.resolve().parent, chapter)
        if not self._hint:
            read = progress.read(folder).of(chapter, exercise.name).hints
            self._hint = min(read, total - 1) if read < total else 0  # all read: from the first again
        self._hint = self._hint % total + 1 if total else 0
        if self._hint:
            progress.record(folder, chapter, exercise.name, hint=self._hint)
        self._show("hint")

    def _go_on(self) -> None:
        if not self.found.exercises:
            return
        following = self._after(self.focus)
        if following and following != self.focus:
            self._focus(following)
        elif following:
            self._show("", f"{following} is the only one left in this chapter.")
        elif (onward := next_chapter(self.notebook)) is not None:
            self.notebook, self.found, self._stamp = onward, CheckRun(), _stamp(onward)
            self._noted = {}
            self._focus("")
            self._check()
        else:
            self._show("", "Every exercise of this chapter holds, and no other chapter lies behind it here.")

    def _ask(self) -> None:
        if not can_reset(self.notebook):
            told = "was not laid out by `autograder start`, so nothing here knows what it was. Fetch it again where you got it."
            self._show("", f"{self.notebook.name} {told}")
            return
        this = f"y the cell of {self.focus}, " if self.focus else ""
        self._show(
            "ask",
            f"Put back what was handed out? {this}a the whole notebook, any other key neither. Your work is kept in a copy.",
        )

    def _answer(self, key: str) -> None:
        if key not in {"y", "a"} or (key == "y" and not self.focus):
            self._show("", "Nothing was changed.")
            return
        try:
            kept = reset(self.notebook, self.focus if key == "y" else None)
        except (CourseError, NotebookError) as error:
            self._show("", str(error))
        except OSError as error:
            self._show("", disk_error_advice(error) or str(error))
        else:
            self._told = True
            what = self.focus if key == "y" else "The notebook"
            self._show(
                "",
                f"{what} is as it was handed out. What you had is in {kept.name}. If an editor has it open, reload it there from disk.",
            )

    def _exercise(self) -> ExerciseExamples | None:
        return self.found.examples.exercises.get(self.focus) if self.found.examples is not None else None

    def _after(self, name: str) -> str:
        """The first exercise after ``name`` that does not hold yet, else one before it, else ``name`` itself; empty where all hold."""
        order = list(self.found.exercises)
        place = order.index(name) + 1 if name in order else 0
        return next((n for n in order[place:] + order[:place] if self.found.exercises[n].status != "passed"), "")

    def _focus(self, name: str) -> None:
        self.focus, self._hint = name, 0
        self._show("")

    def _show(self, panel: str, text: str = "") -> None:
        self._panel = panel
        self._below = [ScreenLine(text)] if text else []

    # --- drawing ----------------------------------------------------------------------------------------------------

    def _draw(self, *, checked: bool) -> None:
        live = self._console.is_terminal and not self._console.is_dumb_terminal
        if not live and (not checked or self._checker.busy):
            return  # in a pipe: once for each check, nothing for the waiting
        columns = shutil.get_terminal_size().columns
        lines = self._lines(columns)
        shown = f"{columns}\n" + "\n".join(line.text for line in lines)
        if shown == self._shown:
            return
        self._shown = shown
        if live:
            self._console.clear()
        for line in lines:
            self._console.print(line.text, style=line.style or None, highlight=False, markup=False, emoji=False)
        sys.stdout.flush()

    def _lines(self, columns: int) -> list[ScreenLine]:
        found = self.found
        lines = screen.head_lines(self.notebook.name, found.examples, found.exercises, self._going_on(), columns)
        if found.trouble:
            lines += [*screen.text_lines(found.trouble, columns, "red"), ScreenLine("")]
        exercise, outcome = self._exercise(), found.exercises.get(self.focus)
        if self._panel == "list" and found.examples is not None:
            lines += screen.list_lines(found.examples, found.exercises, self.focus, columns)
        elif exercise is not None and outcome is not None:
            assert found.examples is not None  # noqa: S101 - it has this exercise
            card = card_of(found.examples, self.notebook.resolve().parent, exercise, outcome)
            lines += screen.card_lines(card, exercise.kind, columns)
            if self._panel == "hint":
                lines += [ScreenLine(""), *screen.hint_lines(exercise, self._hint, columns)]
        for line in self._below:
            lines += [ScreenLine(""), *screen.text_lines(line.text, columns, "yellow")]
        answers = sys.stdin is not None and sys.stdin.isatty()
        return [*lines, *(screen.key_lines(KEYS, columns) if answers else [])]

    def _going_on(self) -> str:
        if not self._checker.busy:
            return "watching for the next save"
        seconds = int(time.monotonic() - self._began)
        return f"checking … {seconds} s" if seconds >= SHOWN_AFTER else "checking …"


def _stamp(path: Path) -> Stamp | None:
    """What changes when a file is saved, in place or by putting another in its place; None where it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _is_whole(path: Path) -> bool:
    try:
        read_notebook(path)
    except NotebookError:
        return False
    return True
