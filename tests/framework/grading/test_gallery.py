"""Pictures that are not drawn for each student: they are what the student's functions would have drawn."""

import base64
import io
import json

import numpy as np
import pytest
from matplotlib.image import imread

from autograder.course import load_course
from autograder.grading.batch import grade
from autograder.grading.gallery import Gallery
from autograder.grading.leaning import Leaning
from autograder.grading.submission import Job
from autograder.misconception import alternatives_in, misconceptions_in
from autograder.notebook import load_document
from autograder.sandbox import open_worker
from autograder.sandbox.protocol import CodeCell
from autograder.simulate import reference_code, solved_notebook, write_notebook
from tests.support import ROOT, mini

ATTENTION = load_course(ROOT)
CHAPTER = "ch1_weighted_averaging"

COURSE_CELLS = {
    "import": "import numpy as np\nimport matplotlib.pyplot as plt",
    "helper": "SHADES = [1, 2]\n\ndef map_of(ax, f):\n    ax.imshow(np.array(f(SHADES)))",
}
PICTURE = "@uses('second')\ndef shown():\n    map_of(plt.gca(), second)"
FIRST, SECOND = "def first(x):\n    return x", "def second(x):\n    return first(x)"


def leaning(*own, first=FIRST, second=SECOND, below=""):
    """Which exercises the picture leans on in a notebook with these stub cells, and ``own`` cells of the student's."""
    texts = [*COURSE_CELLS.values(), first, second, *own, PICTURE, below]
    names = {first: "first", second: "second"}
    cells = [CodeCell(i, names.get(text, f"cell {i}"), text) for i, text in enumerate(texts)]
    found = Leaning.of(cells, {*COURSE_CELLS.values(), PICTURE, ""}, ["first", "second"])
    return found.exercises_of(next(cell for cell in cells if cell.source == PICTURE))


def test_a_picture_leans_on_all_that_its_functions_call():
    """A function that calls another exercise's, or a helper that does, brings that one along."""
    assert leaning() == {"first", "second"}
    assert leaning(second="def second(x):\n    return x") == {"second"}
    helped = "def halfway(x):\n    return first(x)\n\ndef second(x):\n    return halfway(x)"
    assert leaning(second=helped) == {"first", "second"}


@pytest.mark.parametrize(
    "own",
    [
        "SHADES = [3]",
        "def map_of(ax, f):\n    pass",
        "plt.rcParams['axes.facecolor'] = 'black'",
        "np.exp = np.log",
        "import math as np",
        "globals()['first'] = len",
        "for _ in range(3):\n    SHADES.append(4)",
        "def first(x):\n    return 0",
        "%matplotlib notebook",
        "first(",
    ],
)
def test_what_else_reaches_a_picture_makes_it_the_students_own(own):
    """A constant or helper of the course's given anew, another look, a second definition: such pictures are drawn."""
    assert leaning(own) is None


@pytest.mark.parametrize(
    "own", ["", "# a thought", "print(second([1]))", "mine = second([1, 2])\nmine", "import numpy as np", "import math"]
)
def test_trying_things_out_leaves_the_pictures_alone(own):
    """Cells that print, and give names that no picture mentions, change none."""
    assert leaning(own) == {"first", "second"}


def test_a_function_that_draws_has_its_own_hand():
    """Colours and titles are free where an exercise is to draw: full marks do not make two such pictures alike."""
    assert leaning(second="def second(x, ax=None):\n    ax = ax or plt.gca()\n    ax.imshow(x)\n    return ax") is None
    assert leaning("def third(ax):\n    ax.imshow(SHADES)") == {"first", "second"}


