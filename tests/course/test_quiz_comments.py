"""Tests that the explanation of a wrong quiz choice is shown at its own question, for a class and for self-learners."""

from __future__ import annotations

import json
import re

from autograder.base.verdict import disclosed_exercise
from autograder.course.course import load_course
from autograder.judging.functions import FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from autograder.pages import Card, card_html, card_text
from autograder.student.examples import parse_examples, replay
from autograder.student.examples.record import recorded
from tests.support import ROOT

CHAPTER, QUIZ = "ch1_weighted_averaging", "quiz_ch1"


def test_each_comment_stands_at_its_own_question():
    """Each explanation appears once: after grading if the course discloses messages, and at once for self-learners."""
    checks = load_checks(load_course(ROOT), CHAPTER)
    known = {m.message: m.function() for m in checks.misconceptions[QUIZ]}
    answers = dict(checks.references[QUIZ]())
    answers |= {name: value for wrong in reversed(known.values()) for name, value in wrong.items()}
    meant = {name: message for message, wrong in reversed(known.items()) for name in wrong}
    [graded] = Judge(checks).judge(FunctionSubject("a student", answers), only=frozenset({QUIZ}))
    examples = parse_examples(json.loads(json.dumps(recorded(checks, "self-learners", "after passing"))))
    [alone] = replay(examples.exercises, FunctionSubject("alone", answers), only=frozenset({QUIZ}))
    assert len(meant) >= 5
    for verdict in (disclosed_exercise(graded, "message"), alone):
        reasons = {check.name: check.reason for check in verdict.checks}
        for number, variable in enumerate(answers, 1):
            if variable in meant:
                assert " ".join(meant[variable].split()) in " ".join(reasons[f"test_question_{number}"].split())
        card = Card(verdict, graded=True)
        for shown in (card_text(card), card_html(card)):
            text = " ".join(shown.replace("<p>", " ").replace("&#x27;", "'").replace("&quot;", '"').split())
            for message in meant.values():
                first = " ".join(message.split())[:40].split("`")[0]
                assert text.count(first) == 1
    assert (alone.status, alone.max_score) == (graded.status, graded.max_score)


def test_no_message_quotes_an_equation_that_the_student_did_not_write():
    """An equation with different letters is the same mistake, so the message about the mistake cannot quote an equation."""
    checks = load_checks(load_course(ROOT), "ch2_query_key_value")
    judge, letters = Judge(checks), str.maketrans("iajbk", "pfswz")
    right = checks.references["einsum_attention"]()
    for known in checks.misconceptions["einsum_attention"]:
        own = {name: value.translate(letters) for name, value in known.function().items() if "->" in value}
        subject = FunctionSubject("a student", {**right, **own})
        [verdict] = judge.judge(subject, only=frozenset({"einsum_attention"}))
        quoted = re.findall(r"[a-z]+,[a-z]+->[a-z]*", verdict.message)
        assert set(quoted) <= set(own.values()), verdict.message
        assert verdict.misconception == (known.name if own else None)
