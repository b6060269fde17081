"""Create notebooks as students would submit them, from references, alternatives, misconceptions or source text."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from autograder.base import attempt
from autograder.base.foreign import Json, Value
from autograder.course.course import Course
from autograder.course.notebook import Notebook, insert_code, load_source, parse_notebook
from autograder.misconception import SolutionDecorator, alternatives_of, misconceptions_of

Code = Callable[..., Value] | str | Mapping[str, Value]
N = TypeVar("N", bound=ast.stmt)

__all__ = ["blank_notebook", "cell_source", "missing_imports", "reference_code", "solved_notebook", "write_notebook"]


def blank_notebook(course: Course, chapter: str) -> dict[str, Json]:
    """Return the chapter's notebook as students get it: the released one if it exists, else the author's."""
    released = course.root / "release" / chapter / f"{chapter}.ipynb"
    return load_source(released if released.is_file() else course.source(chapter))[0]


def solved_notebook(
    course: Course, chapter: str, code: Mapping[str, Code], *, start: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    """Return a notebook with ``code[exercise]`` in the stub cell of each given exercise. Other stubs stay blank.

    Each value of ``code`` is one of these:

    - a function: its source is inserted under the exercise's name, with everything that it needs from its module
    - for a quiz, a function without arguments that returns ``{variable: answer}``, or such a mapping
    - the source of the cell

    Raises ``NotebookError`` if one of the exercises has no stub cell.
    """
    notebook = start if start is not None else blank_notebook(course, chapter)
    parsed = parse_notebook(json.dumps(notebook).encode())
    taken: dict[str, str] = {}
    return insert_code(notebook, {name: _cell_source(name, value, parsed, taken) for name, value in code.items()})


def cell_source(course: Course, chapter: str, exercise: str, function: Callable[..., Value]) -> str:
    """Return the source of a cell in which a student solves ``exercise`` with ``function``."""
    return _cell_source(exercise, function, parse_notebook(json.dumps(blank_notebook(course, chapter)).encode()), {})


def missing_imports(exercise: str, function: Callable[..., Value], notebook: Notebook) -> dict[str, str]:
    """Return, by name, the imports that ``function`` needs and that no cell up to the exercise's stub contains."""
    stub, collector = notebook.stub(exercise), _SourceCollector(exercise, notebook, {})
    cells = [c for c in notebook.cells if c.kind == "code" and c.role != "check" and stub and c.index <= stub.index]
    bound = [attempt.defined_names(cell.source) for cell in cells]
    collector.there = set(notebook.exercises()).union(*(names for names in bound if names is not None))
    collector.function_source(function)
    return {} if None in bound else collector.imports  # a cell with ``import *`` does not show its names


def reference_code(course: Course, chapter: str) -> dict[str, Callable[..., Value]]:
    """Return a chapter's references by exercise, in the notebook's order. Manually graded exercises have none."""
    module = course.references(chapter)
    _, released = load_source(course.source(chapter))
    checked = {cell.grade_id for cell in released.cells if cell.role == "check"}
    return {name: getattr(module, name) for name in released.exercises() if f"check_{name}" in checked}


def write_notebook(path: Path, notebook: Mapping[str, Json]) -> Path:
    """Write a notebook in Jupyter's JSON format, creating folders as needed. Return ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _cell_source(exercise: str, code: Code, notebook: Notebook, taken: dict[str, str]) -> str:
    if isinstance(code, str):
        return code
    if not callable(code):
        return _assignments(code)
    stub, collector = notebook.stub(exercise), _SourceCollector(exercise, notebook, taken)
    if stub is None or _defines_something(stub.source):
        return collector.function_source(code)
    answers = code()
    text = _assignments(answers)
    return text if len(text) < 10_000 and _is_literal(text) else collector.answers_source(code, list(answers))


@lru_cache(maxsize=256)
def _defines_something(source: str) -> bool:
    return any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in ast.parse(source).body)


def _assignments(answers: Mapping[str, Value]) -> str:
    return "\n".join(f"{variable} = {_literal(value)}" for variable, value in answers.items())


def _literal(value: Value) -> str:
    if hasattr(value, "tolist"):  # write a NumPy scalar as a number
        return f"np.array({value.tolist()!r})" if getattr(value, "ndim", 0) else repr(value.tolist())
    return repr(value)


def _is_literal(text: str) -> bool:
    """Return whether the assignments in ``text`` can be executed as written. The reprs of tables, dates and NaN cannot."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return False
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return names <= {"np", *dir(builtins)}


