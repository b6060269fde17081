"""Check the worked examples in a docstring: ``f(…) is …`` in a sentence, and ``>>>`` sessions."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

import numpy as np

from autograder.base.foreign import Value
from autograder.course.notebook import at_home
from autograder.judging.functions import home_of
from autograder.judging.time_limit import OutOfTimeError, time_limit

__all__ = ["examples_note", "wrong_calls", "wrong_examples", "wrong_sessions"]

_VERBS = (
    r"(?:is|gives?|returns?|yields|equals|becomes|evaluates to|results in|should (?:be|return|give)|==|=>|=|→|->|#)"
)
_SAYS = re.compile(rf"\s*{_VERBS}\s+(?:about\s+)?")
_SAYS_OF_ONE = re.compile(rf"[,\s]*(?:it |this |the (?:result|answer|output) )?{_VERBS}\s+(?:about\s+)?")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.(\d*))?(?:[eE][-+]?\d+)?")
_GIVES = re.compile(r"(?:\b(?:gives|returns|is|yields)|→|->|==)\s+(?:about\s+)?(?=[\[\d({'\"-]|True|False|None)")
_OPENING = re.compile(r"(?:Examples?:|\b[Ff]or|\b[Ww]ith|\b[Gg]iven|\be\.g\.,?) (?:\w+ = )?(?=[\[\d'\"({-])")
_HINTS = re.compile(r"\b[Ee]xample|e\.g\.|for instance|\bgives\b|→")
_COMPARED = "docstring examples that the reference agrees with"
_NOT_UNDERSTOOD = "not understood, so not compared (write `f(2) is 4` or `>>>`)"
_NONE = "docstrings without an example"
_OPEN, _CLOSED = "([{", ")]}"
_SHOWN = 120  # characters of a value in messages


def wrong_examples(
    name: str, docstring: str, function: Callable[..., Value], seconds: float
) -> Iterator[tuple[int, str]]:
    """Yield the line, counted from 1, and a message for each wrong example in ``docstring``.

    These forms are checked, with or without ``about``. Other text is ignored:

    - ``>>>`` examples
    - ``name(values) is values``
    - ``Example: values gives values``, for functions of one argument
    - ``x = values, y = values … gives values``, in one sentence, with a value for each parameter without a default

    Lists of numbers are passed both as lists and as float arrays, and one result must agree. Numbers must agree to the
    written digits. Each call may take at most ``seconds``.
    """
    yield from wrong_sessions(name, docstring, function, seconds)
    yield from _wrong("the docstring", docstring, _in_sentences(name, docstring, function), function, seconds)


def wrong_calls(name: str, text: str, function: Callable[..., Value], seconds: float) -> Iterator[tuple[int, str]]:
    """Yield the line and a message for each wrong ``name(values) is values`` in a text other than a docstring."""
    yield from _wrong("it", text, _calls(name, text.replace("`", "")), function, seconds)


_Example = tuple[int, str, Mapping[str | int, Value], str]  # position, source, arguments, source of the expected value


def _wrong(
    who: str, docstring: str, examples: Iterable[_Example], function: Callable[..., Value], seconds: float
) -> Iterator[tuple[int, str]]:
    for place, text, arguments, expected in examples:
        line = docstring.count("\n", 0, place) + 1
        if any(isinstance(value, list) for value in arguments.values()):
            with suppress(Exception, OutOfTimeError), time_limit(seconds), np.errstate(all="ignore"):
                if _agrees(_called(function, arguments), ast.literal_eval(expected), expected):
                    continue
        try:
            with time_limit(seconds), np.errstate(all="ignore"):
                result = _called(function, {key: _as_argument(value) for key, value in arguments.items()})
        except OutOfTimeError:
            yield line, f"the example {text} does not finish within {seconds:g} s."
            continue
        except Exception as error:  # noqa: BLE001 - whatever the reference raises
            why = f"the reference raises {type(error).__name__}: {error}"
            yield line, f"the example {text} cannot be checked: {why}."
            continue
        if not _agrees(result, ast.literal_eval(expected), expected):
            shown = _short(repr(result.tolist() if isinstance(result, np.ndarray | np.generic) else result))
            yield line, f"{who} says that {text} is {expected}, but the reference returns {shown}."


def examples_note(documented: Iterable[tuple[str, str, Callable[..., Value]]]) -> str:
    """Return a note that lists the docstrings with a compared example, with an example that is not understood, and without any."""
    groups: dict[str, list[str]] = {_COMPARED: [], _NOT_UNDERSTOOD: [], _NONE: []}
    for name, docstring, function in documented:
        found = ">>>" in docstring or any(_in_sentences(name, docstring, function))
        kind = _COMPARED if found else _NOT_UNDERSTOOD if _HINTS.search(docstring) else _NONE
        groups[kind].append(name)
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in groups.items() if names)


def _called(function: Callable[..., Value], arguments: Mapping[str | int, Value]) -> Value:
    """Call ``function`` with ``arguments``. The key of a positional argument is its position."""
    named = {key: value for key, value in arguments.items() if isinstance(key, str)}
    with at_home(home_of(function)):
        return function(*(value for key, value in arguments.items() if isinstance(key, int)), **named)


def _calls(name: str, text: str) -> Iterator[_Example]:
    """Yield each example of the form ``name(values) is values``."""
    for match in re.finditer(rf"(?<![\w.]){re.escape(name)}(?=\()", text):
        inside = _bracketed(text, match.end())
        verb = _SAYS.match(text, match.end() + len(inside))
        arguments = _arguments(inside)
        if inside and verb and arguments is not None and (expected := _value(text, verb.end())):
            if "about" in verb[0] and "." not in expected:
                continue  # no digits to compare
            yield match.start(), " ".join(f"{name}{inside}".split()), arguments, expected


def _in_sentences(name: str, docstring: str, function: Callable[..., Value]) -> Iterator[_Example]:
    """Yield each example in the sentences of ``docstring``."""
    docstring = docstring.replace("`", "")
    read = set()  # the numbers of the lines whose examples were yielded
    for example in _calls(name, docstring):
        read.add(docstring.count("\n", 0, example[0]))
        yield example
    parameters = inspect.signature(function).parameters.values()
    required = {
        p.name for p in parameters if p.default is p.empty and p.kind in {p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY}
    }
    if len(required) == 1:
        for match in _OPENING.finditer(docstring):
            given = _value(docstring, match.end())
            verb = _SAYS_OF_ONE.match(docstring, match.end() + len(given))
            if given and verb and verb[0].split()[0] != "=" and (expected := _value(docstring, verb.end())):
                read.add(docstring.count("\n", 0, verb.end()))
                yield match.start(), f"{name}({given})", {0: ast.literal_eval(given)}, expected
    for verb in (m for m in _GIVES.finditer(docstring) if required):
        if docstring.count("\n", 0, verb.start()) in read:
            continue
        begin = max((m.end() for m in re.finditer(r"[.:]\s|\n\s*\n", docstring[: verb.start()])), default=0)
        named = {}
        for match in re.finditer(r"(?<![\w.])(\w+) ?= ?", docstring[begin : verb.start()]):
            if match[1] in {p.name for p in parameters} and (given := _value(docstring, begin + match.end())):
                named[match[1]] = ast.literal_eval(given)
        expected = _value(docstring, verb.end())
        if required <= named.keys() and expected and not re.match(r" ?[a-z]", docstring[verb.end() + len(expected) :]):
            given = ", ".join(f"{key}={value}" for key, value in named.items())
            yield begin, f"{name}({given})", named, expected


def wrong_sessions(
    name: str, docstring: str, function: Callable[..., Value], seconds: float
) -> Iterator[tuple[int, str]]:
    """Yield the line and a message for each wrong ``>>>`` example. Examples can use ``name``, ``np`` and the function's module."""
    try:
        examples = doctest.DocTestParser().get_examples(docstring)
    except ValueError as error:
        yield 1, f"the docstring's >>> examples cannot be read: {error}."
        return
    names = {**getattr(inspect.unwrap(function), "__globals__", {}), "np": np, name: function}
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    runner = doctest.DocTestRunner(doctest.OutputChecker(), verbose=False, optionflags=options)
    failures: list[tuple[int, str]] = []

    def note(_out: object, _test: object, example: doctest.Example, got: str) -> None:
        claim = f"the docstring says that {example.source.strip()} gives {_short(example.want)}"
        failures.append((example.lineno + 1, f"{claim}, but the reference returns {_short(got)}."))

    def note_error(_out: object, _test: object, example: doctest.Example, raised: tuple[type, object, object]) -> None:
        why = f"the reference raises {raised[0].__name__}: {raised[1]}"
        failures.append((example.lineno + 1, f"the docstring's example {example.source.strip()} fails: {why}."))

    runner.report_failure = note  # type: ignore[method-assign, assignment]
    runner.report_unexpected_exception = note_error  # type: ignore[method-assign, assignment]
    test = doctest.DocTest(examples, names, name, None, 0, docstring)
    try:
        with time_limit(seconds), at_home(home_of(function)):
            runner.run(test, out=lambda _text: None)
    except OutOfTimeError:
        failures.append((1, f"the docstring's >>> examples do not finish within {seconds:g} s."))
    yield from failures


