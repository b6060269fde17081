"""The checks of chapter 0: shapes, axes, and how the checks work."""

import numpy as np
from inputs import Contract, array, arrays_of, of_a_product

from autograder.checking import (
    InputCategory,
    all_categories,
    arrays_nd,
    assert_matches,
    assert_shape,
    assert_sums_to_one,
    check,
    exercise,
    floats,
    given,
    linked,
    pure,
)


def rows_that_add_up(values, _rng):
    """Return the same matrix, with larger entries in the rows that add up to less than 0.01."""
    sums = values["A"].sum(axis=1, keepdims=True)
    return {"A": np.where(sums < 0.01, 0.02 / sums, 1.0).astype(values["A"].dtype) * values["A"]}


def rows_of_little(values, rng):
    """Return a matrix of the same shape whose rows add up to a few hundredths and have a far smaller first entry."""
    A = rng.uniform(0.2, 1, size=values["A"].shape)
    A[:, 0] *= 0.02
    return {"A": A / A.sum(axis=1, keepdims=True) * rng.uniform(0.012, 0.05, size=(len(A), 1))}


@exercise(
    "normalize_rows",
    points=2,
    takes=Contract(
        {"A": array("n m", low=1e-6)},
        categories=[
            InputCategory.custom(
                "A: rows of little",
                "rows that add up to a few hundredths",
                lambda v: v["A"].sum(axis=1).max() < 0.1 and v["A"].shape[1] > 1,
                rows_of_little,
            ),
            InputCategory.custom(
                "A: rows that add up to 1",
                "rows that add up to 1 already",
                lambda v: np.allclose(v["A"].sum(axis=1), 1) and v["A"].shape[1] > 1,
                lambda v, _rng: {**v, "A": v["A"] / v["A"].sum(axis=1, keepdims=True)},
            ),
            InputCategory.custom(
                "A: rows that almost add up to 1",
                "rows that add up to 1.0005 or 0.9995",
                lambda v: np.allclose(np.abs(v["A"].sum(axis=1) - 1), 0.0005, atol=1e-9) and v["A"].shape[1] > 1,
                lambda v, rng: {
                    "A": v["A"]
                    / v["A"].sum(axis=1, keepdims=True)
                    * (1 + rng.choice([-5e-4, 5e-4], size=(len(v["A"]), 1)))
                },
            ),
        ],
        constrain=rows_that_add_up,
        exclude={"A: all tiny": "each row adds up to at least 0.01"},
    ),
)
class TestNormalizeRows:
    """There are two steps: compute the sum of each row, then divide every entry by the sum of its row. Do the first
    step alone and print the shape of the result. Is there one sum for each row?

    `A.sum(axis=0)` makes the rows go away, and `A.sum(axis=1)` the columns. A sum removes the axis that
    you name. For A of shape (2, 3), which of the two leaves two numbers?

    NumPy lines shapes up from the right, so (2, 3) does not fit (2,). It does fit (2, 1), a column with one number for
    each row. With `keepdims=True`, the axis that is summed stays, with length 1.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, student, reference):
        """the example worked by hand"""
        A = np.array([[1.0, 3.0, 4.0], [2.0, 2.0, 6.0]])
        found = student.normalize_rows(A)
        assert_shape(found, (2, 3))
        assert_sums_to_one(found)
        assert_matches(found, reference.normalize_rows(A))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_as_many_rows_as_columns(self, student, reference):
        """as many rows as columns"""
        A = np.array([[1.0, 2.0, 5.0], [9.0, 0.5, 0.5], [4.0, 3.0, 13.0]])
        found = student.normalize_rows(A)
        assert_sums_to_one(found)
        assert_matches(found, reference.normalize_rows(A))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_one_row_or_one_column(self, agrees):
        """a single row, and a single column"""
        for A in (np.array([[3.0, 1.0, 4.0, 2.0]]), np.array([[3.0], [0.5], [7.0]])):
            agrees.normalize_rows(A)

    @check(points=0.5, after="test_small_example")
    @given(A=arrays_nd(min_dims=2, max_dims=2, max_side=5, elements=floats(0.1, 9)), examples=8)
    def test_any_number_of_rows_and_columns(self, agrees, A):
        """random numbers of rows and columns, and rows of very small or very large numbers"""
        agrees.normalize_rows(A)
        agrees.normalize_rows(np.array([[0.0104, 0.0096], [0.0096, 0.0104]]))  # equal if rounded to three decimals
        # A running sum over all the rows loses the digits of the small one.
        agrees.normalize_rows(np.vstack([np.full((100, 50), 999_999.7), np.full((1, 50), 2e-4)]))

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.25, after="test_small_example")


@exercise(
    "pairwise_dot",
    points=2,
    takes=Contract(
        {"X": array("n_q d"), "Y": array("n_k d")},
        categories=of_a_product("X", "Y", "d"),
    ),
)
class TestPairwiseDot:
    """Begin with one pair: row 0 of X and row 2 of Y from the example. Multiply entry by entry and add up. Then count:
    how many such pairs are there, and where in the answer does each of them go?

    For two matrices, `A @ B` combines every row of A with every column of B. Here you need the rows of Y, not its
    columns.

    Write one shape below the other: X is (n_q, d), Y is (n_k, d), and the answer is (n_q, n_k). In `@`, the two sizes
    in the middle must be equal, as in (n_q, d) and (d, n_k). `.T` transposes a matrix.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, student, reference):
        """the example worked by hand"""
        X, Y = arrays_of([[1, 0, 2], [0, 1, -1]], [[3, 1, 0], [0, 4, 1], [1, 1, 2], [-1, 0, 4]])
        found = student.pairwise_dot(X, Y)
        assert_shape(found, (2, 4))
        assert_matches(found, reference.pairwise_dot(X, Y))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_all_sizes_equal(self, agrees):
        """two arrays of shape (3, 3): several matrix products have the right shape, but only one is right"""
        agrees.pairwise_dot(*arrays_of([[1.5, 2, 0], [0, 1, 5], [3, 0, 1]], [[2, 0, 1], [1, 1, 0], [0, -4, 3]]))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_one_row(self, agrees):
        """a single row on either side, or rows of a single entry, still give a table"""
        x, Y = arrays_of([[2, -1, 0.5, 3]], [[1, 0, 2, 1], [4, 2, 0, -1], [0, 3, 2, 0]])
        agrees.pairwise_dot(x, Y)
        agrees.pairwise_dot(Y, x)
        agrees.pairwise_dot(*arrays_of([[2], [-1], [3]], [[1], [4], [0.5]]))

    @check(points=0.5, after="test_small_example")
    @given(linked({"X": "n_q d", "Y": "n_k d"}, sides=(1, 5)), examples=8)
    def test_any_sizes(self, agrees, X, Y):
        """random numbers of rows and of entries in a row, and very small or very large products"""
        agrees.pairwise_dot(X, Y)
        # Next to a product above 1e11, ordinary products still count, and so do products of a few millionths alone.
        agrees.pairwise_dot(*arrays_of([[4e5, 2e5], [1, 2]], [[3e5, -1e5], [2, 1], [-1, 3]]))
        agrees.pairwise_dot(*arrays_of([[3e-3, -1e-3], [2e-3, 4e-3]], [[2e-3, 1e-3], [-4e-3, 3e-3], [3e-3, 3e-3]]))

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.25, after="test_small_example")