def test_a_definition_below_the_picture_is_not_what_it_shows():
    """The picture shows what stood above it; the checks ask the definition that stands last."""
    assert leaning(second="# moved down", below="def second(x):\n    return x") is None


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """What several students' picture cells hold, (with the gallery, each drawn anew), and the pictures not drawn."""
    right = reference_code(ATTENTION, CHAPTER)
    others = {a.exercise: a.function for a in alternatives_in(ATTENTION.alternatives(CHAPTER))}
    wrong = {m.exercise: m.function for m in misconceptions_in(ATTENTION.misconceptions(CHAPTER))}
    students = {
        "right": right,
        "otherwise": {**right, **{name: f for name, f in others.items() if name in right}},
        "wrong softmax": {**right, "softmax": wrong["softmax"]},
        "half done": dict(list(right.items())[:2]),
        "blank": {},
    }
    folder = tmp_path_factory.mktemp("drawn")
    jobs = {}
    for name, code in students.items():
        notebook = solved_notebook(
            ATTENTION, CHAPTER, code, start=load_document(ATTENTION.source(CHAPTER).read_bytes())
        )
        jobs[Job(write_notebook(folder / f"{name}.ipynb", notebook), name, CHAPTER)] = name
    spared = []

    class Looked(Gallery):
        """The real one, which says what it spared."""

        def known(self, cells, pictures, stored, verdicts):
            self.draw()
            found = super().known(cells, pictures, stored, verdicts)
            spared.append(len(found))
            return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.grading.grader.Gallery", Looked)
        patch.setattr(Gallery, "_path", lambda _self: folder / "pictures.json")
        first, second = {}, {}
        grade(ATTENTION, list(jobs), lambda g: first.update({jobs[g.job]: g.cells}))
        patch.setattr("autograder.grading.grader.Gallery", lambda *_: None)
        grade(ATTENTION, list(jobs), lambda g: second.update({jobs[g.job]: g.cells}))
    return first, second, dict(zip(students, spared, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("student", ["right", "wrong softmax", "half done", "blank"])
def test_the_gallery_shows_what_would_have_been_drawn(drawn, student):
    """Every cell of every notebook holds the same outputs, whether its pictures were drawn or known."""
    known, anew, _spared = drawn
    assert [(c.index, c.outputs, c.stopped) for c in known[student]] == [
        (c.index, c.outputs, c.stopped) for c in anew[student]
    ]


@pytest.mark.slow
def test_a_right_function_written_differently_draws_the_same(drawn):
    """All but a few pixels: where a map's point has two equally good keys, a right function may take either."""
    known, anew, _spared = drawn
    pairs = list(zip(pixels(known["otherwise"]), pixels(anew["otherwise"]), strict=True))
    assert len(pairs) >= 5
    for ours, theirs in pairs:
        assert np.mean(np.any(ours != theirs, axis=-1)) < 0.01


def pixels(cells):
    """Every image among the outputs, as an array of shape (height, width, 4)."""
    found = [o["data"]["image/png"] for c in cells for o in c.outputs if "image/png" in o.get("data", {})]
    return [imread(io.BytesIO(base64.b64decode(data))) for data in found]


@pytest.mark.slow
def test_pictures_of_right_functions_are_not_drawn(drawn):
    """All pictures of a notebook with full marks are known, and of another those that lean on nothing wrong."""
    spared = drawn[2]
    assert spared["right"] == spared["otherwise"] >= 5
    assert 0 < spared["wrong softmax"] < spared["right"]
    assert 0 < spared["half done"] < spared["right"]


@pytest.mark.slow
def test_a_gallery_is_kept_on_disk(tmp_path):
    """What was drawn once is read by whoever grades next, and drawn again when a solution changes."""
    course = mini.copy_course(tmp_path)
    source = course.source(mini.CHAPTER)
    notebook = json.loads(source.read_text())
    cell = next(c for c in notebook["cells"] if c["id"] == "picture")
    cell |= {"source": "def bars():\n    print('drawn')\n\n\nbars()", "metadata": {"tags": ["picture"]}}
    source.write_text(json.dumps(notebook))
    released = load_document(source.read_bytes())
    started = []

    def start():
        worker = open_worker(course.limits, list(course.packages))
        started.append(worker)
        return worker

    Gallery(course, mini.CHAPTER, released, start).draw()
    again = Gallery(course, mini.CHAPTER, released, start)
    again.draw()
    assert len(started) == 1
    assert [one.outputs[0]["text"] for one in again.right.values()] == ["drawn\n"]
    solutions = course.root / "solutions" / f"{mini.CHAPTER}.py"
    solutions.write_text(solutions.read_text() + "\n# changed\n")
    Gallery(course, mini.CHAPTER, released, start).draw()
    assert len(started) == 2
