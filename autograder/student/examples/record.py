"""Record visible checks as data: run each once against the reference, and write down its calls and assertions."""

from __future__ import annotations

import ast
import copy
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.base.errors import CourseError
from autograder.checking.asserts import observing
from autograder.checking.call_source import format_call, record_answer
from autograder.checking.decorators import CheckSpec, ExerciseSpec
from autograder.checking.outcomes import Outcomes, count
from autograder.checking.plots import plot_probe_text
from autograder.checking.step_counter import limits_of
from autograder.checking.student_objects import contains_objects
from autograder.course.course import Audience, Solutions
from autograder.course.notebook import NotebookError, read_notebook
from autograder.judging.candidates import ANSWER_SECONDS
from autograder.judging.diagnosis import same_answer
from autograder.judging.explanations import signature_of_error
from autograder.judging.functions import FunctionSession
from autograder.judging.loader import ChapterChecks, known_alternatives
from autograder.judging.objects import ObjectOwner, call_with_objects, make_object
from autograder.sandbox.protocol import Answer, Call
from autograder.sandbox.script import is_script
from autograder.student.examples.format import FORMAT, obfuscate
from autograder.values import encode_value, family_of

if TYPE_CHECKING:
    from autograder.course.notebook import Notebook

__all__ = ["effort", "heading", "recorded", "solution_source"]


_HEADING = re.compile(r"^#{1,6}\s+(.*)$", re.MULTILINE)
_MINUTES = re.compile(r"(\d{1,3})\s*min")


def heading(notebook: Notebook) -> str:
    """The first heading of a notebook; empty where it has none."""
    found = next((h for cell in notebook.cells if cell.kind == "markdown" for h in _HEADING.findall(cell.source)), "")
    return str(found).strip()


def effort(notebook: Notebook, exercise: str) -> tuple[int, int]:
    """The stars and minutes in the last heading above an exercise, such as ``## softmax · ★★ · 15 minutes``; 0 where none says."""
    said = ""
    for cell in notebook.cells:
        if cell.grade_id == exercise:
            return said.count("★"), int(found[1]) if (found := _MINUTES.search(said)) else 0
        if cell.kind == "markdown" and (headings := _HEADING.findall(cell.source)):
            said = next((h for h in reversed(headings) if "★" in h), said)
    return 0, 0


def solution_source(function: Callable[..., Any], exercise: str) -> str:
    """The source of ``function`` as the solution of ``exercise``; empty where it has none."""
    try:
        source = dedent(inspect.getsource(function))
        [node] = ast.parse(source).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return ""
    if isinstance(node, ast.ClassDef):
        return _class_as_written(function, node, exercise)
    if not isinstance(node, ast.FunctionDef):
        return ""
    lines = source.splitlines()
    first, *rest = node.body
    gone = (
        range(first.lineno - 1, first.end_lineno or first.lineno)
        if ast.get_docstring(node) is not None and rest
        else range(0)
    )
    kept = [line for number, line in enumerate(lines) if number >= node.lineno - 1 and number not in gone]
    while len(kept) > 1 and not kept[1].strip():  # an empty line below the docstring
        del kept[1]
    # A function of an earlier chapter is known to a student by its own name.
    for name in function.__code__.co_names:
        meant = function.__globals__.get(name)
        if inspect.isfunction(meant) and meant.__module__.startswith("solutions.") and meant.__name__ != name:
            kept = [re.sub(rf"\b{name}\b(?=\()", meant.__name__, line) for line in kept]
    # The name stands once on the line of the def; a function that calls itself does so by the exercise's name.
    renamed = [_named(line, function.__name__, exercise) for line in kept]
    return "\n".join(renamed).rstrip()


def _class_as_written(cls: Callable[..., Any], node: ast.ClassDef, exercise: str) -> str:
    """The source of a class, its own docstring left out; those of its methods say what each is for."""
    if any(str(base.__module__).startswith("solutions") for base in getattr(cls, "__bases__", ())):
        return ""  # written as a change of another class, which a student does not have
    node.decorator_list = [mark for mark in node.decorator_list if ast.unparse(mark).startswith("dataclass")]
    if ast.get_docstring(node) is not None and len(node.body) > 1:
        node.body = node.body[1:]
    renamed = re.sub(rf"\b{re.escape(node.name)}\b", exercise, ast.unparse(node))
    return renamed.replace(":\n\n    def ", ":\n    def ", 1)


def _named(line: str, name: str, exercise: str) -> str:
    return line.replace(f"{name}(", f"{exercise}(") if name != exercise else line


