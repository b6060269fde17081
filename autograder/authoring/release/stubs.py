"""Compare a chapter's stubs with its references, and find solutions in stubs and in other text that students see."""

from __future__ import annotations

import ast
import copy
import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Callable, Collection, Iterator, Mapping

from autograder.authoring.release.check_file import CheckFile
from autograder.authoring.release.problems import (
    NOT_BLANK,
    Mistake,
    SourceNotebook,
    did_you_mean,
    place_of_function,
    relative,
)
from autograder.authoring.release.worked_examples import wrong_calls, wrong_examples, wrong_sessions
from autograder.authoring.simulate import missing_imports
from autograder.base import attempt
from autograder.base.foreign import Value
from autograder.checking.decorators import ExerciseSpec
from autograder.course.course import Course
from autograder.course.notebook import MAY_FAIL, Cell, blank_exercises, files_beside
from autograder.judging.loader import ChapterChecks

__all__ = [
    "Definition", "class_header", "definition_of", "documented", "leaked_code", "parameters_of", "stub_mistakes", "syntax_mistakes",
]  # fmt: skip

Definition = ast.FunctionDef | ast.ClassDef


def definition_of(reference: Callable[..., Value]) -> tuple[Definition, str] | None:
    """Return the definition of a reference and its source, or None if it is neither a function nor a class."""
    try:
        source = textwrap.dedent(inspect.getsource(inspect.unwrap(reference)))
        body = ast.parse(source).body
    except (OSError, TypeError, SyntaxError):
        return None
    return (body[0], source) if body and isinstance(body[0], ast.FunctionDef | ast.ClassDef) else None


