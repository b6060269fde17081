"""The kinds of mistake that an edit can fix, and the words that describe each kind to a student."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["KINDS", "EditKind", "kind_of"]


class EditKind(NamedTuple):
    """The words for one kind of mistake. None of them gives the solution away.

    Attributes:
        look: the words that complete "look at …".
        another: the words that complete "with … there,".
        words: prefixes of the words that are typical of a text about this kind of mistake. Empty if there are no such
            words, as for a wrong number.
    """

    look: str
    another: str
    words: tuple[str, ...] = ()

    def is_mentioned_in(self, text: str) -> bool:
        """Return whether ``text``, such as a written hint, is about this kind of mistake."""
        return any(re.search(rf"(?<!\w){re.escape(word)}", text, re.IGNORECASE) for word in self.words)


KINDS = {
    "axis": EditKind("the axis", "another axis", ("axis", "axes", "along")),
    "keepdims": EditKind("whether the axis is kept or dropped", "the axis handled differently", ("keepdims", "keeps the axis")),
    "transpose": EditKind("which axes are swapped, and which should be", "the axes in a different order", ("transpos", "swap", ".T", "moveaxis")),
    "operator": EditKind("the operator", "another operator", ("operator", "sign", "minus")),
    "comparison": EditKind("the comparison", "another comparison", ("compar", "<", ">", "strictly")),
    "order": EditKind("the order of the parts", "the same parts in a different order", ("order", "other way round")),
    "grouping": EditKind("which parts belong together and which step comes first", "the steps in a different order", ("bracket", "before", "after")),
    "number": EditKind("the number", "another number"),
    "variable": EditKind("which variable is used", "another variable"),
    "index": EditKind("the index, or the bounds of the slice", "another index, or other bounds", ("index", "indices", "slice")),
    "range": EditKind("the start and the end of the range", "another start or end of the range", ("range", "loop")),
    "extra": EditKind("an extra step or argument", "one step or argument fewer"),
    "missing": EditKind("whether a step is missing", "one more step"),
    "lines": EditKind("whether the line is needed, and whether it is in the right place", "the line removed or moved"),
    "loop": EditKind("what the loop does next", "another way to go on with the loop"),
    "condition": EditKind("the condition", "another condition", ("condition", "when it is None", "is None")),
    "branch": EditKind("whether this condition is right, and whether it is needed", "another condition"),
    "function": EditKind("which function is called", "another function"),
    "shift": EditKind("what is, or should be, subtracted before exp", "something else subtracted before exp", ("maximum", "overflow", "largest")),
    "shape": EditKind("the shape", "another shape", ("shape", "reshape", "[:, None]")),
    "inplace": EditKind("which array is changed or returned", "a new array", ("copy", "copies", "in place", "new array")),
    "default": EditKind("the default value of a parameter, which all calls share", "another default value", ("default",)),
    "dtype": EditKind("the type of the numbers", "another number type", ("dtype", "bool", "float", "whole number")),
    "returned": EditKind("what is returned, in which form, and when", "the result returned differently", ("return",)),
    "expression": EditKind("the calculation", "another calculation"),
    "text": EditKind("the string", "another string", ("einsum", "letter")),
}  # fmt: skip


def kind_of(name: str) -> EditKind:
    """Return the kind called ``name``. For an operator that the course itself defines, ``name`` is also the description."""
    return KINDS.get(name) or EditKind(name, f"another {name}")