def _arguments(text: str) -> dict[str | int, Value] | None:
    """Return the argument values of a call from the text in its brackets, or None if they are not literals."""
    with suppress(SyntaxError, ValueError, TypeError):
        call = ast.parse(f"f{text}", mode="eval").body
        if isinstance(call, ast.Call):
            placed: dict[str | int, Value] = {place: _argument(node) for place, node in enumerate(call.args)}
            return placed | {k.arg or "": _argument(k.value) for k in call.keywords}
    return None


def _argument(node: ast.expr) -> Value:
    if isinstance(node, ast.Call) and ast.unparse(node.func) in {"np.array", "numpy.array"} and len(node.args) == 1:
        return np.array(ast.literal_eval(node.args[0]))
    return ast.literal_eval(node)


def _as_argument(value: Value) -> Value:
    if isinstance(value, list):
        array = np.array(value)
        return array.astype(float) if array.dtype.kind in "iu" else array
    return value


def _value(text: str, start: int) -> str:
    """Return the source of the literal at ``start``, or "" if there is none."""
    if start < len(text) and text[start] in _OPEN:
        literal = _bracketed(text, start)
    else:
        match = re.compile(
            r"'[^'\n]*'|\"[^\"\n]*\"|True\b|False\b|None\b|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w/*])"
        ).match(text, start)
        literal = match[0] if match else ""
        # The first number of a calculation such as 3 * 4 is not the result.
        if literal and re.match(r"\s*(?:[*/+^@]|-\s)", text[start + len(literal) :]):
            return ""
    try:
        ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        return ""
    return " ".join(literal.split())


