"""Which checks a release has proven, known by what they are made of: a check that changed since is not proven any more."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.course import Course
from autograder.files import write_atomically
from autograder.judging.loader import ChapterChecks, load_checks

__all__ = ["note_proven", "unproven"]


def note_proven(course: Course, chapter: str) -> None:
    """Note that the checks of ``chapter`` are proven as they are now."""
    found = _fingerprints(load_checks(course, chapter))
    write_atomically(_path(course, chapter), (json.dumps(found, indent=1) + "\n").encode())


def unproven(course: Course, chapter: str) -> list[tuple[str, str]] | None:
    """Exercise and title of each check that is new, or made of something else, since the last release.

    None where no release is known. Raises ``CourseError`` where the checks cannot be read.
    """
    try:
        proven = json.loads(_path(course, chapter).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    checks = load_checks(course, chapter)
    now = _fingerprints(checks)
    titles = {f"{e.name}.{c.name}": (e.name, c.title) for e in checks.specs.values() for c in e.checks}
    return [
        titles[name] for name, made_of in now.items() if not isinstance(proven, dict) or proven.get(name) != made_of
    ]


def _path(course: Course, chapter: str) -> Path:
    return course.state("proven", f"{chapter}.json")


def _fingerprints(checks: ChapterChecks) -> dict[str, str]:
    """What each check is made of: its own code, its exercise's, and whatever of the course these mention; layout and comments do not matter."""
    course, chapter = checks.course, checks.chapter
    path = course.checks(chapter)
    here = _parsed(path)
    known = _named(here.body)
    for other in [*_helpers(path), course.root / "solutions" / f"{chapter}.py"]:
        for name, nodes in _named(_parsed(other).body).items():
            known.setdefault(name, []).extend(nodes)
    found = {}
    for exercise in checks.specs.values():
        own = known.get(checks.classes[exercise.name].__name__, [])
        classes = [node for node in own if isinstance(node, ast.ClassDef)]
        members = _named(node for cls in classes for node in cls.body)
        around: list[ast.AST] = [node for cls in classes for node in [*cls.decorator_list, *cls.bases]] or [here]
        for check in exercise.checks:
            nodes = [*around, *members.get(check.name, own), *known.get(exercise.name, [])]
            text = "\n".join([repr(check), *_with_mentions(nodes, known)])
            found[f"{exercise.name}.{check.name}"] = hashlib.sha256(text.encode()).hexdigest()
    return found


def _helpers(path: Path) -> list[Path]:
    return sorted(other for other in path.parent.glob("*.py") if not other.name.startswith("test_"))


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes()) if path.is_file() else ast.Module([], [])


def _named(body: Iterable[ast.AST]) -> dict[str, list[ast.AST]]:
    """What a body defines, by name."""
    found: dict[str, list[ast.AST]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        else:
            continue
        for name in names:
            found.setdefault(name, []).append(node)
    return found


def _with_mentions(nodes: Iterable[ast.AST], known: Mapping[str, list[ast.AST]]) -> list[str]:
    """The nodes as text, and every definition that they mention, however far."""
    seen: dict[int, str] = {}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = ast.dump(node)
        for part in ast.walk(node):
            name = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
            waiting += known.get(name, [])
    return sorted(seen.values())
