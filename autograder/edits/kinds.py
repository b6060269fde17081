"""What kind of mistake an edit undoes, in a word for programs and in words for a student who has to find it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["KINDS", "Kind", "kind_of"]


class Kind(NamedTuple):
    """``look`` completes "look at …", ``another`` completes "with … there,": neither ever says what would be right."""

    look: str
    another: str


KINDS = {
    "axis": Kind("the axis along which it works", "another axis"),
    "keepdims": Kind("whether the axis is kept or dropped", "the axis treated in another way"),
    "transpose": Kind("which axes are swapped, and whether", "the axes in another order"),
    "operator": Kind("the operator", "another operator"),
    "comparison": Kind("the comparison", "another comparison"),
    "order": Kind("the order of what stands there", "the same things in another order"),
    "grouping": Kind("what belongs together: which step is done before which", "its steps done in another order"),
    "number": Kind("the number", "another number"),
    "variable": Kind("which variable is used", "another variable"),
    "index": Kind("the index, or the bounds of the slice", "another index, or other bounds"),
    "range": Kind("where the counting begins and ends", "the counting begun or ended elsewhere"),
    "extra": Kind("a step that is too many", "one step less"),
    "missing": Kind("a step that is missing", "one step more"),
    "lines": Kind("whether the line is needed, and whether it stands at the right place", "that line gone or elsewhere"),
    "condition": Kind("the condition", "another condition"),
    "function": Kind("which function is called", "another function"),
    "shift": Kind("what is taken away before exp", "something else taken away before exp"),
    "shape": Kind("the shape", "another shape"),
    "inplace": Kind("which array it changes, or whether it hands out the array itself", "a new array"),
    "dtype": Kind("the type of the numbers", "another type of numbers"),
    "returned": Kind("what is returned, in which form, and when", "the result returned in another way"),
    "expression": Kind("what is worked out there", "something else worked out"),
    "text": Kind("the text", "another text"),
}  # fmt: skip


def kind_of(name: str) -> Kind:
    """The words for a kind; those of an author's own operator are its name."""
    return KINDS.get(name) or Kind(name, f"another {name}")
