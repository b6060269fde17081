"""Tests of the alternatives that students may read: they could be cells of the notebook, and most exercises have one."""

from __future__ import annotations

import ast
import builtins
import re

import pytest

from autograder.course.course import load_course
from autograder.judging.loader import known_alternatives
from autograder.student.examples.record import solution_source
from tests.support import ROOT

COURSE = load_course(ROOT)
NONE_SHOWN = {"einsum_attention", "generate", "predictions"}  # letters, alternatives that need helpers, answers


@pytest.mark.parametrize("chapter", COURSE.chapters)
def test_what_is_shown_uses_names_that_the_notebook_knows(chapter):
    """Each is one function under the exercise's name. It uses only names that the notebook defines, and has a line about why."""
    notebook = COURSE.source(chapter).read_text()
    shown = [a for a in known_alternatives(COURSE, chapter) if a.worth_reading]
    functions = {a.exercise for a in known_alternatives(COURSE, chapter)} - NONE_SHOWN
    assert {name for name in functions if not name.startswith("quiz")} <= {a.exercise for a in shown}
    for alternative in shown:
        source = solution_source(alternative.function, alternative.exercise)
        tree = ast.parse(source)
        assert [node.name for node in tree.body] == [alternative.exercise]
        assert '"""' not in source
        nodes = list(ast.walk(tree))
        made = {n.arg for n in nodes if isinstance(n, ast.arg)} | {
            n.name for n in nodes if isinstance(n, ast.FunctionDef)
        }
        made |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        used = {n.id for n in nodes if isinstance(n, ast.Name)} - made - set(dir(builtins))
        unknown = [n for n in used if not re.search(rf"def {n}\(|import [^\\]*\b{n}\b", notebook)]
        assert unknown == [], alternative.name
        assert len(alternative.note.split()) >= 6, f"{alternative.name}: why is it worth reading?"
