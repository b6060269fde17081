"""Record every verdict on a broad corpus, so that the verdicts before and after a change can be compared.

``python benchmarks/record_verdicts.py before.jsonl`` judges each misconception, each alternative and a share of the
mutants of every chapter, both with all checks and with the recorded examples. It also grades a simulated class of each
chapter in the sandbox, including hostile and broken notebooks. After the change, ``python
benchmarks/record_verdicts.py after.jsonl --against before.jsonl`` prints the differences. All of them should be intended.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from simulated import HERE, course_in

from autograder.authoring.audit.mutants import mutants_of
from autograder.course.course import Course, load_course
from autograder.extras.demo.students import hand_in, make_class
from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job
from autograder.judging.functions import FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks, known_alternatives, known_misconceptions, load_checks
from autograder.student.examples import parse_examples, replay
from autograder.student.examples.record import recorded

MUTANTS = 40  # mutants of each exercise, spread evenly over all of its mutants
CLASS = 48
SECONDS = 2.0  # the time limit of one call

Line = tuple[str, dict[str, Any]]


def main() -> None:
    """Record the verdicts, and compare them with an earlier recording if there is one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("output", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--chapters", nargs="+", default=load_course(HERE).finished_chapters())
    parser.add_argument("--without-jail", action="store_true", help="do not grade the simulated classes")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    os.environ["AUTOGRADER_COURSE_SECRET"] = "the same for every recording"  # noqa: S105 - it hides nothing
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        lines = [line for part in pool.map(functions, options.chapters) for line in part]
    if not options.without_jail:
        lines += classes(options.chapters)
    found = dict(lines)
    if len(found) != len(lines):
        raise SystemExit(
            f"Two lines have the same name: {[n for n, k in Counter(n for n, _ in lines).items() if k > 1][:5]}"
        )
    options.output.write_text(
        "".join(json.dumps([name, data], ensure_ascii=False) + "\n" for name, data in lines), encoding="utf-8"
    )
    print(f"{len(lines)} verdicts in {options.output}")
    if options.against is not None:
        raise SystemExit(1 if differ(read(options.against), found) else 0)


def functions(chapter: str) -> list[Line]:
    """Return the verdicts on a chapter's known solutions and mutants, with every check and with the recorded examples."""
    course = load_course(HERE)
    return list(_functions(course, chapter, Judge(load_checks(course, chapter))))


def _functions(course: Course, chapter: str, judge: Judge[ChapterChecks]) -> Iterator[Line]:
    checks = judge.checks
    examples = parse_examples(recorded(checks)).exercises
    right: dict[str, Any] = dict(checks.references)
    for spec in checks.specs.values():
        if spec.answers:
            right.update(checks.references[spec.name]())

    def lines(kind: str, exercise: str, name: str, own: Mapping[str, Any], *, shrinks: bool) -> Iterator[Line]:
        judge.checks.shrinks = shrinks
        subject = FunctionSubject(name, {**right, **own}, call_seconds=SECONDS)
        [verdict] = judge.judge(subject, only=frozenset({exercise}))
        yield f"{chapter} {kind} {exercise} {name} graded", verdict.to_json()
        [replayed] = replay(examples, subject, only=frozenset({exercise}))
        yield f"{chapter} {kind} {exercise} {name} replayed", replayed.to_json()

    for kind, solutions in (
        ("misconception", known_misconceptions(course, chapter)),
        ("alternative", known_alternatives(course, chapter)),
    ):
        for one in solutions:
            answers = checks.specs[one.exercise].answers
            own = one.function() if answers else {one.exercise: one.function}
            yield from lines(kind, one.exercise, one.name, own, shrinks=True)
    for spec in checks.specs.values():
        if not spec.answers:
            mutants = mutants_of(checks.references[spec.name], spec.name)
            for mutant in mutants[:: max(1, len(mutants) // MUTANTS)]:
                yield from lines("mutant", spec.name, mutant.label, {spec.name: mutant.function}, shrinks=False)


def classes(chapters: list[str]) -> list[Line]:
    """Return the verdicts on a simulated class of each chapter, including hostile and broken notebooks, graded in the sandbox."""
    with tempfile.TemporaryDirectory() as folder:
        course = course_in(Path(folder) / "course", "c.Course.call_seconds = 2.0", "c.Course.cell_seconds = 2.0")
        jobs = []
        for chapter in chapters:
            for student in make_class(CLASS):
                path = course.root / "submitted" / student.id / chapter / f"{chapter}.ipynb"
                path.parent.mkdir(parents=True)
                path.write_bytes(hand_in(course, chapter, student, CLASS).data)
                jobs.append(Job(path, student.id, chapter))
        verdicts = grade_notebooks(course, jobs, workers=2)
        return [
            (f"{job.chapter} class {job.student}", json.loads(json.dumps(v.to_json()).replace(folder, "")))
            for job, v in zip(jobs, verdicts, strict=True)
        ]


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Return the verdicts in the recording at ``path``, by name."""
    return dict(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def differ(before: Mapping[str, Any], after: Mapping[str, Any]) -> int:
    """Print each difference between two recordings once, with its count. Return the number of verdicts that differ."""
    changed = [name for name in before if name in after and before[name] != after[name]]
    seen: dict[str, list[str]] = {}
    for name in changed:
        for where, was, now in _differences("", before[name], after[name]):
            kind = name.rsplit(" ", 1)[1] if " class " not in name else "class"
            seen.setdefault(f"{kind} {where}\n    was {str(was)[:400]!r}\n    now {str(now)[:400]!r}", []).append(name)
    for text, names in sorted(seen.items(), key=lambda item: -len(item[1])):
        print(f"{len(names)} × {text}\n    first in {names[0]}")
    for what, names in (("missing", before.keys() - after.keys()), ("new", after.keys() - before.keys())):
        if names:
            print(f"{len(names)} {what}, such as {sorted(names)[:3]}")
    digest = hashlib.sha256(json.dumps([after[n] for n in sorted(after)]).encode()).hexdigest()[:12]
    print(f"{len(changed)} of {len(before)} verdicts differ ({digest})")
    return len(changed)


def _differences(where: str, was: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(was, dict) and isinstance(now, dict):
        for key in [*was, *(k for k in now if k not in was)]:
            if was.get(key) != now.get(key):
                yield from _differences(f"{where}.{key}", was.get(key), now.get(key))
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for old, new in zip(was, now, strict=True):
            if old != new:
                yield from _differences(f"{where}[]", old, new)
    else:
        yield where, was, now


if __name__ == "__main__":
    main()
