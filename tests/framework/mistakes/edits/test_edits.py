"""Tests of edits of a student's source: which edits are tried, in which line each one is, and that the rest of the text stays."""

import ast
from math import inf
from types import ModuleType

import pytest

from autograder.base.edit_kinds import KINDS, kind_of
from autograder.mistakes.edits.donors import Donor, donor_operator
from autograder.mistakes.edits.generator import Definition, edited, edits_of, overlap
from autograder.mistakes.edits.operators import Change, operator, operators_in

SOFTMAX = """\
def softmax(x, axis=-1):  # gewöhnlich
    e = np.exp(x - x.max())
    return e / e.sum(axis=0, keepdims=True)
"""


def definition(source, cell="cell 1"):
    """Return the only definition in a cell."""
    [found] = [d for s in ast.parse(source).body if (d := Definition.of(s, source, cell))]
    return found


def results(source, **options):
    """Return a dictionary from each edited text of ``source``, in standard formatting, to the first edit that gives it."""
    own = definition(source)
    edits = [e for e in edits_of(own, **options) if _parses(own, e)]
    return {ast.unparse(ast.parse(edited(own.text, [e]))): e for e in reversed(edits)}


def _parses(own, edit):
    try:
        ast.parse(edited(own.text, [edit]))
    except SyntaxError:
        return False
    return True


