"""Read an Otter master notebook and split it into its parts.

Both formats are supported: blocks between raw cells, and the older format, in which a text cell starts each question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from autograder.base.foreign import Json
from autograder.base.formatting import pluralize
from autograder.course.notebook import text_of
from autograder.extras.importing.pieces import (
    AnswerCell,
    CopiedCell,
    ImportRefusedError,
    ManualCell,
    Original,
    Piece,
    SourceLine,
    Test,
    code_cell,
    text_cell,
)

__all__ = ["distribute_points", "is_otter", "lines_of", "read_otter", "test_of", "without_ignored"]


# --- Comments in code cells --------------------------------------------------------------------------------------------

_BEGIN = re.compile(r"^\s*#\s*BEGIN SOLUTION( NO PROMPT)?\s*$", re.IGNORECASE)
_END = re.compile(r"^\s*#\s*END SOLUTION\s*$", re.IGNORECASE)
_LINE = re.compile(r"\s*#\s*SOLUTION( NO PROMPT)?\s*$", re.IGNORECASE)
_SEED = re.compile(r"\s*#\s*SEED\s*$", re.IGNORECASE)
_PROMPT = re.compile(r"^\s*(\"\"\"|''')\s*;?\s*#\s*(BEGIN|END) PROMPT\s*$", re.IGNORECASE)
_PLUGIN = re.compile(r"^\s*(\"\"\"|''')\s*;?\s*#\s*(BEGIN|END) PLUGIN\s*$", re.IGNORECASE)
_CONFIG = re.compile(
    r"\A\s*(\"\"\"|''')\s*#\s*BEGIN TEST CONFIG\s*\n(.*?)\n?\s*(\"\"\"|''')\s*;?\s*#\s*END TEST CONFIG[^\n]*\n?",
    re.DOTALL,
)
_HEADING = re.compile(r"\A\s*#+\s*(?:(hidden)\s*(?:tests?)?|tests?)\s*#*\s*(?:\n|\Z)", re.IGNORECASE)
_OLD_SOLUTION = re.compile(r"^\s*##\s*solution\s*##\s*$", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*IGNORE\s*$", re.IGNORECASE)
_IGNORED = re.compile(r"^\s*#\s*(BEGIN|END) IGNORE\s*$", re.IGNORECASE)
_ASSIGNED = re.compile(r"^(\s*[^=#]*?[^=!<>+\-*/%&|^@:\s]\s*(?:[+\-*/%&|^@]|//|\*\*)?=(?!=)\s*)")


def without_ignored(source: str) -> str:
    """Return code without the lines marked IGNORE, which neither students nor the grader get."""
    kept, inside = [], False
    for line in source.splitlines():
        mark = _IGNORED.match(line)
        if mark:
            inside = mark[1].upper() == "BEGIN"
        elif not inside and not _IGNORE.search(line):
            kept.append(line)
    return "\n".join(kept)


def lines_of(source: str) -> list[SourceLine]:
    """Return the lines of a code cell. Each says whether it is part of a solution, and what students see instead."""
    found: list[SourceLine] = []
    solution = prompted = prompt = plugin = False
    for line in without_ignored(source).splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if _OLD_SOLUTION.match(line):
            continue
        if mark := _PLUGIN.match(line):
            plugin = mark[2].upper() == "BEGIN"
        elif plugin:
            continue
        elif mark := _PROMPT.match(line):
            prompt = mark[2].upper() == "BEGIN"
        elif prompt:
            found.append(SourceLine(None, line))
        elif mark := _BEGIN.match(line):
            solution, prompted = True, not mark[1]
            if prompted:
                found.append(SourceLine(None, f"{indent}..."))
        elif _END.match(line):
            solution = False
        elif solution:
            found.append(SourceLine(line, None, is_solution=True))
        elif mark := _LINE.search(line):
            solved = line[: mark.start()]
            left = _ASSIGNED.match(solved)
            shown = None if mark[1] else f"{left[1]}..." if left else f"{indent}..."
            found.append(SourceLine(solved, shown, is_solution=True))
        else:
            kept = line[: seed.start()] if (seed := _SEED.search(line)) else line
            found.append(SourceLine(kept, kept))
    return found


def test_of(where: str, question: str, cell: Mapping[str, Json]) -> tuple[Test, Json]:
    """Return the test in ``cell``, and the points that the cell states, or None if it states none."""
    source = text_of(cell.get("source"))
    config: Mapping[str, Json] = {}
    hidden = False
    if found := _CONFIG.match(source):
        config = _simple(found[2])
        source = source[found.end() :]
        hidden = config.get("hidden") is True
    if found := _HEADING.match(source):
        hidden = hidden or bool(found[1])
        source = source[found.end() :]
    name = str(config.get("name") or "")
    test = Test(
        f"{where} ({question})",
        name,
        without_ignored(source).strip("\n"),
        Fraction(0),
        question=question,
        hidden=hidden,
        message=str(config.get("failure_message") or ""),
        expected=_printed(cell.get("outputs")),
    )
    return test, config.get("points")


def _simple(text: str) -> Mapping[str, Json]:
    """Return a test's settings. Settings that are not valid YAML are ignored, because a test's message may contain any characters."""
    import yaml  # noqa: PLC0415 - only an Otter notebook needs it

    if len(text) > 20_000:
        return {}
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _printed(outputs: Json) -> str | None:
    """Return the output of the cell's last expression in the author's notebook, or None if no output is saved."""
    texts = []
    for output in outputs if isinstance(outputs, list) else ():
        data = output.get("data") if isinstance(output, dict) else None
        if isinstance(output, dict) and output.get("output_type") == "stream" and output.get("name") == "stdout":
            texts.append(text_of(output.get("text")))
        if isinstance(data, dict) and "text/plain" in data:
            texts.append(text_of(data["text/plain"]))
    return texts[-1] if texts else None


# --- Points of tests ---------------------------------------------------------------------------------------------------


def distribute_points(
    where: str, config: Mapping[str, Json], tests: Sequence[tuple[Test, Json]]
) -> tuple[list[Test], list[str]]:
    """Return the tests with their points, and notes for the author.

    A question is worth 1 point if neither it nor its tests state points. Tests that state points keep them. The question's
    remaining points are divided equally among its other tests.
    """
    if not tests:
        return [], []
    notes: list[str] = []
    own = _by_test(config, tests)
    whole = _number(config.get("points"))
    said = sum((p for p in own if p is not None), Fraction(0))
    silent = [i for i, p in enumerate(own) if p is None]
    if whole is None and (not said or not silent):
        whole = Fraction(1) if not said and silent else said
    rest = Fraction(0) if whole is None else whole - said
    if rest < 0:
        notes.append(
            f"{where}: its tests add up to {pluralize(float(said), 'point')}, but the question has {pluralize(float(whole or 0), 'point')}. The tests' points are used."
        )
        rest = Fraction(0)
    each = rest / len(silent) if silent else Fraction(0)
    if rest > 0 and len(silent) > 1:
        notes.append(
            f"{where}: {pluralize(float(rest), 'point')} divided equally among {len(silent)} tests, as in Otter."
        )
    worth = [each if p is None else p for p in own]
    if rest > 0 and not silent and said:
        worth = [p * (whole or said) / said for p in worth]
    if config.get("all_or_nothing") is True and len(tests) > 1:
        worth = [Fraction(0)] * (len(tests) - 1) + [sum(worth, Fraction(0))]
        notes.append(
            f"{where}: all or nothing, as in the source. The question's last test has all its points and depends on the other tests."
        )
        return [replace(t, points=p, after_visible=p > 0) for (t, _), p in zip(tests, worth, strict=True)], notes
    return [replace(test, points=p) for (test, _), p in zip(tests, worth, strict=True)], notes


def _by_test(config: Mapping[str, Json], tests: Sequence[tuple[Test, Json]]) -> list[Fraction | None]:
    given = config.get("points")
    own = [_number(points) for _, points in tests]
    if isinstance(given, list):
        listed = [_number(one) for one in given] + [None] * len(tests)
        return [p if p is not None else q for p, q in zip(own, listed, strict=False)]
    if isinstance(given, dict):
        each = _number(given.get("each"))
        return [p if p is not None else each for p in own]
    kinds = {False: _number(config.get("public_points")), True: _number(config.get("private_points"))}
    for hidden, share in kinds.items():
        members = [i for i, (test, _) in enumerate(tests) if test.hidden == hidden and own[i] is None]
        for i in members:
            own[i] = share / len(members) if share is not None else None
    return own


def _number(value: Json) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        return None
    return Fraction(value).limit_denominator(1000)


# --- Cells and questions -----------------------------------------------------------------------------------------------

_FENCE = re.compile(r"\A\s*```\s*otter\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_WORDS = re.compile(r"\A#\s*(ASSIGNMENT CONFIG|(?:BEGIN|END) (?:QUESTION|PROMPT|SOLUTION|TESTS))\s*\Z", re.IGNORECASE)
_OLD_QUESTION = re.compile(r"```[a-z]*\s*\n\s*BEGIN QUESTION\s*\n(.*?)```", re.DOTALL)
_OLD_TEST = re.compile(r"\A#+\s*(hidden\s+)?tests?\s*#+", re.IGNORECASE)
_OWN = re.compile(r"^\s*(?:import otter|grader\s*=\s*otter\.|grader\.(?:check|export)\b|from otter\b)")
_BLANK = "_Type your answer here, replacing this text._"
_DOES_MORE = {
    "seed": "students get the seed that grading uses, but Otter would give students a different seed",
    "variables": "the environment of a student's run is not saved",
    "save_environment": "the environment of a student's run is not saved",
    "config_file": "the file is not read, so its settings are not imported",
}


@dataclass
class _Question:
    """A question that is being read."""

    name: str
    where: str
    config: Mapping[str, Json]
    cells: list[Piece] = field(default_factory=list)
    prompt: list[tuple[str, Mapping[str, Json]]] = field(default_factory=list)
    solution: list[tuple[str, Mapping[str, Json]]] = field(default_factory=list)
    tests: list[tuple[Test, Json]] = field(default_factory=list)

    @property
    def by_hand(self) -> bool:
        return self.config.get("manual") is True


def is_otter(cells: Sequence[Mapping[str, Json]]) -> bool:
    """Return whether any cell starts an Otter question."""
    return any(_opens(cell) for cell in cells)


def read_otter(cells: Sequence[Mapping[str, Json]]) -> Original:
    """Split a notebook in Otter format. Raises ``ImportRefusedError`` if a question is not marked up correctly."""
    reader = _OtterReader()
    for number, cell in enumerate(cells, 1):
        reader.read(f"cell {number}", cell)
    return reader.finished()


def _opens(cell: Mapping[str, Json]) -> bool:
    words, _ = _boundary(cell)
    source = text_of(cell.get("source"))
    return words in {"BEGIN QUESTION", "ASSIGNMENT CONFIG"} or (
        cell.get("cell_type") == "markdown" and bool(_OLD_QUESTION.search(source))
    )


def _boundary(cell: Mapping[str, Json]) -> tuple[str, str]:
    """Return the marker of a cell that starts or ends a block, such as ``BEGIN TESTS``, and the YAML below it. Return two empty strings for any other cell."""
    source, kind = text_of(cell.get("source")), cell.get("cell_type")
    fenced = _FENCE.match(source) if kind == "markdown" else None
    if kind != "raw" and not fenced:
        return "", ""
    text = (fenced[1] if fenced else _TAG.sub("", source)).strip()
    first, _, rest = text.partition("\n")
    words = _WORDS.match(first.strip())
    return (" ".join(words[1].upper().split()), rest) if words else ("", "")


class _OtterReader:
    """A reader that processes cells in order and keeps track of the current block."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.files: list[str] = []
        self.notes: list[str] = []
        self.names: set[str] = set()
        self.question: _Question | None = None
        self.block = ""  # PROMPT, SOLUTION or TESTS
        self.old = False  # whether the question starts in a text cell, and no cell ends it

    def read(self, where: str, cell: Mapping[str, Json]) -> None:
        """Process one cell."""
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
        """Return the notebook that was read."""
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
            raise ImportRefusedError(
                f"{where}: # {words} is outside any question. # BEGIN QUESTION is missing above it."
            )
        else:
            self.block = block if verb == "BEGIN" else ""

    def _configured(self, where: str, config: Mapping[str, Json]) -> None:
        for key in ("files", "student_files", "autograder_files"):
            named = config.get(key)
            self.files += [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
        self.notes += [f"{where}, {key}: {why}." for key, why in _DOES_MORE.items() if config.get(key)]

    def _begin(self, where: str, text: str) -> None:
        config = _yaml(where, text)
        name = str(config.get("name") or f"question_{len(self.names) + 1}")
        if name in self.names:
            raise ImportRefusedError(f"{where}: two questions are called {name}. Give each question its own name.")
        self.names.add(name)
        self.question, self.block, self.old = _Question(name, f"{where} ({name})", config), "", False

    def _keep(self, where: str, cell: Mapping[str, Json]) -> None:
        if cell.get("cell_type") == "code":
            lines = lines_of(text_of(cell.get("source")))
            cell = {**cell, "source": "\n".join(line.solved for line in lines if line.solved is not None)}
        if self.question is not None and not self.solution_seen:
            self.question.cells.append(CopiedCell(where, cell))
        else:
            self.pieces.append(CopiedCell(where, cell))

    @property
    def solution_seen(self) -> bool:
        """Whether the solution of the current question has been read."""
        return self.question is not None and bool(self.question.solution)

    def _of_block(self, where: str, cell: Mapping[str, Json]) -> None:
        question = self.question
        assert question is not None  # noqa: S101 - the caller has checked this
        if self.block == "PROMPT":
            question.prompt.append((where, cell))
        elif self.block == "SOLUTION":
            question.solution.append((where, cell))
        elif self.block == "TESTS":
            self._test(where, cell)
        else:
            question.cells.append(CopiedCell(where, cell))

    def _of_old(self, where: str, cell: Mapping[str, Json], source: str) -> None:
        question = self.question
        assert question is not None  # noqa: S101 - the caller has checked this
        if cell.get("cell_type") == "code" and _OLD_TEST.match(source.lstrip()):
            self._test(where, cell)
        elif not question.solution and not question.tests:
            question.solution.append((where, cell))
        else:
            self._end()
            self._keep(where, cell)

    def _test(self, where: str, cell: Mapping[str, Json]) -> None:
        question = self.question
        assert question is not None  # noqa: S101 - the caller has checked this
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
        self.pieces += [CopiedCell(where, cell) for where, cell in question.prompt]
        for where, cell in question.solution:
            self.pieces += self._answer(question, where, cell)
        tests, notes = distribute_points(question.where, question.config, question.tests)
        self.notes += notes
        self.pieces += [replace(test, question=question.name) for test in tests]

    def _answer(self, question: _Question, where: str, cell: Mapping[str, Json]) -> Iterator[Piece]:
        where = f"{where} ({question.name})"
        tags = cell.get("metadata", {}).get("tags") if isinstance(cell.get("metadata"), dict) else None
        if cell.get("cell_type") == "code":
            yield AnswerCell(where, question.name, lines_of(text_of(cell.get("source"))))
        elif isinstance(tags, list) and "otter_include" in tags:
            yield CopiedCell(where, {**cell, "metadata": {}})
        else:
            self.notes.append(f"{where}: text in a solution is not imported. It stays in your notebook.")


def _by_hand(question: _Question) -> Iterator[Piece]:
    """Yield the cells of a manually graded answer: the prompt, or the solution's cells as students get them. The first cell has the points."""
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
        yield ManualCell(f"{where} ({question.name})", make(source, **marks), "" if number else answer)


def _handed_out(cell: Mapping[str, Json]) -> str:
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


def _yaml(where: str, text: str) -> Mapping[str, Json]:
    import yaml  # noqa: PLC0415 - only an Otter notebook needs it

    if len(text) > 20_000:
        raise ImportRefusedError(
            f"{where}: its settings are {len(text):,} characters long, which is more than the limit."
        )
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        at = f" in line {line + 2}" if line is not None else ""
        raise ImportRefusedError(
            f"{where}: its settings are not YAML{at}: {getattr(error, 'problem', None) or 'they cannot be read'}."
        ) from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ImportRefusedError(f"{where}: its settings are not YAML of the form “name: value”.")
    return found
