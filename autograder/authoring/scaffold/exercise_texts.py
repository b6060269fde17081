"""Templates of a new exercise: valid Python with a mark wherever the author must write something."""

from __future__ import annotations

import ast

from autograder.authoring.release.problems import MARK

__all__ = [
    "check_class",
    "class_misconception",
    "class_reference",
    "import_lines",
    "misconception",
    "notebook_title",
    "reference",
    "task",
]


def reference(name: str, parameters: str) -> str:
    """Return the outline of a reference solution."""
    return f'''def {name}{parameters}:
    """{MARK}: say what {name} returns, in a sentence that students also read, and give an example."""
    raise NotImplementedError  # {MARK}: write the solution that you would like to see, as short and clear as on a slide
'''


def class_reference(name: str, parameters: str) -> str:
    """Return the outline of a reference solution that is a class. ``parameters`` are those of ``__init__`` without ``self``."""
    return f'''class {name}:
    """{MARK}: say what {name} is for, in a sentence that students also read."""

    def __init__(self, {parameters[1:]}:
        """{MARK}: say what a new object has."""
        raise NotImplementedError  # {MARK}: write what you would like to see

    def method(self):
        """{MARK}: rename this method, and say what it returns. Give an example."""
        raise NotImplementedError  # {MARK}: write what you would like to see, and add further methods
'''


def misconception(name: str, parameters: str) -> str:
    """Return the outline of a first misconception."""
    return f'''wrong = misconceptions_of("{name}")


@wrong
def mistake_in_{name}{parameters}:
    """{MARK}: what the student did, why it cannot be right, and where to look. Never give the code."""
    raise NotImplementedError  # {MARK}: write the solution with the mistake that you expect most often, and name the function after the mistake
'''


def class_misconception(name: str) -> str:
    """Return the outline of a first misconception for a class."""
    return f'''wrong = misconceptions_of("{name}")


@wrong
class MistakeIn{name[:1].upper() + name[1:]}:
    """{MARK}: what the student did, why it cannot be right, and where to look. Never give the code."""

    # {MARK}: write the class with the mistake that you expect most often, and name it after the mistake
'''


def check_class(name: str, node: ast.FunctionDef | ast.ClassDef, points: float) -> str:
    """Return the checks of an exercise without inputs and hints."""
    arguments = ", ".join("..." for _ in _required(node))
    small = f"agrees.{name}({arguments})  # {MARK}: give an input whose result students can compute by hand"
    other = f"agrees.{name}({arguments})  # {MARK}: give an input for which a nearly right solution fails"
    if isinstance(node, ast.ClassDef):
        create = f"made = agrees.{name}({arguments})"
        small = f"{create}  # {MARK}: use it below: made.method(…), len(made) or made.attribute"
        other = f"{create}  # {MARK}: check something that a nearly right class gets wrong"
    care = 0.5 if points >= 2 else points / 4
    visible = 1.0 if 3 <= points < 8 else points / 4
    shares = [f"{part:.12g}" for part in (visible, points - visible - care, care)]
    title = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    return f'''@exercise("{name}", points={points:.12g})
class Test{title}:
    """{MARK}: a hint for students who do not know where to begin. Put each further hint in its own paragraph."""

    @check(points={shares[0]}, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        {small}

    @check(points={shares[1]}, after="test_small_example")
    def test_another_input(self, agrees):
        """{MARK}: say what this check tests, in a few words for students"""
        {other}

    test_care = pure(points={shares[2]}, after="test_small_example")
'''


def notebook_title(chapter: str) -> str:
    """Return the first cell of a new chapter's notebook."""
    return f"# {MARK}: give {chapter} a title, and describe it below"


def task(name: str) -> str:
    """Return the text above a stub."""
    return f"## {name}\n\n{MARK}: describe the task, and why its result is useful.\n\nWrite `{name}`, run its cell, then run the check below it."


def import_lines(wanted: dict[str, str], known: frozenset[str]) -> str:
    """Return import lines for the ``wanted`` names, given with their modules, that are not ``known``."""
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