PLACES = [  # the wrong body, the body after one edit, the line of the edit, and its kind
    ("return x.sum(axis=0)", "return x.sum(axis=-1)", 2, "axis"),
    ("return x.sum()", "return x.sum(axis=-1, keepdims=True)", 2, "axis"),
    ("return x / x.sum(axis=-1)", "return x / x.sum(axis=-1, keepdims=True)", 2, "keepdims"),
    ("return x - y", "return y - x", 2, "order"),
    ("return np.where(x, y, 0)", "return np.where(y, x, 0)", 2, "order"),
    ("return x * y", "return x @ y", 2, "operator"),
    ("return x + y * 2", "return (x + y) * 2", 2, "grouping"),
    ("return x - y / 2 * 3", "return (x - y / 2) * 3", 2, "grouping"),
    ("return x - y / 2 * 3 + 4", "return (x - y) / 2 * 3 + 4", 2, "grouping"),
    ("return np.exp(x) / y", "return np.exp(x / y)", 2, "grouping"),
    ("return np.sum(x) * np.sum(y)", "return np.sum(x * y)", 2, "grouping"),
    ("return x.sum(axis=0) * y.sum(axis=0)", "return (x * y).sum(axis=0)", 2, "grouping"),
    ("return x[1:]", "return x[:]", 2, "index"),
    ("return x[-2:]", "return x[:2]", 2, "index"),
    ("return x[:y]", "return x[-y:]", 2, "index"),
    ("return x[0, -y:]", "return x[0, :y]", 2, "index"),
    ("return x[..., y:]", "return x[..., :y]", 2, "index"),
    ("return x[:, 0]", "return x[0, :]", 2, "index"),
    ("return x < 3", "return x <= 3", 2, "comparison"),
    ("return x + 1", "return x + 2", 2, "number"),
    ("return x @ x.T", "return x @ y.T", 2, "variable"),
    ("return x @ y.T", "return x @ np.swapaxes(y, -1, -2)", 2, "transpose"),
    ("return x @ np.swapaxes(y, 0, 1)", "return x @ np.swapaxes(y, -1, 1)", 2, "number"),
    ("return np.tril(x)", "return np.triu(x)", 2, "function"),
    ("return np.tril(x)", "return np.tril(x, k=-1)", 2, "number"),
    ("return np.hstack([x, y])", "return np.concatenate([x, y], axis=-1)", 2, "function"),
    ("x[0], z = y\n    return x", "x = x.copy()\n    x[0], z = y\n    return x", 2, "inplace"),
    ("return x / 2", "return x / 4", 2, "number"),
    ("return np.sqrt(x)", "return x", 2, "extra"),
    ("return np.exp(x + y)", "return y", 2, "extra"),
    ("return x", "return np.sqrt(x)", 2, "missing"),
    ("return np.exp(x)", "return np.exp(x - np.max(x, axis=-1, keepdims=True))", 2, "shift"),
    ("return np.zeros(3)", "return np.zeros(3, dtype=float)", 2, "dtype"),
    ("return (x, y)", "return x", 2, "returned"),
    ("z = x\n    x + y", "z = x\n    return x + y", 3, "returned"),
    ("x -= y\n    return x", "x = x.copy()\n    x -= y\n    return x", 2, "inplace"),
    ("x -= y\n    return x", "x = x - y\n    return x", 2, "inplace"),
    ("return (x, y)", "return (x.copy(), y)", 2, "inplace"),
    ("np.divide(x, y, out=x)\n    return x", "x = x.copy()\n    np.divide(x, y, out=x)\n    return x", 2, "inplace"),
    ("np.fill_diagonal(x, y)\n    return x", "x = x.copy()\n    np.fill_diagonal(x, y)\n    return x", 2, "inplace"),
    ("x.sort()\n    return x[y]", "x = x.copy()\n    x.sort()\n    return x[y]", 2, "inplace"),
    ("return x[None, :]", "return np.asarray(x)[None, :]", 2, "array"),
    ("n = len(x)\n    return np.zeros((n, n))", "n = len(x)\n    return np.zeros((n, y.shape[-2]))", 3, "shape"),
    ("n = len(x)\n    return np.arange(n)", "n = len(x)\n    return np.arange(y.shape[-1])", 3, "shape"),
    ("return np.exp(np.clip(x, -9, y))", "return np.exp(x - np.max(x, axis=-1, keepdims=True))", 2, "expression"),
    ("return np.exp(x.clip(-9, y))", "return np.exp(x - np.max(x, axis=-1, keepdims=True))", 2, "expression"),
    ("return np.where(x < y, 0, x)", "return np.where(x < x, 0, x)", 2, "comparison"),
    ("return x.ravel('K')", "return x.ravel()", 2, "extra"),
    ("for i in range(y):\n        x = i", "for i in range(min(y, x)):\n        x = i", 2, "range"),
    ("return np.zeros(x.shape[0])", "return np.zeros(x.shape[1])", 2, "shape"),
    ("if x not in y:\n        z = x\n    return z", "if True:\n        z = x\n    return z", 2, "condition"),
    ("return x.reshape(2, 3)", "return np.swapaxes(x.reshape(3, 2), -2, -1)", 2, "transpose"),
    ("return x.sum(axis=-1)", "return np.reshape(x.sum(axis=-1), x.shape[:-1])", 2, "shape"),
    ("z = x\n    z = y\n    return z", "z = y\n    z = x\n    return z", 3, "place"),
    ("z = x\n    z = 0\n    return z", "z = x\n    pass\n    return z", 3, "lines"),
    ("if x is None and y:\n        x = 1\n    return x", "if x is None or y:\n        x = 1\n    return x", 2, "condition"),
    ("for i in range(y):\n        x = x + i\n    return x", "for i in range(y + 1):\n        x = x + i\n    return x", 2, "range"),
    ("for i in x:\n        z = i\n        return z", "for i in x:\n        z = i\n        pass\n    return z", 4, "returned"),
    ("z = 0\n    for i in x:\n        z += i\n    return z", "for i in x:\n        z = 0\n        z += i\n    return z", 2, "place"),
    ("z = 0\n    for i in x:\n        w = i\n    z += w\n    return z", "z = 0\n    for i in x:\n        w = i\n        z += w\n    return z", 5, "place"),
    (
        "z = np.zeros(3)\n    w = []\n    for i in x:\n        z = z + i\n        w.append(z)\n    return w",
        "w = []\n    for i in x:\n        z = np.zeros(3)\n        z = z + i\n        w.append(z)\n    return w", 2, "place",
    ),
    ("d = x.shape[-1]\n    return y / d", "d = x.shape[-1]\n    return y / y.shape[-1]", 3, "variable"),
    ("return x - x[0]", "return x - np.max(x)", 2, "index"),
    ("return x * y[0]", "return x * x", 2, "variable"),
    ("z = np.sqrt(x)\n    return y / z", "z = 1\n    return y / z", 2, "extra"),
    (
        "for i in x:\n        return i > 0\n    return True",
        "for i in x:\n        if not i > 0:\n            return False\n    return True", 3, "returned",
    ),
    (
        "for i in x:\n        if i > 0:\n            return 1\n        return 2",
        "for i in x:\n        pass\n        return 2", 3, "case",
    ),
    ("x[0, y] = 1\n    return x", "x[0, y] = x[y, 0] = 1\n    return x", 2, "missing"),
    ("for i in x:\n        break", "for i in x:\n        continue", 3, "loop"),
    ("if len(x) == 1:\n        x = y\n    return x", "if len(x) == 0:\n        x = y\n    return x", 2, "branch"),
    ("if x in y:\n        x = 1\n    return x", "if y in y:\n        x = 1\n    return x", 2, "condition"),
    ("return np.zeros_like(x)", "return np.zeros_like(y[0])", 2, "shape"),
    ("for i in range(0, len(x), y):\n        y = i", "for i in range(0, x.shape[-2], y):\n        y = i", 2, "shape"),
    ("return x / 2", "return x / np.sqrt(y.shape[-1])", 2, "number"),
    ("n = x.shape[0]\n    return y / 3", "n = x.shape[0]\n    return y / n", 3, "number"),
    ("return x / math.isqrt(y)", "return x / math.sqrt(y)", 2, "function"),
    ("z = 0\n    return z", "z = float('-inf')\n    return z", 2, "number"),
    ("z = np.zeros(3)\n    return z", "z = np.full(3, -1e309)\n    return z", 2, "number"),
    ("if y < 0.1:\n        x = 0\n    return x", "if y == 0:\n        x = 0\n    return x", 2, "branch"),
    ("return np.transpose(x, (0, 2, 1))", "return np.swapaxes(x, -1, -2)", 2, "transpose"),
    ("return x.transpose(0, 2, 1)", "return np.swapaxes(x, -1, -2)", 2, "transpose"),
    ("return np.max(x, 0)", "return np.maximum(x, 0)", 2, "function"),
    ("return np.squeeze(x)", "return np.squeeze(x, axis=-1)", 2, "axis"),
    ("return np.einsum('ij,jk->ki', x, y)", "return np.einsum('ij,jk->ik', x, y)", 2, "text"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted", "line", "kind"), PLACES)
def test_each_slip_is_undone_by_one_edit_of_its_line(body, wanted, line, kind):
    """For each typical mistake, one edit reverses the mistake, in its line and with its kind."""
    found = results(f"def f(x, y):\n    {body}\n")
    edit = found[ast.unparse(ast.parse(f"def f(x, y):\n    {wanted}\n"))]
    assert (edit.line, edit.kind) == (line, kind)


def test_a_condition_is_not_switched_off_by_a_swapped_constant():
    """``np.where(0, x < y, x)`` returns x, whatever the condition, so the line would be named for a wrong reason."""
    found = results("def f(x, y):\n    return np.where(x < y, 0, x)\n")
    assert "def f(x, y):\n    return np.where(x < y, x, 0)" in found
    assert "def f(x, y):\n    return np.where(0, x < y, x)" not in found


def test_a_condition_that_skips_the_rest_of_a_loop_is_not_moved_to_its_end():
    """There, it would skip nothing. That is the same as removing it."""
    own = definition(
        "def f(x):\n    for i in x:\n        if i < 0:\n            continue\n        y = i\n    return y\n"
    )
    assert not [edit for edit in edits_of(own) if edit.kind == "place" and "continue" in edit.text]
    assert [edit for edit in edits_of(own) if edit.kind == "case" and edit.line == 3]


def test_a_default_value_that_all_calls_share_is_made_anew_in_each():
    """The reported line is the line of the ``def``, which has the default value."""
    found = results("def f(x, y={}, *, z=[]):\n    y[x] = 1\n    return y")
    edit = found["def f(x, y={}, *, z=[]):\n    y = {}\n    y[x] = 1\n    return y"]
    assert (edit.line, edit.kind) == (1, "default")


def test_an_edit_changes_its_own_piece_of_the_text_and_nothing_else():
    """Comments, multi-byte letters and layout stay. Lines are counted from the top of the student's cell."""
    source = "import numpy as np\n\n\n" + SOFTMAX
    own = definition(source)
    assert own.first == 4
    for edit in edits_of(own):
        text = edited(own.text, [edit])
        assert text.startswith("def softmax(x, axis=")
        assert "# gewöhnlich" in text
        assert 4 <= edit.line <= 6
    [one] = [e for e in edits_of(own) if edited(own.text, [e]).splitlines()[2].strip() == _ALONG_THE_AXIS]
    assert (one.line, one.kind) == (6, "axis")


_ALONG_THE_AXIS = "return e / (e.sum(keepdims=True, axis=axis))"


def test_a_default_of_none_stays():
    """A default of None comes from the stub, so it is never the mistake."""
    changes = [Change(ast.Constant(7), "number", 1.0)]
    found = results("def f(x, y=None, z=0):\n    return x\n", more=[lambda *_: iter(changes)])
    assert not any("y=7" in text for text in found)
    assert any("z=7" in text for text in found)


def test_two_edits_of_one_line_are_made_together_unless_they_touch():
    """Two edits of one line can be combined unless they change overlapping pieces of the text."""
    own = definition("def f(x, y):\n    return x.sum(axis=0) - y\n")
    axis = next(e for e in edits_of(own) if "axis=-1" in e.text and e.kind == "axis")
    other = next(e for e in edits_of(own) if e.text == "x" and e.kind == "variable")
    assert edited(own.text, [axis, other]) == "def f(x, y):\n    return (x.sum(axis=-1)) - x\n"
    whole = next(e for e in edits_of(own) if e.kind == "order")
    assert overlap([axis, whole])
    assert not overlap([axis, other])


def test_what_does_not_parse_or_never_ends_to_be_read_has_no_edits():
    """Code that cannot be parsed, or is nested too deeply, has no edits."""
    assert not list(edits_of(Definition("f", "def f(:\n", 1)))
    deep = "def f(x):\n    return " + "(" * 150 + "x" + ")" * 150 + "\n"
    assert not list(edits_of(Definition("f", deep.replace("(", "-(" * 40).replace(")", ")" * 40), 1)))
    assert Definition.of(ast.parse("f = 3").body[0], "f = 3") is None


def test_a_right_program_lends_what_is_missing():
    """An expression of a right program replaces an expression of the student's. Variables are matched by name or position."""
    donor = Donor("def f(X, Y):\n    logs = np.log(X)\n    return -(Y * logs).sum(axis=-1)\n")
    found = results("def f(p, q):\n    return -(q * p).sum(axis=-1)\n", more=[donor_operator([donor])])
    edit = found[ast.unparse(ast.parse("def f(p, q):\n    return -(q * np.log(p)).sum(axis=-1)\n"))]
    assert edit.line == 2
    whole = ast.unparse(ast.parse("def f(p, q):\n    return -(q * np.log(p)).sum(axis=-1)\n"))
    start = results("def f(p, q):\n    return p\n", more=[donor_operator([donor])])
    assert whole not in start, "never the whole solution in one place"


def test_only_expressions_with_a_value_are_lent():
    """A called function without its call, and an index with slices, are not lent. Nothing replaces an index with slices."""
    donor = Donor("def f(X):\n    return np.log(X)[:, 1:] + X.sum()\n")
    edits = list(edits_of(definition("def f(x):\n    return x[:, 2:]\n"), more=[donor_operator([donor])]))
    texts = {edit.text for edit in edits}
    assert {"(np.log(x))", "(x.sum())"} <= texts
    assert not {"(np.log)", "(x.sum)", "(:, 1:)", "(np.log((:, 2:)))"} & texts


def test_an_author_adds_an_operator():
    """A module owns the functions that it marks with ``@operator``, and an unknown kind is described by its name."""

    @operator
    def rounded(node, scope):
        if isinstance(node, ast.Name):
            yield Change(scope.np("round", node), "rounding", 1.0)

    module = ModuleType("solutions.ch1")
    module.rounded, module.same, module.other = rounded, rounded, SOFTMAX
    assert operators_in([module, module]) == (rounded,)
    assert any(edit.kind == "rounding" for edit in edits_of(definition(SOFTMAX), more=[rounded]))
    assert all(edit.kind != "rounding" for edit in edits_of(definition(SOFTMAX)))
    assert kind_of("rounding").look == "rounding"


def test_every_mutation_is_also_an_edit():
    """Mutations are tried after all other edits, in their own order, only once, and at the lowest cost."""

    def doubled(node, _scope):
        if isinstance(node, ast.Constant):
            yield Change(ast.Constant(node.value * 2), "number", 3.0, (2,))
            yield Change(ast.Constant(node.value * 3), "number", inf, (1,))
            yield Change(ast.Constant(node.value * 4), "number", inf)
            yield Change(ast.Constant(node.value * 5), "number", 1.0)

    edits = [
        edit for edit in edits_of(definition("def f():\n    return 1000\n"), more=[doubled]) if edit.text[2:] == "000)"
    ]
    assert [(edit.text, edit.cost) for edit in edits] == [("(5000)", 1.0), ("(3000)", 1.0), ("(2000)", 1.0)]


def test_integers_too_large_for_a_float_are_edited():
    """An integer that is too large for a float gets edits, although half of it cannot be computed."""
    own = definition(f"def f():\n    return {10**400}\n")
    assert any(edit.text == f"({10**400 + 1})" for edit in edits_of(own))


def test_every_kind_has_words_that_give_nothing_away():
    """The words of a kind complete a sentence, and contain no code."""
    for kind in KINDS.values():
        assert not kind.look.endswith(".")
        assert "`" not in kind.look
    assert {edit.kind for edit in edits_of(definition(SOFTMAX))} <= KINDS.keys()
