"""Tests of explanations of Python's and NumPy's errors. Every message comes from a real error that is raised here."""

import re
import time

import numpy as np
import pytest

from autograder.judging.explanations import NOT_AS_ASKED, explain, explain_stop, nearest, signature_of_error


def raised(code):
    """Return the type name and the text of the exception that ``code`` raises."""
    try:
        exec(code, {"np": np})  # noqa: S102 - the lines listed below
    except Exception as error:  # noqa: BLE001 - each line raises a different error
        return type(error).__name__, str(error)
    raise AssertionError("the code did not raise")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("np.ones((2, 3)) @ np.ones((2, 3))", "here of size 3, and the second-to-last axis of its right side"),
        ("np.ones((4, 2, 3)) @ np.ones((3, 5, 4))", "Which axis of each array should be summed over"),
        ("np.dot(np.ones((2, 3)), np.ones((2, 3)))", "sums over axis 1 of the left one (size 3) and axis 0"),
        ("np.vecdot(np.ones((2, 3)), np.ones((4, 3)))", "The axes before them do not fit: (2,) and (4,)."),
        ("np.ones((2, 3)) + np.ones((2,))", "The shapes (2,3) and (2,) do not fit"),
        ("np.einsum('ij,jd->id', np.ones((2, 3, 4)), np.ones((2, 4, 5)))", "`...` stands for all leading axes"),
        ("np.einsum('ij,jd->ix', np.ones((2, 3)), np.ones((3, 5)))", "only letters that also appear before it"),
        (
            "np.einsum('ij,jd->id', np.ones((2, 3)), np.ones((4, 5)))",
            "Axes with the same letter must have the same size, and the axes in place of `...` must have equal sizes or size 1",
        ),
        (
            "np.einsum('bij,bjk,bkl->bil', *map(np.ones, [(2, 3, 4), (5, 4, 3), (2, 3, 2)]))",
            "must have the same size",
        ),
        ("[1, 2][2]", "The list has no item at this index. A list of n items has the indices 0 to n - 1"),
        ("''[0]", "The string has no character at this index"),
        ("[].pop()", "You took an item from an empty collection"),
        ("{'a': 1}['b']", "`.get(key, default)` returns a default"),
        ("{[1]}", "Use a tuple instead of a list"),
        ("'a' + 1", "`str(…)` turns a number into a string"),
        ("int('1.5')", "This text is not a whole number"),
        ("np.ones((2, 3)).sum() @ np.ones((3, 2))", "The value on the left of `@` is a single number or None"),
        ("np.ones((2, 3)) @ None", "The value on the right of `@` is a single number or None"),
        (
            "np.ones((2, 3, 4)) @ np.ones((5, 4, 6))",
            "do not fit: (2,) and (5,). Line the shapes up from the right",
        ),
        ("np.ones((2, 3, 4, 5)) @ np.ones((4, 3, 5, 2))", "is an axis in a different place than you think?"),
        ("np.where(np.ones((3, 1, 4)) > 0, np.ones((2, 3, 5)), 0.0)", "The shapes (3,1,4) and (2,3,5) do not fit"),
        ("np.ones((2, 3))[np.ones((1, 3), bool)]", "does not broadcast"),
        ("class Stack: pass\nStack(1)", "two underscores on each side"),
        ("np.ones(3)[3 / 2]", "An index must be a whole number"),
        ("np.ones(3)[0][1]", "a single number, which has no axes"),
        ("np.all(np.ones((2, 2)), np.ones((2, 2)))", "An array is used for an axis, a size or an index"),
        ("~np.ones(3)", "work on booleans (and whole numbers), not on floats"),
        ("{np.ones(3): 1}", "An array cannot be a key"),
        ("np.zeros(2)[:] += np.ones(3)", "The shapes (2,) and (3,) do not fit"),
        ("np.ones(3)()", "You call a value that is not a function"),
        ("np.array([[1, 2], [3]])", "different lengths or shapes"),
        ("np.zeros(2, 3)", "A shape is one argument with its sizes in parentheses"),
        ("np.random.default_rng(1).standard_normal(2, 3)", "A shape is one argument with its sizes in parentheses"),
        ("softmx(1)", "Nothing called `softmx` exists when this line runs"),
        ("numpy.ones(3)", "After `import numpy as np`, the name of NumPy is `np`"),
        ("total = np.zeros(2, int)\ntotal += 0.5", "The array that this line changes has whole numbers only"),
        ("None + 1", "a function without a `return`"),
        ("n, d = np.ones((2, 3, 4)).shape", "but there are only 2 names on the left. Print the right side"),
        ("n, d, k = np.ones((2, 3)).shape", "only 2 values on the right"),
        ("(lambda x: x)(1, 2)", "Keep the parameters of the exercise's function as they were"),
        ("np.ones(3).sum(axis=1)", "there is no axis 1"),
        ("np.ones(3).sum().sum(axis=1)", "a single number, with no axes left"),
        ("np.ones((2, 3)).sum(axis=-3)", "The array has 2 axes, counted from 0, so there is no axis -3"),
        ("np.ones(1)[-2]", "Axis 0 has 1 entry, counted from 0, so index -2 is before the start"),
        ("np.ones(3)[5]", "Axis 0 has 3 entries, counted from 0, so index 5 is past the end"),
        (
            "np.ones((2, 3)).transpose(0, 2, 1)",
            "needs one entry for each axis, no more and no fewer",
        ),
        ("np.ones(6).reshape(4, 2)", "The product of the sizes must be 6"),
        ("np.softmax(1)", "`numpy` has nothing called `softmax`"),
        ("import scipi_not_there", "Use only the packages that the notebook itself imports."),
        ("f = lambda n: f(n)\nglobals().update(f=f)\nf(1)", "never stops calling itself"),
        ("np.zeros(12).reshape(2, -1, 5)", "12 entries cannot be arranged as (2,-1,5)."),
        ("np.zeros(0).reshape(2, 4)", "The array is empty, so it cannot be arranged as (2,4)."),
        ("1 / 0", "Which input makes that divisor zero?"),
        ("if np.ones(3): pass", "or `&`, `|` and `~` for each entry"),
        ("raise NotImplementedError", "Replace it with your answer"),
        ("import math\nmath.exp(np.ones(3))", "got an array"),
        ("def f(:\n  pass", "none of it ran"),
        ("def f():\npass", "come below it, indented by four spaces"),
        ("def f():\n    a = 1\n  return a", "must start in the same column"),
    ],
)
def test_an_error_is_explained_in_words(code, words):
    """The message starts with the exception's own text, and then explains what it means or where to look."""
    kind, message = raised(code)
    text = explain(kind, message, function="f")
    assert text.startswith(f"f stopped with {kind}")
    assert words in text


