"""Record visible checks as data: run each check against the reference, and record its calls and assertions."""

from __future__ import annotations

import ast
import copy
import inspect
import json
import re
import symtable
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from textwrap import dedent

import numpy as np

from autograder.base.attempt import bound_names
from autograder.base.errors import CourseError
from autograder.base.foreign import Json, Value
from autograder.checking.asserts import __all__ as students_helpers
from autograder.checking.asserts import observing
from autograder.checking.call_source import format_call, record_answer
from autograder.checking.decorators import CheckSpec, ExerciseSpec
from autograder.checking.outcomes import Outcomes, count
from autograder.checking.step_counter import limits_of
from autograder.checking.student_objects import contains_objects
from autograder.course.course import Audience, Solutions
from autograder.course.notebook import Notebook, NotebookError, read_notebook
from autograder.judging.candidates import ANSWER_SECONDS
from autograder.judging.diagnosis import same_answer
from autograder.judging.explanations import signature_of_error
from autograder.judging.functions import FunctionSession
from autograder.judging.loader import ChapterChecks, known_alternatives
from autograder.judging.objects import ObjectOwner, call_with_objects, make_object
from autograder.judging.proxies import StudentProxy
from autograder.sandbox.protocol import Answer, Call
from autograder.sandbox.script import is_script
from autograder.student.examples.format import FORMAT, obfuscate
from autograder.values import encode_value, family_of

__all__ = ["recorded", "solution_source"]


_HEADING = re.compile(r"^#{1,6}\s+(.*)$", re.MULTILINE)
_MINUTES = re.compile(r"(\d{1,3})\s*min")
Calls = Sequence[Call | str]  # a string is the name of a variable


def _first_heading(notebook: Notebook) -> str:
    headings = (h for cell in notebook.cells if cell.kind == "markdown" for h in _HEADING.findall(cell.source))
    return str(next(headings, "")).strip()


def _effort(notebook: Notebook, exercise: str) -> tuple[int, int]:
    """Return the stars and minutes in the last heading above an exercise, such as ``## softmax · ★★ · 15 minutes``, or 0 if unknown."""
    heading = ""
    for cell in notebook.cells:
        if cell.grade_id == exercise:
            return heading.count("★"), int(minutes[1]) if (minutes := _MINUTES.search(heading)) else 0
        if cell.kind == "markdown" and (headings := _HEADING.findall(cell.source)):
            heading = next((h for h in reversed(headings) if "★" in h), heading)
    return 0, 0


def solution_source(function: Callable[..., Value], exercise: str) -> str:
    """Return the source of ``function`` as a solution of ``exercise``, or ``""`` if it is not available."""
    try:
        source = dedent(inspect.getsource(function))
        [node] = ast.parse(source).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return ""
    if isinstance(node, ast.ClassDef):
        return _class_source(function, node, exercise)
    if not isinstance(node, ast.FunctionDef):
        return ""
    lines = source.splitlines()
    first, *rest = node.body
    docstring = range(0)
    if ast.get_docstring(node) is not None and rest:
        docstring = range(first.lineno - 1, first.end_lineno or first.lineno)
    kept = [line for number, line in enumerate(lines) if number >= node.lineno - 1 and number not in docstring]
    while len(kept) > 1 and not kept[1].strip():  # an empty line below the docstring
        del kept[1]
    # Students know a function of an earlier chapter by its original name.
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if inspect.isfunction(value) and value.__module__.startswith("solutions.") and value.__name__ != name:
            kept = [re.sub(rf"\b{name}\b(?=\()", value.__name__, line) for line in kept]
    # Rename the function to the exercise's name, in its def and in recursive calls.
    return "\n".join(line.replace(f"{function.__name__}(", f"{exercise}(") for line in kept).rstrip()


def _class_source(cls: Callable[..., Value], node: ast.ClassDef, exercise: str) -> str:
    """Return the source of a class without its own docstring. The docstrings of its methods stay."""
    if any(str(base.__module__).startswith("solutions") for base in getattr(cls, "__bases__", ())):
        return ""  # a subclass of a class that students do not have
    node.decorator_list = [mark for mark in node.decorator_list if ast.unparse(mark).startswith("dataclass")]
    if ast.get_docstring(node) is not None and len(node.body) > 1:
        node.body = node.body[1:]
    renamed = re.sub(rf"\b{re.escape(node.name)}\b", exercise, ast.unparse(node))
    return renamed.replace(":\n\n    def ", ":\n    def ", 1)


