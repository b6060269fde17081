"""Run a notebook's code cells in order in one namespace, as a Jupyter kernel does."""

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
from .failures import CELL, CallTimeout, Clock, JailLimits, explain_jail_error, loop_in, refuse_input
from .failures import describe as as_json
from .outputs import OutputCapture, Stream, bundle_of, capture_figures
from .wire_limits import Value

if TYPE_CHECKING:
    from .coroutines import NotebookLoop

Piece = tuple[types.CodeType, bool]  # code, and whether its value is shown

__all__ = ["Kernel", "precompile"]

_exec, _eval = exec, eval


class Kernel:
    """The namespace of a notebook (its ``__main__``), its captured outputs and its clock."""

    def __init__(self, order: dict[str, Any], jail: JailLimits | None = None) -> None:
        self.clock = Clock(order["waiting"])
        self._jail = jail
        self.capture = OutputCapture()
        self.capture.draw = order["draw"]
        self.sources: dict[str, tuple[str, list[str]]] = {}
        self._output_chars = order["output_chars"]
        self._compile = _compiler()  # keeps the ``from __future__`` imports of earlier cells
        self._loop: NotebookLoop | None = None
        self._module = types.ModuleType("__main__")
        self._module.__dict__["__builtins__"] = builtins
        self.namespace: dict[str, Value] = self._module.__dict__
        self._initial_names = frozenset(self.namespace)
        sys.modules["__main__"] = self._module
        sys.stdout, sys.stderr = Stream("stdout", self.capture), Stream("stderr", self.capture)
        self._add_builtins()
        np.random.seed(order["seed"] % 2**32)  # noqa: NPY002 - student code may use the global state
        random.seed(order["seed"])

    def _add_builtins(self) -> None:
        # They are in ``builtins``, as in IPython, so that the namespace contains only the student's names.
        module: Any = builtins
        module.display = self._display
        module.input = refuse_input
        module.get_ipython = lambda: __import__("IPython").get_ipython()
        self._collect_on_show()

    def _display(self, *values: object, **_options: object) -> None:
        for value in values:
            self.capture.show("display", bundle_of(value))

    def names(self) -> list[str]:
        """Return the names that the cells defined, in order."""
        new = (name for name in self.namespace if type(name) is str and name not in self._initial_names)
        return [name for name in new if not name.startswith("__")]

    def run(self, index: int, name: str, source: str, seconds: float) -> dict[str, Any]:
        """Run one cell and return its outcome as JSON. An exception ends only this cell."""
        filename = f"{CELL}{index}>"
        lines = source.split("\n")
        self.sources[filename] = (name, lines)
        linecache.cache[filename] = (len(source), None, [line + "\n" for line in lines], filename)
        self.capture.start(self._output_chars)
        outcome: dict[str, Any] = {"index": index}
        try:
            self.clock.run(seconds, lambda: self._execute(source, filename))
        except CallTimeout as error:
            outcome |= {"stopped": "timeout", "at": loop_in(error.__traceback__, self.sources)}
        except BaseException as error:  # noqa: BLE001 - SystemExit and the like end a cell, not the notebook
            outcome["error"] = self.describe(error, seconds)
        with contextlib.suppress(BaseException):  # skip figures that cannot be drawn
            self.clock.run(max(2.0, seconds / 4), self._collect_figures)
        outputs = self.capture.stop()
        outcome["outputs"] = [["stream", one[1], "".join(one[2])] if one[0] == "stream" else one for one in outputs]
        return outcome

    def describe(self, error: BaseException, seconds: float = 2.0) -> dict[str, Any]:
        """Return the exception as JSON, even if its class is broken or never finishes."""
        try:
            return self.clock.run(min(seconds, 2.0), lambda: self._described(error))
        except BaseException:  # noqa: BLE001 - a student's class may raise anything when it is inspected
            return {"type": "Exception", "message": "(the exception cannot be shown)"}

    def _described(self, error: BaseException) -> dict[str, Any]:
        described = as_json(error, self.sources)
        if self._jail is not None and (why := explain_jail_error(error, self._jail)):
            described["message"] = f"{described['message'].rstrip('.')}. {why}"
        return described

    def _collect_figures(self) -> None:
        self._collect_on_show()  # this cell may have imported matplotlib
        capture_figures(self.capture)

    def _collect_on_show(self) -> None:
        backend = sys.modules.get("guest.figures")
        if backend is not None:
            backend.when_shown[:] = [lambda: capture_figures(self.capture)]

    def _execute(self, source: str, filename: str) -> None:
        pieces = _precompiled.get((filename, source)) if self._compile.flags == _FLAGS else None
        # As in IPython, each cell shows its warnings again.
        self.namespace.pop("__warningregistry__", None)
        work = self._steps(pieces or _compiled(source, filename, self._compile), silent=source.rstrip().endswith(";"))
        if _ASYNC.search(source):
            self._run_on_loop(work)
        else:
            with contextlib.suppress(StopIteration):
                work.send(None)  # without ``await`` it runs to the end at once

    async def _steps(self, pieces: Iterable[Piece], *, silent: bool) -> None:
        """Run the statements of a cell, and show the value of the last if it is an expression."""
        for code, shown in pieces:
            is_async = code.co_flags & _IS_COROUTINE
            if not (shown or is_async):
                _exec(code, self.namespace)
                continue
            value = _eval(code, self.namespace)
            if is_async:
                value = await value
            if shown and value is not None and not silent:
                builtins._ = value  # type: ignore[attr-defined]
                self.capture.show("result", bundle_of(value))

    def _run_on_loop(self, work: Coroutine[Any, Any, None]) -> None:
        """Do ``work`` in a running event loop, as in Jupyter."""
        if self._loop is None:
            from .coroutines import NotebookLoop  # noqa: PLC0415 - slower to import than most notebooks are to run

            self._loop = NotebookLoop()
        self._loop.run(work)


def _compiler() -> codeop.Compile:
    """Return the compiler for one notebook, which allows ``await`` at the top level, as Jupyter does."""
    compiler = codeop.Compile()
    compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return compiler


_FLAGS = _compiler().flags  # the flags of a notebook without ``from __future__`` imports
_IS_COROUTINE = 0x80  # CO_COROUTINE
_ASYNC = re.compile(r"\b(?:await|async|asyncio)\b")  # a cell without these words needs no event loop
_precompiled: dict[tuple[str, str], list[Piece]] = {}


def precompile(index: int, source: str) -> None:
    """Compile the course's own cell at position ``index`` now, so that no child has to."""
    compiler = _compiler()
    filename = f"{CELL}{index}>"
    with contextlib.suppress(Exception):  # running the cell reports the error
        pieces = list(_compiled(source, filename, compiler))
        if compiler.flags == _FLAGS:
            _precompiled[filename, source] = pieces


def _compiled(source: str, filename: str, compiler: codeop.Compile) -> Iterator[Piece]:
    """Yield each compiled statement of a cell, and whether its value is shown."""
    tree = magics.parse(source, filename)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    for statement in tree.body:
        # One by one, as in IPython, so that the code above a misplaced ``return`` still runs.
        module = ast.Module(body=[statement], type_ignores=[])
        yield compiler(module, filename, "exec"), False  # type: ignore[arg-type]
    if last is not None:
        yield compiler(last, filename, "eval"), True  # type: ignore[arg-type]