def test_a_line_of_another_cell_is_reported_with_the_line_that_calls_it():
    """Given code, such as a softmax, may fail because of what a student's function passes to it."""
    text = explain(
        "ValueError", "zero-size array", line="e = x.max()", function="f", cell="cell 3", caller="w = softmax(x)"
    )
    assert text.endswith("It happened in the line `e = x.max()`, called from your line `w = softmax(x)`.")


ARRAYS = {
    "Q": (2, 3),
    "K": (4, 3),
    "V": (4, 5),
    "B": (7, 2, 3),
    "C": (7, 4, 3),
    "v": (5,),
    "x": (2, 3),
    "D": (3, 7, 3),
    "F": (2, 3, 2),
    "E": (3, 2, 3),
    "S": (3, 2, 3, 5),
    "T": (5, 4, 2, 3),  # T @ S has matrices that fit, but batch axes that do not
}


@pytest.mark.parametrize(
    ("line", "words", "unsaid"),
    [
        (
            "Q @ K",
            "If both shapes are as you expect, the sizes would fit with the last two axes of `K` swapped.",
            "of `Q` swapped",
        ),
        ("Q @ K", "Here `Q` has shape (2, 3) and `K` has shape (4, 3).", ""),
        ("S @ T", "Swapping the last two axes of one array, or the two sides, does not make them fit", "would fit"),
        ("Q @ V", "Swapping the last two axes of one array, or the two sides, does not make them fit", "would fit"),
        (
            "K.T @ Q",
            "If both shapes are as you expect, the sizes would fit with the two sides swapped.",
            "last two axes of `",
        ),
        (
            "V @ K",
            "If both shapes are as you expect, the sizes would fit with the last two axes of `V` swapped.",
            "of `K`",
        ),
        (
            "E @ D.T",
            "`.T` reverses all the axes of `D`: the shape stays (3, 7, 3), but the axes change places.",
            "becomes",
        ),
        ("x.T @ F.T", "axes change places. Which axis of each array should be summed over?", "would fit"),
        ("C.T @ x", "(7, 4, 3) becomes (3, 4, 7). Which axis of each array should be summed over", "Swapping"),
        ("B @ C.T", "`.T` reverses all the axes of `C`: (7, 4, 3) becomes (3, 4, 7)", "last two axes of `C`"),
        (
            "Q @ v",
            "here of size 5 (for a vector, its only axis). The two sizes must be equal. Here `Q` has shape (2, 3)",
            "exchange",
        ),
        ("Q @ K[:, 1:]", "Print the shape of each side of the product: are these the shapes that you expect?", "fit"),
        ("x / x.sum(axis=1)", "Without `keepdims=True`, a sum or a maximum drops its axis.", ""),
        ("Q * K", "Which axis of the first array should match which axis of the second?", "drops"),
        ("x / x.sum(axis=0, keepdims=True)[:, :2]", "Which axis of the first array should match", "drops"),
        ("Q.transpose(0, 2, 1)", "swap the axes -1 and -2, counted from the end", ""),
        ("B.transpose(0, 2, 1, 3)", "swap the axes -2 and -3, counted from the end", ""),
        ("B.transpose(2, 0, 1, 3)", "Which axes does the array have just before this line?", "from the end"),
        ("sorted([(1, v), (1, v + 1)])", "Python's own `sorted` compares whole arrays here, or tuples", ".any()"),
        ("[(1, v), (1, v + 1)].sort()", "Python's own `sort` compares whole arrays here, or tuples", ".any()"),
        ("v in [v + 1]", "Python needs one True or False here, but an array has one for each entry.", "np.max"),
        ("np.sort(v) if v else 0", "With `if`, `and`, `or` and `not`, use `.any()`", "own"),
        (
            "__import__('math').exp(710)",
            "too large for a float. `math.exp(x)`, for example, fails if x is above 709.",
            "",
        ),
        ("x - max(x)", "Python's own `max` compares whole arrays here", ".any()"),
        ("v if v == None else 0", "Write `is None` or `is not None`.", ".any()"),
        ("v if v else 0", "use `.any()` or `.all()` for one answer", "max"),
        ("v.sum(axis=1)", "The array has 1 axis, counted from 0, so there is no axis 1. The last axis is -1", "1 axes"),
        ("a, b = B.shape", "An array with batch axes has more sizes", ""),
        ("a, b = B", "Print the right side just before this line", "batch"),
    ],
)
def test_only_what_would_fit_is_suggested(line, words, unsaid):
    """The explanation depends on the line that raised the error and on the shapes of its arrays."""
    scope = {"np": np, **{name: np.ones(shape) for name, shape in ARRAYS.items()}}
    with pytest.raises(Exception) as found:  # noqa: PT011 - each line raises a different error
        exec(line, scope)  # noqa: S102 - the lines listed above
    shapes = ", ".join(f"{name} {shape}" for name, shape in ARRAYS.items() if re.search(rf"\b{name}\b", line))
    text = explain(found.type.__name__, str(found.value), line=line, function="f", shapes=shapes)
    told = text.partition(f"`{line}`.")[2]
    assert words in told
    assert not unsaid or unsaid not in told


