"""A course of its own, small enough to read, and stand-ins for students made of functions."""

import shutil

import numpy as np
import pytest

from autograder.course import load_course
from autograder.judging.functions import FunctionSession, FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from tests.support import MINI_COURSE

MINI = MINI_COURSE


class Student(FunctionSubject):
    """A subject whose notebook is a dictionary of functions and values."""

    def __init__(self, label="student", blank=(), **names):
        super().__init__(label, names)
        self.blank, self.names, self.opened = frozenset(blank), names, 0

    def open(self, *, memory_mb=None):  # noqa: ARG002 - a call carries its own limit
        """A session over the dictionary."""
        self.opened += 1
        return Sitting(self.names)


class Sitting(FunctionSession):
    """An in-process session in which functions look one another up, as in a notebook."""

    def __init__(self, namespace):
        namespace = dict(namespace)
        for name, function in namespace.items():
            if callable(function):
                # Each function sees the others through its own globals, as cells of one notebook do.
                globals_ = {**function.__globals__, **namespace}
                namespace[name] = type(function)(
                    function.__code__, globals_, name, function.__defaults__, function.__closure__
                )
        for function in namespace.values():
            if callable(function):
                function.__globals__.update(namespace)
        super().__init__(namespace, call_seconds=0.5)

    def substitute(self, name, function):
        super().substitute(name, function)
        for other in self._names.values():
            if hasattr(other, "__globals__") and other is not function:
                other.__globals__[name] = function


@pytest.fixture
def mini(tmp_path):
    """The mini course, in a folder of its own."""
    folder = tmp_path / "mini"
    shutil.copytree(MINI, folder, ignore=shutil.ignore_patterns("__pycache__", ".autograder", ".course_secret"))
    return load_course(folder)


@pytest.fixture
def grade(mini):
    """Grade one student's functions: ``grade(to_kelvin=…)["to_kelvin"]`` is the exercise's verdict."""

    def run(*, only=None, visible_only=False, blank=(), **namespace):
        judge = Judge(load_checks(mini, "ch1_units"))
        student = Student(blank=blank, **{**right(), **namespace})
        return {v.name: v for v in judge.judge(student, only=only, visible_only=visible_only)}

    return run


def right():
    """Everything as it should be."""

    def to_kelvin(celsius):
        return celsius + 273.15

    def mean_kelvin(celsius):
        return np.mean(to_kelvin(celsius), axis=-1)

    return {"to_kelvin": to_kelvin, "mean_kelvin": _loose(mean_kelvin), "q1": "b", "q2": 0.0}


def _loose(function):
    # A closure would tie the inner call to this file's function; a notebook's functions meet by name.
    code = compile(
        "import numpy as np\ndef mean_kelvin(celsius):\n    return np.mean(to_kelvin(celsius), axis=-1)\n",
        "<cell>",
        "exec",
    )
    namespace: dict = {}
    exec(code, namespace)  # noqa: S102 - the text above
    return namespace[function.__name__]
