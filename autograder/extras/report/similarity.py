"""Find submissions with the same code, apart from names and layout.

The result shows which submissions to look at, not why they are similar. Short answers, and answers that many students write, count for little.
"""

from __future__ import annotations

import ast
import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path

from autograder.course.course import Course
from autograder.course.notebook import NotebookError, cell_of, load_document, load_source, read_bytes

__all__ = ["SimilarGroup", "normal_form", "similar_groups"]

_LONG = 40.0  # an answer with this many syntax parts has half of the maximum weight
_LEAST = 0.55  # two students are listed if their common answers have at least this share of one answer's maximum weight
_FEW = 3  # in a class of any size, an answer counts if at most this many students share it
_RARE = 20  # in a larger class, it also counts if at most one in this many students shares it
_MAX_CODE = 20_000  # characters. Longer code is not an answer to an exercise.
# Syntax nodes that do not depend on any choice by the student.
_SILENT = (ast.expr_context, ast.Module, ast.arguments)


@dataclass(frozen=True, slots=True)
class SimilarGroup:
    """Students who wrote the same code for ``exercises``, apart from names and layout. ``code`` is one of their answers.

    ``weight`` is higher for longer answers, and for answers that fewer students share.
    """

    students: tuple[str, ...]
    exercises: tuple[str, ...]
    weight: float
    code: str


def similar_groups(course: Course, chapter: str, notebooks: Mapping[str, Path]) -> list[SimilarGroup]:
    """Return the groups of students with similar notebooks, the highest weight first. ``notebooks`` has each student's notebook.

    Two students often share one answer of usual length by chance, so a group is listed only if it weighs more than this.
    """
    _document, released = load_source(course.source(chapter))
    handed_out = {n: normal_form(s.source) for n in released.exercises() if (s := released.stub(n)) is not None}
    written: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    sizes: dict[str, int] = {}
    for student, path in notebooks.items():
        for exercise, source in _answers(path, released.exercises()).items():
            form = normal_form(source)
            if form is not None and form != handed_out.get(exercise):
                key, sizes[key] = form
                written[exercise][key].append((student, source))
    return _groups(written, sizes, len(notebooks))


def _groups(
    written: Mapping[str, Mapping[str, Sequence[tuple[str, str]]]], sizes: Mapping[str, int], students: int
) -> list[SimilarGroup]:
    weights: dict[tuple[str, str], float] = defaultdict(float)
    shared: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for exercise, forms in written.items():
        answers = sum(map(len, forms.values()))
        for key, members in forms.items():
            if not 2 <= len(members) <= max(_FEW, answers // _RARE):
                continue
            weight = math.log2(answers / len(members)) * sizes[key] / (sizes[key] + _LONG)
            for pair in combinations(sorted({student for student, _ in members}), 2):
                weights[pair] += weight
                shared[pair].append((exercise, key))
    least = _LEAST * math.log2(max(students, 4))
    listed = {pair: weight for pair, weight in weights.items() if weight >= least}
    found = []
    for group in _connected(listed):
        pairs = [pair for pair in listed if pair[0] in group]
        keys = {key for pair in pairs for key in shared[pair]}
        exercises = tuple(exercise for exercise in written if any(exercise == e for e, _ in keys))
        exercise, key = max(keys, key=lambda one: (sizes[one[1]], one))
        code = written[exercise][key][0][1]
        found.append(SimilarGroup(tuple(sorted(group)), exercises, max(listed[p] for p in pairs), code))
    return sorted(found, key=lambda group: (-group.weight, group.students))


def _connected(pairs: Mapping[tuple[str, str], float]) -> list[set[str]]:
    groups: dict[str, set[str]] = {}
    for first, second in pairs:
        one, other = groups.get(first, {first}), groups.get(second, {second})
        one |= other
        groups |= dict.fromkeys(one, one)
    return list({id(group): group for group in groups.values()}.values())


def _answers(path: Path, exercises: Sequence[str]) -> dict[str, str]:
    """Return the code in the stub of each exercise. If a stub cell is duplicated, the last copy counts."""
    try:
        cells = load_document(read_bytes(path), path)["cells"]
    except (NotebookError, OSError):
        return {}
    # Most cells are prose. Skipping them halves the time for a class of thousands.
    metas = ((cell, cell.get("metadata")) for cell in cells if isinstance(cell, dict))
    stubs = (cell_of(0, cell) for cell, meta in metas if isinstance(meta, dict) and "nbgrader" in meta)
    return {str(cell.grade_id): cell.source for cell in stubs if cell.role == "stub" and cell.grade_id in exercises}


@lru_cache(maxsize=20_000)
def normal_form(source: str) -> tuple[str, int] | None:
    """Return a digest of ``source`` and its number of parts. The digest ignores layout, comments, types and local names.

    Return None if ``source`` is too long or not valid Python.
    """
    if len(source) > _MAX_CODE:
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    own = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    own |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names: dict[str, str] = {}
    parts: list[str] = []
    try:
        _write(tree, own, names, parts)
    except RecursionError:
        return None
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:24], len(parts)


def _write(node: ast.AST, own: set[str], names: dict[str, str], parts: list[str]) -> None:
    """Append a text for each syntax part of ``node`` to ``parts``, in order."""
    if isinstance(node, _SILENT[:1]):
        return
    if not isinstance(node, _SILENT):
        parts.append(_part(node, own, names))
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "type_comment", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _says_nothing(child):
                _write(child, own, names, parts)


def _part(node: ast.AST, own: set[str], names: dict[str, str]) -> str:
    kind = type(node).__name__
    match node:
        case ast.Name(id=name) | ast.arg(arg=name):
            return f"{kind} {names.setdefault(name, f'v{len(names)}') if name in own else name}"
        case ast.Constant(value=int(value)) if type(value) is int:
            return f"{kind} {value:#x}"  # Python refuses to write more than 4,300 decimal digits
        case ast.Constant(value=value):
            return f"{kind} {value!r}"
        case ast.Attribute(attr=name) | ast.FunctionDef(name=name) | ast.keyword(arg=name) | ast.alias(name=name):
            return f"{kind} {name}"
    return kind


def _says_nothing(node: ast.AST) -> bool:
    """Return whether a statement is a docstring, another constant, or ``pass``."""
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return alone or isinstance(node, ast.Pass)