def recorded(checks: ChapterChecks, audience: Audience = "class", solutions: Solutions = "never") -> dict[str, Json]:
    """Return the content of ``examples.json`` for a chapter. Raises ``CourseError`` if a visible check cannot be recorded.

    For ``"self-learners"``, quizzes are judged immediately. For a class, the file does not contain their correct answers.
    ``solutions`` says when students may read the obfuscated solutions. With ``"never"``, the file contains no solutions.
    """
    course, chapter = checks.course, checks.chapter
    try:
        read = read_notebook(course.source(chapter))
    except NotebookError:  # the release reports this problem
        read = None
    alternatives = known_alternatives(course, chapter) if solutions != "never" else []
    exercises = {}
    for name, spec in checks.specs.items():
        entry = _exercise(checks, spec, judged=audience == "self-learners")
        stars, minutes = _effort(read, name) if read else (0, 0)
        entry |= {"stars": stars, "minutes": minutes, "cell": read.anchor(name) if read else ""}
        if solutions != "never":
            others = [a for a in alternatives if a.exercise == name and a.worth_reading]
            sources = [(a.note, solution_source(a.function, name)) for a in others]
            sealed: dict[str, Json] = {"other_ways": [(note, source) for note, source in sources if source]}
            if audience == "self-learners":
                sealed["solution"] = _solution(checks, spec)
            entry["sealed"] = obfuscate(sealed, name)
        exercises[name] = entry
    title = _first_heading(read) if read else ""
    about = {"format": FORMAT, "course": course.title or course.course_id, "chapter": chapter, "title": title}
    released = {"chapters": course.finished_chapters(), "audience": audience, "solutions": solutions}
    return {**about, **released, "call_seconds": course.check_seconds, "exercises": exercises}


def _solution(checks: ChapterChecks, spec: ExerciseSpec) -> str:
    """Return the reference solution for students to read, or the correct answers of a quiz."""
    if not spec.answers:
        return solution_source(checks.references[spec.name], spec.name)
    return "\n".join(f"{name} = {value!r}" for name, value in checks.references[spec.name]().items())


def _exercise(checks: ChapterChecks, spec: ExerciseSpec, *, judged: bool) -> dict[str, Json]:
    visible = [c for c in spec.checks if c.visible]
    recorders = {c.name: _record(checks, spec, c) for c in visible}
    signature = checks.signature(spec.name)
    # A quiz is not explained before it is graded, so the meaning of wrong choices is left out.
    wrong = () if spec.answers else checks.misconceptions.get(spec.name, ())
    calls = [call for recorder in recorders.values() for call in recorder.calls]
    right = [None] * len(calls) if spec.answers else _answers(checks, spec.name, None, calls)
    numbers: dict[str, int] = {}  # most results occur several times, so each is stored once

    def stored(answers: Sequence[Answer | None]) -> list[int]:
        return [numbers.setdefault(json.dumps(_outcome(answer)), len(numbers)) for answer in answers]

    known = [_known(checks, spec.name, m.function, calls, right) for m in wrong]
    return {
        "kind": "answers" if spec.answers else "class" if spec.name in checks.class_names() else "function",
        "answers": list(spec.answers),
        "points": spec.points,
        "signature": "" if spec.answers or signature is None else spec.name + _without_annotations(signature),
        "hints": list(spec.hints),
        "checks": [_written(c, recorders) for c in visible],
        "misconceptions": [
            {"name": m.name, "message": m.message, "outcomes": stored(answers), "differs": differs}
            for m, (answers, differs) in zip(wrong, known, strict=True)
        ],
        **({"right": stored(right), "results": [json.loads(text) for text in numbers]} if wrong else {}),
        **(_judged(checks, spec) if judged and spec.answers else {}),
    }


