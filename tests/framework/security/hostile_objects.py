"""Classes, tests and functions that try to get unearned marks. Each fills a stub cell of examples/plain_python."""

from autograder.sandbox.protocol import CodeCell


class Handed:
    """A one-cell submission that runs in the sandbox."""

    label, blank, notes = "a student", frozenset(), {}

    def __init__(self, worker, name, source):
        self.worker, self.cell = worker, CodeCell(0, name, source)

    def open(self, *, memory_mb=None):
        """Return a fresh session."""
        return self.worker.open([self.cell], memory_mb=memory_mb)

    def before_redefined(self, _exercise):
        """Return None, because nothing is defined twice."""


HEAD = """
    def add(self, title, text): pass
    def find(self, word): return ["Rain"]
    def __len__(self): return 0
    def __contains__(self, word): return True
"""
INDEXES = {
    "a method that loops": "class Index:\n    def __init__(self): pass\n    def add(self, title, text):\n        while True: pass\n",
    "a method that catches everything": (
        "class Index:\n    def add(self, title, text):\n        while True:\n            try:\n                while True: pass\n"
        "            except BaseException: pass\n"
    ),
    "a constructor that forks": f"import os\nclass Index:\n    def __init__(self):\n        while True: os.fork()\n{HEAD}",
    "a constructor that ends the process": f"import os\nclass Index:\n    def __init__(self): os._exit(0)\n{HEAD}",
    "attributes that lie": (
        "class Lie:\n    def __eq__(self, other): return True\n    def __getattr__(self, name): return Lie()\n"
        "    def __call__(self, *a): return Lie()\n    __hash__ = None\n    def __len__(self): return 1\n"
        "    def __iter__(self): return iter([Lie()])\n    type = 'Index'\n\nclass Index(Lie):\n"
        "    def __contains__(self, word): return Lie()\n"
    ),
    "a metaclass that lies": (
        "class Meta(type):\n    def __instancecheck__(cls, other): return True\n    def __eq__(cls, other): return True\n"
        "    def __hash__(cls): return 0\n    __module__ = property(lambda cls: 'decimal')\n"
        "    def mro(cls): return [cls, object]\n"
        f"class Index(metaclass=Meta):\n{HEAD}"
    ),
    "texts that are equal to everything": (
        "class Same(str):\n    def __eq__(self, other): return True\n    def __hash__(self): return 1\n    def __len__(self): return 4\n"
        "class Many(list):\n    def __eq__(self, other): return True\n    def __len__(self): return 1\n    def __iter__(self): return iter([Same('x')])\n"
        "class Index:\n    def add(self, title, text): pass\n    def find(self, word): return Many([Same('Rain')])\n"
        "    def __len__(self): return int(3)\n    def __contains__(self, word): return True\n"
    ),
    "an endless length and iteration": (
        "import itertools\nclass Index:\n    def add(self, title, text): pass\n    def find(self, word): return Endless()\n"
        "    def __len__(self): return 10**9\n    def __contains__(self, word): return True\n"
        "class Endless(list):\n    def __iter__(self): return itertools.count()\n    def __len__(self): return 10**12\n"
    ),
    "looks through the frames for steps to come": (
        "import sys, gc\ndef loot(word):\n    frame = sys._getframe()\n    while frame:\n        for value in list(frame.f_locals.values()):\n"
        "            if isinstance(value, list) and value and isinstance(value[-1], (tuple, list)):\n"
        "                for step in value:\n                    if isinstance(step, tuple) and len(step) > 3 and step[2] == 'add':\n"
        "                        return [step[3][0][1]]\n        frame = frame.f_back\n    return []\n"
        "class Index:\n    def add(self, title, text): pass\n    def find(self, word): return loot(word)\n"
        "    def __len__(self): return 0\n    def __contains__(self, word): return bool(loot(word))\n"
    ),
    "empties the framework's own modules": (
        "import sys, operator, builtins\noperator.contains = operator.eq = lambda *a: True\nbuiltins.len = lambda x: 3\n"
        "builtins.isinstance = lambda *a: True\n"
        f"class Index:\n{HEAD}"
    ),
}
TESTS = {
    "refuses all but the one that it knows by its code": """
def test_is_anagram(is_anagram):
    def known(one, other):
        return sorted(one.lower()) == sorted(other.lower())
    assert is_anagram.__code__.co_code == known.__code__.co_code
""",
    "lets the first pass, and refuses the others": """
seen = []
def test_is_anagram(is_anagram):
    seen.append(is_anagram)
    assert len(seen) == 1
""",
    "looks who calls": """
import sys
def test_is_anagram(is_anagram):
    frame, told = sys._getframe(), []
    while frame:
        told += [name for name, value in frame.f_locals.items() if name in ("bug", "bugs", "right", "what")]
        frame = frame.f_back
    assert "bug" not in told and "always" not in is_anagram.__name__ and len(is_anagram.__code__.co_code) > 20
""",
    "hangs in a function that is given": "def test_is_anagram(is_anagram):\n    while is_anagram('a', 'a') or True: pass\n",
    "says True of itself": "class Yes:\n    def __eq__(self, other): return True\n    def __bool__(self): return True\n"
    "def test_is_anagram(is_anagram):\n    return Yes()\n",
}
SLOW = {
    "goes through a list": """
def first_again(words):
    seen = []
    for word in words:
        if word in seen:
            return word
        seen.append(word)
""",
    "switches the counter off": """
import sys
def first_again(words):
    sys.settrace(None)
    seen = []
    for word in words:
        if word in seen:
            return word
        seen.append(word)
""",
    "reaches for the count": """
import sys
def first_again(words):
    frame = sys._getframe()
    while frame:
        if "found" in frame.f_locals:
            frame.f_locals["found"]["steps"] = -10**9
        frame = frame.f_back
    seen = []
    for word in words:
        if word in seen:
            return word
        seen.append(word)
""",
}