def recorded(checks: ChapterChecks, audience: Audience = "class", solutions: Solutions = "never") -> dict[str, Any]:
    """What ``examples.json`` holds for a chapter; raises ``CourseError`` for a visible check that cannot be written down.

    For ``"self-learners"`` a quiz is judged at once; for a class, what is right there is not in the file. ``solutions`` says when
    a student may read how others wrote it, sealed until then; with ``"never"`` no solution is in the file.
    """
    course, chapter = checks.course, checks.chapter
    try:
        read = read_notebook(course.source(chapter))
    except NotebookError:  # which a release tells of
        read = None
    others = known_alternatives(course, chapter) if solutions != "never" else []
    exercises = {}
    for name, spec in checks.specs.items():
        entry = _exercise(checks, spec, judged=audience == "self-learners")
        stars, minutes = effort(read, name) if read else (0, 0)
        entry |= {"stars": stars, "minutes": minutes}
        if solutions != "never":
            ways = [
                (a.note, solution_source(a.function, name)) for a in others if a.exercise == name and a.worth_reading
            ]
            kept: dict[str, Any] = {"other_ways": [way for way in ways if way[1]]}
            if audience == "self-learners":
                kept["solution"] = _solution(checks, spec)
            entry["sealed"] = obfuscate(kept, name)
        exercises[name] = entry
    return {
        "format": FORMAT,
        "course": course.title or course.course_id,
        "chapter": chapter,
        "title": heading(read) if read else "",
        "chapters": course.finished_chapters(),
        "audience": audience,
        "solutions": solutions,
        "call_seconds": course.check_seconds,
        "exercises": exercises,
    }


def _solution(checks: ChapterChecks, spec: ExerciseSpec) -> str:
    """The reference solution as a student reads it; of a quiz, the right answers."""
    if not spec.answers:
        return solution_source(checks.references[spec.name], spec.name)
    return "\n".join(f"{name} = {value!r}" for name, value in checks.references[spec.name]().items())


def _exercise(checks: ChapterChecks, spec: ExerciseSpec, *, judged: bool) -> dict[str, Any]:
    visible = [c for c in spec.checks if c.visible]
    tapes = {c.name: _record(checks, spec, c) for c in visible}
    signature = checks.signature(spec.name)
    # A quiz explains nothing before it is graded: what each wrong choice means comes with the marks.
    wrong = () if spec.answers else checks.misconceptions.get(spec.name, ())
    questions = [question for tape in tapes.values() for question in tape.calls]
    right = [None] * len(questions) if spec.answers else _answers(checks, spec.name, None, questions)
    return {
        "kind": "answers" if spec.answers else "class" if spec.name in checks.class_names() else "function",
        "answers": list(spec.answers),
        "points": spec.points,
        "signature": "" if spec.answers or signature is None else spec.name + _plain(signature),
        "hints": list(spec.hints),
        "checks": [_written(c, tapes) for c in visible],
        "misconceptions": [
            {"name": m.name, "message": m.message} | _known(checks, spec.name, m.function, questions, right)
            for m in wrong
        ],
        **({"right": [_outcome(answer) for answer in right]} if wrong else {}),
        **(_judged(checks, spec) if judged and spec.answers else {}),
    }


def _judged(checks: ChapterChecks, spec: ExerciseSpec) -> dict[str, str]:
    """How a quiz's answers are judged, sealed, as the right ones are in it; nothing where a check cannot be written down."""
    try:
        tapes = {c.name: _record(checks, spec, c) for c in spec.checks}
    except CourseError:
        return {}
    wrong = [
        {"answers": {k: encode_value(v) for k, v in m.function().items()}, "name": m.name, "message": m.message}
        for m in checks.misconceptions.get(spec.name, ())
    ]
    hidden = [_written(c, tapes) for c in spec.checks if not c.visible]
    return {"judged": obfuscate({"checks": hidden, "wrong": wrong}, spec.name)} if hidden else {}


def _written(check: CheckSpec, tapes: Mapping[str, _Tape]) -> dict[str, Any]:
    after = [name for name in check.after if name in tapes]
    about = {"name": check.name, "title": check.title, "points": check.points, "after": after}
    return about | {"steps": tapes[check.name].steps}


def _record(checks: ChapterChecks, spec: ExerciseSpec, check: CheckSpec) -> _Tape:
    tape = _Tape(checks, f"{checks.course.checks(checks.chapter).name}, {spec.name}.{check.name}")
    with observing(tape.assertion):
        replace(checks, shrinks=False).run_check(spec.name, check.name, tape)
    tape.note_parts()
    if not any("assert" in step for step in tape.steps):
        why = "is visible but asserts nothing that can be recorded: use autograder's assertions."
        raise CourseError(f"{tape.where} {why}")
    return tape


MAX_PARTS = 1000  # of a result that a check may assert something about each