def class_header(node: ast.ClassDef) -> str:
    """Return ``class Name(Base):``, without decorators."""
    bare = ast.ClassDef(node.name, node.bases, node.keywords, [ast.Pass()], [])
    return ast.unparse(ast.fix_missing_locations(bare)).partition("\n")[0]


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the parameters with their defaults but without annotations, which may differ."""
    arguments = ast.parse(ast.unparse(function)).body[0].args  # type: ignore[attr-defined]
    for node in ast.walk(arguments):
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(arguments)


def _first_difference(one: str, other: str) -> str:
    """Return where two docstrings first differ, as the end of a sentence."""
    if not one:
        return ": the stub has none"
    pairs = zip([*one.splitlines(), ""], [*other.splitlines(), ""], strict=False)
    for number, (here, there) in enumerate(pairs, start=1):
        if here.strip() != there.strip():
            return f" in line {number} (“{_short(here)}” and “{_short(there)}”)"
    return " in their layout"


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 60 else f"{text[:57]}…"


def _class_mistakes(
    source: SourceNotebook, cell: Cell, tree: ast.Module, reference: type, course: Course
) -> Iterator[Mistake]:
    name = cell.grade_id or ""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    stub = next((node for node in reversed(classes) if node.name == name), None)
    where = place_of_function(course, reference)
    if stub is None:
        defined = [node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
        what = f"it defines {', '.join(defined)}" if defined else "it defines no class"
        line = tree.body[0].lineno if tree.body else None
        yield Mistake(
            source.place(cell, line),
            f"{what}, but its checks use the class {name}, as in {where}. Write class {name}.",
            about=name,
        )
        return
    right, _ = definition_of(reference) or (None, "")
    if not isinstance(right, ast.ClassDef):
        return
    docstring, expected = ast.get_docstring(stub), ast.get_docstring(right)
    place = source.place(cell, stub.body[0].lineno)
    yield from _docstrings(place, "the stub's docstring", docstring, expected, where, name)
    if class_header(stub) != class_header(right):
        what = f"the stub begins with `{class_header(stub)}`, but the reference in {where} begins with `{class_header(right)}`"
        yield Mistake(source.place(cell, stub.lineno), f"{what}. Make them equal: {_RENEW}", about=name)
    ours, theirs = _methods(stub), _methods(right)
    for method, node in theirs.items():
        if method.startswith("_") and not method.startswith("__"):
            continue  # a private helper of the reference
        if method not in ours:
            if ast.get_docstring(node) or not method.startswith("__"):
                near = did_you_mean(method, ours.keys() - theirs.keys())
                what = (
                    f"the stub has no method {method}, but the reference in {where} has it. Write def {method}({parameters_of(node)}) "
                    f"with its docstring and raise NotImplementedError, or begin the name of the reference's method with an underscore.{near}"
                )
                yield Mistake(source.place(cell, stub.lineno), what, about=name)
            continue
        yield from _method(source, cell, (name, where), ours[method], node)
        text = ast.get_docstring(node) or ""
        for line, why in wrong_sessions(name, text, reference, course.limits.call_seconds):
            yield Mistake(source.place(cell, ours[method].body[0].lineno + line - 1), why, about=name)
    for method, node in ours.items():
        if method not in theirs and not hasattr(reference, method):
            near = did_you_mean(method, theirs.keys() - ours.keys())
            what = f"the stub has a method {method}, but the reference in {where} has none.{near}"
            yield Mistake(source.place(cell, node.lineno), what, about=name)
    for line, why in wrong_examples(name, docstring or expected or "", reference, course.limits.call_seconds):
        place = source.place(cell, stub.body[0].lineno + line - 1) if docstring else where
        yield Mistake(place, why, about=name)


def _method(
    source: SourceNotebook, cell: Cell, about: tuple[str, str], stub: ast.FunctionDef, right: ast.FunctionDef
) -> Iterator[Mistake]:
    name, where = about
    label = f"{name}.{stub.name}"
    yield from _parameters(source.place(cell, stub.lineno), label, stub, right, where, name)
    own, marks = ([f"@{ast.unparse(m)}" for m in one.decorator_list] or ["no decorator"] for one in (stub, right))
    if own != marks:
        yield Mistake(
            source.place(cell, stub.lineno),
            f"the reference of {label} in {where} has {', '.join(marks)} above its def, but the stub has {', '.join(own)}.",
            about=name,
        )
    place, docstrings = source.place(cell, stub.body[0].lineno), (ast.get_docstring(stub), ast.get_docstring(right))
    yield from _docstrings(place, f"the docstring of {label}", *docstrings, where, name)


Function = ast.FunctionDef | ast.AsyncFunctionDef


def _parameters(place: str, label: str, stub: Function, right: Function, where: str, about: str) -> Iterator[Mistake]:
    ours, theirs = parameters_of(stub), parameters_of(right)
    if ours != theirs:
        what = f"the stub is {label}({ours}), but the reference in {where} is {label}({theirs}). Give both the same "
        yield Mistake(place, f"{what}parameters and defaults: {_RENEW}", about=about)


def _docstrings(
    place: str, whose: str, text: str | None, expected: str | None, where: str, about: str
) -> Iterator[Mistake]:
    if expected and text != expected:
        what = f"{whose} and the docstring of the reference in {where} differ{_first_difference(text or '', expected)}."
        yield Mistake(place, f"{what} Make them equal: {_RENEW}", about=about)


def _methods(cls: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in cls.body if isinstance(node, ast.FunctionDef)}


_NOTHING = object()
_RENEW = "`autograder stubs` updates the stub from the reference."


def syntax_mistakes(source: SourceNotebook) -> Iterator[Mistake]:
    """Yield a mistake for each code cell that has a syntax error, except cells that are meant to show an error."""
    for cell in source.code:
        if cell.source.strip() and attempt.parsed(cell.source) is None and MAY_FAIL not in cell.tags:
            line, why = _syntax(cell.source)
            about = (cell.grade_id or "").removeprefix("check_") or source.name(cell)
            yield Mistake(source.place(cell, line), f"Python cannot read it: {why}.", about=about)


def stub_mistakes(source: SourceNotebook, checks: ChapterChecks) -> Iterator[Mistake]:
    """Yield the mistakes in the stubs of the exercises in ``checks``. ``cell_mistakes`` reports missing stubs."""
    blank = blank_exercises(source.notebook, source.notebook)
    for name, spec in checks.specs.items():
        cell = source.notebook.stub(name)
        tree = attempt.parsed(cell.source) if cell is not None and cell.kind == "code" else None
        if cell is None or tree is None:
            continue
        if spec.answers:
            yield from _answers(source, cell, tree, spec, checks)
        else:
            yield from _function(source, cell, tree, checks.references[name], checks.course)
            yield from _imports(source, cell, checks.references[name], checks.course)
            if name not in blank:
                line = _first_own_line(tree, name)
                what = (
                    f"{name} is not blank, so it would count as a student's attempt. Keep only its docstring and, below it, "
                    "raise NotImplementedError."
                )
                yield Mistake(source.place(cell, line), what, about=f"{NOT_BLANK} {name}")
    yield from _given_away(source, checks)


def _imports(source: SourceNotebook, cell: Cell, reference: Callable[..., Value], course: Course) -> Iterator[Mistake]:
    try:
        missing = missing_imports(cell.grade_id or "", reference, source.notebook)
    except (ValueError, OSError):
        return  # the trial run reports a reference whose source cannot be used
    for name, line in missing.items():
        what = (
            f"the reference in {place_of_function(course, reference)} uses {name}, but no cell up to this one has `{line}`, so "
            f"students who use {name} get a NameError. Put the import into the notebook's first code cell, or into the reference's body."
        )
        yield Mistake(source.place(cell), what, about=cell.grade_id or "")


def _answers_of(checks: ChapterChecks, spec: ExerciseSpec) -> Mapping[str, Value] | None:
    """Return the right answers of a quiz, or None if its reference fails or returns no dictionary."""
    try:
        answers = checks.references[spec.name]()
    except Exception:  # noqa: BLE001 - the dry run reports it
        return None
    return answers if isinstance(answers, dict) else None


def _function(
    source: SourceNotebook, cell: Cell, tree: ast.Module, reference: Callable[..., Value], course: Course
) -> Iterator[Mistake]:
    name = cell.grade_id or ""
    if isinstance(reference, type):
        yield from _class_mistakes(source, cell, tree, reference, course)
        return
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    stub = next((node for node in reversed(functions) if node.name == name), None)
    if stub is None:
        if not attempt.defines(name, cell.source):
            defined = [node.name for node in functions]
            what = f"it defines {', '.join(defined)}" if defined else "it defines no function"
            line = functions[0].lineno if functions else None
            what = f"{what}, but its checks use {name}. The function must have the same name as the cell's grade_id."
            yield Mistake(source.place(cell, line), what, about=name)
        return
    own, _ = definition_of(reference) or (None, "")
    there = place_of_function(course, reference)
    if isinstance(own, ast.FunctionDef):
        yield from _parameters(source.place(cell, stub.lineno), name, stub, own, there, name)
    text, right = ast.get_docstring(stub), inspect.getdoc(reference)
    place = source.place(cell, stub.body[0].lineno)
    yield from _docstrings(place, "the stub's docstring", text, right, there, name)
    for line, why in wrong_examples(name, text or right or "", reference, course.limits.call_seconds):
        where = source.place(cell, stub.body[0].lineno + line - 1) if text else there
        yield Mistake(where, why, about=name)


def _answers(
    source: SourceNotebook, cell: Cell, tree: ast.Module, spec: ExerciseSpec, checks: ChapterChecks
) -> Iterator[Mistake]:
    assigned = _assigned(tree)
    right = _answers_of(checks, spec)
    for variable in spec.answers:
        if variable not in assigned:
            near = did_you_mean(variable, assigned.keys() - set(spec.answers))
            yield Mistake(
                source.place(cell),
                f"the stub has no variable {variable}, which the checks of {spec.name} read: write {variable} = None.{near}",
                about=spec.name,
            )
    for variable, (line, value) in assigned.items():
        where = source.place(cell, line)
        if variable not in spec.answers:
            what = (
                f"{variable} is not one of the questions of {spec.name}, which are {', '.join(spec.answers)}: nobody would get "
                f"points for it.{did_you_mean(variable, set(spec.answers) - assigned.keys())}"
            )
            yield Mistake(where, what, about=spec.name)
        elif value is not None:
            given = right is not None and _equal(value, right.get(variable, _NOTHING))
            what = f"gives the correct answer to {variable}" if given else f"already answers {variable}"
            yield Mistake(where, f"the stub {what}: write {variable} = None.", about=spec.name)
    if right is not None and set(right) != set(spec.answers):
        odd = sorted(set(right) ^ set(spec.answers))
        yield Mistake(
            place_of_function(checks.course, checks.references[spec.name])
            or relative(checks.course, checks.course.checks(checks.chapter)),
            f"the reference of {spec.name} answers {', '.join(right)}, but @exercise(…, answers=…) names "
            f"{', '.join(spec.answers)}: {', '.join(odd)} is in only one of them.",
            about=spec.name,
        )


def _given_away(source: SourceNotebook, checks: ChapterChecks) -> Iterator[Mistake]:
    """Yield a mistake for each solution or right answer in a cell that is not a stub."""
    variables = {v: spec for spec in checks.specs.values() for v in spec.answers}
    for cell in source.code:
        tree = attempt.parsed(cell.source)
        if cell.role == "stub" or tree is None:
            continue
        for statement in tree.body:
            if not isinstance(statement, ast.FunctionDef | ast.ClassDef) or statement.name not in checks.specs:
                continue
            if not attempt.last_definition_is_blank(statement.name, [ast.unparse(statement)]):
                what = (
                    f"it defines {statement.name}, which is an exercise, so students would get its solution. "
                    "Remove the function or rename it."
                )
                yield Mistake(source.place(cell, statement.lineno), what, about=statement.name)
        for variable, (line, value) in _assigned(tree).items():
            if variable not in variables or value is None:
                continue
            right = _answers_of(checks, variables[variable])
            if right is not None and _equal(value, right.get(variable, _NOTHING)):
                what = f"it assigns the correct answer to {variable}, so students would see it. Remove the value."
                yield Mistake(source.place(cell, line), what, about=variables[variable].name)


def leaked_code(source: SourceNotebook, checks: ChapterChecks, file: CheckFile) -> Iterator[Mistake]:
    """Yield a mistake for each hint, title, message, cell or file that reveals a solution or gives a wrong example."""
    texts: list[tuple[str, str, str]] = []  # the location, the kind of text, and the text
    for name, spec in checks.specs.items():
        texts += [(file.place_of(name), f"hint {i} of {name}", hint) for i, hint in enumerate(spec.hints, start=1)]
        texts += [(file.place_of_check(name, c.name), "the title", c.title) for c in spec.checks]
        known = checks.misconceptions[name] if not spec.answers else ()
        texts += [(place_of_function(checks.course, m.function), f"the message of {m.name}", m.message) for m in known]
    texts += [(source.place(c), "", c.source) for c in source.notebook.cells if c.role != "check"]
    beside = [p for p in files_beside(checks.course.source(checks.chapter)) if p.suffix in {".py", ".txt", ".md"}]
    texts += [(relative(checks.course, p), "", p.read_text("utf-8", "replace")) for p in beside]
    markdown = {source.place(c) for c in source.notebook.cells if c.kind == "markdown"}
    answers = [item for s in checks.specs.values() if s.answers for item in (_answers_of(checks, s) or {}).items()]
    for where, what, text in texts:
        if not (where in markdown or what.startswith(("hint", "the title"))):
            continue
        for name in (n for n, spec in checks.specs.items() if not spec.answers):
            for number, why in wrong_calls(name, text, checks.references[name], checks.course.limits.call_seconds):
                yield Mistake(where if what else f"{where}, line {number}", why, about=name)
        for variable, value in answers:
            if re.search(rf"\b{variable}\b[\s`]*(?:=|:|is)[\s\"'`(]*{re.escape(str(value))}(?!\w)", text):
                yield Mistake(
                    where, f"{what or 'it'} reveals the correct answer to {variable}. Remove it.", about=f"leak {where}"
                )
    for name, spec in checks.specs.items():
        for pattern, in_cells in [] if spec.answers else _telling_code(checks.references[name]):
            for where, what, text in texts:
                if (what or in_cells) and (match := pattern.search(text)):
                    line = "" if what else f", line {text.count(chr(10), 0, match.start()) + 1}"
                    told = f"{what or 'it'} contains code from the reference of {name}: `{' '.join(match[0].split())}`."
                    yield Mistake(f"{where}{line}", f"{told} Students would only have to copy it. Describe the idea in words instead.", about=f"leak {where}")  # fmt: skip


_OPERATIONS = (
    ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute, ast.BoolOp, ast.IfExp,
    ast.comprehension, ast.Slice, ast.AugAssign,
)  # fmt: skip


def _telling_code(reference: Callable[..., Value]) -> Iterator[tuple[re.Pattern[str], bool]]:
    """Yield a pattern for each piece of code that reveals a reference's idea, and whether to search the notebook for it too.

    A piece must be too long to be written by chance. A shorter piece is enough if it is the whole solution.
    """
    node, _ = definition_of(reference) or (None, "")
    for function in (n for n in ast.walk(node or ast.Pass()) if isinstance(n, ast.FunctionDef)):
        body = function.body[ast.get_docstring(function) is not None :]
        whole = node is function and len(body) == 1
        inside = list(ast.walk(function))
        variables = {n.arg for n in inside if isinstance(n, ast.arg)}
        variables |= {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if len(body) > 1:
            yield _pattern(ast.Module(body, []), variables), True
        if node is function and (value := _in_one_expression(body)) is not None:
            yield _pattern(value, variables), True
        for part in inside:
            if isinstance(part, ast.Return | ast.Assign | ast.AugAssign | ast.Expr) and part.value is not None:
                value = part.value
            elif isinstance(part, ast.For | ast.If | ast.While):
                value = part.iter if isinstance(part, ast.For) else part.test
            else:
                continue
            size = sum(isinstance(n, _OPERATIONS) for n in ast.walk(value))
            if size >= (2 if whole else 4):
                yield _pattern(value, variables), size > 2
            if isinstance(part, ast.Return | ast.Assign | ast.AugAssign) and size >= (1 if whole else 3):
                yield _pattern(part, ()), size > 2
            if isinstance(part, ast.Return) and size >= (1 if whole and not isinstance(value, ast.Attribute) else 3):
                yield _pattern(value, ()), False


def _in_one_expression(body: list[ast.stmt]) -> ast.expr | None:
    """Return the result of ``body`` as one expression, or None if ``body`` is not at least one assignment and a return."""
    values: dict[str, ast.expr] = {}

    class Inlined(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            return values.get(name.id, name)

    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values[name] = Inlined().visit(copy.deepcopy(value))
            case ast.Return(value=ast.expr() as value) if values:
                return Inlined().visit(copy.deepcopy(value))  # type: ignore[no-any-return]
            case _:
                return None
    return None


def _pattern(node: ast.AST, variables: Collection[str]) -> re.Pattern[str]:
    """Return a pattern that matches the code of ``node`` in any layout, with any names for ``variables``."""
    tokens = tokenize.generate_tokens(io.StringIO(ast.unparse(node)).readline)
    words = [token.string for token in tokens if token.string.strip()]
    parts: list[str] = []
    groups: dict[str, str] = {}
    for place, word in enumerate(words):
        before, after = words[place - 1] if place else "", words[place + 1] if place + 1 < len(words) else ""
        part = re.escape(word)
        if word in variables and before != "." and not (after == "=" and before in {"(", ","}):
            part = f"(?P={groups[word]})" if word in groups else f"(?P<v{place}>[A-Za-z_]\\w*|[\\d.]+)"
            groups.setdefault(word, f"v{place}")
        parts.append(rf"\s{part}" if before[-1:].isalnum() and word[:1].isalnum() else part)
    return re.compile(r"(?<![\w.])" + r"\s*".join(parts) + r"(?!\w|\.\w|\s*[(\[])")


def documented(checks: ChapterChecks, source: SourceNotebook) -> Iterator[tuple[str, str, Callable[..., Value]]]:
    """Yield the name, the stub's docstring and the reference of each function that students write."""
    for name, spec in checks.specs.items():
        cell = source.notebook.stub(name)
        tree = attempt.parsed(cell.source) if cell is not None else None
        stubs = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name] if tree is not None else []
        if stubs and not spec.answers:
            yield name, ast.get_docstring(stubs[-1]) or "", checks.references[name]


