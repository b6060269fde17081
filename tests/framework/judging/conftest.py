"""Fixtures that simulate a student's notebook with Python functions."""

from types import FunctionType

import numpy as np
import pytest

from autograder.judging.functions import FunctionSession, FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from tests.support.mini import CHAPTER, RIGHT


class Student(FunctionSubject):
    """A subject whose notebook is a dictionary of functions and values."""

    def __init__(self, label="student", blank=(), **names):
        super().__init__(label, names)
        self.blank, self.names = frozenset(blank), names

    def open(self, *, memory_mb=None):  # noqa: ARG002 - a call carries its own limit
        """Return a session on the functions and values of the dictionary."""
        return Sitting(self.names)


class Sitting(FunctionSession):
    """An in-process session in which functions find each other by name, as in a notebook."""

    def __init__(self, namespace):
        namespace = dict(namespace)
        functions = {name: value for name, value in namespace.items() if callable(value)}
        for name, f in functions.items():  # each function has its own globals, which contain all functions
            namespace[name] = FunctionType(f.__code__, dict(f.__globals__), name, f.__defaults__, f.__closure__)
        for name in functions:
            namespace[name].__globals__.update(namespace)
        super().__init__(namespace, call_seconds=0.5)

    def substitute(self, name, function):
        super().substitute(name, function)
        for other in self._names.values():
            if hasattr(other, "__globals__") and other is not function:
                other.__globals__[name] = function


@pytest.fixture
def grade(course):
    """Grade one student's functions: ``grade(to_kelvin=…)["to_kelvin"]`` is the exercise's verdict."""

    def run(*, only=None, visible_only=False, blank=(), **namespace):
        judge = Judge(load_checks(course, CHAPTER))
        student = Student(blank=blank, **{**right(), **namespace})
        return {v.name: v for v in judge.judge(student, only=only, visible_only=visible_only)}

    return run


def right():
    """Return right functions and answers for all exercises."""
    names = {"np": np}
    exec("\n\n".join(RIGHT.values()), names)  # noqa: S102 - closures would bind functions that find each other by name
    return {name: names[name] for name in ("to_kelvin", "mean_kelvin", "q1", "q2")}