def test_an_exercise_whose_cell_was_not_run_is_no_slip_in_writing():
    """If a missing name is an exercise's name, the message says that its cell was not run, even if a defined name is similar."""
    error = ("NameError", "name 'masked_softmax' is not defined")
    exercises = ["masked_softmax", "softmax"]
    text = explain(*error, function="f", known=["softmax"], exercises=exercises)
    assert "`masked_softmax` is an exercise of this notebook" in text
    assert "Its cell has not run yet, is missing, or stopped with an error" in text
    assert "Did you mean" not in text
    text = explain("NameError", "name 'soft_max' is not defined", known=["softmx", "softmax"], exercises=exercises)
    assert "Did you mean `softmax`?" in text
    text = explain("NameError", "name 'softmxx' is not defined", known=["softmx", "softmax"], exercises=exercises)
    assert "Did you mean `softmx`?" in text


def test_arguments_of_another_function_do_not_blame_the_graded_one():
    """The message mentions the exercise's parameters only if the wrong arguments were passed to the graded function."""
    kind, message = raised("np.outer(1)")
    text = explain(kind, message, line="return np.outer(p)", function="softmax_jacobian")
    assert "`outer` does not accept these arguments" in text
    assert "parameters of the exercise's function" not in text
    kind, message = raised("np.ones(2).sum(keepdim=True)")
    text = explain(kind, message, line="return e / e.sum(keepdim=True)", function="softmax")
    assert "`sum` has no argument `keepdim`. Did you mean `keepdims`?" in text
    kind, message = raised("np.ones(2).max(axes=-1)")
    text = explain(kind, message, line="top = x.max(axes=-1)", function="softmax")
    assert text.endswith("`max` has no argument `axes`. Did you mean `axis`?")
    assert "amax" not in text
    text = explain(kind, "f() missing 1 required positional argument: 'b'", line="return f(n - 1)", function="f")
    assert "parameters of the exercise's function" in text