class _SourceCollector:
    """A collector of the source of one function and of everything in its module that it depends on.

    ``taken`` contains the helpers in other cells by name, so that two helpers with the same name do not replace each other.
    """

    def __init__(self, exercise: str, notebook: Notebook, taken: dict[str, str]) -> None:
        self.exercise = exercise
        self.taken = taken
        others = [attempt.defined_names(c.source) or () for c in notebook.code_cells() if c.name != exercise]
        # Names that the notebook binds anyway, such as np and earlier exercises, are not collected.
        self.there = set(notebook.exercises()).union(*others)
        self.parts: list[str] = []
        self.imports: dict[str, str] = {}
        self.seen: set[str] = set()

    def function_source(self, function: Callable[..., Value]) -> str:
        """Return the source of the dependencies of ``function``, followed by ``function`` itself under the exercise's name."""
        module = sys.modules[function.__module__]
        node = _definition(function)
        renames = {function.__name__: self.exercise}
        if function.__name__ != self.exercise:
            # A wrong softmax may call the right softmax, which then gets another name.
            renames[self.exercise] = f"right_{self.exercise}"
        self._needs(node, module, renames)
        self.parts.append(ast.unparse(_StudentStyle(renames).visit(node)))
        return "\n\n\n".join(self.parts)

    def answers_source(self, function: Callable[..., Value], variables: Sequence[str]) -> str:
        """Return source that computes ``variables``: the module's assignments if it has them, else calls of ``function``."""
        module = sys.modules[function.__module__]
        body = _tree(Path(module.__file__ or "")).body
        places = {v: max((i for i, s in enumerate(body) if v in attempt.bound_names(s)), default=-1) for v in variables}
        if min(places.values()) < 0:
            self.function_source(function)
            return "\n".join([*self.parts, *(f"{v} = {self.exercise}()[{v!r}]" for v in variables)])
        self.there |= set(variables)
        for place in sorted(set(places.values())):
            self._needs(body[place], module, {})
            self.parts.append(ast.unparse(_StudentStyle({}).visit(copy.deepcopy(body[place]))))
        return "\n".join(self.parts)

    def _needs(self, node: ast.stmt, module: ModuleType, renames: dict[str, str]) -> None:
        for name in _used(node):
            target = renames.get(name, name)
            if target in self.seen or target == self.exercise or (target in self.there and target == name):
                continue
            binding = _binding(name, module)
            if binding is None:
                continue  # a builtin or a local name
            self.seen.add(target)
            statement, origin = binding
            if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name != name:
                # The definition is imported under another name (``as attention``), so use its own name in the notebook.
                target = renames[name] = statement.name
                if target in self.seen or target in self.there:
                    continue
                self.seen.add(target)
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self.imports[name] = ast.unparse(statement)
                self.parts.append(self.imports[name])
                continue
            if _is_chapter_folder(vars(origin).get(name), origin):
                statement = ast.parse(f"{name} = Path()").body[0]  # the files next to the notebook
            self._needs(statement, origin, renames)
            source = ast.unparse(_StudentStyle(renames).visit(copy.deepcopy(statement)))
            if self.taken.setdefault(target, source) != source:
                renames[name] = f"{target}_in_{self.exercise}"
                source = ast.unparse(_StudentStyle(renames).visit(statement))
            self.parts.append(source)


class _StudentStyle(ast.NodeTransformer):
    """A transformer that rewrites a definition as a student would write it: renamed, without annotations or docstrings."""

    def __init__(self, renames: Mapping[str, str]) -> None:
        self.renames = renames

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.name = self.renames.get(node.name, node.name)
        node.returns = None
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        fields = {id(part): copy.deepcopy(part) for part in node.body if isinstance(part, ast.AnnAssign)}
        node.body = [part for part in node.body if id(part) not in fields]
        self.generic_visit(node)
        node.name = self.renames.get(node.name, node.name)
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
        node.body = [*fields.values(), *node.body] or [ast.Pass()]  # keep the fields of a dataclass
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        return node if node.value is None else ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.renames.get(node.id, node.id)
        return node


