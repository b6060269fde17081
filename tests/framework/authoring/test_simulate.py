"""Tests of writing solutions into notebooks as students would write them."""

import ast
import builtins

import pytest

from autograder.authoring.simulate import solved_notebook
from autograder.course.course import load_course
from autograder.course.notebook import load_document, notebook_of
from autograder.judging.loader import known_alternatives, known_misconceptions
from tests.support import ROOT

COURSE = load_course(ROOT)


def unknown_names(source, known):
    """Return the names used in ``source`` that are not defined there, not built in and not in ``known``."""
    nodes = list(ast.walk(ast.parse(source)))
    given = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    given |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    given |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    given |= {n.name for n in nodes if isinstance(n, ast.ExceptHandler) and n.name}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            given |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return {n.id for n in nodes if isinstance(n, ast.Name)} - given - known - set(dir(builtins))


@pytest.mark.parametrize("chapter", COURSE.finished_chapters())
def test_a_solution_brings_along_what_it_needs(chapter):
    """Each right or wrong solution in a notebook uses only names that the notebook defines, even if an import renames them."""
    blank = load_document(COURSE.source(chapter).read_bytes())
    known = set(notebook_of(blank).exercises())
    for cell in notebook_of(blank).code_cells():
        tree = ast.parse(cell.source)
        known |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        known |= {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
        known |= {(a.asname or a.name).split(".")[0] for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names}  # fmt: skip
    solutions = [*known_alternatives(COURSE, chapter), *known_misconceptions(COURSE, chapter)]
    missing = {}
    for solution in solutions:
        notebook = notebook_of(solved_notebook(COURSE, chapter, {solution.exercise: solution.function}, start=blank))
        stub = notebook.stub(solution.exercise)
        if names := unknown_names(stub.source, known):
            missing[solution.name] = names
    assert len(solutions) > 10
    assert missing == {}