def _assigned(tree: ast.Module) -> dict[str, tuple[int, Value]]:
    """Return the line and value of each variable that a cell sets.

    The value is None if blank, and ``_NOTHING`` if it is not a literal.
    """
    assigned: dict[str, tuple[int, Value]] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        try:
            value = ast.literal_eval(node.value)
        except ValueError:
            value = _NOTHING
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name):
                assigned[target.id] = node.lineno, None if value is ... else value
    return assigned


def _equal(value: Value, right: Value) -> bool:
    try:
        return bool(value == right)
    except Exception:  # noqa: BLE001 - an array comparison has no single truth value
        return False


def _first_own_line(tree: ast.Module, name: str) -> int | None:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            parts = ((n.lineno, getattr(n, "name", ""), ast.unparse(n)) for n in node.body)
            own_lines = (n for n, part, text in parts if not attempt.last_definition_is_blank(part, [text]))
            return next(own_lines, node.lineno)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            own = node.body[1:] if ast.get_docstring(node) is not None else node.body
            return own[0].lineno if own else node.lineno
    return tree.body[0].lineno if tree.body else None


def _syntax(text: str) -> tuple[int | None, str]:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return error.lineno, error.msg
    except ValueError as error:
        return None, str(error)
    return None, "it is nested too deeply"
