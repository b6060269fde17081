"""Check the packages and data files that a chapter's notebook needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from autograder.authoring.release.problems import Mistake, SourceNotebook, called_name, calls_in
from autograder.base import attempt
from autograder.base.formatting import pluralize
from autograder.course.course import Course
from autograder.course.notebook import MAY_FAIL, Cell, files_beside, hidden_files
from autograder.grading.imports import modules_of
from autograder.sandbox.packages import PackageMissing

__all__ = ["PACKAGES", "need_mistakes"]

PACKAGES = "packages"  # the value of Mistake.about for c.Course.packages
_READERS = frozenset({"open", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "imread"})
_LARGEST_MB = 64  # the limit for all files next to a notebook, because each submission's sandbox gets a copy
_PATH_READERS = frozenset({"open", "read_text", "read_bytes"})
_WRITERS = frozenset({"save", "savez", "savez_compressed", "savetxt", "savefig", "imsave"})


def need_mistakes(source: SourceNotebook, course: Course, chapter: str) -> Iterator[Mistake]:
    """Yield the mistakes in the notebook's imports, in the paths that it reads, and in the files released with it."""
    try:
        there = modules_of(course)
    except PackageMissing as error:
        yield Mistake("course_config.py", str(error), about=PACKAGES)
    else:
        yield from _imports(source, course, chapter, there)
    yield from _files(source, course, chapter)
    yield from _size(course, chapter)
    both = {p.name for p in files_beside(course.source(chapter))} & {
        p.name for p in hidden_files(course.checks(chapter))
    }
    for name in sorted(both):
        what = f"there is another {name} in source/{chapter}, which students have. Give the hidden file another name."
        yield Mistake(f"tests/chapters/{chapter}/{name}", what, about=name)


def _size(course: Course, chapter: str) -> Iterator[Mistake]:
    sizes = {path: path.stat().st_size / (1 << 20) for path in files_beside(course.source(chapter))}
    if sum(sizes.values()) > _LARGEST_MB:
        largest = max(sizes, key=sizes.__getitem__)
        what = (
            f"the files next to the notebook take {sum(sizes.values()):.0f} MiB. The limit is {_LARGEST_MB} MiB, because each "
            f"submission is graded with its own copy. The largest is {largest.name} with {sizes[largest]:.0f} MiB: store "
            "fewer numbers, or smaller ones (such as float16)."
        )
        yield Mistake(f"source/{chapter}", what, about=chapter)


def _imports(source: SourceNotebook, course: Course, chapter: str, known: frozenset[str]) -> Iterator[Mistake]:
    """Yield a mistake for each unlisted package. It names the first cell that imports the package, and counts the later ones."""
    folder = course.source(chapter).parent
    missing: dict[str, list[tuple[Cell, int]]] = {}
    for cell in (one for one in source.code if MAY_FAIL not in one.tags):
        for line, module in attempt.imported(cell.source):
            # Modules next to the notebook are released with it.
            if module not in known and not (folder / f"{module}.py").is_file():
                missing.setdefault(module, []).append((cell, line))
    for module, places in missing.items():
        cell, line = places[0]
        others = len({other.index for other, _ in places}) - 1
        besides = f", as {pluralize(others, 'cell')} below it {'does' if others == 1 else 'do'}" if others else ""
        what = (
            f"it imports {module}{besides}, but a student's code may import only {', '.join(course.packages)} and the standard "
            f"library. Add {module!r} to c.Course.packages in course_config.py, or do not use it."
        )
        yield Mistake(source.place(cell, line), what, about=cell.grade_id or source.name(cell))


def _files(source: SourceNotebook, course: Course, chapter: str) -> Iterator[Mistake]:
    folder = course.source(chapter).parent
    calls = [(cell, call) for cell in source.code if MAY_FAIL not in cell.tags for call in calls_in(cell)]
    created = {_literal(call) for _, call in calls if _writes(call)}
    for cell, call in calls:
        name = _literal(call)
        if not name or not _reads(call) or name in created or "://" in name:
            continue
        if PurePosixPath(name).is_absolute() or name.startswith("~"):
            what = (
                f"it reads {name}, a path on your machine that students do not have. Put the file next to the notebook and read "
                f"{PurePosixPath(name).name!r}."
            )
        elif ".." in Path(name).parts:
            what = (
                f"it reads {name}, which is outside source/{chapter}. The release contains only the files next to the notebook. "
                f"Put the file there, and read {PurePosixPath(name).name!r}."
            )
        elif not (folder / name).is_file():
            what = (
                f"it reads {name}, but the release will not contain it: there is no such file in source/{chapter}. "
                "Put it there, next to the notebook."
            )
        else:
            continue
        yield Mistake(source.place(cell, call.lineno), what, about=cell.grade_id or source.name(cell))


def _reads(call: ast.Call) -> bool:
    name = called_name(call)
    if _of_a_path(call):
        return name in _PATH_READERS and not _writes(call)
    return (name in _READERS or name.startswith("read_")) and not _writes(call)


def _writes(call: ast.Call) -> bool:
    name = called_name(call)
    if name == "open":
        mode = [*call.args[0 if _of_a_path(call) else 1 :], *(k.value for k in call.keywords if k.arg == "mode")][:1]
        return any(isinstance(m, ast.Constant) and set(str(m.value)) & set("wax") for m in mode)
    return name in _WRITERS or name.startswith(("write_", "to_"))


def _of_a_path(call: ast.Call) -> bool:
    """Return whether ``call`` is a method call on ``Path("…")``."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(owner, ast.Call) and called_name(owner) in {"Path", "PurePath", "PosixPath"}


def _literal(call: ast.Call) -> str:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    arguments = owner.args if _of_a_path(call) and isinstance(owner, ast.Call) else call.args
    first = arguments[0] if arguments else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
