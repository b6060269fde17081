"""The data types of ``examples.json``, and a parser that reports every possible problem with a readable message."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.base.foreign import Json
from autograder.sandbox.protocol import ExpectedError
from autograder.sandbox.script import PLAY

__all__ = [
    "EXAMPLES_NAME", "FORMAT", "AssertStep", "CallStep", "CheckExample", "Examples",
    "ExamplesError", "ExerciseExamples", "MisconceptionExample", "RecordedAnswer", "Ref", "Step", "VariableStep",
    "WrongAnswer", "deobfuscate", "load_examples", "obfuscate", "parse_examples",
]  # fmt: skip


_BLOCK = 32  # bytes of a SHA-256 digest
_LARGEST = 2**22  # maximum size of an unpacked value, in bytes


def obfuscate(value: Json, name: str) -> str:
    """Return the JSON value ``value`` as unreadable text. The key is ``name``, the name of the exercise that the value belongs to."""
    packed = zlib.compress(json.dumps(value, ensure_ascii=False).encode(), 9)
    return base64.b85encode(_xor_with_key(packed, name)).decode()


def deobfuscate(text: str, name: str) -> Json:
    """Return the value that ``obfuscate`` turned into ``text``. Raises ``ValueError`` if ``text`` is damaged or belongs to another name."""
    try:
        unpacking = zlib.decompressobj()
        return json.loads(unpacking.decompress(_xor_with_key(base64.b85decode(text), name), _LARGEST))
    except zlib.error as error:
        raise ValueError(f"the hidden part for {name} is damaged") from error


def _xor_with_key(data: bytes, name: str) -> bytes:
    """XOR ``data`` with a stream of bytes derived from ``name``. Applied twice, this returns the original data."""
    blocks = range(-(-len(data) // _BLOCK))
    stream = b"".join(hashlib.sha256(f"{name}/{block}".encode()).digest() for block in blocks)
    return bytes(a ^ b for a, b in zip(data, stream, strict=False))


EXAMPLES_NAME = "examples.json"
FORMAT = 2  # in format 1, every misconception contained its own results
NOTHING = object()  # marks an assertion without an expected value, since None can be expected
_MAX_BYTES = 64 * 2**20


class ExamplesError(Exception):
    """Raised if a file of examples is missing, unreadable or in another format version. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Ref:
    """The result of an earlier step of the same check. ``path`` selects a part of nested tuples, lists and dicts."""

    step: int
    path: tuple[int | str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallStep:
    """One call of a function. Arguments are encoded values, or ``Ref`` for the result of an earlier step.

    Attributes:
        probe: source code that defines ``probe(function, *args, **kwargs)``, which is called instead. Empty for a plain call.
        memory_mb: the memory limit of the call in MiB, or None.
        measured: whether the probe measures the call.
        expects: the accepted errors, if the call should raise an error.
        planned: the arguments that a correct solution leads to, if some of ``args`` or ``kwargs`` are results of earlier calls.
        parts: the structure of a correct result, without its values, if the check uses parts of the result.
        unpacked: whether the check unpacks the whole result.
    """

    function: str
    args: tuple[Json, ...] = ()
    kwargs: Mapping[str, Json] = field(default_factory=dict)
    probe: str = ""
    memory_mb: int | None = None
    measured: bool = False
    expects: ExpectedError | None = None
    planned: tuple[tuple[Json, ...], Mapping[str, Json]] | None = None
    parts: tuple[None, ...] | Mapping[str, None] | None = None
    unpacked: bool = False


@dataclass(frozen=True, slots=True)
class VariableStep:
    """A read of one variable of the notebook."""

    name: str


@dataclass(frozen=True, slots=True)
class AssertStep:
    """One assertion, named as in ``autograder.checking.predicates``.

    ``expected`` is a ``Ref``, an encoded value or ``NOTHING``. Each of the ``inputs`` is a ``Ref`` or an encoded value.
    """

    name: str
    actual: Ref
    expected: Json = NOTHING
    params: Mapping[str, Json] = field(default_factory=dict)
    call: str = ""
    inputs: Mapping[str, Json] = field(default_factory=dict)


Step = CallStep | VariableStep | AssertStep


@dataclass(frozen=True, slots=True)
class CheckExample:
    """One visible check: its title, its points, the checks that must pass before it, and its steps.

    A check that raises ``CheckFailed`` itself has a ``source``, which is run instead of its steps.
    """

    name: str
    title: str
    points: float
    after: tuple[str, ...]
    steps: tuple[Step, ...]
    source: str = ""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The outcome of one call or variable.

    Attributes:
        value: the encoded value.
        error: the type of the raised error, or empty.
        message: the start of the error's message.
        skip: whether the outcome is unknown.
        stopped: why the call was stopped, or empty.
        changed: the names of the arguments that the call changed.
    """

    value: Json = None
    error: str = ""
    message: str = ""
    skip: bool = False
    stopped: str = ""
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MisconceptionExample:
    """A named mistake, with one outcome for each call and variable of all checks in order.

    ``differs`` contains the positions of the outcomes that differ from a correct solution's, or is None if unknown.
    """

    name: str
    message: str
    outcomes: tuple[RecordedAnswer, ...]
    differs: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """A known mistake in a quiz: the encoded wrong answers by variable, the name of the mistake, and the message about it."""

    answers: Mapping[str, Json]
    name: str
    message: str


@dataclass(frozen=True, slots=True)
class ExerciseExamples:
    """The released data about one exercise.

    Attributes:
        kind: ``"function"``, ``"class"`` or ``"answers"``.
        right: the outcomes of a correct solution, or empty if they were not recorded.
        stars: the difficulty, or 0 if unknown.
        minutes: the expected time, or 0 if unknown.
        cell: the id of the cell where the exercise begins, or empty if unknown.
        sealed: obfuscated solutions. See ``alternatives`` and ``solution``.
        wrong_answers: known wrong answers of a quiz that is judged immediately.
    """

    name: str
    kind: str
    points: float
    signature: str
    hints: tuple[str, ...]
    checks: tuple[CheckExample, ...]
    misconceptions: tuple[MisconceptionExample, ...]
    answers: tuple[str, ...] = ()
    right: tuple[RecordedAnswer, ...] = ()
    stars: int = 0
    minutes: int = 0
    cell: str = ""
    sealed: str = ""
    wrong_answers: tuple[WrongAnswer, ...] = ()

    def alternatives(self) -> tuple[tuple[str, str], ...]:
        """Return (note, source) pairs of the solutions to read after solving the exercise. The note says what is different."""
        return tuple((str(note), str(source)) for note, source in self._solutions().get("other_ways") or ())

    def solution(self) -> str:
        """Return the source of a solution, or ``""`` if none was released."""
        return str(self._solutions().get("solution") or "")

    def _solutions(self) -> dict[str, Json]:
        try:
            solutions = deobfuscate(self.sealed, self.name) if self.sealed else {}
        except ValueError:  # a damaged text counts as no solution
            return {}
        return solutions if isinstance(solutions, dict) else {}


@dataclass(frozen=True, slots=True)
class Examples:
    """The visible examples of one chapter.

    Attributes:
        chapter: the id of the chapter.
        exercises: the exercises by name, in teaching order.
        course: the title of the course.
        title: the title of the chapter.
        chapters: the ids of all chapters of the course, in order.
        audience: ``"class"``, or ``"self-learners"`` for a course without marks.
        solutions: when students may read solutions (see ``Course.solutions``).
        call_seconds: the time limit of one call in a notebook.
    """

    chapter: str
    exercises: Mapping[str, ExerciseExamples]
    course: str = ""
    title: str = ""
    chapters: tuple[str, ...] = ()
    audience: str = "class"
    solutions: str = "never"
    call_seconds: float = 10.0


def load_examples(path: Path) -> Examples:
    """Return the examples in the file ``path``. Raises ``ExamplesError`` if the file cannot be used."""
    again = "Download the chapter again to get a fresh copy."
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ExamplesError(f"{path} is too large for an examples file. {again}")
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ExamplesError(f"There is no file {path}.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ExamplesError(f"{path} cannot be read ({_short(error)}). {again}") from error
    try:
        return parse_examples(data)
    except ExamplesError as error:
        raise ExamplesError(f"{path}: {error} {again}") from error


def parse_examples(data: Json) -> Examples:
    """Return the examples described by the JSON ``data``. Raises ``ExamplesError`` if ``data`` is not valid."""
    if not isinstance(data, dict) or "format" not in data:
        raise ExamplesError("This is not an examples file.")
    if data["format"] not in {1, FORMAT}:
        raise ExamplesError(
            f"The examples have format {data['format']!r:.20}, but this autograder reads format {FORMAT}. "
            "Update autograder (pip install --upgrade nbautograder). If you have just updated it, restart the kernel."
        )
    try:
        exercises = {str(name): _exercise(str(name), entry) for name, entry in data["exercises"].items()}
        return Examples(
            str(data["chapter"]),
            exercises,
            course=str(data.get("course") or ""),
            title=str(data.get("title") or ""),
            chapters=tuple(str(chapter) for chapter in data.get("chapters") or ()),
            audience=str(data.get("audience") or "class"),
            solutions=str(data.get("solutions") or "never"),
            call_seconds=float(data.get("call_seconds") or 10.0),
        )
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise ExamplesError(f"The examples are damaged ({_short(error)}).") from error


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:160]


def _exercise(name: str, data: dict[str, Json]) -> ExerciseExamples:
    # The checks of a quiz are obfuscated, because they contain the answers.
    judged = deobfuscate(data["judged"], name) if data.get("judged") else {}
    results = [_outcome(entry) for entry in data.get("results") or ()]
    return ExerciseExamples(
        name=name,
        kind=str(data["kind"]),
        answers=tuple(str(answer) for answer in data.get("answers") or ()),
        points=float(data["points"]),
        signature=str(data.get("signature", "")),
        hints=tuple(str(hint) for hint in data.get("hints") or ()),
        checks=tuple(_check(check) for check in [*data["checks"], *judged.get("checks", ())]),
        misconceptions=tuple(_misconception(entry, results) for entry in data.get("misconceptions") or ()),
        right=tuple(_outcome(entry, results) for entry in data.get("right") or ()),
        stars=int(data.get("stars") or 0),
        minutes=int(data.get("minutes") or 0),
        cell=str(data.get("cell") or ""),
        sealed=str(data.get("sealed") or ""),
        wrong_answers=tuple(WrongAnswer(**wrong) for wrong in judged.get("wrong", ())),
    )


def _check(data: dict[str, Json]) -> CheckExample:
    steps = tuple(_step(step) for step in data["steps"])
    for index, step in enumerate(steps):
        for ref in _refs(step):
            # Reject references to a later step or an assertion here. Otherwise replay would crash far from the cause.
            if not 0 <= ref.step < index or isinstance(steps[ref.step], AssertStep):
                raise ValueError(f"step {index} of {data['name']} refers to step {ref.step}")
    after = tuple(str(name) for name in data.get("after") or ())
    return CheckExample(
        str(data["name"]), str(data["title"]), float(data.get("points", 0)), after, steps, str(data.get("source", ""))
    )


def _step(data: dict[str, Json]) -> Step:
    # Test for assertions first, because an assertion also has a "call", which is text for the student.
    if "assert" in data:
        params = dict(data.get("params") or {})
        params.update({key: data[key] for key in ("rtol", "atol") if key in data})
        return AssertStep(
            name=str(data["assert"]),
            actual=_ref(data["actual"]),
            expected=_expected(data.get("expected")),
            params=params,
            call=str(data.get("call") or ""),
            inputs={str(name): _argument(value) for name, value in (data.get("inputs") or {}).items()},
        )
    if "variable" in data:
        return VariableStep(str(data["variable"]))
    call = data["call"]
    planned, parts = call.get("planned"), call.get("parts")
    return CallStep(
        function=str(call["function"]),
        args=tuple(_argument(value) for value in call.get("args") or ()),
        kwargs={str(name): _argument(value) for name, value in (call.get("kwargs") or {}).items()},
        probe=PLAY if call.get("script") else str(call.get("probe") or ""),
        memory_mb=int(call["memory_mb"]) if call.get("memory_mb") else None,
        measured=bool(call.get("measured", False)),
        expects=_expected_error(call["expects"]) if call.get("expects") else None,
        planned=(tuple(planned["args"]), dict(planned["kwargs"])) if planned else None,
        parts=dict.fromkeys(map(str, parts)) if isinstance(parts, list) else (None,) * int(parts or 0) or None,
        unpacked=bool(call.get("unpacked", False)),
    )


def _expected_error(data: dict[str, Json]) -> ExpectedError:
    names = tuple(map(str, data["names"]))
    return ExpectedError(names, str(data["says"]), reports_others=bool(data["reports_others"]))


def _argument(data: Json) -> Json:
    return _ref(data) if isinstance(data, dict) and "step" in data else data


def _expected(data: Json) -> Json:
    if data is None:
        return NOTHING
    return _ref(data) if "step" in data else data["value"]


def _ref(data: dict[str, Json]) -> Ref:
    path = (part if isinstance(part, int) else str(part) for part in data.get("path") or ())
    return Ref(int(data["step"]), tuple(path))


def _refs(step: Step) -> list[Ref]:
    values: tuple[Json, ...] = ()
    if isinstance(step, CallStep):
        values = (*step.args, *step.kwargs.values())
    elif isinstance(step, AssertStep):
        values = (step.actual, step.expected, *step.inputs.values())
    return [value for value in values if isinstance(value, Ref)]


def _misconception(data: dict[str, Json], results: Sequence[RecordedAnswer]) -> MisconceptionExample:
    differs = frozenset(map(int, data["differs"])) if "differs" in data else None
    outcomes = tuple(_outcome(o, results) for o in data["outcomes"])
    return MisconceptionExample(str(data["name"]), str(data["message"]), outcomes, differs)


def _outcome(data: dict[str, Json] | int, results: Sequence[RecordedAnswer] = ()) -> RecordedAnswer:
    """Return a result. ``data`` is its description or its index in ``results``."""
    if isinstance(data, int):
        return results[data]
    if data.get("skip"):
        return RecordedAnswer(skip=True)
    if "stopped" in data:
        return RecordedAnswer(stopped=str(data["stopped"]))
    changed = tuple(str(name) for name in data.get("changed") or ())
    if "error" in data:
        return RecordedAnswer(error=str(data["error"]), message=str(data.get("message", "")), changed=changed)
    return RecordedAnswer(value=data["value"], changed=changed)
