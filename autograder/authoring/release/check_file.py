"""Read a chapter's check file as text, and compare it with the other files of the course."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.authoring.release.problems import Mistake, did_you_mean, place_of_function, relative
from autograder.base.attempt import bound_names
from autograder.course.course import Course
from autograder.judging.loader import ChapterChecks, known_alternatives, known_misconceptions
from autograder.misconception import Alternative, Misconception

__all__ = ["CheckFile", "unseeded"]


_SEEDED_BY_ARGUMENT = frozenset({
    "default_rng", "RandomState", "SeedSequence", "Random", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64",
})  # fmt: skip
_NO_DRAW = frozenset({
    "seed", "Generator", "get_state", "set_state", "getstate", "setstate", "get_bit_generator", "set_bit_generator",
})  # fmt: skip


def unseeded(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield a line and a message for each draw of an unseeded random number.

    A draw from the global state of NumPy or ``random`` is accepted if the same function seeds that state. If the seed
    were set elsewhere, the numbers would depend on earlier draws.
    """
    sources = _names_of_sources(tree)
    texts: dict[int, str] = {}
    functions = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    for scope in (node for node in ast.walk(tree) if node is tree or isinstance(node, functions)):
        calls = [node for node in _inside(scope) if isinstance(node, ast.Call)]
        drawn = [(call, sources.get(ast.unparse(call.func).rpartition(".")[0])) for call in calls]
        seeded = {owner for call, owner in drawn if owner and _last(call) == "seed" and (call.args or call.keywords)}
        for call, owner in drawn:
            name = _last(call)
            module, bare = sources.get(name, ""), isinstance(call.func, ast.Name)
            where = owner or (module.rpartition(".")[0] if bare and "." in module else None)
            if where is None:
                continue
            name = module.rpartition(".")[2] if bare else name
            text = ast.unparse(call.func)
            if name in _SEEDED_BY_ARGUMENT:
                if not call.args and not call.keywords:
                    texts[call.lineno] = f"{text}()"
            elif name not in _NO_DRAW and where not in seeded:
                texts[call.lineno] = f"{text}(…)"
    yield from ((line, _sentence(text)) for line, text in sorted(texts.items()))


def _sentence(text: str) -> str:
    return (
        f"{text} has no seed, so its random numbers differ in every run: students would not get the same check. Use the "
        "fixture rng, draw with @given, or write np.random.default_rng(0)."
    )


_CHANGES = frozenset({
    "append", "extend", "insert", "pop", "popitem", "popleft", "appendleft", "remove", "clear", "add", "discard", "update",
    "setdefault", "sort", "reverse", "shuffle", "fill",
})  # fmt: skip
_ADVANCES = _SEEDED_BY_ARGUMENT | {
    "iter", "count", "cycle", "open", "map", "zip", "filter", "enumerate", "Counter", "StringIO",
}  # fmt: skip