def test_inner_sums_over_the_last_axes():
    """NumPy reports the second shape with its axes reversed, so the message names only the two sizes."""
    kind, message = raised("np.inner(np.ones((2, 3)), np.ones((4, 2)))")
    text = explain(kind, message, line="return np.inner(Q, K)")
    assert "`inner` sums over the last axis of both arrays, here of sizes 3 and 2, which must be equal." in text
    assert "axis 0 of the right" not in text


def test_an_axis_that_was_dropped_in_a_line_above_is_explained():
    """The shapes show the lost axis, and the message names the smaller array. Other shapes get the general question."""
    kind, message = raised("np.ones((2, 3)) - np.ones(2)")
    text = explain(kind, message, line="e = np.exp(x - top)", shapes="x (2, 3), top (2,)")
    assert "Did a sum, a mean or a maximum drop an axis from `top`? `keepdims=True` keeps it" in text
    text = explain(kind, message, line="e = np.exp(x - top) / total", shapes="x (2, 3), top (2,), total (2,)")
    assert "drop an axis from the smaller array?" in text
    kind, message = raised("np.ones((2, 3)) - np.ones(4)")
    assert "Which axis of the first array should match" in explain(
        kind, message, line="e = x - top", shapes="x (2, 3), top (4,)"
    )
    kind, message = raised("np.ones((2, 3)) - np.ones((3, 3, 4))")
    assert "dropped" not in explain(kind, message, line="e = x - top")


@pytest.mark.parametrize(
    ("error", "known", "words"),
    [
        (
            ("ZeroDivisionError", "division by zero"),
            {"line": "    return total / 0"},
            "It happened in the line `return total / 0`.",
        ),
        (
            ("IndexError", "too many indices for array: array is 1-dimensional, but 2 were indexed"),
            {"line": "    a = f(flat)"},
            "A function that this line calls asks for an axis or an entry that its array does not have.",
        ),
        (("NameError", "name 'weigths' is not defined"), {"known": ["weights", "scores"]}, "Did you mean `weights`?"),
    ],
    ids=["the line that raised", "an error inside a function", "a slip in a name of the notebook"],
)
def test_what_is_known_besides_the_error_is_told_too(error, known, words):
    """The message shows the line that raised the error, or the name that was probably meant."""
    assert words in explain(*error, function="f", **known)


@pytest.mark.parametrize(
    ("kind", "message", "cell", "text"),
    [
        ("KeyError", "odd", "softmax", "f stopped with KeyError: odd (in cell softmax)."),
        ("KeyError", "odd", "cell 3", "f stopped with KeyError: odd (in cell 3)."),
        ("ValueError", "odd", "f", "f stopped with ValueError: odd."),
        ("CustomError", "odd", "", "f stopped with CustomError: odd."),
        (NOT_AS_ASKED, "it is a list", "", "f returned a result in the wrong form: it is a list."),
        (NOT_AS_ASKED, "f draws nothing.", "", "f draws nothing."),
    ],
    ids=[
        "by its name",
        "by its number",
        "named once",
        "an unknown error",
        "what a probe could not look at",
        "in its own words",
    ],
)
def test_what_has_no_explanation_is_told_as_it_is_and_where(kind, message, cell, text):
    """An unknown error is shown as it is, with its cell. If a probe cannot read a result, the message does not say that the function stopped."""
    assert explain(kind, message, function="f", cell=cell) == text


