"""Create submissions that only know the visible cases of an exercise, and find the source's hidden tests that they fail."""

from __future__ import annotations

import ast
import base64
import copy
import pickle
from collections.abc import Callable
from typing import Any

from autograder.extras.importing.chapter import NewChapter, code_of
from autograder.extras.importing.checks import body_of
from autograder.extras.importing.exercises import Exercise
from autograder.extras.importing.pieces import Test
from autograder.extras.importing.program import parsed_cell

_TABLE = """\
def {name}(*args, **kwargs):
    import base64, pickle
    known = {table!r}
    key = base64.b64encode(pickle.dumps((args, kwargs))).decode()
    value = pickle.loads(base64.b64decode(known[key])) if key in known else None
    if isinstance(value, Exception):
        raise value
    return value
"""


def hard_coded(chapter: NewChapter, exercise: Exercise) -> str | None:
    """Return the code of a cell that passes only the visible tests of ``exercise``, or None if no such code is found."""
    if exercise.answers:
        return _other_answers(chapter, exercise)
    known: dict[str, str] = {}

    def recording(function: Callable[..., Any]) -> Callable[..., Any]:
        def record(*args: Any, **kwargs: Any) -> Any:
            key = _text((copy.deepcopy(args), copy.deepcopy(kwargs)))
            try:
                result = function(*args, **kwargs)
            except Exception as error:
                result = error
                raise
            finally:
                if recording_now:
                    known[key] = _text(result)
            return result

        return record

    recording_now: list[bool] = []
    _play(chapter, exercise, recording, before_test=lambda test: recording_now.extend([True] * (not test.hidden)),
          after_test=recording_now.clear)  # fmt: skip
    return _TABLE.format(name=exercise.name, table=known)


def failed_hidden_tests(chapter: NewChapter, exercise: Exercise, code: str) -> set[str]:
    """Return the locations of the hidden tests of ``exercise`` that ``code`` fails, and "visible" if it fails a visible test."""
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - the submission made above
    if exercise.answers:
        return _play(chapter, exercise, None, values={name: names[name] for name in exercise.answers})
    return _play(chapter, exercise, lambda _: names[exercise.name])


def _play(
    chapter: NewChapter,
    exercise: Exercise,
    function: Callable[[Any], Any] | None,
    *,
    values: dict[str, Any] | None = None,
    before_test: Callable[[Test], Any] = lambda _: None,
    after_test: Callable[[], Any] = lambda: None,
) -> set[str]:
    """Run the source notebook with a replaced solution of ``exercise``, and return which of the exercise's tests fail."""
    failed: set[str] = set()
    names: dict[str, Any] = {"__name__": "source", "__autotest__": lambda *_: None}
    mine = {(c.test.where, c.test.hidden) for c in chapter.checks_of(exercise.name)}
    for number, piece in enumerate(chapter.original.pieces):
        if isinstance(piece, Test):
            before_test(piece)
            try:
                body = ast.Module(list(body_of(piece, chapter.program).statements), [])
                exec(compile(ast.fix_missing_locations(body), "<test>", "exec"), names)  # noqa: S102 - a fixture of these tests
            except Exception:  # noqa: BLE001 - whatever it raises, the test fails
                if (piece.where, piece.hidden) in mine:
                    failed.add(piece.where if piece.hidden else "visible")
            after_test()
            continue
        tree = parsed_cell(code_of(piece))
        for node in tree.body if tree is not None else ():
            try:
                exec(compile(ast.Module([node], []), "<cell>", "exec"), names)  # noqa: S102 - a fixture of these tests
            except Exception:  # noqa: BLE001 - its cell ends, as in the notebook itself
                break
        if number == exercise.origin:
            if values is not None:
                names.update(values)
            elif function is not None:
                names[exercise.name] = function(names[exercise.name])
    return failed


def _other_answers(chapter: NewChapter, exercise: Exercise) -> str | None:
    """Return a cell that sets every answer to the same wrong value and passes the visible tests, or None if no value does."""
    for value in (0, 1, -1, 2.5, "", "x", [], [0], (), {}, True, False):
        code = "\n".join(f"{name} = {value!r}" for name in exercise.answers)
        failed = failed_hidden_tests(chapter, exercise, code)
        if "visible" not in failed and failed:
            return code
    return None


def _text(value: Any) -> str:
    return base64.b64encode(pickle.dumps(value)).decode()
