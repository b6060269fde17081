"""A master notebook of Otter's, as pieces: its blocks in raw cells, and the older form with the question in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.course.notebook import text_of
from autograder.extras.importing.otter_code import lines_of, test_of, without_ignored
from autograder.extras.importing.otter_points import shared_out
from autograder.extras.importing.pieces import (
    AnswerCell,
    ByHand,
    Given,
    ImportRefusedError,
    Original,
    Piece,
    Test,
    code_cell,
    text_cell,
)

__all__ = ["is_otter", "read_otter"]

_FENCE = re.compile(r"\A\s*```\s*otter\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_WORDS = re.compile(r"\A#\s*(ASSIGNMENT CONFIG|(?:BEGIN|END) (?:QUESTION|PROMPT|SOLUTION|TESTS))\s*\Z", re.IGNORECASE)
_OLD_QUESTION = re.compile(r"```[a-z]*\s*\n\s*BEGIN QUESTION\s*\n(.*?)```", re.DOTALL)
_OLD_TEST = re.compile(r"\A#+\s*(hidden\s+)?tests?\s*#+", re.IGNORECASE)
_OWN = re.compile(r"^\s*(?:import otter|grader\s*=\s*otter\.|grader\.(?:check|export)\b|from otter\b)")
_BLANK = "_Type your answer here, replacing this text._"
_DOES_MORE = {
    "seed": "students get the seed that grading uses; Otter would hand out another",
    "variables": "no environment of a student is kept",
    "save_environment": "no environment of a student is kept",
    "config_file": "it is not read: what it sets is not carried over",
}


@dataclass
class _Question:
    """A question as it is being read."""

    name: str
    where: str
    config: Mapping[str, Any]
    cells: list[Piece] = field(default_factory=list)
    prompt: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    solution: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    tests: list[tuple[Test, Any]] = field(default_factory=list)

    @property
    def by_hand(self) -> bool:
        return self.config.get("manual") is True


def is_otter(cells: Sequence[Mapping[str, Any]]) -> bool:
    """Whether any of the cells opens a question of Otter's."""
    return any(_opens(cell) for cell in cells)


def read_otter(cells: Sequence[Mapping[str, Any]]) -> Original:
    """The pieces of a notebook in Otter's format; raises ``ImportRefusedError`` where its blocks do not fit together."""
    reader = _OtterReader()
    for number, cell in enumerate(cells, 1):
        reader.read(f"cell {number}", cell)
    return reader.finished()


def _opens(cell: Mapping[str, Any]) -> bool:
    words, _ = _boundary(cell)
    source = text_of(cell.get("source"))
    return words in {"BEGIN QUESTION", "ASSIGNMENT CONFIG"} or (
        cell.get("cell_type") == "markdown" and bool(_OLD_QUESTION.search(source))
    )


def _boundary(cell: Mapping[str, Any]) -> tuple[str, str]:
    """The words of a cell that begins or ends a block, and the YAML below them; empty for any other cell."""
    source, kind = text_of(cell.get("source")), cell.get("cell_type")
    fenced = _FENCE.match(source) if kind == "markdown" else None
    if kind != "raw" and not fenced:
        return "", ""
    text = (fenced[1] if fenced else _TAG.sub("", source)).strip()
    first, _, rest = text.partition("\n")
    words = _WORDS.match(first.strip())
    return (" ".join(words[1].upper().split()), rest) if words else ("", "")


