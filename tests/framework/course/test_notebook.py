"""Test reading the files that students submit."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course.course import chapter_of
from autograder.course.notebook import (
    NotebookError,
    blank_exercises,
    document_bytes,
    insert_code,
    parse_notebook,
    read_notebook,
)

KEYS = ["cells", "metadata", "nbgrader", "source", "cell_type", "grade_id", "solution", "points"]
STUB = 'def softmax(x, axis=-1):\n    """Weights."""\n    raise NotImplementedError\n'
QUIZ = 'q1 = None  # "a", "b" or "c"\nq2 = None\n'


def code(source, **nbgrader):
    """Return a code cell, with nbgrader's metadata if any is given."""
    metadata = {"nbgrader": nbgrader} if nbgrader else {}
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def stub(name, source):
    """Return a stub cell."""
    return code(source, grade_id=name, solution=True, grade=False, locked=False)


def check(name):
    """Return a check cell."""
    return code(f"check({name})", grade_id=f"check_{name}", solution=False, grade=True, locked=True, points=4)


def document(*cells, **metadata):
    """Return a notebook's JSON."""
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": list(cells)}


def notebook(*cells, **metadata):
    """Return a notebook with these cells."""
    return parse_notebook(json.dumps(document(*cells, **metadata)).encode())


RELEASED = notebook(
    {"cell_type": "markdown", "source": "# Softmax", "metadata": {}},
    code("import numpy as np"),
    stub("softmax", STUB),
    check("softmax"),
    stub("quiz_ch1", QUIZ),
    check("quiz_ch1"),
)


def blank(*cells):
    """Return the exercises that are not attempted in a notebook with these cells."""
    return blank_exercises(notebook(*cells), RELEASED)


