"""Test that what Hypothesis draws depends on the seed only."""

import json

import pytest

from tests.support.commands import python

DRAW = """
import json, sys
for name in sys.argv[1:]:
    __import__(name)
from autograder.checking import properties
from autograder.checking.properties import arrays_nd, draw_seed, given, integers
seen = []

@given(x=arrays_nd(), k=integers(-10**6, 10**6), examples=200)
def check(x, k):
    seen.append([x.tolist(), int(k)])

draw_seed.set(b"a secret")
check()
print(json.dumps(seen))
"""


@pytest.fixture
def draw(tmp_path):
    """Return a function that draws in a new process that has loaded the given modules."""
    (tmp_path / "full_of_numbers.py").write_text("\n".join(f"n{i} = {i * 7919 % 999983}" for i in range(400)))

    def run(*modules):
        return json.loads(python("-c", DRAW, *modules, cwd=tmp_path, status=0).stdout)

    return run


def test_draws_do_not_depend_on_what_else_is_loaded(draw):
    """Loading a module full of numbers changes no input, so every process draws the same inputs for a class."""
    assert draw() == draw("full_of_numbers") == draw("full_of_numbers", "autograder.authoring.audit.measure")
