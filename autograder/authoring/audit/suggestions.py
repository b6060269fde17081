"""Suggest misconceptions as code to paste: mutants that match no misconception, and mutants that no check catches."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import io
import keyword
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType

from autograder.authoring.audit.mutants import Mutant
from autograder.base.foreign import Json, Value
from autograder.checking.decorators import ExerciseSpec
from autograder.course.course import Course
from autograder.judging.diagnosis import distinguishing_calls, same_answer
from autograder.judging.functions import FunctionSession, FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks
from autograder.misconception import Misconception
from autograder.sandbox.protocol import Answer, Call
from autograder.values import paste

__all__ = ["Suggestion", "pasteable", "suggestions"]

_MOST = 5  # the maximum number of killed mutants, and of survivors, to suggest per exercise
_MOST_TRIED = 60  # about how many mutants are compared with the misconceptions
_FURTHER = 3  # in how many draws to look for a call that a survivor answers wrongly
_SECONDS = 1.0  # seconds of processor time for one call
_LONGEST_ASK = 160  # the maximum length, in characters, of a call that is worth pasting
_WANTED = "TODO(author): say what the student did, why it cannot be right, and where to look. Never give the code."
_SIGNS = {
    "+": "plus", "-": "minus", "*": "times", "/": "divided_by", "//": "divided_down_by", "%": "modulo", "@": "matmul", "**": "power",
    "<": "below", ">": "above", "<=": "at_most", ">=": "at_least", "==": "equal", "!=": "unequal", "&": "both", "|": "either",
}  # fmt: skip
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclasses.dataclass(frozen=True)
class Suggestion:
    """A wrong solution of ``exercise`` as code for a file of misconceptions. The author has to write its message.

    Attributes:
        change: a description of the change.
        imports: the import lines that ``code`` needs, by the name that each binds.
        survives: whether no check catches the solution.
        ask: a call that a survivor answers wrongly. Empty if none is known.
    """

    exercise: str
    name: str
    change: str
    code: str
    imports: Mapping[str, str]
    survives: bool = False
    ask: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the suggestion as JSON data."""
        return dataclasses.asdict(self)


def suggestions(
    checks: ChapterChecks,
    spec: ExerciseSpec,
    survivors: Sequence[Mutant],
    slips: Sequence[Mutant],
    further: Callable[[int], Sequence[Call]],
) -> tuple[Suggestion, ...]:
    """Suggest misconceptions for an exercise.

    Args:
        checks: the chapter's checks.
        spec: the exercise.
        survivors: mutants that no check kills.
        slips: mutants that a visible check kills. A mutant is suggested if its answers are new and it would be diagnosed correctly.
        further: returns more calls of the exercise, given the number of a draw.
    """
    if not (survivors or slips):
        return ()
    name = spec.name
    taken = {m.name for known in checks.misconceptions.values() for m in known} | set(checks.references)
    surviving = []
    for mutant in survivors[:_MOST]:
        if (one := _written(checks, name, mutant, taken)) is not None:
            ask = _shown_by(checks, name, mutant, further)
            surviving.append(dataclasses.replace(one, survives=True, ask=ask))
    written = ((_written(checks, name, mutant, taken), mutant) for mutant in _unnamed(checks, name, slips))
    offered = [(one, mutant) for one, mutant in written if one is not None]
    wrong = [Misconception(one.name, name, one.name, mutant.function) for one, mutant in offered]
    diagnosed = _diagnosed_correctly(checks, name, wrong)
    return (*surviving, *[one for one, _ in offered if one.name in diagnosed][:_MOST])


def pasteable(course: Course, chapter: str, offered: Sequence[Suggestion]) -> str:
    """Return the ``offered`` suggestions and their imports as text to paste at the end of the chapter's file of misconceptions."""
    there = vars(course.misconceptions(chapter)).keys()
    path = course.root / "solutions" / "misconceptions" / f"{chapter}.py"
    lines = {"misconceptions_of": "from autograder.misconception import misconceptions_of"}
    for one in offered:
        lines.update(one.imports)
    wanted = _together(line for name, line in lines.items() if name not in there)
    where = f"solutions/misconceptions/{chapter}.py" + ("" if path.is_file() else ", a new file")
    parts = [f"# To paste into {where}. Write each message first, and choose better names."]
    if wanted:
        parts.append("\n".join(wanted))
    for exercise in dict.fromkeys(one.exercise for one in offered):
        parts.append(f'\nwrong = misconceptions_of("{exercise}")')
        parts += [_explained(one) for one in offered if one.exercise == exercise]
    return "\n\n".join(parts) + "\n"


