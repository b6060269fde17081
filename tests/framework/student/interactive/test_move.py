"""Tests of interactive pictures: all positions are computed at once, a picture is static without scripts, and messages say what cannot be shown."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from autograder.sandbox import open_worker
from autograder.sandbox.guest.drawing import MovingPicture
from autograder.sandbox.protocol import CodeCell, Limits
from autograder.student.interactive import page
from tests.support import ROOT

HALF = """import numpy as np
from autograder import interact, requires


def half(x):
    {body}


@requires("half")
def moved():
    interact(half, {{"x": [1, 2, 4]}}, columns=["a", "b"], title="</script><script>document.title='owned'</script>")"""
RIGHT = HALF.format(body='return np.array([x / 2, 0]), f"half of {x}"')
# Bodies of a student's function with unusual results, each with a text that the notebook then shows.
ODD = {
    "not written": ("raise NotImplementedError", "Nothing to see yet: this cell uses your `half`."),
    "another shape": ("return np.ones(3)", "an array of shape (2,) was expected here, but its shape is (3,)"),
    "wrong further on": (
        "return np.array([1, 1 // (2 - x)])",
        "There is no picture: with x: 2, your code raised ZeroDivisionError: ",
    ),
    "nan": ("return np.array([np.nan, -np.inf])", '"numbers":["nan","-inf"]'),
}


def in_a_notebook(source):
    """Run each cell in ``source`` in a real IPython kernel, and return its printed text and its displays."""
    ran = (
        "from queue import Empty\nimport json, sys\nfrom jupyter_client.manager import start_new_kernel\n"
        "manager, client = start_new_kernel(kernel_name='python3')\nshown = []\n"
        "for source in json.load(sys.stdin):\n    here = []\n    shown.append(here)\n"
        "    client.execute_interactive(source, timeout=60, output_hook=lambda m: here.append(m['content']))\n"
        "client.stop_channels()\nmanager.shutdown_kernel(now=True)\nprint(json.dumps(shown))"
    )
    done = subprocess.run(
        [sys.executable, "-c", ran],
        input=json.dumps(source),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return [
        ("".join(one["text"] for one in cell if "text" in one), [one["data"] for one in cell if "data" in one])
        for cell in json.loads(done.stdout.splitlines()[-1])
    ]


def test_a_notebook_has_every_picture_and_what_cannot_be_shown_is_said():
    """The output has HTML with all numbers, the static picture and its description. A wrong answer gives a message, not an error."""
    right, *odd = in_a_notebook(
        [
            RIGHT.replace("    return", "    print('asked')\n    return"),
            *(HALF.format(body=body) for body, _ in ODD.values()),
        ]
    )
    assert right[0] == "asked\n"  # printed only for the static picture, not for the other positions
    [shown] = right[1]
    assert set(shown) == {"text/html", "text/plain", "image/png"}
    assert base64.b64decode(shown["image/png"]).startswith(b"\x89PNG")
    assert shown["text/plain"].endswith("x: 1. a: 0.500, b: 0.000. half of 1")
    assert '"frames":[{"numbers":[0.5,0.0],"said":"half of 1"},{"numbers":[1.0,0.0]' in shown["text/html"]
    assert shown["text/html"].count("<script>") == shown["text/html"].count("</script>") == 1
    for (text, displays), (_, words) in zip(odd, ODD.values(), strict=True):
        assert words in text + "".join(data.get("text/html", "") for data in displays)


def test_in_the_jail_it_is_the_still_picture_and_nothing_more():
    """In grading, only the first picture is computed, and it is an image without HTML."""
    limits = Limits(
        call_seconds=5.0, cell_seconds=20.0, submission_seconds=60.0, memory_mb=512, result_mb=8, output_kb=80
    )
    counting = RIGHT.replace("    return", "    print('asked')\n    return")
    with (
        open_worker(limits, ["numpy", "matplotlib"], confinement="bubblewrap") as worker,
        closing(worker.open([CodeCell(0, "moving", counting)])) as session,
    ):
        printed, drawn = session.cells[0].outputs
    assert printed["text"] == "asked\n"
    assert set(drawn["data"]) == {"image/png", "text/plain"}


@pytest.mark.parametrize(
    ("controls", "start", "said"),
    [
        ({}, {}, "a control is missing or has no values: each control needs a name and its values"),
        ({"T": []}, {}, "a control is missing or has no values"),
        ({"T": [1, 2]}, {"T": 3}, "start['T'] is 3, but no control of that name"),
        ({"T": [1, 2]}, {"t": 1}, "start['t'] is 1, but no control of that name has this value"),
        ({"a": range(30), "b": range(30)}, {}, "900 pictures are too many: use at most 400"),
    ],
)
def test_an_author_s_mistake_is_a_sentence(controls, start, said):
    """The message about invalid controls says what was found and what to do."""
    with pytest.raises(ValueError, match=re.escape(said)):
        MovingPicture(np.zeros, controls, start)


def test_what_stands_in_the_page_cannot_leave_its_script():
    """The data and the texts of a picture cannot end the script or the attribute that contains them."""
    hostile = "</script><!--<img src=x onerror=alert(1)>\u2028\"'"
    made = page({"title": hostile}, "", hostile)
    assert made.count("</script>") == 1
    assert "<!--" not in made.split("<script>")[1]
    assert "\"'" not in made.split("alt=")[1].split(" style=")[0]
