"""A notebook's code cells, run in order in one namespace, as a kernel would run them."""

from __future__ import annotations

import ast
import builtins
import codeop
import contextlib
import linecache
import random
import re
import sys
import types
from collections.abc import Coroutine, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import magics
from .failures import CELL, CallTimeout, Clock, JailLimits, explain_jail_error, refuse_input
from .failures import describe as as_json
from .outputs import OutputCapture, Stream, bundle_of, capture_figures

if TYPE_CHECKING:
    from .coroutines import NotebookLoop

Piece = tuple[types.CodeType, bool]

__all__ = ["Kernel", "precompile"]

_exec, _eval = exec, eval


class Kernel:
    """The namespace of a notebook (its ``__main__``), its tape of outputs and its clock."""

    def __init__(self, *, seed: int, output_chars: int, draw: bool, jail: JailLimits | None = None) -> None:
        self.clock = Clock()
        self._jail = jail
        self.tape = OutputCapture()
        self.tape.draw = draw
        self.sources: dict[str, tuple[str, list[str]]] = {}
        self.last_error: BaseException | None = None
        self._output_chars = output_chars
        self._compile = _compiler()  # remembers the ``from __future__`` imports of earlier cells
        self._loop: NotebookLoop | None = None
        self._module = types.ModuleType("__main__")
        self._module.__dict__["__builtins__"] = builtins
        self.namespace: dict[str, Any] = self._module.__dict__
        self._given = frozenset(self.namespace)
        sys.modules["__main__"] = self._module
        sys.stdout, sys.stderr = Stream("stdout", self.tape), Stream("stderr", self.tape)
        self._offer()
        np.random.seed(seed % 2**32)  # noqa: NPY002 - the global state is the one that needs a known start
        random.seed(seed)

    def _offer(self) -> None:
        # In ``builtins``, as IPython does it, so that the namespace holds the student's names and no others.
        offered: Any = builtins
        offered.display = self._display
        offered.input = refuse_input
        offered.get_ipython = lambda: __import__("IPython").get_ipython()
        self._hear_show()

    def _display(self, *values: object, **_options: object) -> None:
        for value in values:
            self.tape.show("display", bundle_of(value))

    def names(self) -> list[str]:
        """The names that the cells defined, in order."""
        new = (name for name in self.namespace if type(name) is str and name not in self._given)
        return [name for name in new if not name.startswith("__")]

    def run(self, index: int, name: str, source: str, seconds: float) -> dict[str, Any]:
        """Run one cell; the outcome as JSON. Whatever it raises ends this cell only."""
        filename = f"{CELL}{index}>"
        lines = source.split("\n")
        self.sources[filename] = (name, lines)
        linecache.cache[filename] = (len(source), None, [line + "\n" for line in lines], filename)
        self.tape.start(self._output_chars)
        outcome: dict[str, Any] = {"index": index}
        try:
            self.clock.run(seconds, lambda: self._execute(source, filename))
        except CallTimeout:
            outcome["stopped"] = "timeout"
        except BaseException as error:  # noqa: BLE001 - SystemExit and the like end a cell, not the notebook
            outcome["error"] = self.describe(error, seconds)
        with contextlib.suppress(BaseException):  # a figure that cannot be drawn is not shown
            self.clock.run(max(2.0, seconds / 4), self._collect_figures)
        outcome["outputs"] = [
            ["stream", item[1], "".join(item[2])] if item[0] == "stream" else item for item in self.tape.stop()
        ]
        return outcome

    def describe(self, error: BaseException, seconds: float = 2.0) -> dict[str, Any]:
        """The exception as JSON, even where the student's exception class is itself broken or endless."""
        try:
            return self.clock.run(min(seconds, 2.0), lambda: self._described(error))
        except BaseException:  # noqa: BLE001 - a student's class may raise anything when it is looked at
            return {"type": "Exception", "message": "(the exception cannot be shown)"}

    def _described(self, error: BaseException) -> dict[str, Any]:
        described = as_json(error, self.sources)
        if self._jail is not None and (why := explain_jail_error(error, self._jail)):
            described["message"] = f"{described['message'].rstrip('.')}. {why}"
        return described

    def _collect_figures(self) -> None:
        self._hear_show()  # matplotlib may have been imported by this very cell
        capture_figures(self.tape)

    def _hear_show(self) -> None:
        backend = sys.modules.get("guest.figures")
        if backend is not None:
            backend.when_shown[:] = [lambda: capture_figures(self.tape)]

    def _execute(self, source: str, filename: str) -> None:
        pieces = _ready.get((filename, source)) if self._compile.flags == _FLAGS else None
        # IPython forgets from cell to cell which warnings it has shown.
        self.namespace.pop("__warningregistry__", None)
        work = self._steps(pieces or _compiled(source, filename, self._compile), silent=source.rstrip().endswith(";"))
        if _ASYNC.search(source):
            self._run_on_loop(work)
        else:
            with contextlib.suppress(StopIteration):
                work.send(None)  # nothing in it waits, so it comes to its end at once

    async def _steps(self, pieces: Iterable[Piece], *, silent: bool) -> None:
        """Do the statements of a cell, and show the value of the last where it is an expression."""
        for code, shown in pieces:
            waits = code.co_flags & _IS_COROUTINE
            if not (shown or waits):
                _exec(code, self.namespace)
                continue
            value = _eval(code, self.namespace)
            if waits:
                value = await value
            if shown and value is not None and not silent:
                builtins._ = value  # type: ignore[attr-defined]
                self.tape.show("result", bundle_of(value))

    def _run_on_loop(self, work: Coroutine[Any, Any, None]) -> None:
        """Do ``work`` with an event loop running, as every cell has it in Jupyter."""
        if self._loop is None:
            from .coroutines import NotebookLoop  # noqa: PLC0415 - it takes longer to import than most notebooks to run

            self._loop = NotebookLoop()
        self._loop.run(work)


def _compiler() -> codeop.Compile:
    """What compiles the cells of one notebook: with ``await`` at the top level, as Jupyter has it."""
    compiler = codeop.Compile()
    compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return compiler


_FLAGS = _compiler().flags  # what a notebook has until it imports something from ``__future__``
_IS_COROUTINE = 0x80  # CO_COROUTINE, of code that is to be awaited
_ASYNC = re.compile(r"\b(?:await|async|asyncio)\b")  # a cell that says none of these needs no event loop
_ready: dict[tuple[str, str], list[Piece]] = {}


def precompile(index: int, source: str) -> None:
    """Compile a cell of the course's own now, so that no child has to where it stands at the place ``index``."""
    compiler = _compiler()
    filename = f"{CELL}{index}>"
    with contextlib.suppress(Exception):  # the run of the cell will say what is wrong
        pieces = list(_compiled(source, filename, compiler))
        if compiler.flags == _FLAGS:
            _ready[filename, source] = pieces


def _compiled(source: str, filename: str, compiler: codeop.Compile) -> Iterator[Piece]:
    """The code of a cell, each statement when it is asked for, and whether it is an expression whose value is shown."""
    tree = magics.parse(source, filename)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    for statement in tree.body:
        # One by one, as IPython does it: what stands above a misplaced ``return`` is still done.
        module = ast.Module(body=[statement], type_ignores=[])
        yield compiler(module, filename, "exec"), False  # type: ignore[arg-type]
    if last is not None:
        yield compiler(last, filename, "eval"), True  # type: ignore[arg-type]