def _judged(checks: ChapterChecks, spec: ExerciseSpec) -> dict[str, str]:
    """Return the obfuscated checks of a quiz, or an empty dictionary if a check cannot be recorded."""
    try:
        recorders = {c.name: _record(checks, spec, c) for c in spec.checks}
    except CourseError:
        return {}
    wrong = [
        {"answers": {k: encode_value(v) for k, v in m.function().items()}, "name": m.name, "message": m.message}
        for m in checks.misconceptions.get(spec.name, ())
    ]
    hidden = [_written(c, recorders) for c in spec.checks if not c.visible]
    return {"judged": obfuscate({"checks": hidden, "wrong": wrong}, spec.name)} if hidden else {}


def _written(check: CheckSpec, recorders: Mapping[str, _Recorder]) -> dict[str, Json]:
    after = [name for name in check.after if name in recorders]
    about = {"name": check.name, "title": check.title, "points": check.points, "after": after}
    source = {"source": recorders[check.name].source} if recorders[check.name].source else {}
    return about | {"steps": recorders[check.name].steps} | source


def _record(checks: ChapterChecks, spec: ExerciseSpec, check: CheckSpec) -> _Recorder:
    recorder = _Recorder(checks, f"{checks.course.checks(checks.chapter).name}, {spec.name}.{check.name}")
    with observing(recorder.assertion):
        replace(checks, shrinks=False).run_check(spec.name, check.name, recorder)
    recorder.record_parts()
    asserts = any("assert" in step for step in recorder.steps)
    recorder.source = _source_of(checks, spec, check, recorder.where, helpers=not asserts)
    if not recorder.source and not asserts:
        why = (
            "is visible but makes no assertion that can be recorded. Use autograder's assertions, or raise CheckFailed."
        )
        raise CourseError(f"{recorder.where} {why}")
    return recorder


def _source_of(checks: ChapterChecks, spec: ExerciseSpec, check: CheckSpec, where: str, *, helpers: bool) -> str:
    """Return the source of a check that raises ``CheckFailed`` itself, with the definitions that it needs, or "" for other checks.

    With ``helpers``, the check's helpers may raise the error instead. Raises ``CourseError`` if a notebook cannot run the check.
    """
    code = inspect.unwrap(getattr(checks.classes[spec.name], check.name)).__code__
    tree = ast.parse(checks.course.checks(checks.chapter).read_text(encoding="utf-8"))
    methods = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == check.name)
    first = code.co_firstlineno
    method = next((m for m in methods if first in {m.lineno, *(d.lineno for d in m.decorator_list)}), None)
    if method is None:
        return ""
    marks, method.decorator_list = method.decorator_list, []
    kept = [False] * len(tree.body)
    used = _used_names(method)
    while more := [i for i, s in enumerate(tree.body) if not kept[i] and used & {*bound_names(s)}]:
        for place in more:
            kept[place] = True
            used |= _used_names(tree.body[place])
    parts = [s for s, is_kept in zip(tree.body, kept, strict=True) if is_kept]
    raised = [n for part in (method, *(parts if helpers else ())) for n in ast.walk(part) if isinstance(n, ast.Raise)]
    if not any("CheckFailed" in ast.unparse(n) for n in raised):
        return ""
    if [a.arg for a in method.args.args] != ["self", "student"] or len(marks) > 1:
        why = "is visible and raises CheckFailed. A notebook runs such a check itself, so it may use only the fixture `student`."
        raise CourseError(f"{where} {why} Compare with `agrees` in another check, or hide this one.")
    for statement in (s for s in parts if isinstance(s, ast.Import | ast.ImportFrom)):
        names = [a for a in statement.names if (a.asname or a.name.partition(".")[0]) in used]
        for name in names:
            module, statement.names = getattr(statement, "module", None) or name.name, [name]
            near = checks.course.checks(checks.chapter).with_name(f"{module.partition('.')[0]}.py").is_file()
            foreign = module == "autograder.checking" and name.name not in students_helpers
            if module.partition(".")[0] == "solutions" or near or foreign:
                raise CourseError(
                    f"{where} is visible and raises CheckFailed, so a notebook runs it. It may not run `{ast.unparse(statement)}`, "
                    f"because students do not have this {'helper' if foreign else 'module'}."
                )
        statement.names = names
    return "\n\n".join(map(ast.unparse, [*parts, method]))