class _OtterReader:
    """Reads cell by cell, and knows in which block it is."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.files: list[str] = []
        self.notes: list[str] = []
        self.names: set[str] = set()
        self.question: _Question | None = None
        self.block = ""  # PROMPT, SOLUTION or TESTS
        self.old = False  # the question stands in a cell of text, and no cell ends it

    def read(self, where: str, cell: Mapping[str, Any]) -> None:
        """Take one cell."""
        words, text = _boundary(cell)
        source = text_of(cell.get("source"))
        if words:
            self._turn(where, words, text)
        elif cell.get("cell_type") == "markdown" and (found := _OLD_QUESTION.search(source)):
            self._end()
            self._begin(where, found[1])
            self.old = True
            if rest := _OLD_QUESTION.sub("", source).strip():
                self._keep(where, {**cell, "source": rest})
        elif re.match(r"\s*#\s*IGNORE\b", source, re.IGNORECASE) or (_OWN.match(source) and _only_otter(source)):
            return
        elif self.question is None:
            self._keep(where, cell)
        elif self.old:
            self._of_old(where, cell, source)
        else:
            self._of_block(where, cell)

    def finished(self) -> Original:
        """What was read."""
        if self.question is not None and not self.old:
            raise ImportRefusedError(f"{self.question.where}: its question {self.question.name} has no # END QUESTION.")
        self._end()
        return Original("Otter", self.pieces, self.files, self.notes)

    def _turn(self, where: str, words: str, text: str) -> None:
        if words == "ASSIGNMENT CONFIG":
            self._configured(where, _yaml(where, text))
            return
        verb, block = words.split()
        if block == "QUESTION":
            if self.old or verb == "END":
                self._end()
            if verb == "BEGIN":
                if self.question is not None:
                    raise ImportRefusedError(
                        f"{where}: a question begins within {self.question.name}, which has no # END QUESTION."
                    )
                self._begin(where, text)
        elif self.question is None:
            raise ImportRefusedError(f"{where}: # {words} stands in no question: # BEGIN QUESTION is missing above it.")
        else:
            self.block = block if verb == "BEGIN" else ""

    def _configured(self, where: str, config: Mapping[str, Any]) -> None:
        for key in ("files", "student_files", "autograder_files"):
            named = config.get(key)
            self.files += [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
        self.notes += [f"{where}, {key}: {why}." for key, why in _DOES_MORE.items() if config.get(key)]

    def _begin(self, where: str, text: str) -> None:
        config = _yaml(where, text)
        name = str(config.get("name") or f"question_{len(self.names) + 1}")
        if name in self.names:
            raise ImportRefusedError(f"{where}: a second question is called {name}. Give each a name of its own.")
        self.names.add(name)
        self.question, self.block, self.old = _Question(name, f"{where} ({name})", config), "", False

    def _keep(self, where: str, cell: Mapping[str, Any]) -> None:
        if cell.get("cell_type") == "code":
            lines = lines_of(text_of(cell.get("source")))
            cell = {**cell, "source": "\n".join(line.solved for line in lines if line.solved is not None)}
        if self.question is not None and not self.solution_seen:
            self.question.cells.append(Given(where, cell))
        else:
            self.pieces.append(Given(where, cell))

    @property
    def solution_seen(self) -> bool:
        """Whether the question that is open has shown its solution."""
        return self.question is not None and bool(self.question.solution)

    def _of_block(self, where: str, cell: Mapping[str, Any]) -> None:
        question = self.question
        assert question is not None  # noqa: S101 - who calls it has looked
        if self.block == "PROMPT":
            question.prompt.append((where, cell))
        elif self.block == "SOLUTION":
            question.solution.append((where, cell))
        elif self.block == "TESTS":
            self._test(where, cell)
        else:
            question.cells.append(Given(where, cell))

    def _of_old(self, where: str, cell: Mapping[str, Any], source: str) -> None:
        question = self.question
        assert question is not None  # noqa: S101 - who calls it has looked
        if cell.get("cell_type") == "code" and _OLD_TEST.match(source.lstrip()):
            self._test(where, cell)
        elif not question.solution and not question.tests:
            question.solution.append((where, cell))
        else:
            self._end()
            self._keep(where, cell)

    def _test(self, where: str, cell: Mapping[str, Any]) -> None:
        question = self.question
        assert question is not None  # noqa: S101 - who calls it has looked
        if cell.get("cell_type") == "code":
            test, points = test_of(where, question.name, cell)
            question.tests.append((test, points))

    def _end(self) -> None:
        question, self.question, self.block, self.old = self.question, None, "", False
        if question is None:
            return
        self.pieces += question.cells
        if question.by_hand:
            self.pieces += _by_hand(question)
            return
        self.pieces += [Given(where, cell) for where, cell in question.prompt]
        for where, cell in question.solution:
            self.pieces += self._answer(question, where, cell)
        tests, told = shared_out(question.where, question.config, question.tests)
        self.notes += told
        self.pieces += [replace(test, question=question.name) for test in tests]

    def _answer(self, question: _Question, where: str, cell: Mapping[str, Any]) -> Iterator[Piece]:
        where = f"{where} ({question.name})"
        tags = cell.get("metadata", {}).get("tags") if isinstance(cell.get("metadata"), dict) else None
        if cell.get("cell_type") == "code":
            yield AnswerCell(where, question.name, lines_of(text_of(cell.get("source"))))
        elif isinstance(tags, list) and "otter_include" in tags:
            yield Given(where, {**cell, "metadata": {}})
        else:
            self.notes.append(
                f"{where}: text in a solution is not handed out, and not kept either: it stays in your notebook."
            )


def _by_hand(question: _Question) -> Iterator[Piece]:
    """The cells of an answer that a person marks: the prompt, or what is left of the solution; the first carries the points."""
    points = question.config.get("points")
    worth = points if isinstance(points, int | float) and not isinstance(points, bool) else 1
    answer = "\n\n".join(text_of(cell.get("source")) for _, cell in question.solution)
    shown = [(where, cell, text_of(cell.get("source"))) for where, cell in question.prompt]
    if not shown:
        shown = [(where, cell, _handed_out(cell)) for where, cell in question.solution]
    for number, (where, cell, source) in enumerate(shown or [(question.where, {"cell_type": "markdown"}, _BLANK)]):
        name = re.sub(r"[^a-zA-Z0-9_-]+", "-", question.name) + (f"-{number + 1}" if number else "")
        marks = {"grade_id": name, "grade": True, "solution": True, "points": 0 if number else worth}
        make = code_cell if cell.get("cell_type") == "code" else text_cell
        yield ByHand(f"{where} ({question.name})", make(source, **marks), "" if number else answer)


def _handed_out(cell: Mapping[str, Any]) -> str:
    if cell.get("cell_type") != "code":
        return _BLANK
    lines = lines_of(text_of(cell.get("source")))
    marked = any(line.is_solution for line in lines)
    return "\n".join(line.shown for line in lines if line.shown is not None) if marked else "# Write your code here."


def _only_otter(source: str) -> bool:
    return all(
        _OWN.match(line)
        for line in without_ignored(source).splitlines()
        if line.strip() and not line.strip().startswith("#")
    )


def _yaml(where: str, text: str) -> Mapping[str, Any]:
    import yaml  # noqa: PLC0415 - only a notebook of Otter's needs it

    if len(text) > 20_000:
        raise ImportRefusedError(f"{where}: its settings are {len(text):,} characters long, which no person wrote.")
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        at = f" in line {line + 2}" if line is not None else ""
        raise ImportRefusedError(
            f"{where}: its settings are no YAML{at}: {getattr(error, 'problem', None) or 'they cannot be read'}."
        ) from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ImportRefusedError(f"{where}: its settings are no YAML of the form “name: value”.")
    return found