def _together(lines: Iterable[str]) -> list[str]:
    """Return sorted import lines, with one line per module."""
    plain: list[str] = []
    modules: dict[str, list[str]] = {}
    for line in lines:
        before, separator, names = line.partition(" import ")
        if separator:
            modules.setdefault(before, []).append(names)
        else:
            plain.append(line)
    return sorted(plain) + [f"{module} import {', '.join(sorted(modules[module]))}" for module in sorted(modules)]


def _explained(one: Suggestion) -> str:
    lines = [f"# {one.change}"]
    if one.survives:
        advice = (
            f"Add agrees.{one.ask} to a visible check"
            if one.ask
            else "Add to a visible check an input that shows the difference"
        )
        lines.append(f"# No check detects it yet, so it keeps full marks. {advice}.")
    return "\n" + "\n".join([*lines, one.code])


def _unnamed(checks: ChapterChecks, name: str, mutants: Sequence[Mutant]) -> list[Mutant]:
    """Return the ``mutants`` whose answers differ from the answers of every misconception and every earlier mutant.

    Skip mutants that raise on the first call, which is the worked example.
    """
    calls = [c for c in distinguishing_calls(name, checks.plan(name)) if c.memory_mb is None]
    right = _answers(checks, name, None, calls)
    known = [_answers(checks, name, m.function, calls) for m in checks.misconceptions[name]]
    unnamed = []
    step = max(1, len(mutants) // _MOST_TRIED)
    for mutant in mutants[::step]:
        if "`self`" in mutant.label:
            continue  # nobody confuses `self` with another name
        answers = _answers(checks, name, mutant.function, calls)
        if len(answers) < len(calls) or answers[0].error is not None or _alike(answers, right, calls):
            continue
        if not any(_alike(answers, others, calls) for others in known):
            known.append(answers)
            unnamed.append(mutant)
        if len(unnamed) >= 2 * _MOST:
            break
    return unnamed


def _diagnosed_correctly(checks: ChapterChecks, name: str, wrong: Sequence[Misconception]) -> set[str]:
    """Return the names in ``wrong`` that lose marks and are diagnosed correctly alongside the existing misconceptions."""
    candidates = {**checks.misconceptions, name: [*checks.misconceptions[name], *wrong]}
    judge = Judge(dataclasses.replace(checks, misconceptions=candidates, shrinks=False, _diagnoses={}))
    diagnosed = set()
    for one in wrong:
        names = {**checks.right_names(), name: one.function}
        subject = FunctionSubject(name, names, call_seconds=_SECONDS)
        [verdict] = judge.judge(subject, only=frozenset({name}))
        if verdict.score < verdict.max_score and verdict.misconception == one.name:
            diagnosed.add(one.name)
    return diagnosed


def _shown_by(checks: ChapterChecks, name: str, mutant: Mutant, further: Callable[[int], Sequence[Call]]) -> str:
    """Return the shortest further call, as code, that a survivor answers wrongly, or "" if none is short enough."""
    if isinstance(checks.references[name], type):
        return ""  # testing an object takes several calls
    asks = []
    for number in range(_FURTHER):
        calls = [call for call in further(number) if call.function == name and call.is_plain]
        pairs = zip(
            _answers(checks, name, None, calls), _answers(checks, name, mutant.function, calls), calls, strict=False
        )
        asks += [_call(call) for right, other, call in pairs if not same_answer(right, other, call)]
    short = [ask for ask in asks if len(ask) <= _LONGEST_ASK and " is an array of " not in ask]
    return min(short, key=len, default="")


def _call(call: Call) -> str:
    given = [paste("", value)[3:] for value in call.args]
    given += [f"{key}={paste('', value)[3:]}" for key, value in call.kwargs.items()]
    return f"{call.function}({', '.join(given)})"


def _answers(
    checks: ChapterChecks, name: str, function: Callable[..., Value] | None, calls: Sequence[Call]
) -> list[Answer]:
    names = checks.right_names()
    if function is not None:
        names[name] = function
    return FunctionSession(names, call_seconds=_SECONDS).batch(list(calls))


def _alike(one: Sequence[Answer], other: Sequence[Answer], calls: Sequence[Call]) -> bool:
    return len(one) == len(other) and all(map(same_answer, one, other, calls))


# --- suggestions as text -------------------------------------------------------------------------------------------


def _written(checks: ChapterChecks, exercise: str, mutant: Mutant, taken: set[str]) -> Suggestion | None:
    """Return ``mutant`` as code for a file of misconceptions, or None if a name that it needs has another meaning there."""
    [definition] = ast.parse(mutant.source).body
    origin, change = mutant.label.partition(": ")[::2]
    change = re.sub(r" \((?:line \d+|#\d+)\)", "", change)
    name = _named(re.sub(r"^\w+: (?=`|if )", "", change))  # without a class's method name
    if isinstance(definition, ast.ClassDef):
        name = _free("".join(part.capitalize() for part in name.split("_")), taken)
        for part in (definition, *definition.body):
            if isinstance(part, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(part) is not None:
                part.body = part.body[1:] or [ast.Pass()]
    elif isinstance(definition, ast.FunctionDef):
        name = _free(name, taken)
        definition.returns = None
    else:
        return None
    for node in ast.walk(definition):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.Name) and node.id == definition.name:
            node.id = name  # the function calls itself
    definition.name = name
    imports = _imports(checks, exercise, origin, definition)
    if imports is None:
        return None
    taken.add(name)
    head, _, body = _double_quoted(ast.unparse(ast.fix_missing_locations(definition))).partition("\n")
    return Suggestion(exercise, name, change, f'@wrong\n{head}\n    """{_WANTED}"""\n{body}', imports)


def _imports(
    checks: ChapterChecks, exercise: str, origin: str, definition: ast.FunctionDef | ast.ClassDef
) -> dict[str, str] | None:
    """Return the import line of each module-level name that ``definition`` uses.

    Return None if such a name means something else in the file of misconceptions.
    """
    reference = inspect.unwrap(checks.references[exercise])
    module = inspect.getmodule(reference)
    if origin != exercise:
        module = checks.course.alternatives(checks.chapter)
    if module is None:
        return None
    wrong = vars(checks.course.misconceptions(checks.chapter))
    own = {node.arg for node in ast.walk(definition) if isinstance(node, ast.arg)}
    own |= {n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    used = dict.fromkeys(n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    imports = {}
    for name in used:
        if name in own or name == definition.name or name not in vars(module):
            continue
        if name in wrong and wrong[name] is not vars(module)[name]:
            return None
        imports[name] = _import_of(name, module) or f"from {module.__name__} import {name}"
    return imports


def _import_of(name: str, module: ModuleType) -> str:
    """Return the line with which ``module`` imports ``name``, or "" if the module defines the name itself."""
    for statement in ast.parse(inspect.getsource(module)).body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            aliases = [a for a in statement.names if (a.asname or a.name.partition(".")[0]) == name]
            if aliases:
                statement.names = aliases[:1]
                return ast.unparse(statement)
    return ""


def _named(change: str) -> str:
    """Return a name that says what a change adds and removes, such as ``sum_for_mean`` or ``without_keepdims``."""
    before, arrow, after = change.partition(" → ")
    if not arrow:
        return "_".join(["without", *list(_words(before.removesuffix(" left out")))[:2]])
    if after == "if not":
        return "the_other_branch"
    gone, come = Counter(_words(before)), Counter(_words(after))
    old, new = next(iter(gone - come), ""), next(iter(come - gone), "")
    if not old and not new:
        return "another_number" if before != after and re.fullmatch(r"`-?[\d.e+-]+`", after) else "another_order"
    if new and (gone - come)["minus"] and old == "minus":
        return f"{new}_for_{'_'.join(list(gone - come)[:2])}"  # such as ``zero_for_minus_one`` or ``plus_for_minus``
    return f"{new}_for_{old}" if new and old else f"with_{new}" if new else f"without_{old}"


def _words(text: str) -> Iterator[str]:
    """Yield the names, operators and small whole numbers in ``text`` as parts of a name, names first."""
    tokens = re.findall(r"[A-Za-z_]\w*|\d+\.?\d*(?:e[-+]?\d+)?|//|\*\*|[<>=!]=|[-+*/%@<>&|]", text.strip("`"))
    names = [token.strip("_").lower() for token in tokens if token[0].isalpha() or token[0] == "_"]
    yield from (name for name in names if name and name not in {"np", "self"})
    yield from (_SIGNS[token] for token in tokens if token in _SIGNS)
    yield from (_NUMBERS[int(token)] for token in tokens if token.isdigit() and int(token) < len(_NUMBERS))


def _free(name: str, taken: set[str]) -> str:
    name = re.sub(r"\W", "_", name[:50]).strip("_")
    if not name.isidentifier() or keyword.iskeyword(name):
        name = "another_step"
    number = 2
    while name in taken:
        name, number = f"{name.rstrip('0123456789').rstrip('_')}_{number}", number + 1
    return name


def _double_quoted(source: str) -> str:
    """Return ``source`` with double quotes around each string that contains no double quotes or backslashes."""
    lines = source.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(source).readline))):
        text = token.string
        if (
            token.type == tokenize.STRING
            and text[0] == text[-1] == "'"
            and not set('"\\') & set(text)
            and token.start[0] == token.end[0]
        ):
            line = lines[token.start[0] - 1]
            lines[token.start[0] - 1] = f'{line[: token.start[1]]}"{text[1:-1]}"{line[token.end[1] :]}'
    return "".join(lines)
