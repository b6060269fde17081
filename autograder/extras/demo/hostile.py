"""What a hostile notebook may try, for the demonstration; tests/security tries far more."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

__all__ = ["ATTACKS", "Attack"]


@dataclass(frozen=True, slots=True)
class Attack:
    """A function body that means harm; ``story`` says what it does."""

    story: str
    body: str

    def source(self, name: str) -> str:
        """The attack as the function ``name``."""
        return f"def {name}(*args, **kwargs):\n{indent(dedent(self.body).strip(), '    ')}\n"


ATTACKS = {
    "endless loop": Attack("a loop that never ends", "while True:\n    pass"),
    "exits": Attack("ends the process, to take the grader with it", "import os\nos._exit(0)"),
    "prints without end": Attack("prints until the disk is full", 'while True:\n    print("x" * 100_000)'),
    "reads files": Attack(
        "looks for the solutions on the disk",
        """
        import glob
        found = glob.glob("/**/solutions/*.py", recursive=True) + glob.glob("/**/gradebook.db", recursive=True)
        raise RuntimeError(f"I can read {open(found[0]).read()}" if found else "I found nothing to read")
        """,
    ),
}