class TestReading:
    def test_roles_names_and_points(self):
        """A stub, its check cell and an ordinary cell are distinguished, and only the check cell is not run."""
        assert [c.role for c in RELEASED.cells] == [None, None, "stub", "check", "stub", "check"]
        assert RELEASED.cells[3].points == 4
        assert RELEASED.exercises() == ["softmax", "quiz_ch1"]
        assert [(c.index, c.name) for c in RELEASED.code_cells()] == [(1, "cell 1"), (2, "softmax"), (4, "quiz_ch1")]
        nb = notebook(stub("softmax", STUB), check("softmax"), {"cell_type": "markdown", "source": ""}, code("x = 1"))
        assert nb.code_cells()[-1].name == "cell 3"  # as Jupyter numbers it: check cells count, Markdown cells do not

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (b"", "is empty"),
            (b" \n", "is empty"),
            (b"\xff\xfe{\x00}\x00", "not UTF-8"),
            (b'{"cells": [', "JSON error in line 1"),
            (b'<<<<<<< HEAD\n{"cells": []}', "JSON error in line 1"),
            (b"[1, 2]", "not a notebook"),
            (b'{"nbformat": 4}', "not a notebook"),
            (b'{"nbformat": 4, "cells": {"a": 1}}', "not a notebook"),
            (b'{"nbformat": 3, "worksheets": [{"cells": []}]}', "jupyter nbconvert --to notebook --nbformat 4"),
            (b'{"nbformat": 4, "cells": []}', "no code cells"),
            (b'{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "hello"}]}', "no code cells"),
            (b"[" * 100_000, "its JSON has lists nested more than"),
            (b'{"cells": []' + b', "x": ' + b"[" * 420 + b"]" * 420 + b"}", "nested more than 420 levels deep"),
            (b'{"cells": []' + b', "x": ' + b"[" * 419 + b"]" * 419 + b"}", "no code cells"),
            (b'{"cells": [' + b"9" * 5000 + b"]}", "its JSON cannot be read"),
        ],
    )
    def test_each_kind_of_bad_file_says_what_it_is(self, data, words):
        """A file that cannot be graded is refused with a sentence that names the file and what is wrong with it."""
        with pytest.raises(NotebookError) as caught:
            parse_notebook(data, Path("ch1.ipynb"))
        assert words in str(caught.value)
        assert str(caught.value).startswith("ch1.ipynb ")

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("gone.ipynb", r"There is no file gone\.ipynb"),
            ("", r" is a folder, not a notebook\. Give the path of the \.ipynb file in it\."),
            ("pipe.ipynb", r"^pipe\.ipynb is not a regular file, so it was not opened\."),
        ],
    )
    def test_what_is_no_regular_file_is_refused(self, tmp_path, name, words):
        """A path that is missing or not a regular file is never opened."""
        os.mkfifo(tmp_path / "pipe.ipynb")
        with pytest.raises(NotebookError, match=words):
            read_notebook(tmp_path / name)

    def test_an_absurd_file_is_refused_unread(self, tmp_path, monkeypatch):
        """A file above the limit is not read into memory, and the message says how to make it smaller."""
        monkeypatch.setattr("autograder.course.notebook.MAX_BYTES", 2**20)
        path = tmp_path / "huge.ipynb"
        with path.open("wb") as file:
            file.truncate(2**20 + 1)
        with pytest.raises(NotebookError, match=r"larger than 1 MB.*Clear Outputs"):
            read_notebook(path)

    def test_a_file_of_nothing_but_lists_is_refused_unread(self):
        """Such a file is not parsed, because it would take twenty times its size in memory. The message gives the reason."""
        data = b'{"nbformat": 4, "cells": [], "metadata": {"x": [' + b"[]," * 3_000_000 + b"0]}}"
        with pytest.raises(NotebookError, match=r"more than 5 million lists and items.*Clear Outputs"):
            parse_notebook(data, Path("ch1.ipynb"))

    def test_more_than_anybody_wrote_is_refused(self):
        """A notebook with megabytes of code or with thousands of cells is rejected. Megabytes of prose are accepted."""
        cell = code("x = y + z\n" * 30_000)
        with pytest.raises(NotebookError, match=r"ch1\.ipynb contains 3,600,000 characters of code.*submit it again"):
            parse_notebook(json.dumps(document(*[cell] * 12)).encode(), Path("ch1.ipynb"))
        parse_notebook(json.dumps(document(*[cell] * 3)).encode())
        with pytest.raises(NotebookError, match="1,200,007 characters of code"):
            parse_notebook(json.dumps(document(code("x = [" + "1," * 600_000 + "2]"))).encode())
        with pytest.raises(NotebookError, match="30,000 cells"):
            parse_notebook(json.dumps(document(*[code("")] * 30_000)).encode())
        prose = {"cell_type": "markdown", "source": "![](data:image/png;base64," + "A" * 5_000_000 + ")"}
        parse_notebook(json.dumps(document(code("x"), prose)).encode())

    def test_stored_outputs_of_fifty_megabytes_do_not_matter(self, tmp_path):
        """A notebook full of old outputs is read like any other."""
        cell = stub("softmax", "def softmax(x, axis=-1): return x")
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 50_000_000}]
        path = tmp_path / "big.ipynb"
        path.write_text(json.dumps(document(cell)))
        assert read_notebook(path).exercises() == ["softmax"]

    def test_what_does_not_matter_is_passed_over(self):
        """Sources as lists, a byte order mark, missing metadata, unexpected types and unknown cells are accepted."""
        cells = [
            {"cell_type": "code", "source": ["a = 1\n", "b = 2", 7]},
            {"cell_type": "code", "metadata": ["odd"], "source": None},
            {"cell_type": "heading", "source": "x"},
            "not a cell",
            None,
            code("c = 3", grade_id=7, solution="yes", points="many"),
            code("d = 4", grade_id="d", grade=True, points=float("nan")),
        ]
        nb = parse_notebook(b"\xef\xbb\xbf" + json.dumps({"cells": cells}).encode())
        assert nb.cells[0].source == "a = 1\nb = 2"
        assert [c.kind for c in nb.cells] == ["code", "code", "heading", "unknown", "unknown", "code", "code"]
        assert nb.cells[5].grade_id is None
        assert nb.cells[6].points is None

    def test_half_a_character_can_be_written_down_again(self):
        """A lone surrogate, which is possible in JSON but not in UTF-8, causes no error."""
        nb = parse_notebook(rb'{"cells": [{"cell_type": "code", "source": "x = \"\ud800\""}]}')
        nb.cells[0].source.encode()
        document_bytes({"cells": [{"outputs": "\ud800"}], "metadata": {"x": "\udfff"}}).decode()

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(),
            lambda x: st.lists(x) | st.dictionaries(st.sampled_from(KEYS), x),
        )
    )
    def test_no_json_crashes_the_reader(self, content):
        """Reading any JSON gives a notebook or a ``NotebookError``."""
        for data in (json.dumps(content), json.dumps({"cells": [content, code("x", grade_id="x", points=content)]})):
            try:
                nb = parse_notebook(data.encode())
            except NotebookError:
                continue
            nb.code_cells()
            blank_exercises(nb, RELEASED)

    @given(st.binary(max_size=200))
    def test_no_bytes_crash_the_reader(self, data):
        """Reading any bytes gives a notebook or a ``NotebookError``."""
        try:
            parse_notebook(data)
        except NotebookError as error:
            assert str(error).endswith((".", "?", ".ipynb"))  # noqa: PT017