def _bracketed(text: str, start: int) -> str:
    depth = 0
    for end in range(start, len(text)):
        depth += (text[end] in _OPEN) - (text[end] in _CLOSED)
        if not depth:
            return text[start : end + 1]
    return ""


def _agrees(result: Value, expected: Value, text: str) -> bool:
    """Return whether ``result`` equals ``expected`` to the digits written in ``text``."""
    if isinstance(expected, dict):
        if not isinstance(result, dict) or result.keys() != expected.keys():
            return False
        return all(_agrees(result[key], value, repr(value)) for key, value in expected.items())
    if isinstance(expected, tuple) and isinstance(result, tuple):
        pairs = zip(result, expected, strict=False)
        return len(result) == len(expected) and all(_agrees(one, other, repr(other)) for one, other in pairs)
    try:
        left, right = np.asarray(result), np.asarray(expected)
    except ValueError:
        return False
    if right.dtype.kind not in "iuf" or left.dtype.kind not in "iufb":
        return left.shape == right.shape and bool(np.all(left == right))
    digits = [len(match[1] or "") for match in _NUMBER.finditer(text)]
    # Tolerate half a unit of the last written digit. If ``text`` does not have one number per entry, use the most digits for all.
    places = digits if len(digits) == right.size else [max(digits, default=0)] * right.size
    tolerance = np.array([0.501 * 10.0**-place if place else 1e-9 for place in places]).reshape(right.shape)
    return left.shape == right.shape and bool(np.all(np.abs(left - right) <= tolerance + 1e-9 * np.abs(right)))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
