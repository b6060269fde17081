"""Fill in templates for a new exercise, with ``TODO(author)`` wherever the author must write something."""

from __future__ import annotations

import ast
from pathlib import Path

from autograder.authoring.release.problems import MARK

__all__ = ["check_class", "import_lines", "notebook_title", "outline"]


_OUTLINES = Path(__file__).with_name("outlines")


def outline(kind: str, name: str, **words: str) -> str:
    """Fill in the outline ``kind`` for the exercise ``name``. The kinds are the names of the files in ``outlines``, such as ``reference``."""
    return (_OUTLINES / f"{kind}.txt").read_text(encoding="utf-8").format(MARK=MARK, name=name, **words)


def check_class(name: str, node: ast.FunctionDef | ast.ClassDef, points: float) -> str:
    """Return a check class for an exercise, in which the author must fill in the inputs and hints."""
    arguments = ", ".join("..." for _ in _required(node))
    small = f"agrees.{name}({arguments})  # {MARK}: give an input whose result students can compute by hand"
    other = f"agrees.{name}({arguments})  # {MARK}: give an input for which a nearly correct solution fails"
    if isinstance(node, ast.ClassDef):
        create = f"made = agrees.{name}({arguments})"
        small = f"{create}  # {MARK}: use `made` in the checks below, as in made.method(…), len(made) or made.attribute"
        other = f"{create}  # {MARK}: check something that a nearly correct class gets wrong"
    care = 0.5 if points >= 2 else points / 4
    visible = 1.0 if 3 <= points < 8 else points / 4
    shares = {"visible": visible, "hidden": points - visible - care, "care": care, "points": points}
    title = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    numbers = {share: f"{part:.12g}" for share, part in shares.items()}
    return outline("checks", name, title=title, small=small, other=other, **numbers)


def notebook_title(chapter: str) -> str:
    """Return the first cell of a new chapter's notebook."""
    return f"# {MARK}: give {chapter} a title, and describe it below"


def import_lines(wanted: dict[str, str], known: frozenset[str]) -> str:
    """Return import lines for the names in ``wanted`` that are not ``known``. ``wanted`` maps each name to its module."""
    lines = ["import numpy as np"] if "np" in wanted and "np" not in known else []
    modules: dict[str, list[str]] = {}
    for word, module in wanted.items():
        if word != "np" and word not in known:
            modules.setdefault(module, []).append(word)
    if lines and modules:
        lines.append("")
    lines += [f"from {module} import {', '.join(sorted(words))}" for module, words in modules.items()]
    return "".join(f"{line}\n" for line in lines)


def _required(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    if isinstance(node, ast.ClassDef):
        init = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
        return _required(init)[1:] if init is not None else []
    parameters = [*node.args.posonlyargs, *node.args.args]
    return [one.arg for one in parameters[: len(parameters) - len(node.args.defaults)]]