def test_a_copied_cell_runs_twice_and_is_told():
    """Both copies of a cell run in order, the last copy is the stub, and the exercise is listed once."""
    nb = notebook(stub("softmax", "first"), stub("softmax", "second"), check("softmax"), check("softmax"))
    assert [c.source for c in nb.code_cells()] == ["first", "second"]
    assert nb.stub("softmax").source == "second"
    assert nb.exercises() == ["softmax"]


def test_code_goes_into_its_stub_and_outputs_go():
    """Inserting code into stubs makes a solved notebook. The original stays unchanged, and no code is silently dropped."""
    original = document(stub("softmax", STUB), check("softmax"))
    original["cells"][1]["outputs"] = [{"output_type": "stream"}]
    solved = insert_code(original, {"softmax": "def softmax(x): return x"})
    assert solved["cells"][0]["source"] == "def softmax(x): return x"
    assert solved["cells"][1]["outputs"] == []
    assert original["cells"][0]["source"] == STUB
    with pytest.raises(NotebookError, match="no stub cell called softmin"):
        insert_code(original, {"softmin": "..."})


class TestBlank:
    @pytest.mark.parametrize(
        "source",
        [
            STUB,
            STUB.replace('"""Weights."""', '"""My notes."""  # a comment'),
            STUB + "\n\n# later",
            "def softmax(x, axis=-1):\n    pass",
            "def softmax(x, axis=-1):\n    ...",
            'def softmax(x, axis=-1):\n    """Weights."""',
            "def softmax(x, axis=-1):\n    return None",
            'def softmax(x, axis=-1):\n    raise NotImplementedError("later")',
            "",
            "import numpy as np\ndef helper(x):\n    return x\n" + STUB,
        ],
    )
    def test_an_empty_body_is_not_an_attempt(self, source):
        """An exercise stays blank if its function does nothing, even if the student added comments, a docstring or a helper."""
        assert "softmax" in blank(stub("softmax", source))

    @pytest.mark.parametrize(
        "source",
        [
            "def softmax(x, axis=-1):\n    return x",
            "def softmax(x, axis=-1):\n    e = x\n    raise NotImplementedError",
            "softmax = lambda x, axis=-1: x",
            "def f(x):\n    return x\nsoftmax = f",
            "class softmax:\n    def __call__(self, x): return x",
            "if True:\n    def softmax(x):\n        return x",
            "try:\n    from scipy.special import softmax\nexcept ImportError:\n    pass",
            "def softmax(x, axis=-1)\n    return x",
            "%timeit 1\ndef softmax(x):\n    return x",
            'exec("def softmax(x): return x")',
            STUB + "def softmax(x): return x",
        ],
    )
    def test_anything_of_ones_own_is_an_attempt(self, source):
        """A body, a lambda, an alias, an import or even a syntax error shows that the student has begun."""
        assert "softmax" not in blank(stub("softmax", source))

    @pytest.mark.parametrize(
        "cells",
        [
            [stub("softmax", STUB), code("def softmax(x):\n    return x")],
            [code("def softmax(x):\n    return x")],
            [code("print(1)")],
            [stub("softmax", "def my_softmax(x):\n    return x")],
            [stub("softmax", STUB), code("def ｓｏｆｔmax(x):\n    return x")],
        ],
        ids=[
            "below the stub",
            "in place of the stub",
            "no stub and no function",
            "under another name",
            "in wide letters",
        ],
    )
    def test_a_function_elsewhere_or_gone_is_not_passed_over(self, cells):
        """An exercise counts as begun if its code is in another cell, or if its function was deleted or renamed."""
        assert "softmax" not in blank(*cells)

    def test_cells_that_were_handed_out_are_nobodys_attempt(self):
        """A released cell that defines the exercise's function is not the student's attempt."""
        demo = code("def softmax(x):\n    return x")
        released = notebook(stub("softmax", STUB), demo)
        assert "softmax" in blank_exercises(notebook(stub("softmax", STUB), demo), released)

    @pytest.mark.parametrize("source", [QUIZ, "q1 = None\nq2 = None", "q1 = ...\nq2 = None", "", "q3 = 1"])
    def test_answers_that_are_all_none_are_not_an_attempt(self, source):
        """A quiz without any answer is blank."""
        assert "quiz_ch1" in blank(stub("quiz_ch1", source))

    @pytest.mark.parametrize(
        "source",
        [
            'q1 = "b"\nq2 = None',
            "q1, q2 = 1, 2",
            "q1 = b",
            'q1 = "b\nq2 = None',
            "q2: float = 1",
            "ｑ１ = 1",
            "ｑ１ = 1 +",
        ],
    )
    def test_one_answer_is_an_attempt(self, source):
        """A quiz with one answer is judged, and so is a quiz with a syntax error."""
        assert "quiz_ch1" not in blank(stub("quiz_ch1", source))

    @pytest.mark.parametrize(
        "source",
        [
            "-" * 50_000 + "1", "(" * 5000, "x = " + "1+" * 50_000 + "1", "def softmax(x): \0",
            "if 0:\n    pass\n" + "elif 0:\n    pass\n" * 1200,
        ],
    )  # fmt: skip
    def test_code_that_is_hard_on_the_parser_is_only_text(self, source):
        """Deeply nested code neither crashes nor hangs the reader, and counts as an attempt."""
        assert "softmax" not in blank(stub("softmax", "softmax = 1\n" + source + "\nsoftmax"))