def _unmarked(node: N, module: ModuleType) -> N:
    """Return a copy of the definition ``node`` without the decorators that name its exercise."""

    def is_mark(decorator: ast.expr) -> bool:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        called = called.value if isinstance(called, ast.Attribute) else called  # @right.worth_reading
        bound = vars(module).get(called.id) if isinstance(called, ast.Name) else None
        return isinstance(bound, SolutionDecorator) or bound in {misconceptions_of, alternatives_of}

    node = copy.deepcopy(node)
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        node.decorator_list = [d for d in node.decorator_list if not is_mark(d)]
    return _UnqualifiedNames(module).visit(node)  # type: ignore[no-any-return]


class _UnqualifiedNames(ast.NodeTransformer):
    """A transformer that replaces ``right.softmax`` by ``softmax`` if ``right`` is a course module, because notebooks cannot import course modules."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in _course_modules(self.module):
            return ast.copy_location(ast.Name(node.attr, node.ctx), node)
        return node


def _is_chapter_folder(value: object, module: ModuleType) -> bool:
    """Return whether ``value`` is the folder of the notebook whose solutions are in ``module``."""
    file = Path(module.__file__ or "")
    return isinstance(value, Path) and value.resolve() == (file.parent.parent / "source" / file.stem).resolve()


def _course_modules(module: ModuleType) -> dict[str, ModuleType]:
    """Return the course modules that ``module`` imports as a whole, by their names in ``module``."""
    modules = {name: value for name, value in vars(module).items() if isinstance(value, ModuleType)}
    return {name: value for name, value in modules.items() if value.__name__.startswith("solutions.")}


def _definition(function: Callable[..., Value]) -> ast.FunctionDef | ast.ClassDef:
    if isinstance(function, type):
        module = sys.modules[function.__module__]
        for statement in _tree(Path(module.__file__ or "")).body:
            if isinstance(statement, ast.ClassDef) and statement.name == function.__name__:
                return _unmarked(statement, module)
        raise ValueError(f"{function.__qualname__} is not at the top level of a file, so its source cannot be used.")
    code = inspect.unwrap(function).__code__
    for node in ast.walk(_tree(Path(code.co_filename))):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return _unmarked(node, sys.modules[function.__module__])
    what = f"is not a plain function of {code.co_filename}, so its source cannot be used"
    raise ValueError(f"{function.__qualname__} {what}.")


def _binding(name: str, module: ModuleType) -> tuple[ast.stmt, ModuleType] | None:
    """Return the top-level statement that binds ``name``, and its module: ``module``, or the course module that defines ``name``."""
    if isinstance(vars(module).get(name), SolutionDecorator):
        return None  # a local variable may be called `right`, like the decorator of the alternatives
    for statement in _tree(Path(module.__file__ or "")).body:
        if name not in attempt.bound_names(statement):
            continue
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("solutions"):
            alias = next(a for a in statement.names if (a.asname or a.name) == name)
            origin = sys.modules.get(statement.module or "") or import_module(statement.module or "")
            return _binding(alias.name, origin)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            alias = next(a for a in statement.names if (a.asname or a.name.partition(".")[0]) == name)
            one = copy.deepcopy(statement)
            one.names = [alias]
            return one, module
        return _unmarked(statement, module), module
    wholes = _course_modules(module).values()
    return next((_binding(name, whole) for whole in wholes if callable(getattr(whole, name, None))), None)


def _used(node: ast.stmt) -> list[str]:
    plain = _StudentStyle({}).visit(copy.deepcopy(node))  # without annotations, which do not run
    own = {
        name for n in ast.walk(plain) if isinstance(n, ast.Import | ast.ImportFrom) for name in attempt.bound_names(n)
    }
    used = (n.id for n in ast.walk(plain) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return [name for name in dict.fromkeys(used) if name not in own]


def _tree(path: Path) -> ast.Module:
    return _tree_at(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _tree_at(path: Path, _changed: int) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
