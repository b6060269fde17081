"""Tests that checks can use objects of a student's class, with the same messages in the sandbox and in this process."""

import linecache
from contextlib import closing
from textwrap import dedent

import numpy as np
import pytest

from autograder.checking.agreement import ReferenceComparison
from autograder.checking.asserts import CheckFailed, assert_matches
from autograder.checking.call_source import track_answers
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.functions import FunctionSession
from autograder.judging.objects import MAX_STEPS
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.sandbox import open_worker
from autograder.sandbox.protocol import CodeCell, Limits
from autograder.sandbox.script import Step, script

LIMITS = Limits(call_seconds=1.0, cell_seconds=1.5, submission_seconds=30.0, memory_mb=512)
RIGHT = """
class Stack:
    made = 0

    def __init__(self, items=()):
        self.items = list(items)
        Stack.made += 1

    @property
    def size(self):
        return len(self.items)

    @classmethod
    def of(cls, *items):
        return cls(items)

    def push(self, item):
        self.items.append(item)

    def pop(self):
        if not self.items:
            raise IndexError("empty")
        return self.items.pop()

    def copy(self):
        return Stack(self.items)

    def merge(self, other):
        self.items += other.items

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, item):
        return item in self.items

    def __getitem__(self, place):
        return self.items[place]

    def __eq__(self, other):
        return isinstance(other, Stack) and self.items == other.items

    def __add__(self, other):
        return Stack(self.items + other.items)

    def __repr__(self):
        return f"Stack({self.items})"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.items.clear()

    def array(self):
        return np.array(self.items)


def total(stack):
    return sum(stack)
"""


def namespace(source, file="<right>"):
    """Return the names that running ``source`` defines. Its source lines can be shown in messages."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"np": np, "__name__": "made_here"}
    exec(compile(source, file, "exec"), names)  # noqa: S102 - our own
    return names


REFERENCE = {name: value for name, value in namespace(RIGHT).items() if name in {"Stack", "total"}}


def changed(old, new):
    """Return the source of the right class with ``old`` replaced by ``new``."""
    assert old in RIGHT
    return RIGHT.replace(old, new)


@pytest.fixture(scope="module")
def worker():
    """One worker for all classes."""
    with open_worker(LIMITS, ["numpy"], confinement="bubblewrap") as made:
        yield made


def said(session, check):
    """Return the message of a check about the class behind ``session``, or "" if it passes."""
    reference = ReferenceProxy(REFERENCE)
    conversation = ExerciseSession(lambda: session, limits=LIMITS, classes={"Stack"}, right=reference.answer)
    student = StudentProxy(conversation, session.names)
    with track_answers():
        try:
            check(student, ReferenceComparison(student, reference))
        except CheckFailed as failure:
            return str(failure)
    return ""


@pytest.fixture
def both(worker):
    """A function that returns a check's message about a class, and asserts that the sandbox and this process agree."""

    def ask(source, check):
        file = "<the student's cell>"
        here = said(FunctionSession(namespace(source, file), call_seconds=1.0), check)
        cells = [CodeCell(0, "imports", "import numpy as np"), CodeCell(1, "Stack", source)]
        with closing(worker.open(cells)) as session:
            there = said(session, check)
        # Only this process knows the line of a call that was stopped.
        assert here == there or "was stopped" in there
        return there

    return ask


def small(student, _agrees):
    """Check one push and one pop."""
    stack = student.Stack()
    stack.push(1)
    assert_matches(stack.pop(), 1)


def whole(_student, agrees):
    """Use an object in every possible way."""
    stack = agrees.Stack([1, 2])
    stack.push(3)
    assert len(stack) == 3
    assert list(stack) == [1, 2, 3]
    assert 3 in stack
    assert stack[0] == stack[-3] == 1
    assert stack.size == 3
    assert repr(stack) == "Stack([1, 2, 3])"
    other = stack.copy()
    assert stack == other
    other.push(5)
    assert stack != other
    assert len(stack + other) == 7
    stack.merge(other)
    assert agrees.total(stack) == 17
    assert stack.array().tolist() == [1, 2, 3, 1, 2, 3, 5]
    assert len(agrees.Stack().of(1, 2)) == 2
    with stack:
        stack.size  # noqa: B018 - the attribute is compared
    stack.pop()  # raises an error, as it should
    stack.push(2)
    stack.pop()


def caller(_student, agrees):
    """Change a list after it was passed to an object."""
    items = [1, 2]
    stack = agrees.Stack(items)
    items.append(3)
    len(stack)