class TestChapter:
    @pytest.fixture
    def course(self, tmp_path):
        for chapter, names in {"ch1_a": ["softmax", "mean"], "ch2_b": ["scores"]}.items():
            (tmp_path / f"{chapter}.ipynb").write_text(json.dumps(document(*[stub(n, STUB) for n in names])))
        return SimpleNamespace(
            chapters=["ch1_a", "ch2_b", "ch3_c"],
            source=lambda chapter: tmp_path / f"{chapter}.ipynb",
            finished_chapters=lambda: ["ch1_a", "ch2_b"],
        )

    def test_the_file_name_tells(self, course, tmp_path):
        """A chapter's id anywhere in the file name is enough, because downloads are renamed."""
        path = tmp_path / "jane_ch2_b (1).ipynb"
        path.write_text(json.dumps(document(stub("softmax", STUB))))
        assert chapter_of(read_notebook(path), course) == "ch2_b"

    def test_the_metadata_comes_before_the_name(self, course):
        """If a notebook's metadata names a chapter of the course, that chapter is chosen, whatever else suggests a different one."""
        assert chapter_of(notebook(stub("scores", STUB), autograder={"chapter": "ch1_a"}), course) == "ch1_a"
        assert chapter_of(notebook(stub("scores", STUB), autograder={"chapter": "ch9"}), course) == "ch2_b"

    def test_the_stubs_tell_where_nothing_else_does(self, course):
        """The chapter with the most shared grade ids is chosen. If no id is shared, the chapter is unknown."""
        assert chapter_of(notebook(stub("mean", STUB), stub("scores", STUB), stub("softmax", "")), course) == "ch1_a"
        assert chapter_of(notebook(code("x = 1")), course) is None