class _Tape(Outcomes):
    """Stands where the student stands, answers with the reference, and writes down calls and assertions."""

    def __init__(self, checks: ChapterChecks, where: str) -> None:
        self.where = where
        self.steps: list[dict[str, Any]] = []
        self.calls: list[Call | str] = []  # one for each step that is a call or a variable
        self._checks = checks
        self._memory_mb: int | None = None
        self._limits: Mapping[str, Any] | None = None
        self._wholes: list[tuple[int, Any]] = []
        self._seen: list[tuple[Any, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        classes = self._checks.class_names()

        def call(*args: Any, **kwargs: Any) -> Any:
            owner = ObjectOwner(self._script, self._checks.reference.answer, classes)
            if name in classes:
                return make_object(owner, name, args, kwargs)
            if classes and contains_objects((*args, *kwargs.values())):
                return call_with_objects(owner, name, args, kwargs)
            if self._limits:
                count(self.measure, self._checks.reference.answer, self._limits, name, args, kwargs)
            asked = Call(name, args, kwargs, memory_mb=self._memory_mb)
            return self._called(asked, getattr(self._checks.reference, name)(*args, **kwargs))

        return call

    def _script(self, asked: Call) -> Any:
        return self._called(asked, self._checks.reference.answer(asked))

    def probe(self, source: str, function: str, *args: Any, **kwargs: Any) -> Any:
        """A call through a probe is written down with the probe's text, which is no secret of the course's."""
        value = self._checks.reference.probe(source, function, *args, **kwargs)
        return self._called(Call(function, args, kwargs, source), value)

    def plot(self, function: str, *args: Any, texts: bool = True, **kwargs: Any) -> Any:
        """A picture is looked at through a probe."""
        return self.probe(plot_probe_text(texts=texts), function, *args, **kwargs)

    def measure(self, source: str, function: str, *args: Any, **kwargs: Any) -> Any:
        """As a probe: only what is asserted of the measurement counts, so none is kept of the reference's or a mistake's."""
        value = self._checks.reference.probe(source, function, *args, **kwargs)
        return self._called(Call(function, args, kwargs, source, measured=True), value)

    def __getitem__(self, name: str) -> Any:
        value = record_answer(self._checks.reference[name], lambda: (name, {}))
        self.calls.append(name)
        self._note({"variable": name}, value)
        return value

    def within(
        self,
        memory_mb: int | None = None,
        *,
        steps: int | None = None,
        calls: Mapping[str, int] | None = None,
        seconds: float | None = None,
    ) -> _Tape:
        """The same recorder, for calls with a limit on memory, steps or calls."""
        limited = copy.copy(self)  # which writes on the same tape
        limited._memory_mb = memory_mb  # noqa: SLF001 - a copy of ours
        limited._limits = limits_of(steps, calls, seconds) if (steps, seconds) != (None, None) or calls else None  # noqa: SLF001
        return limited

    def when_graded(self, look: Callable[..., None], *args: Any) -> None:
        """What works on a returned value where it was graded is no step that a notebook could replay."""

    def check_purity(self) -> None:
        """Replaying a call shows in any case when it changed its inputs."""

    def assertion(
        self, name: str, actual: Any, expected: Any, params: Mapping[str, Any], call: str, inputs: Mapping[str, Any]
    ) -> None:
        """Write one assertion down."""
        found = self._place(actual)
        if actual is None and self._seen and self._seen[-1][0] is None:
            found = self._seen[-1][1]  # what was asked for last: of None there is only one
        if found is None:
            raise CourseError(
                f"{self.where} is visible, but asserts something about a value that is not directly what a student's function "
                "returned. Assert on the returned value itself, or leave the check hidden."
            )
        step: dict[str, Any] = {"assert": name, "actual": found, "params": params, "call": call}
        step["inputs"] = {k: self._argument(v) for k, v in inputs.items()}
        if name == "matches":
            # Only an array or a container is known by its identity: there is one True, whoever returns it, and an answer that
            # were held against itself would always be right.
            own = self._place(expected) if isinstance(expected, np.ndarray | tuple | list | dict) else None
            step["expected"] = own or {"value": encode_value(expected)}
        self.steps.append(step)

    def note_parts(self) -> None:
        """Write down what a right result consists of, for each call whose result the check takes apart."""
        for index, whole in self._wholes:
            step, taken = self.steps[index]["call"], isinstance(whole, _Tuple) and whole.taken
            used = [s.get(k) for s in self.steps for k in ("actual", "expected") if "assert" in s]
            if taken or any(place and place.get("step") == index and place["path"] for place in used):
                if isinstance(whole, dict) and not all(isinstance(key, str) for key in whole):
                    continue  # parts are told by name
                step["parts"] = list(whole) if isinstance(whole, dict) else len(whole)
                step |= {"unpacked": True} if taken else {}

    def _called(self, call: Call, value: Any) -> Any:
        self.calls.append(call)
        encoded: dict[str, Any] = {"function": call.function, "args": [self._argument(a) for a in call.args]}
        encoded["kwargs"] = {k: self._argument(v) for k, v in call.kwargs.items()}
        if any(isinstance(a, dict) and "step" in a for a in (*encoded["args"], *encoded["kwargs"].values())):
            kwargs = {k: encode_value(v) for k, v in call.kwargs.items()}
            encoded["planned"] = {"args": [encode_value(a) for a in call.args], "kwargs": kwargs}
        if is_script(call):
            encoded["script"] = True
        elif call.probe:
            encoded["probe"] = call.probe
        if call.measured:
            encoded["measured"] = True
        if call.memory_mb is not None:
            encoded["memory_mb"] = call.memory_mb
        if type(value) is tuple:
            value = _Tuple(value)
        if isinstance(value, tuple | list | dict):
            self._wholes.append((len(self.steps), value))
        self._note({"call": encoded}, value)
        return record_answer(value, lambda: format_call(call, self._checks.signature(call.function)), call)

    def _note(self, step: dict[str, Any], value: Any) -> None:
        index = len(self.steps)
        self.steps.append(step)
        self._remember(value, {"step": index, "path": []})

    def _remember(self, value: Any, place: dict[str, Any]) -> None:
        self._seen.append((value, place))
        keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, tuple | list) else ()
        for key in keys if len(keys) <= MAX_PARTS else ():
            if not isinstance(key, str | int):
                continue  # JSON has no other keys to find a part by
            self._remember(value[key], {"step": place["step"], "path": [*place["path"], key]})

    def _place(self, value: Any) -> dict[str, Any] | None:
        # From the newest: True is True, whichever call gave it, and the newest is the one that was meant.
        return next((place for seen, place in reversed(self._seen) if seen is value and value is not None), None)

    def _argument(self, value: Any) -> Any:
        place = self._place(value) if family_of(value).has_cells else None
        return place or encode_value(value)


class _Tuple(tuple[Any, ...]):  # noqa: SLOT001 - it has one more attribute
    """A result of several parts, which notices that a check takes them all: ``output, weights = …``."""

    taken = False

    def __iter__(self) -> Iterator[Any]:
        caller = sys._getframe(1).f_globals.get("__name__", "")  # noqa: SLF001 - an assertion looks at each part, too
        self.taken |= not caller.startswith("autograder.")
        return super().__iter__()


def _answers(
    checks: ChapterChecks,
    exercise: str,
    function: Callable[..., Any] | None,
    questions: Sequence[Call | str],
    *,
    limited: bool = False,
) -> list[Answer | None]:
    """What ``function`` (by default the reference) answers to each question.

    None for a variable and for a measurement, and, unless ``limited``, where memory is limited.
    """
    namespace = checks.references if function is None else {**checks.references, exercise: function}
    session = FunctionSession(namespace, call_seconds=ANSWER_SECONDS, of_processor=True)
    calls = [
        q if isinstance(q, Call) and not q.measured and (limited or q.memory_mb is None) else None for q in questions
    ]
    answers = iter(session.batch([call for call in calls if call is not None]))
    return [None if call is None else next(answers) for call in calls]


def _known(
    checks: ChapterChecks,
    exercise: str,
    mistake: Callable[..., Any],
    questions: Sequence[Call | str],
    right: Sequence[Answer | None],
) -> dict[str, Any]:
    answers = _answers(checks, exercise, mistake, questions)
    asked = enumerate(zip(answers, right, questions, strict=True))
    differs = [i for i, (a, r, q) in asked if a and r and isinstance(q, Call) and not same_answer(a, r, q)]
    if not differs:  # only of such a mistake it matters what it does where memory is limited
        answers = _answers(checks, exercise, mistake, questions, limited=True)
    return {"outcomes": [_outcome(answer) for answer in answers], "differs": differs}


def _outcome(answer: Answer | None) -> dict[str, Any]:
    if answer is None:
        return {"skip": True}
    if answer.stopped:
        return {"stopped": answer.stopped}
    changed = {"changed": list(answer.changed)} if answer.changed else {}
    if answer.error is not None:
        text = signature_of_error(answer.error.type, answer.error.message)
        return {"error": answer.error.type, "message": text, **changed}
    try:
        return {"value": encode_value(answer.value), **changed}
    except TypeError:
        return {"skip": True}


def _plain(signature: inspect.Signature) -> str:
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