MISTAKES = {
    "nothing comes back": (changed("return self.items.pop()", "self.items.pop()"), small, """
        stack.pop() returned None. Does it end in a `return`? (`print` shows a value but returns nothing. A function that changes its argument, such as `list.append`, returns None too.)
        stack = Stack()
        stack.push(1)
        stack.pop() gave  None
        it should be      1"""),
    "no such method": (changed("def pop", "def popp"), small, """
        Stack has no method `pop`: its `def` is missing, has another name, or is outside the class. It has `popp`: is that the right name?
        stack = Stack()
        stack.push(1)
        stack.pop()"""),
    "without self": (changed("def push(self, item)", "def push(item)"), small, """
        `stack.push(1)` stopped with TypeError: Stack.push() takes 1 positional argument but 2 were given. The object itself comes first: is `self` missing from the parameters of the method?
        stack = Stack()
        stack.push(1)"""),
    "an error in a line": (changed("return self.items.pop()", "return self.itemz.pop()"), small, """
        Stack.pop stopped with AttributeError: 'Stack' object has no attribute 'itemz'. It happened in the line `return self.itemz.pop()`. `Stack` has nothing called `itemz`. Is the name misspelled, or does the value have a different type than you expect?
        stack = Stack()
        stack.push(1)
        stack.pop()"""),
    "still a stub": (changed("self.items.append(item)", "raise NotImplementedError"), small, """
        `Stack.push` is still the stub. Replace its `raise NotImplementedError` with your code.
        stack = Stack()
        stack.push(1)"""),
    "no class": ("def Stack():\n    return 3\n", small, """
        `Stack` should be a class. Its first line should begin with `class Stack`.
        stack = Stack()"""),
    "no Stack": ("class Stakc:\n    pass\n", small, """
        There is no class called Stack: its cell is missing, its cell was not run, its `class` line has another name, or the cell stopped with an error before that line. The notebook has `Stakc`: is that the right name?"""),
    "the caller's list": (changed("self.items = list(items)", "self.items = items"), caller, """
        len(stack) is 3 instead of 2.
        items = [1, 2]
        stack = Stack(items)
        items[:] = [1, 2, 3]
        len(stack) gave  3
        it should be     2"""),
    "no error": (changed('raise IndexError("empty")', "return None"), lambda _s, agrees: agrees.Stack().pop(), """
        Here an IndexError should be raised, but the call returned None.
        stack = Stack()
        stack.pop()"""),
    "another error": (changed("raise IndexError", "raise ValueError"), lambda _s, agrees: agrees.Stack().pop(), """
        Here an IndexError should be raised, but a ValueError was (empty).
        stack = Stack()
        stack.pop()"""),
    "a list for an object": (changed("return Stack(self.items)", "return self.items"), lambda _s, agrees: agrees.Stack([1]).copy(), """
        stack.copy() is a list of 1 item instead of an object of type Stack.
        stack = Stack([1])
        stack.copy()"""),
    "no len": (changed("def __len__", "def length"), lambda student, _a: len(student.Stack()), """
        `len(stack)` stopped with TypeError: object of type 'Stack' has no len(). Python looks for a method `__len__` in the class."""),
    "no attribute": (changed("def size", "def sise"), lambda student, _a: student.Stack().size, """
        Objects of Stack have no `size` after these lines: no method has set `self.size`, and the class has nothing with that name. They have `sise`: is that the right name?"""),
    "loops": (changed("return self.items.pop()", "while True: pass"), small, "Stack.pop was stopped after 1 second. Is there a loop"),
    "without end": (changed("return iter(self.items)", "import itertools; return itertools.count()"), lambda student, _a: list(student.Stack()), """
        list(stack): looping over it gives more than 10,000 items, and was stopped: does it ever end?"""),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_what_a_student_reads(both, name):
    """The message and the lines that lead to it, ready to paste, are the same in the sandbox and in this process."""
    source, check, words = MISTAKES[name]
    told, expected = both(source, check), dedent(words).strip()
    assert told.startswith(expected) if len(expected.splitlines()) == 1 else told == expected


UNUSUAL = {
    "a subclass of list": """
        class Stack(list):
            size = property(len)
            of = classmethod(lambda cls, *items: cls(items))
            push = list.append
            def pop(self):
                if not len(self):
                    raise IndexError("nothing left")
                return super().pop()
            def copy(self): return Stack(self)
            def merge(self, other): self.extend(other)
            def __add__(self, other): return Stack([*self, *other])
            def __repr__(self): return f"Stack({list(self)})"
            def __enter__(self): return self
            def __exit__(self, *error): self.clear()
            def array(self): return np.array(self)
    """,
    "slots, a base class and an error of its own": """
        class Empty(IndexError): pass
        class Base:
            __slots__ = ("_kept",)
            def __init__(self, items=()): self._kept = tuple(items)
            def __len__(self): return len(self._kept)
            def __getitem__(self, place): return self._kept[place]
        class Stack(Base):
            __slots__ = ()
            @property
            def size(self): return len(self)
            @staticmethod
            def of(*items): return Stack(items)
            def push(self, item): self._kept += (item,)
            def pop(self):
                if not self._kept: raise Empty("no")
                *rest, last = self._kept
                self._kept = tuple(rest)
                return last
            def copy(self): return Stack(self._kept)
            def merge(self, other): self._kept += other._kept
            def __eq__(self, other): return self._kept == other._kept
            def __add__(self, other): return Stack(self._kept + other._kept)
            def __repr__(self): return f"Stack({list(self._kept)})"
            def __enter__(self): return self
            def __exit__(self, *error): self._kept = ()
            def array(self): return np.asarray(self._kept)
    """,
    "a dataclass": """
        from dataclasses import dataclass, field
        @dataclass(repr=False)
        class Stack:
            items: list = field(default_factory=list)
            def __post_init__(self): self.items = [*self.items]
            def __getattr__(self, name):
                if name == "size": return len(self.items)
                raise AttributeError(name)
            def of(self, *items): return Stack(items)
            def push(self, item): self.items = [*self.items, item]
            def pop(self): return self.items.pop()
            def copy(self): return Stack(self.items)
            def merge(self, other): self.items += other.items
            def __len__(self): return len(self.items)
            def __getitem__(self, place): return self.items[place]
            def __add__(self, other): return Stack(self.items + other.items)
            def __repr__(self): return f"Stack({self.items})"
            def __enter__(self): return self
            def __exit__(self, *error): self.items = []
            def array(self): return np.array(self.items)
    """,
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_right_in_an_unusual_way(both, name):
    """However the class is written, only its results count."""
    assert both(dedent(UNUSUAL[name]) + "\ndef total(stack): return sum(stack)\n", whole) == ""


def test_the_right_class_is_right(both):
    """The reference passes, and a call sequence leaves the class's shared state unchanged."""
    assert both(RIGHT, whole) == ""
    assert both(RIGHT, lambda _s, agrees: [agrees.Stack().made for _ in range(3)]) == ""


def test_a_list_that_all_objects_share_is_seen(both):
    """Two objects of one check share a call sequence, and running the lines in the message gives the shown results."""

    def check(_student, agrees):
        one, two = agrees.Stack(), agrees.Stack()
        one.push(1)
        len(two)

    shared = changed(
        "def __init__(self, items=()):\n        self.items = list(items)",
        "def __init__(self, items=[]):\n        self.items = items",
    )
    told = both(shared, check)
    assert (
        told
        == "len(other) is 1 instead of 0.\nstack = Stack()\nother = Stack()\nstack.push(1)\nlen(other) gave  1\nit should be     0"
    )
    lines = [line for line in told.splitlines()[1:-1] if " gave" not in line]
    names = namespace(shared)
    exec("\n".join(lines), names)  # noqa: S102 - what a student would paste
    assert len(names["other"]) == 1


def test_too_many_steps_are_told_to_the_author():
    """If a check takes hundreds of steps with one object, the message says what to do instead."""
    reference = ReferenceProxy(REFERENCE)
    with track_answers():
        stack = reference.Stack()
        with pytest.raises(ValueError, match=f"more than {MAX_STEPS} steps with one object.*Take the steps in a probe"):
            [stack.push(number) for number in range(MAX_STEPS + 1)]


def test_what_an_error_says_is_told_only_where_it_is_the_wrong_one():
    """The text of a wrong error is sent, but not that of a correct error, which may have any text."""

    class Stack:
        def pop(self, error):
            raise error("in my own words")

    def raised(error, right):
        steps = [Step("make", None, "Stack"), Step("call", 0, "pop", (("v", error),), raises=right)]
        [answer] = FunctionSession({"Stack": Stack}).batch([script("Stack", steps, outcome=True)])
        return answer.value

    assert "text" not in raised(IndexError, "IndexError")
    assert "text" not in raised(IndexError, "LookupError")
    assert raised(KeyError, "IndexError")["text"] == "'in my own words'"
