"""The kinds of mistake that an edit can fix, and the words that describe each kind to a student."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from autograder.base.formatting import join_words

__all__ = ["KINDS", "EditKind", "describe_change", "kind_of"]


class EditKind(NamedTuple):
    """The words for one kind of mistake. None of them gives the solution away.

    Attributes:
        look: the words that complete "look, for example, at …".
        words: prefixes of the words that are typical of a text about this kind of mistake. Empty if there are no such
            words, as for a wrong number.
    """

    look: str
    words: tuple[str, ...] = ()

    def is_mentioned_in(self, text: str) -> bool:
        """Return whether ``text``, such as a written hint, is about this kind of mistake."""
        return any(re.search(rf"(?<!\w){re.escape(word)}", text, re.IGNORECASE) for word in self.words)


KINDS = {
    "axis": EditKind("the axis", ("axis", "axes", "along")),
    "keepdims": EditKind("whether the axis is kept or dropped", ("keepdims", "keeps the axis")),
    "transpose": EditKind("which axes are used, and in which order", ("transpos", "swap", ".T", "moveaxis")),
    "operator": EditKind("which operator is used", ("operator", "sign", "minus")),
    "update": EditKind("what happens to the old value", ("overwrit", "old value")),
    "comparison": EditKind("the comparison", ("compar", "<", ">", "strictly")),
    "order": EditKind("the order of operands, arguments or items", ("order", "other way round")),
    "grouping": EditKind("which parts belong together and which step comes first", ("bracket", "before", "after")),
    "number": EditKind("the number"),
    "variable": EditKind("which variable is used"),
    "index": EditKind("the index, or the bounds of the slice", ("index", "indices", "slice")),
    "range": EditKind("the start and the end of the range", ("range", "loop")),
    "extra": EditKind("a step, factor, index or argument that is not needed"),
    "missing": EditKind("what is computed there, and whether a step is missing"),
    "lines": EditKind("whether this step is needed"),
    "case": EditKind("whether this special case is needed, and whether the condition for it is right"),
    "place": EditKind("whether the line is in the right place"),
    "loop": EditKind("what the loop does next"),
    "condition": EditKind("the condition", ("condition", "when it is None", "is None")),
    "branch": EditKind("whether a condition is right"),
    "always": EditKind("whether a condition is needed"),
    "function": EditKind("which function is called"),
    "shift": EditKind("which number should be subtracted before exp", ("maximum", "overflow", "largest")),
    "shape": EditKind("which size or shape is used", ("shape", "reshape", "[:, None]")),
    "inplace": EditKind("whether a new array is needed there", ("copy", "copies", "in place", "new array")),
    "default": EditKind("the default value of a parameter, which all calls share", ("default",)),
    "array": EditKind("whether a value is an array or a list", ("array", "list")),
    "dtype": EditKind("the type of the numbers", ("dtype", "bool", "float", "whole number")),
    "returned": EditKind("what is returned, in which form, or at which point", ("return",)),
    "expression": EditKind("what is computed there"),
    "text": EditKind("the string", ("einsum", "letter")),
}  # fmt: skip


def kind_of(name: str) -> EditKind:
    """Return the kind called ``name``. For an operator that the course itself defines, ``name`` is also the description."""
    return KINDS.get(name) or EditKind(name)


def describe_change(lines: Sequence[int], cell: str, kind: str, edits: int, checks: str = "all checks") -> str:
    """Return a sentence that says which ``lines`` to change. It claims only what is proven, and reveals no code.

    If ``edits`` is 1, a change in any one of the lines is enough.
    """
    # The change that was found may pass although the mistake is another one.
    look = f": look, for example, at {kind_of(kind).look}" if kind else ""
    if edits == 1:
        places = " or in ".join(f"line {line}" for line in lines)
        return f"A change in {places} of {cell} makes {checks} pass{look}."
    places = f"line{'s' * (len(lines) > 1)} {join_words([*map(str, lines)])}"
    number = "Two changes" if edits == 2 >= len(lines) else "Changes" if edits == 2 else "Several changes"
    return f"{number} in {places} of {cell} make {checks} pass{look}."
