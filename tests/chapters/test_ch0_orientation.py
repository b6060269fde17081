"""The checks of chapter 0: shapes, axes, and how the checks work."""

import numpy as np

from autograder.checking import (
    after,
    arrays_nd,
    assert_matches,
    assert_shape,
    assert_sums_to_one,
    careful,
    exercise,
    floats,
    given,
    linked,
    points,
    visible,
)


@exercise(
    "normalize_rows",
    points=2,
    hints=(
        (
            "Two steps: the sum of each row, then every entry divided by the sum of its row. Do the first step "
            "alone and print the shape of what you get. Is there one sum for each row?"
        ),
        (
            "`A.sum(axis=0)` makes the rows go away, `A.sum(axis=1)` the columns: the axis that you name is the "
            "one that disappears. For A of shape (2, 3), which of them leaves two numbers?"
        ),
        (
            "NumPy lines shapes up from the right, so (2, 3) does not fit (2,), but it does fit (2, 1): one number "
            "for each row, as a column. `keepdims=True` makes a sum keep its axis with length 1."
        ),
    ),
)
class TestNormalizeRows:
    @visible
    @points(0.5)
    def test_small_example(self, student, reference):
        """the example worked by hand"""
        A = np.array([[1.0, 3.0, 4.0], [2.0, 2.0, 6.0]])
        found = student.normalize_rows(A)
        assert_shape(found, (2, 3), call="normalize_rows(A)", A=A)
        assert_sums_to_one(found, call="normalize_rows(A)", A=A)
        assert_matches(found, reference.normalize_rows(A), call="normalize_rows(A)", A=A)

    @visible
    @after("test_small_example")
    @points(0.25)
    def test_as_many_rows_as_columns(self, student, reference):
        """with as many rows as columns, it is still the rows that add up to 1"""
        A = np.array([[1.0, 2.0, 5.0], [9.0, 0.5, 0.5], [4.0, 3.0, 13.0]])
        found = student.normalize_rows(A)
        assert_sums_to_one(found, call="normalize_rows(A)", A=A)
        assert_matches(found, reference.normalize_rows(A), call="normalize_rows(A)", A=A)

    @visible
    @after("test_small_example")
    @points(0.25)
    def test_one_row_or_one_column(self, student, reference):
        """a single row, and a single column"""
        for A in (np.array([[3.0, 1.0, 4.0, 2.0]]), np.array([[3.0], [0.5], [7.0]])):
            found = student.normalize_rows(A)
            assert_matches(found, reference.normalize_rows(A), call="normalize_rows(A)", A=A)

    @after("test_small_example")
    @points(0.5)
    @given(A=arrays_nd(min_dims=2, max_dims=2, max_side=5, elements=floats(0.1, 9)))
    def test_any_number_of_rows_and_columns(self, student, reference, A):
        """any number of rows and columns"""
        found = student.normalize_rows(A)
        assert_matches(found, reference.normalize_rows(A), call="normalize_rows(A)", A=A)

    @after("test_small_example")
    @points(0.25)
    def test_many_rows_and_float32(self, student, reference, rng):
        """many rows, rows of very different size, and float32"""
        for n, m, dtype in ((40, 7, np.float64), (3, 50, np.float64), (5, 5, np.float64), (6, 4, np.float32)):
            A = (10.0 ** rng.uniform(-1, 4, size=(n, 1)) * rng.uniform(0.2, 2, size=(n, m))).astype(dtype)
            found = student.normalize_rows(A)
            assert_matches(found, reference.normalize_rows(A), call="normalize_rows(A)", A=A)

    test_care = after("test_small_example")(careful(points=0.25))


@exercise(
    "pairwise_dot",
    points=2,
    hints=(
        (
            "One pair first: row 0 of X and row 2 of Y from the example. Multiply entry by entry and add up. Then "
            "count: how many such pairs are there, and where in the answer does each of them go?"
        ),
        (
            "For two matrices, `A @ B` takes every row of A with every column of B. Here the rows of Y are wanted "
            "in place of its columns."
        ),
        (
            "Write the shapes under each other: X is (n_q, d), Y is (n_k, d), and (n_q, n_k) is asked for. `@` "
            "needs the two sizes in the middle to agree, as in (n_q, d) and (d, n_k). `.T` turns a matrix round."
        ),
    ),
)
class TestPairwiseDot:
    @visible
    @points(0.5)
    def test_small_example(self, student, reference):
        """the example worked by hand"""
        X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])
        Y = np.array([[3.0, 1.0, 0.0], [0.0, 4.0, 1.0], [1.0, 1.0, 2.0], [-1.0, 0.0, 4.0]])
        found = student.pairwise_dot(X, Y)
        assert_shape(found, (2, 4), call="pairwise_dot(X, Y)", X=X, Y=Y)
        assert_matches(found, reference.pairwise_dot(X, Y), call="pairwise_dot(X, Y)", X=X, Y=Y)

    @visible
    @after("test_small_example")
    @points(0.25)
    def test_all_sizes_equal(self, student, reference):
        """three rows and three rows of three entries: every product fits, only one is right"""
        X = np.array([[1.5, 2.0, 0.0], [0.0, 1.0, 5.0], [3.0, 0.0, 1.0]])
        Y = np.array([[2.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, -4.0, 3.0]])
        found = student.pairwise_dot(X, Y)
        assert_matches(found, reference.pairwise_dot(X, Y), call="pairwise_dot(X, Y)", X=X, Y=Y)

    @visible
    @after("test_small_example")
    @points(0.25)
    def test_one_row(self, student, reference):
        """a single row on either side still gives a table"""
        x = np.array([[2.0, -1.0, 0.5, 3.0]])
        Y = np.array([[1.0, 0.0, 2.0, 1.0], [4.0, 2.0, 0.0, -1.0], [0.0, 3.0, 2.0, 0.0]])
        found = student.pairwise_dot(x, Y)
        assert_matches(found, reference.pairwise_dot(x, Y), call="pairwise_dot(X, Y)", X=x, Y=Y)
        found = student.pairwise_dot(Y, x)
        assert_matches(found, reference.pairwise_dot(Y, x), call="pairwise_dot(X, Y)", X=Y, Y=x)

    @after("test_small_example")
    @points(0.5)
    @given(linked({"X": "n_q d", "Y": "n_k d"}, sides=(1, 5)))
    def test_any_sizes(self, student, reference, X, Y):
        """any number of rows, any number of entries in a row"""
        found = student.pairwise_dot(X, Y)
        assert_matches(found, reference.pairwise_dot(X, Y), call="pairwise_dot(X, Y)", X=X, Y=Y)

    @after("test_small_example")
    @points(0.25)
    def test_long_rows_and_float32(self, student, reference, rng):
        """long rows, large numbers, and float32"""
        for n_q, n_k, d, size, dtype in (
            (5, 7, 64, 1.0, np.float64),
            (6, 3, 4, 100.0, np.float64),
            (4, 4, 4, 1.0, np.float64),
            (3, 5, 4, 1.0, np.float32),
        ):
            X = (size * rng.normal(size=(n_q, d))).astype(dtype)
            Y = rng.normal(size=(n_k, d)).astype(dtype)
            found = student.pairwise_dot(X, Y)
            assert_matches(found, reference.pairwise_dot(X, Y), call="pairwise_dot(X, Y)", X=X, Y=Y)

    test_care = after("test_small_example")(careful(points=0.25))
