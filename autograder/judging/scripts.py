"""Why a step of a script failed, where no line of the student's raised: a method that is missing, or takes something else."""

from __future__ import annotations

import re

from autograder.checking.scripts import asked_for, last_step, spelled_script
from autograder.judging.explanations import NOT_AS_ASKED, nearest
from autograder.sandbox.protocol import Call, StudentError

__all__ = ["why_a_step_failed"]

_COUNTED = re.compile(r"takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were) given")
_SPECIAL = {
    "len": "__len__", "in": "__contains__", "[]": "__getitem__", "[]=": "__setitem__", "del[]": "__delitem__", "list": "__iter__",
    "next": "__next__", "call": "__call__", "with": "__enter__", "leave": "__exit__", "==": "__eq__", "<": "__lt__", ">": "__gt__",
    "<=": "__le__", ">=": "__ge__", "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "int": "__int__",
    "float": "__float__", "abs": "__abs__", "-x": "__neg__", "reversed": "__reversed__", "**": "__pow__", "//": "__floordiv__",
    "%": "__mod__", "@": "__matmul__", "&": "__and__", "|": "__or__", "^": "__xor__", "round": "__round__", "hash": "__hash__",
}  # fmt: skip


def why_a_step_failed(call: Call, error: StudentError) -> str:
    """A sentence for the student; empty where the error says enough."""
    step, owner = last_step(call)
    if error.type == NOT_AS_ASKED and error.message == "CLASS":
        return f"`{call.function}` is no class, and a class is asked for: its first line begins with `class {call.function}`."
    if error.type == NOT_AS_ASKED:
        return f"{asked_for(call)}: {error.message.rstrip('?. ')}?"
    if error.type == "NoSuchName":
        _, _, listed = error.message.partition(": ")
        known = [name for name in listed.split(", ") if name]
        near = nearest(step.name, known)
        if step.do == "call":
            instead = f" It has `{near}`: is that the one?" if near else ""
            return f"{owner} has no method `{step.name}`: its `def` is missing, has another name, or stands outside of the class.{instead}"
        instead = f" They have `{near}`: is that the one?" if near else ""
        return (
            f"Objects of {owner} have no `{step.name}` after these lines: no method has set `self.{step.name}`, and the class has "
            f"nothing of that name.{instead}"
        )
    if error.type == "NotImplementedError" and error.where:
        where = f"{owner}.{error.where}" if error.where.isidentifier() else owner
        return f"`{where}` is still the stub: its `raise NotImplementedError` goes when your code comes."
    if error.line:
        return ""
    text = spelled_script(call)[0]
    if error.type == "TypeError" and (found := _COUNTED.search(error.message)) and int(found[2]) == int(found[1]) + 1:
        return (
            f"`{text}` stopped with TypeError: {error.message}. The object itself comes first: is `self` missing from the "
            "parameters of the method?"
        )
    if error.type == "TypeError" and step.do == "use" and step.name in _SPECIAL and "argument" not in error.message:
        return f"`{text}` stopped with TypeError: {error.message}. Python looks for a method `{_SPECIAL[step.name]}` there."
    return ""