def _used_names(statement: ast.stmt) -> set[str]:
    """Return the global names that a statement uses."""
    tables = [symtable.symtable(ast.unparse(statement), "<check>", "exec")]
    for table in tables:
        tables += table.get_children()
    used = (s for t in tables for s in t.get_symbols() if s.is_referenced() and (t is tables[0] or s.is_global()))
    return {symbol.get_name() for symbol in used}


MAX_PARTS = 1000  # a larger container is only recorded as a whole


class _Recorder(Outcomes):
    """A replacement for the ``student`` fixture that returns the reference's results and records calls and assertions."""

    def __init__(self, checks: ChapterChecks, where: str) -> None:
        self.where, self.source = where, ""
        self.steps: list[dict[str, Json]] = []
        self.calls: list[Call | str] = []  # one for each call or variable step
        self._checks = checks
        self._memory_mb: int | None = None
        self._limits: Mapping[str, Value] | None = None
        self._wholes: list[tuple[int, Value]] = []
        self._seen: list[tuple[Value, dict[str, Json]]] = []

    def __getattr__(self, name: str) -> Callable[..., Value]:
        if name.startswith("__"):
            raise AttributeError(name)

        classes = self._checks.class_names()

        def call(*args: Value, **kwargs: Value) -> Value:
            owner = ObjectOwner(self.outcome, self._checks.reference.answer, classes)
            if name in classes:
                return make_object(owner, name, args, kwargs)
            if classes and contains_objects((*args, *kwargs.values())):
                return call_with_objects(owner, name, args, kwargs)
            if self._limits:
                count(self.measure, self._checks.reference.answer, self._limits, name, args, kwargs)
            recorded_call = Call(name, args, kwargs, memory_mb=self._memory_mb)
            return self._called(recorded_call, getattr(self._checks.reference, name)(*args, **kwargs))

        return call

    def probe(self, source: str, function: str, *args: Value, **kwargs: Value) -> Value:
        """Record a call through a probe, including the probe's source, which is not secret."""
        value = self._checks.reference.probe(source, function, *args, **kwargs)
        return self._called(Call(function, args, kwargs, source), value)

    def outcome(self, call: Call) -> Value:
        """Record a call or a script. If the call has to raise an error, record the accepted errors."""
        return self._called(call, self._checks.reference.answer(call))

    plot = StudentProxy.plot  # it calls this class's ``probe``

    def measure(self, source: str, function: str, *args: Value, **kwargs: Value) -> Value:
        """Record a measuring probe. Only assertions about the measurement matter, so no measured value is stored."""
        value = self._checks.reference.probe(source, function, *args, **kwargs)
        return self._called(Call(function, args, kwargs, source, measured=True), value)

    def __getitem__(self, name: str) -> Value:
        value = record_answer(self._checks.reference[name], lambda: (name, {}))
        self.calls.append(name)
        self._add({"variable": name}, value)
        return value

    def within(self, memory_mb: int | None = None, **limits: Value) -> _Recorder:
        """Return a copy of this recorder for calls with a limit on memory or work."""
        limited = copy.copy(self)  # shares the lists of this recorder
        limited._memory_mb = memory_mb  # noqa: SLF001 - a copy of this object
        limited._limits = limits_of(**limits)  # noqa: SLF001
        return limited

    def when_graded(self, look: Callable[..., None], *args: Value) -> None:
        """Record nothing, because a notebook cannot replay code that runs only during grading."""

    def check_purity(self) -> None:
        """Record nothing: every replayed call is tested for changes to its inputs."""

    def assertion(
        self,
        name: str,
        actual: Value,
        expected: Value,
        params: Mapping[str, Value],
        call: str,
        inputs: Mapping[str, Value],
    ) -> None:
        """Record one assertion."""
        place = self._place(actual)
        if actual is None and self._seen and self._seen[-1][0] is None:
            place = self._seen[-1][1]  # take the last result, because None cannot be found by identity
        if place is None:
            raise CourseError(
                f"{self.where} is visible, but its assertion is about a value that a student's function did not return directly. "
                "Assert on the returned value itself, or hide the check."
            )
        step: dict[str, Json] = {"assert": name, "actual": place, "params": params, "call": call}
        step["inputs"] = {k: self._argument(v) for k, v in inputs.items()}
        if name in {"matches", "same_plot"}:
            # Find only arrays and containers by identity. There is only one True, so an answer could be compared with itself,
            # which would always pass.
            own = self._place(expected) if isinstance(expected, np.ndarray | tuple | list | dict) else None
            step["expected"] = own or {"value": encode_value(expected)}
        self.steps.append(step)

    def record_parts(self) -> None:
        """Record the structure of the correct result for each call whose parts the check uses."""
        for index, whole in self._wholes:
            step, taken = self.steps[index]["call"], isinstance(whole, _Tuple) and whole.taken
            used = [s.get(k) for s in self.steps for k in ("actual", "expected") if "assert" in s]
            if taken or any(place and place.get("step") == index and place["path"] for place in used):
                if isinstance(whole, dict) and not all(isinstance(key, str) for key in whole):
                    continue  # parts are named by strings only
                step["parts"] = list(whole) if isinstance(whole, dict) else len(whole)
                step |= {"unpacked": True} if taken else {}

    def _called(self, call: Call, value: Value) -> Value:
        self.calls.append(call)
        encoded: dict[str, Json] = {"function": call.function, "args": [self._argument(a) for a in call.args]}
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
        if call.expects is not None:
            encoded["expects"] = asdict(call.expects)
        if type(value) is tuple:
            value = _Tuple(value)
        if isinstance(value, tuple | list | dict):
            self._wholes.append((len(self.steps), value))
        self._add({"call": encoded}, value)
        return record_answer(value, lambda: format_call(call, self._checks.signature(call.function)), call)

    def _add(self, step: dict[str, Json], value: Value) -> None:
        index = len(self.steps)
        self.steps.append(step)
        self._remember(value, {"step": index, "path": []})

    def _remember(self, value: Value, place: dict[str, Json]) -> None:
        self._seen.append((value, place))
        keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, tuple | list) else ()
        for key in keys if len(keys) <= MAX_PARTS else ():
            if not isinstance(key, str | int):
                continue  # JSON has no other keys
            self._remember(value[key], {"step": place["step"], "path": [*place["path"], key]})

    def _place(self, value: Value) -> dict[str, Json] | None:
        # Search from the newest result. All calls that return True return the same object, and the check means the newest call.
        return next((place for seen, place in reversed(self._seen) if seen is value and value is not None), None)

    def _argument(self, value: Value) -> Value:
        place = self._place(value) if family_of(value).has_cells else None
        return place or encode_value(value)


