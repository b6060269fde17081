"""What kind of mistake an edit undoes, in a word for programs and in words for a student who has to find it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["KINDS", "EditKind", "kind_of"]


class EditKind(NamedTuple):
    """``look`` completes "look at …", ``another`` completes "with … there,": neither ever says what would be right."""

    look: str
    another: str


KINDS = {
    "axis": EditKind("the axis along which it works", "another axis"),
    "keepdims": EditKind("whether the axis is kept or dropped", "the axis treated in another way"),
    "transpose": EditKind("which axes are swapped, and whether", "the axes in another order"),
    "operator": EditKind("the operator", "another operator"),
    "comparison": EditKind("the comparison", "another comparison"),
    "order": EditKind("the order of what stands there", "the same things in another order"),
    "grouping": EditKind("what belongs together: which step is done before which", "its steps done in another order"),
    "number": EditKind("the number", "another number"),
    "variable": EditKind("which variable is used", "another variable"),
    "index": EditKind("the index, or the bounds of the slice", "another index, or other bounds"),
    "range": EditKind("where the counting begins and ends", "the counting begun or ended elsewhere"),
    "extra": EditKind("a step that is too many", "one step less"),
    "missing": EditKind("a step that is missing", "one step more"),
    "lines": EditKind("whether the line is needed, and whether it stands at the right place", "that line gone or elsewhere"),
    "condition": EditKind("the condition", "another condition"),
    "function": EditKind("which function is called", "another function"),
    "shift": EditKind("what is taken away before exp", "something else taken away before exp"),
    "shape": EditKind("the shape", "another shape"),
    "inplace": EditKind("which array it changes, or whether it hands out the array itself", "a new array"),
    "dtype": EditKind("the type of the numbers", "another type of numbers"),
    "returned": EditKind("what is returned, in which form, and when", "the result returned in another way"),
    "expression": EditKind("what is worked out there", "something else worked out"),
    "text": EditKind("the text", "another text"),
}  # fmt: skip


def kind_of(name: str) -> EditKind:
    """The words for a kind; those of an author's own operator are its name."""
    return KINDS.get(name) or EditKind(name, f"another {name}")