def test_the_nearest_name_is_found_among_thousands():
    """If there are too many names to compare, only names with the same start and a similar length are compared."""
    assert nearest("weigths", [*(f"x{n}" for n in range(5000)), "weights"]) == "weights"
    assert nearest("Softmax", [*(f"name{n}" for n in range(5000)), "softmax"]) == "softmax"
    assert nearest("weights", ["scores"]) == nearest("weights", []) == ""


def test_long_names_are_not_compared():
    """Long names are not compared, because comparing thousands of similar names of 200 letters could take minutes."""
    word = "ab" * 100
    names = [word[n:] + word[:n] for n in range(200)] * 25
    started = time.process_time()
    assert nearest(word[::-1], names) == ""
    assert nearest("ab" * 15, [f"{'ab' * 15}{n}" for n in range(5000)]).startswith("abab")
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("stopped", "words"),
    [
        ("timeout", "was stopped after 5 seconds. Is there a loop that never ends"),
        ("memory", "more memory than allowed"),
        ("crash", "ended the Python process"),
        ("protocol", "could not be read"),
    ],
)
def test_a_stopped_call_says_why(stopped, words):
    """Each reason for stopping a call has its own sentence."""
    assert words in explain_stop(stopped, function="softmax", seconds=5)


def test_errors_compare_by_kind_and_cause():
    """Two errors count as the same mistake if they differ only in names, or in sizes that do not cause the error."""
    one = signature_of_error(*raised("np.ones((2, 3)) @ np.ones((2, 4))"))
    other = signature_of_error(*raised("n, d = np.ones((2, 3, 4)).shape"))
    assert one == signature_of_error(*raised("np.ones((7, 3)) @ np.ones((2, 5))"))
    assert other == signature_of_error(*raised("n, d = np.ones((5, 6, 7)).shape"))
    assert one != other


def test_errors_with_other_sizes_that_do_not_fit_are_other_mistakes():
    """In the same call, a product or sum of other arrays usually has other sizes. The order of the two sides does not count."""
    one, exchanged, other = (
        signature_of_error(*raised(f"np.ones({a}) {sign} np.ones({b})"))
        for sign, a, b in (("+", (2, 3), (2, 4)), ("*", (2, 4), (2, 3)), ("+", (2, 3), (2, 5)))
    )
    assert one == exchanged
    assert one != other
    one, exchanged, other = (
        signature_of_error(*raised(f"np.ones({a}) @ np.ones({b})"))
        for a, b in (((2, 3), (4, 2)), ((2, 4), (3, 2)), ((2, 3), (5, 2)))
    )
    assert one == exchanged
    assert one != other


def test_a_signature_has_itself_as_signature():
    """A release records signatures, and a notebook compares the signature of what was recorded."""
    for code in (
        "np.ones((2, 3)) @ np.ones((2, 4))",
        "np.ones((2, 3)) + np.ones(2)",
        "n, d = np.ones((2, 3, 4)).shape",
    ):
        kind, message = raised(code)
        recorded = signature_of_error(kind, message)
        assert signature_of_error(kind, recorded.removeprefix(f"{kind}: ")) == recorded


def test_brackets_that_never_close_are_read_once():
    """The text after unclosed brackets stays. Processing each bracket separately would take quadratic time."""
    assert signature_of_error("E", "(a (b) (c\nd) e (f") == "E: (c d) e (f"
    started = time.process_time()
    signature_of_error("E", "(" * 100_000)
    assert time.process_time() - started < 2


def test_a_suggestion_is_close_and_different_from_what_was_written():
    """A name is suggested only if it is close. An argument that NumPy knows is not suggested in its own place."""
    text = explain("NameError", "name 'score' is not defined", line="return score", known=["raw_scores"])
    assert "Did you mean" not in text
    error = "TypeError", "softmax() got an unexpected keyword argument 'keepdims'"
    assert "Did you mean" not in explain(*error, line="softmax(x, keepdims=True)", function="soft_lookup")