class _Tuple(tuple[Value, ...]):  # noqa: SLOT001 - it has one more attribute
    """A tuple that notices when a check unpacks it, as in ``output, weights = …``."""

    taken = False

    def __iter__(self) -> Iterator[Value]:
        caller = sys._getframe(1).f_globals.get("__name__", "")  # noqa: SLF001 - assertions iterate too
        self.taken |= not caller.startswith("autograder.")
        return super().__iter__()


def _answers(
    checks: ChapterChecks, exercise: str, function: Callable[..., Value] | None, calls: Calls, *, limited: bool = False
) -> list[Answer | None]:
    """Return the results of ``function`` (by default the reference) for each call.

    The result is None for variables, for measurements and, unless ``limited``, for calls with a memory limit.
    """
    namespace = checks.references if function is None else {**checks.references, exercise: function}
    session = FunctionSession(namespace, call_seconds=ANSWER_SECONDS)
    asked = [c for c in calls if isinstance(c, Call) and not c.measured and (limited or c.memory_mb is None)]
    answers = {id(call): answer for call, answer in zip(asked, session.batch(asked), strict=True)}
    return [answers.get(id(call)) for call in calls]


def _known(
    checks: ChapterChecks, exercise: str, mistake: Callable[..., Value], calls: Calls, right: Sequence[Answer | None]
) -> tuple[Sequence[Answer | None], list[int]]:
    """Return a misconception's result for each call, and the positions of the wrong results."""
    answers = _answers(checks, exercise, mistake, calls)
    rows = enumerate(zip(answers, right, calls, strict=True))
    differs = [i for i, (a, r, c) in rows if a and r and isinstance(c, Call) and not same_answer(a, r, c)]
    if not differs:  # only then do calls with a memory limit matter
        answers = _answers(checks, exercise, mistake, calls, limited=True)
    return answers, differs


def _outcome(answer: Answer | None) -> dict[str, Json]:
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


def _without_annotations(signature: inspect.Signature) -> str:
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
