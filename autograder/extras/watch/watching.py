"""Implement ``autograder watch``: check a notebook at each save, redraw the screen, and handle keys."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from autograder.base.errors import CourseError
from autograder.base.files import disk_error_advice
from autograder.course.notebook import NotebookError, read_notebook
from autograder.extras.watch import screen
from autograder.extras.watch.screen import ScreenLine, keys
from autograder.sandbox.confinement import Confinement
from autograder.student.examples import ExerciseExamples
from autograder.student.notebook_check import progress
from autograder.student.notebook_check.checking import card_of
from autograder.student.terminal.checking import Checker, CheckRun, own_notebook_warning
from autograder.student.terminal.layout import released_copy, reset
from autograder.student.terminal.starting import next_chapter

__all__ = ["Watch", "watch"]

POLL = 0.1  # seconds between two checks for a save
SETTLE = 2.0  # seconds for which an invalid file is assumed to be only partly saved
SHOWN_AFTER = 1.0  # seconds of checking before the elapsed time is shown
KEYS = [("h", "hint"), ("n", "next exercise"), ("l", "list"), ("r", "reset"), ("q", "quit")]

Stamp = tuple[int, int, int]


def watch(notebook: Path, *, unsafe_local: bool = False) -> int:
    """Watch ``notebook`` until the user presses q or Ctrl-C, or closes the terminal. Return the exit status.

    The notebook's code runs in a sandbox. With ``unsafe_local``, or if the notebook is a learner's own and the system has no
    sandboxes, the code runs with the user's permissions. Raises ``SandboxUnavailable`` if a required sandbox is missing.
    """
    console = Console(soft_wrap=True)
    note = own_notebook_warning(notebook.resolve().parent)
    watched = Watch(notebook, console, "local" if unsafe_local or note else "auto", note)
    try:
        with keys() as key:
            watched.begin()
            while watched.step(key(POLL)):
                pass
    finally:
        watched.close()
    return 0


class Watch:
    """The state of watching one notebook: the last result, the exercise that is shown, and the panel below it."""

    def __init__(self, notebook: Path, console: Console, confinement: Confinement = "auto", note: str = "") -> None:
        self.notebook = notebook
        self._note = note  # a sentence that stays on the screen
        self.result = CheckRun()
        self.focus = ""  # the name of the exercise that is shown
        self._console = console
        self._checker = Checker(confinement)
        self._stamp: Stamp | None = None
        self._began = 0.0
        self._below = ""  # the text below the card, such as the reply to a key
        self._panel = ""  # the panel that is open: "", "hint", "list" or "ask"
        self._recorded: dict[str, str] = {}  # the code of each exercise when its failure was last recorded
        self._shown = ""  # the text on the screen
        self._hint = 0
        self._keep_below = False  # whether the text below the card stays after the next save

    def begin(self) -> None:
        """Check the notebook for the first time."""
        self._stamp = _stamp(self.notebook)
        if self._stamp is None:
            raise CourseError(f"{self.notebook} no longer exists.")
        self._check()

    def close(self) -> None:
        """Stop a check in progress."""
        self._checker.stop()

    def step(self, key: str) -> bool:
        """Handle ``key`` (``""`` for none), check for a save and a result, and redraw the screen. Return False if the key quits."""
        if key and not self._pressed(key):
            return False
        stamp = _stamp(self.notebook)
        # If the file is missing for a moment, an editor is replacing it.
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

    def _take(self, result: CheckRun) -> None:
        if result.error and time.monotonic() - self._began < SETTLE and not _is_whole(self.notebook):
            self._checker.begin(self.notebook)  # the save is not complete yet
            return
        if result.error or result.examples is None:
            self.result = CheckRun(self.result.examples, self.result.exercises, self.result.code, result.error)
            return
        before, self.result = self.result.code, result
        edited = [name for name, code in result.code.items() if before and code != before.get(name)]
        if self.focus not in result.exercises or (edited and self.focus not in edited):
            self.focus, self._hint = next(iter(edited), "") or self._after("") or next(iter(result.exercises), ""), 0
        if edited and not self._keep_below:
            self._show("")
        self._keep_below = False
        self._record_progress()

    def _record_progress(self) -> None:
        """Record progress as ``check`` does: every pass, and one failure for each version of the code."""
        assert self.result.examples is not None  # noqa: S101 - called only after a verdict
        chapter = self.result.examples.chapter
        folder = progress.folder_of(self.notebook.resolve().parent, chapter)
        recorded = progress.read(folder)
        for name, outcome in self.result.exercises.items():
            code = self.result.code.get(name, "")
            problem = ""
            if outcome.status == "passed":
                if recorded.of(chapter, name).status != "done":
                    problem = progress.record(folder, chapter, name, passed=True)
            elif outcome.status != "not_attempted" and self._recorded.get(name) != code:
                if name in self._recorded or recorded.of(chapter, name).status == "":
                    problem = progress.record(folder, chapter, name, passed=False)
                self._recorded[name] = code
            if problem:
                self._note = f"{self._note}\n\nYour progress cannot be saved in this folder.".strip()

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
        elif key == "l" and self.result.examples is not None:
            self._show("" if self._panel == "list" else "list")
        elif key == "r":
            self._ask()
        return True

    def _next_hint(self) -> None:
        exercise = self._exercise()
        if exercise is None or self.result.examples is None:
            return
        chapter, total = self.result.examples.chapter, len(exercise.hints)
        folder = progress.folder_of(self.notebook.resolve().parent, chapter)
        if not self._hint:
            read = progress.read(folder).of(chapter, exercise.name).hints
            self._hint = min(read, total - 1) if read < total else 0  # all hints were read, so start again
        self._hint = self._hint % total + 1 if total else 0
        if self._hint:
            progress.record(folder, chapter, exercise.name, hint=self._hint)
        self._show("hint")

    def _go_on(self) -> None:
        if not self.result.exercises:
            return
        following = self._after(self.focus)
        if following and following != self.focus:
            self._focus(following)
        elif following:
            self._show("", f"{following} is the last exercise left in this chapter.")
        elif (onward := next_chapter(self.notebook)) is not None:
            self.notebook, self.result, self._stamp = onward, CheckRun(), _stamp(onward)
            self._recorded = {}
            self._focus("")
            self._check()
        else:
            self._show("", "You have solved every exercise of this chapter. It is the last chapter here.")

    def _ask(self) -> None:
        if released_copy(self.notebook) is None:
            reason = "was not created by `autograder start`, so its original is unknown. Download the notebook again from where you got it."
            self._show("", f"{self.notebook.name} {reason}")
            return
        this = f"y for the cell of {self.focus}, " if self.focus else ""
        choices = f"Press {this}a for the whole notebook, or any other key to cancel"
        self._show("ask", f"Restore the original? {choices}. A copy of your work is kept.")

    def _answer(self, key: str) -> None:
        if key not in {"y", "a"} or (key == "y" and not self.focus):
            self._show("", "Nothing was changed.")
            return
        try:
            backup = reset(self.notebook, self.focus if key == "y" else None)
        except (CourseError, NotebookError) as error:
            self._show("", str(error))
        except OSError as error:
            self._show("", disk_error_advice(error) or str(error))
        else:
            self._keep_below = True
            what = self.focus if key == "y" else "The notebook"
            done = f"{what} is restored to its original. Your work is in {backup.name}."
            self._show("", f"{done} If an editor has the notebook open, reload it from disk.")

    def _exercise(self) -> ExerciseExamples | None:
        return self.result.examples.exercises.get(self.focus) if self.result.examples is not None else None

    def _after(self, name: str) -> str:
        """Return the first unsolved exercise after ``name``. If there is none, start again from the first exercise. The result is empty if all are solved."""
        order = list(self.result.exercises)
        place = order.index(name) + 1 if name in order else 0
        return next((n for n in order[place:] + order[:place] if self.result.exercises[n].status != "passed"), "")

    def _focus(self, name: str) -> None:
        self.focus, self._hint = name, 0
        self._show("")

    def _show(self, panel: str, text: str = "") -> None:
        self._panel, self._below = panel, text

    # --- drawing ----------------------------------------------------------------------------------------------------

    def _draw(self, *, checked: bool) -> None:
        live = self._console.is_terminal and not self._console.is_dumb_terminal
        if not live and (not checked or self._checker.busy):
            return  # in a pipe, print only after each check
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
        result = self.result
        lines = screen.head_lines(self.notebook.name, result.examples, result.exercises, self._activity(), columns)
        if self._note:
            lines += [*screen.text_lines(self._note, columns, "dim"), ScreenLine("")]
        if result.error:
            lines += [*screen.text_lines(result.error, columns, "red"), ScreenLine("")]
        exercise, outcome = self._exercise(), result.exercises.get(self.focus)
        if self._panel == "list" and result.examples is not None:
            lines += screen.list_lines(result.examples, result.exercises, self.focus, columns)
        elif exercise is not None and outcome is not None:
            assert result.examples is not None  # noqa: S101 - the exercise is one of the examples
            card = card_of(result.examples, self.notebook.resolve().parent, exercise, outcome)
            shown = screen.card_lines(card, exercise.kind, columns)
            outdated = self._checker.busy and time.monotonic() - self._began >= SHOWN_AFTER
            lines += [line._replace(style="dim") for line in shown] if outdated else shown
            if self._panel == "hint":
                lines += [ScreenLine(""), *screen.hint_lines(exercise, self._hint, columns)]
        if self._below:
            lines += [ScreenLine(""), *screen.text_lines(self._below, columns, "yellow")]
        interactive = sys.stdin is not None and sys.stdin.isatty()
        return [*lines, *(screen.key_lines(KEYS, columns) if interactive else [])]

    def _activity(self) -> str:
        if not self._checker.busy:
            return "watching for the next save"
        seconds = int(time.monotonic() - self._began)
        return f"checking … {seconds} s" if seconds >= SHOWN_AFTER else "checking …"


def _stamp(path: Path) -> Stamp | None:
    """Return values that change if the file is saved, whether it is overwritten or replaced. Return None if it is missing."""
    with suppress(OSError):
        status = path.stat()
        return status.st_mtime_ns, status.st_size, status.st_ino
    return None


def _is_whole(path: Path) -> bool:
    try:
        read_notebook(path)
    except NotebookError:
        return False
    return True