def shared_state(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield a line and a message for each change that a function makes to a value of its module, its class or its defaults.

    All checks and students share such a value, so a student's result would depend on the students who were graded earlier.
    """
    outside = {name: s.value for s in _assignments(tree.body) for name in _stored(ast.walk(s))}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    owned = {name for c in classes for s in _assignments(c.body) for name in _stored(ast.walk(s))}
    names = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        nodes = list(ast.walk(function))
        declared = {name for n in nodes if isinstance(n, ast.Global) for name in n.names}
        local = _stored(nodes) | {a.arg for a in nodes if isinstance(a, ast.arg)}
        defaults = [*function.args.defaults, *(d for d in function.args.kw_defaults if d is not None)]
        last = [*function.args.posonlyargs, *function.args.args][-len(function.args.defaults) or len(defaults) :]
        pairs = zip([*last, *function.args.kwonlyargs], defaults, strict=False)
        kept = {a.arg for a, default in pairs if isinstance(default, ast.List | ast.Dict | ast.Set)}
        shared = (outside.keys() | names) - (local - declared) | kept
        for node in nodes:
            changed: ast.expr | None = None
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del) and node.id in declared:
                changed = node
            elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
                changed = node.value if ast.unparse(node.value) != "self" else None
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner, source = node.func.value, outside.get(ast.unparse(node.func.value))
                advances = isinstance(source, ast.Call) and _last(source) in _ADVANCES
                # A pandas method such as ``add`` may return a changed copy. If the result is used, nothing is changed.
                changes = node.func.attr in _CHANGES and (id(node) in alone or node.func.attr.startswith("pop"))
                changed = owner if changes or advances else None
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"next", "setattr"} and node.args:
                changed = node.args[0]
            text = ast.unparse(changed) if changed is not None else ""
            root, _, attribute = re.split(r"\[", text)[0].replace("self.__class__", "type(self)").partition(".")
            if root in shared or root == "type(self)" or (root == "self" and attribute.partition(".")[0] in owned):
                what = f"{function.name} changes {text}, which all checks and students share, so its calls would depend on earlier calls."
                yield getattr(node, "lineno", 0), f"{what} Create it inside the check."


def _stored(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that ``nodes`` bind by assignment."""
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _assignments(body: list[ast.stmt]) -> list[ast.Assign | ast.AnnAssign]:
    return [s for s in body if isinstance(s, ast.Assign | ast.AnnAssign)]


def _names_of_sources(tree: ast.Module) -> dict[str, str]:
    """Return the full names of the random modules and functions of NumPy and Python that a file imports, by the names that it gives them."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "numpy":
                    names[f"{alias.asname or 'numpy'}.random"] = "numpy.random"
                elif alias.name in {"random", "numpy.random"}:
                    names[alias.asname or alias.name] = alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                if node.module == "numpy" and alias.name == "random":
                    names[alias.asname or "random"] = "numpy.random"
                elif node.module in {"numpy.random", "random"}:
                    names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes in ``scope``, except for the bodies of nested functions."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
        elif not isinstance(node, ast.Lambda):
            waiting += node.decorator_list


def _last(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


_MARKS = frozenset({"check", "visible", "points", "given", "after"})


class CheckFile:
    """A parsed check file: its classes and the lines they are on."""

    def __init__(self, course: Course, chapter: str) -> None:
        """Parse the check file. A syntax error is ignored here and reported when the file is loaded."""
        self.course, self.chapter = course, chapter
        self.path = course.checks(chapter)
        self.label = relative(course, self.path)
        self.tree = _tree(self.path)
        self.classes = [node for node in self.tree.body if isinstance(node, ast.ClassDef)]
        self.exercises = [(name, node) for node in self.classes if (name := _exercise(node))]

    def place(self, line: int | None = None) -> str:
        """Return the file's name, with the line if given."""
        return f"{self.label}, line {line}" if line else self.label

    def place_of(self, exercise: str) -> str:
        """Return the location of an exercise's class."""
        return self.place(next((node.lineno for name, node in self.exercises if name == exercise), None))

    def place_of_check(self, exercise: str, check: str) -> str:
        """Return a check's location and name."""
        for name, node in self.exercises:
            if name == exercise:
                lines = [s.lineno for s in node.body if check in bound_names(s)]
                return f"{self.place(lines[-1] if lines else node.lineno)}, {node.name}.{check}"
        return f"{self.label}, {exercise}.{check}"

    def expects_output(self, exercise: str) -> bool:
        """Return whether a check of the exercise compares or reads what a call prints."""
        return any(name == exercise and ".printed(" in ast.unparse(node) for name, node in self.exercises)

    def place_that_prints(self, exercise: str, check: str) -> str:
        """Return the location of ``check`` if the check itself prints something, else ""."""
        bodies = [s for name, node in self.exercises if name == exercise for s in node.body if check in bound_names(s)]
        return self.place_of_check(exercise, check) if any("print(" in ast.unparse(s) for s in bodies) else ""

    def mistakes(self) -> Iterator[Mistake]:
        """Yield the mistakes that can be found without running the file."""
        yield from self._twice()
        yield from self._overlooked()
        for tree, path in self._files():
            for line, why in [*unseeded(tree), *shared_state(tree)]:
                yield Mistake(f"{relative(self.course, path)}, line {line}", why, about=f"seed {path.name}")

    def disagreements(self, checks: ChapterChecks) -> Iterator[Mistake]:
        """Yield the conflicts between the check file and the solutions."""
        names = list(checks.specs)
        for place, spec in enumerate(checks.specs.values()):
            if not spec.checks:
                what = f"the class of {spec.name} has no checks."
                yield Mistake(self.place_of(spec.name), what, about=spec.name)
            for check in spec.checks:
                if check.points < 0:
                    what = f"it has {check.points:g} points. A check cannot have negative points."
                    yield Mistake(self.place_of_check(spec.name, check.name), what, about=spec.name)
            code = getattr(checks.references[spec.name], "__code__", None)
            used = {*(code.co_names if code else ())} & {*names[:place]} - {*spec.depends_on}
            for other in sorted(name for name in used if not isinstance(checks.references[name], type)):
                what = (
                    f"the reference of {spec.name} calls {other}, but depends_on does not name it, so a student whose {other} is wrong "
                    f'would lose points for {spec.name} too. Write depends_on=("{other}",).'
                )
                yield Mistake(self.place_of(spec.name), what, about=spec.name)
            for other in spec.depends_on:
                if other not in names[:place]:
                    earlier = f"Earlier exercises: {', '.join(names[:place])}" if place else "Remove it from depends_on"
                    what = (
                        f"{spec.name} depends on {other!r}, which is not an earlier exercise of this chapter. {earlier}."
                        f"{did_you_mean(other, names)}"
                    )
                    yield Mistake(self.place_of(spec.name), what, about=spec.name)
        known: list[Misconception | Alternative] = [*known_misconceptions(self.course, self.chapter)]
        known += known_alternatives(self.course, self.chapter)
        for one in known:
            if one.exercise not in names:
                where = place_of_function(self.course, one.function) or f"solutions/{self.chapter}.py"
                yield Mistake(
                    where,
                    f"{one.name} is a solution of {one.exercise!r}, which is not an exercise of this chapter."
                    f"{did_you_mean(one.exercise, names)}",
                )

    def _files(self) -> Iterator[tuple[ast.Module, Path]]:
        """Yield the tree and the path of the check file, and of each module that it imports from its folder."""
        yield self.tree, self.path
        for node in self.tree.body:
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for path in (self.path.with_name(f"{name}.py") for name in modules):
                if path.is_file():
                    yield _tree(path), path

    def _twice(self) -> Iterator[Mistake]:
        seen: dict[str, int] = {}
        for node in self.classes:
            if (first := seen.setdefault(node.name, node.lineno)) != node.lineno:
                what = f"there is a second class called {node.name}. It replaces the class in line {first}."
                yield Mistake(self.place(node.lineno), what)
            methods: dict[str, int] = {}
            for line, name in [
                (s.lineno, name) for s in node.body for name in bound_names(s) if name.startswith("test_")
            ]:
                if (first := methods.setdefault(name, line)) != line:
                    what = f"{node.name} has a second check called {name}. It replaces the check in line {first}."
                    yield Mistake(self.place(line), what, about=_exercise(node))
        lines: dict[str, int] = {}
        for name, node in self.exercises:
            if (first := lines.setdefault(name, node.lineno)) != node.lineno:
                what = f"a second class has checks of {name}. The checks of the class in line {first} would not count."
                yield Mistake(self.place(node.lineno), what, about=name)

    def _overlooked(self) -> Iterator[Mistake]:
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and (node.name.startswith("test_") or _is_check(node)):
                yield Mistake(
                    self.place(node.lineno),
                    f"{node.name} is not in a class, so grading does not run it. Move it into the class of its exercise.",
                )
        for node in self.classes:
            methods = [s for s in node.body if isinstance(s, ast.FunctionDef)]
            checks = [s.name for s in methods if _is_check(s) or s.name.startswith("test_")]
            titles: dict[str, str] = {}
            for method in methods if _exercise(node) else ():
                title = (ast.get_docstring(method) or method.name).partition("\n")[0]
                if (other := titles.setdefault(title, method.name)) != method.name and _is_check(method):
                    what = f"{method.name} has the same title as {other}, “{title}”, so students cannot tell which of them failed."
                    yield Mistake(self.place(method.lineno), what, about=_exercise(node))
                for part in ast.walk(method):
                    match part:
                        case ast.Expr(value=ast.Compare() as value) if _calls_student(value):
                            todo = "Write `assert` before it."
                        case ast.Assert(test=ast.Tuple(elts=[_, *_])):
                            todo = "Remove the parentheses after `assert`."
                        case _:
                            continue
                    yield Mistake(
                        self.place(part.lineno), f"`{ast.unparse(part)}` never fails. {todo}", about=_exercise(node)
                    )
                if method.name.startswith("test_") and not _is_check(method):
                    what = f"{node.name}.{method.name} has no @check(…), so it gives no points. Write @check(points=…) above it."
                    yield Mistake(self.place(method.lineno), what, about=_exercise(node))
            if checks and not node.decorator_list:
                what = f"{node.name} has checks but is not marked with @exercise(…), so grading does not run them."
                yield Mistake(self.place(node.lineno), what)
            for method in methods:
                if _is_check(method) and not method.name.startswith("test_"):
                    what = f"{node.name}.{method.name} is marked as a check, but its name does not begin with test_."
                    yield Mistake(self.place(method.lineno), what, about=_exercise(node))


def _calls_student(compared: ast.Compare) -> bool:
    """Return whether a side of the comparison calls ``student`` or ``agrees``. A comparison of two objects, such as ``stack == other``, may be a step of the check."""
    calls = (side.func for side in (compared.left, *compared.comparators) if isinstance(side, ast.Call))
    return any(isinstance(f, ast.Attribute) and ast.unparse(f.value) in {"student", "agrees"} for f in calls)


def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


def _exercise(node: ast.ClassDef) -> str:
    """Return the exercise that a class's ``@exercise("…", …)`` decorator names, or "" if there is none."""
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == "exercise":
            named = [*mark.args[:1], *(k.value for k in mark.keywords if k.arg == "name")]
            return next((str(a.value) for a in named if isinstance(a, ast.Constant)), "")
    return ""


def _is_check(function: ast.FunctionDef) -> bool:
    marks = [mark.func if isinstance(mark, ast.Call) else mark for mark in function.decorator_list]
    return any(isinstance(mark, ast.Name) and mark.id in _MARKS for mark in marks)
