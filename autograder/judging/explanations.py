"""Explain a Python or NumPy error to the student who caused it. This module needs only the standard library."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

__all__ = [
    "NOT_AS_ASKED", "describe_shapes", "explain", "explain_stop", "fixed_axes", "nearest", "product", "shapes_in",
    "signature_of_error",
]  # fmt: skip


Shape = tuple[int, ...]

_ONE = re.compile(r"(?P<name>\w+) \((?P<sizes>[\d, ]*)\)")


def shapes_in(text: str) -> dict[str, Shape]:
    """Parse the text of ``StudentError.shapes`` into shapes by name.

    >>> shapes_in("Q (2, 3), v (5,)")
    {'Q': (2, 3), 'v': (5,)}
    """
    return {match["name"]: tuple(map(int, re.findall(r"\d{1,9}", match["sizes"]))) for match in _ONE.finditer(text)}


def describe_shapes(shapes: Mapping[str, Shape]) -> str:
    """Return a sentence that states the shapes, or "" if there are none."""
    parts = [
        f"`{name}` has shape {shape}" if shape else f"`{name}` is a single number" for name, shape in shapes.items()
    ]
    return f" Here {' and '.join([', '.join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)}." if parts else ""


def product(left: str, right: str, line: str, shapes: Mapping[str, Shape]) -> str:
    """Explain why ``@`` fails: state the two sizes and the known shapes, and suggest changes that would fit."""
    return (
        f"A matrix product sums over the last axis of its left side, here of size {left}, and the second-to-last axis of its right side, here of size "
        f"{right} (for a vector, its only axis). The two sizes must be equal.{describe_shapes(shapes)} {_what_fits(line, shapes)}"
    )


def fixed_axes(line: str, shapes: Mapping[str, Shape]) -> str:
    """Explain why ``transpose`` rejects its list of axes, and name the two swapped axes, counted from the end."""
    text = f"`transpose` needs one entry for each axis, no more and no fewer.{describe_shapes(shapes)}"
    listed = re.search(r"transpose\(\D*((?:\d+\s*,\s*)+\d+)\s*,?\s*\)", line)
    axes = [int(axis) for axis in listed[1].split(",")] if listed else []
    moved = [place for place, axis in enumerate(axes) if place != axis]
    if sorted(axes) != list(range(len(axes))) or len(moved) != 2:
        return f"{text} Which axes does the array have just before this line?"
    last, first = (place - len(axes) for place in reversed(moved))
    return f"{text} You swap the axes {last} and {first}, counted from the end. `swapaxes` swaps any two axes of any array."


_WHICH = "Which axis of each array should be summed over?"
_NO_SWAP = " Swapping the last two axes of one array, or the two sides, does not make them fit."


def _what_fits(line: str, shapes: Mapping[str, Shape]) -> str:
    ask = f"Do you expect both shapes? {_WHICH}"
    if (sides := _sides(line, shapes)) is None:
        return f"Print the shape of each side of the product: are these the shapes that you expect? {_WHICH}"
    (left, one), (right, other) = sides
    if (explanation := _turned_round(left, right, shapes)) and one[-1] != other[-2]:
        return explanation
    if len(one) < 2 or len(other) < 2:
        return ask
    # A change helps if the axes that are then summed over have equal sizes.
    fits = {
        f"with the last two axes of `{right}` swapped": one[-1] == other[-1],
        f"with the last two axes of `{left}` swapped": one[-2] == other[-2],
        "with the two sides swapped": other[-1] == one[-2],
    }
    stackable = all(a == b or 1 in (a, b) for a, b in zip(one[-3::-1], other[-3::-1], strict=False))  # the batch axes
    would = [how for how, fit in fits.items() if fit and stackable]
    if not would:  # another order may fit if ``.T`` reversed batch axes
        return ask + _NO_SWAP * (".T" not in left + right)
    return f"If both shapes are as you expect, the sizes would fit {', or '.join(would)}. {_WHICH}"


def _turned_round(left: str, right: str, shapes: Mapping[str, Shape]) -> str:
    """Explain that ``.T`` also reversed the batch axes of an operand, or return "" if it did not."""
    turned = [side.removesuffix(".T") for side in (right, left) if side.endswith(".T")]
    name = next((name for name in turned if len(shapes[name]) > 2), "")
    if not name:
        return ""
    shape, back = shapes[name], shapes[name][::-1]
    now = f"{shape} becomes {back}" if shape != back else f"the shape stays {shape}, but the axes change places"
    if right != f"{name}.T" or left not in shapes or shapes[left][-1:] != shape[-1:]:
        return f"`.T` reverses all the axes of `{name}`: {now}. {_WHICH}"
    return f"`.T` reverses all the axes of `{name}`: {now}. The sizes would fit if only the last two were swapped."


# A product of two names, each with or without ``.T``. The text before it is an operator with lower precedence than ``@``, an
# opening bracket, a comma, an equals sign or a word such as ``return``. Nothing after the product belongs to its right operand.
_PRODUCT = re.compile(
    r"(?:^|[=(\[{,:&|^<>]|[\w)\]]\s*[+-]|\b(?:return|yield|in|and|or|not|if|else|assert)\b)\s*"
    r"(?P<left>[A-Za-z_]\w{0,39})(?P<left_T>\.T)?\s{0,9}@\s{0,9}(?P<right>[A-Za-z_]\w{0,39})(?P<right_T>\.T)?(?!\w|\s*[.(\[]|\s*\*\*)"
)


def _sides(line: str, shapes: Mapping[str, Shape]) -> tuple[tuple[str, Shape], tuple[str, Shape]] | None:
    """Return the text and shape of both operands of the only ``@`` in the line, or None if they are unknown.

    The line comes from the sandboxed child process. It is searched and not parsed, so that it is never compiled.
    """
    found = _PRODUCT.search(line) if line.count("@") == 1 else None
    if found is None or not (shapes.get(found["left"]) and shapes.get(found["right"])):
        return None
    left, right = shapes[found["left"]], shapes[found["right"]]
    return (
        (f"{found['left']}.T", left[::-1]) if found["left_T"] else (found["left"], left),
        (f"{found['right']}.T", right[::-1]) if found["right_T"] else (found["right"], right),
    )


# The error that a probe raises for a result that it cannot inspect. The student's code does not raise this error.
NOT_AS_ASKED = "NotAsAsked"
MAX_NAME = 40  # characters of a name
MAX_NAMES = 300

_MATMUL = re.compile(
    r"matmul: Input operand (?P<which>\d) has a mismatch in its core dimension (?P<axis>\d).*\(size (?P<found>\d+) is different from (?P<other>\d+)\)"
)
_ALIGNED = re.compile(
    r"shapes \((?P<left>[\d,]+)\) and \((?P<right>[\d,]+)\) not aligned: (?P<a>\d+) \(dim (?P<i>\d+)\) != (?P<b>\d+) \(dim (?P<j>\d+)\)"
)
_BARE = re.compile(r"matmul: Input operand (?P<which>\d) does not have enough dimensions")
_STACKS = re.compile(
    r"original->remapped\]: \((?P<left>[\d,]*)\)->\([^)]*newaxis,newaxis\) \((?P<right>[\d,]*)\)->\([^)]*newaxis,newaxis\) +"
    r"and requested shape"
)
_BROADCAST = re.compile(r"operands could not be broadcast together with (?:remapped )?shapes (?P<shapes>.*)$")
_TWO_SIZES = re.compile(r"\(size ([\d,]+) is different from ([\d,]+)\)|with shapes \(([\d,]+)\) \(([\d,]+)\) ?$")
_NAME = re.compile(r"name '(?P<name>[^']+)' is not defined")
_LOCAL = re.compile(r"cannot access local variable '(?P<name>[^']+)'|local variable '(?P<old>[^']+)' referenced before")
_NONE = re.compile(r"'NoneType' object (?P<rest>.*)|unsupported operand type\(s\) for (?P<op>\S+): .*'NoneType'")
_UNPACK_MANY = re.compile(r"too many values to unpack \(expected (?P<n>\d{1,9})(?:, got (?P<got>\d{1,9}))?\)")
_UNPACK_FEW = re.compile(r"not enough values to unpack \(expected (?P<n>\d{1,9}), got (?P<got>\d{1,9})\)")
_ARGUMENTS = re.compile(r"\(\) (?P<rest>(takes|missing|got) .*)")
_KEYWORD = re.compile(r"unexpected keyword argument '(\w+)'")
_OPTIONS = ("axis", "keepdims", "dtype", "initial", "where", "shape", "order")  # NumPy's usual arguments
_AXIS = re.compile(r"axis (?P<axis>-?\d{1,9}) is out of bounds for array of dimension (?P<ndim>\d{1,9})")
_INDEX = re.compile(
    r"index (?P<index>-?\d{1,9}) is out of bounds for axis (?P<axis>\d{1,9}) with size (?P<size>\d{1,9})"
)
_RESHAPE = re.compile(r"cannot reshape array of size (?P<size>\d+) into shape (?P<shape>.*)")
_ATTRIBUTE = re.compile(
    r"'(?P<owner>[^']+)' object has no attribute '(?P<name>[^']+)'|module '(?P<module>[^']+)' has no attribute '(?P<missing>[^']+)'"
)
_MODULE = re.compile(r"No module named '(?P<name>[^']+)'")
# Reductions drop their axis unless the line has `keepdims`.
_REDUCTION = re.compile(r"\b(sum|max|min|mean|std|var|amax|amin|prod|norm)\(")
# NumPy reports `sum` as `_sum`, and `max` as `_amax`.
_REDUCED = re.compile(r"^_?a?(max|min|sum|prod|mean|std|var|any|all)\(")
_COMPARES = re.compile(r"(?:(?<![\w.])|(?<!\bnp)(?<!\bnumpy)\.(?=sort\())(?P<name>max|min|sorted|sort)\(")

_INDENTED = (
    "The lines of a function's body must start in the same column. Look at the spaces at the start of this line."
)
_BOOLEAN = "`&`, `|`, `^` and `~` work on booleans (and whole numbers), not on floats: what is the dtype of each array in this line?"
# Messages by error type and words in the error's text. The first match is used.
_SENTENCES = {
    "IndexError: boolean index": "Each axis of a boolean index must be as long as the axis of the array that it indexes. Unlike `np.where` and arithmetic, an index does not broadcast.",
    "IndexError: only integers": "An index must be a whole number, a slice, or an array of whole numbers or of True and False. What is it here?",
    "IndexError: scalar variable": "This line indexes a single number, which has no axes. Just before it, print the shape of each array that it indexes.",
    "IndexError: list index out of range": "The list has no item at this index. A list of n items has the indices 0 to n - 1 and -n to -1, so an empty list has none. Print its length just before this line.",
    "IndexError: string index out of range": "The string has no character at this index. The first character has index 0. Print its length just before this line.",
    "IndexError: from empty": "You took an item from an empty collection. What should happen when it is empty?",
    "KeyError: '": "The dictionary has no such key. Print its keys just before this line. `.get(key, default)` returns a default for a missing key.",
    "IndexError": "The array does not have the axis or the entry that this line asks for. Print its shape just before this line.",
    "RecursionError": "The function never stops calling itself. Is there a case that stops it, and does each call get closer to it?",
    "ZeroDivisionError": "A Python number was divided by zero. Which input makes that divisor zero?",
    "OverflowError: math range error": "The result is too large for a float. `math.exp(x)`, for example, fails if x is above 709.",
    "MemoryError": "This line needs more memory than is available. Is an array larger than the task needs (print its shape first), or does something keep growing?",
    "NotImplementedError": "The stub's `raise NotImplementedError` is still there. Replace it with your answer.",
    "ValueError: ambiguous": "Python needs one True or False here, but an array has one for each entry. With `if`, `and`, `or` and `not`, use `.any()` or `.all()` for one answer, or `&`, `|` and `~` for each entry.",
    "ValueError: inhomogeneous": "The parts have different lengths or shapes, so they cannot form a single array. Print the shape of each.",
    "TypeError: to a scalar index": "An array is used for an axis, a size or an index, which must be a single whole number. Is an argument in the wrong place?",
    "TypeError: bitwise … not supported for the input types": _BOOLEAN,
    "TypeError: invert … not supported for the input types": _BOOLEAN,
    "TypeError: object is not callable": "You call a value that is not a function. Did you reuse a function's name, write parentheses instead of brackets, or leave out an operator before the parentheses?",
    "TypeError: only … scalar": "A function for single numbers (from `math`, or `float(…)`) got an array. NumPy's function of the same name accepts both numbers and arrays.",
    "TypeError: Cannot interpret … as a data type": "A shape is one argument with its sizes in parentheses, as in `np.zeros((2, 3))`. The next argument is the dtype.",
    "UFuncTypeError: Cannot cast ufunc … output … to dtype('int": "The array that this line changes has whole numbers only, and `+=`, `*=` and the like cannot put fractions into it. Create it with floats: without a `dtype`, `np.zeros` does that.",
    "TypeError: unhashable type: 'numpy": "An array cannot be a key of a dictionary, a member of a set, or an argument of a function with `lru_cache`.",
    "TypeError: unhashable type": "A value that can change cannot be a member of a set or a key of a dictionary. Use a tuple instead of a list, and a frozenset instead of a set.",
    "TypeError: can only concatenate": "`+` can join a string only to another string, and a list only to another list. `str(…)` turns a number into a string. An f-string can contain a number.",
    "TypeError: 'str' object does not support item assignment": "A string cannot be changed. Build a new one, for example with `.replace(…)`, a slice or `+`.",
    "ValueError: invalid literal for int": "This text is not a whole number. Print it with `repr(…)` just before this line. Does it contain spaces, a decimal point or other characters?",
    "SyntaxError": "Python could not parse this cell, so none of it ran. Look for a missing bracket, colon or quote in this line or the line above.",
    "IndentationError: expected an indented block": "The lines that belong to a `def`, `for` or `if` come below it, indented by four spaces.",
    "IndentationError": _INDENTED,
    "TabError": _INDENTED,
}


def explain(
    kind: str,
    message: str,
    *,
    line: str = "",
    function: str = "",
    where: str = "",
    known: Iterable[str] = (),
    exercises: Collection[str] = (),
    cell: str = "",
    shapes: str = "",
    caller: str = "",
) -> str:
    """Explain an exception in a sentence or two: what Python reported, in which line, and where to look.

    Args:
        kind: the type of the exception.
        message: the text of the exception.
        line: the student's source line.
        function: the function that was called.
        where: the function in which the exception was raised.
        known: the names that the notebook defines.
        exercises: the names of the notebook's exercises.
        cell: the name of the cell in which the exception was raised.
        shapes: the shapes of the arrays that the line names, as in ``StudentError.shapes``.
        caller: the line of another cell from which this line was reached.
    """
    name, message = function or "the code", _REDUCED.sub(r"\1(", message.rstrip())
    if kind == "NotImplementedError" and function and where.isidentifier() and where != function:
        return f"`{function}` calls `{where}`, which is still an empty stub. Write `{where}` first and run its cell."
    place = f"`{line.strip()}`" + (f", called from your line `{caller.strip()}`" if caller.strip() else "")
    at = f" It happened in the line {place}." if line.strip() else ""
    other = _other(message, function) if line.strip() else ""
    meaning = _misfit(message, line, shapes_in(shapes)) or _meaning(kind, message, line, known, exercises, other)
    if kind == NOT_AS_ASKED and message.startswith(f"{name} "):  # a complete sentence, such as "draw draws nothing"
        return f"{message.rstrip('.')}."
    if kind == NOT_AS_ASKED:
        return f"{name} returned a result in the wrong form: {message.rstrip('.')}."
    if kind == "ResultTooBig":
        return f"{name} returned a result that cannot be checked. {message}"
    head = f"{name} stopped with {kind}: {message}" if message else f"{name} stopped with {kind}."
    if not head.endswith((".", "!", "?")):
        head += "."
    # A cell without a name is called "cell" with its number, such as "cell 7".
    where = f" (in {'' if cell.startswith('cell ') else 'cell '}{cell})" if cell and cell != function else ""
    body = f"{at} {meaning}" if meaning else at
    return f"{head[:-1]}{where}.{body}" if where else head + body


def explain_stop(
    stopped: str,
    *,
    function: str,
    seconds: float | None = None,
    memory_mb: int | None = None,
    given: str = "",
    line: str = "",
    lineno: int | None = None,
) -> str:
    """Explain why a call was stopped, with its inputs (``given``) and the line if they are known."""
    if stopped == "timeout":
        limit = f" after {seconds:g} second{'' if seconds == 1 else 's'}" if seconds else ""
        on = f" on {given}" if given else ""
        text = f", `{line.strip()}`" if line.strip() else ""
        place = f" It was in line {lineno}{text}." if lineno else ""
        return (
            f"{function} was stopped{limit}{on}. Is there a loop that never ends, or that runs many more times than there "
            f"are entries in the input?{place}"
        )
    if stopped == "memory":
        limit = f" ({memory_mb} MiB)" if memory_mb else ""
        return f"{function} needed more memory than allowed{limit}. Does it build an array larger than the task needs?"
    if stopped == "threads":
        return f"{function} started more threads than allowed and was stopped. Does it run more than a few tasks at a time?"
    if stopped == "protocol":
        return f"{function} returned something that could not be read. It is too large or not a valid result."
    return f"{function} ended the Python process instead of returning. Does it call `exit()`, or compiled code that fails, for example without enough memory?"


def signature_of_error(kind: str, message: str) -> str:
    """Return the error as text without names and sizes, except for two sizes that do not fit in a product or sum.

    Two functions that fail in the same way in the same call give the same text.

    >>> signature_of_error("ValueError", "too many values to unpack (expected 2)")
    'ValueError: too many values to unpack'
    """
    if kind.endswith("MemoryError"):
        return "MemoryError"  # NumPy has its own MemoryError, with the size in its text
    misfit = _TWO_SIZES.search(message)
    sizes = " (size {} is different from {})".format(*sorted(filter(None, misfit.groups()))) if misfit else ""
    # Text after an unclosed parenthesis is matched once and kept, so the search takes linear time.
    text = re.sub(r"\([^)\n]*\)?", lambda match: "" if match[0].endswith(")") else match[0], message)
    text = re.sub(r"'[^']*'|`[^`]*`|-?\d+(\.\d+)?", "…", text)
    return f"{kind}: {' '.join(text.split())[:80]}{sizes}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the name in ``known`` that ``name`` was probably meant to be, or "" if none is similar.

    ``known`` comes from a student's process, and comparing two names takes time proportional to the product of their lengths.
    Long names are skipped. Of very many names, those with the same first letter and a similar length are compared.
    """
    if len(name) > MAX_NAME:
        return ""
    likely = sorted(
        (other for other in known if len(other) <= MAX_NAME),
        key=lambda other: (other[:1].lower() != name[:1].lower(), abs(len(other) - len(name)), other),
    )
    near = get_close_matches(name, likely[:MAX_NAMES], 1, 0.75)  # `score` is not `raw_scores`
    return near[0] if near else ""


def _other(message: str, function: str) -> str:
    """Return the name of the function that got wrong arguments, or "" if it is the graded function."""
    callee = message.partition("(")[0].rpartition(".")[2]
    return callee if callee.isidentifier() and callee not in {function, "_call__"} else ""


def _misfit(message: str, line: str, shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Explain shapes that do not fit in a product, transposition or elementwise operation. Return "" for any other error."""
    if match := _MATMUL.search(message):
        return product(match["other"], match["found"], line, shapes)
    if "axes don't match array" in message:
        return fixed_axes(line, shapes)
    if match := _ALIGNED.search(message):
        if "inner(" in line:  # NumPy reports the right shape with its axes reversed
            return (
                f"`inner` sums over the last axis of both arrays, here of sizes {match['a']} and {match['b']}, which must be equal. "
                "Which axis of each array should be summed over?"
            )
        left, right = match["left"].rstrip(","), match["right"].rstrip(",")
        return (
            f"The shapes are ({left}) and ({right}). The product sums over axis {match['i']} of the left one (size {match['a']}) and "
            f"axis {match['j']} of the right one (size {match['b']}), which must be equal. Which axis should be summed over?"
        )
    if "einstein sum" in message or "subscripts given" in message:
        return (
            "Write the shape of each array next to its letters. Every axis needs a letter (`...` stands for all leading axes), "
            "and after the arrow use only letters that also appear before it."
        )
    if match := _BARE.search(message):
        side = "left" if match["which"] == "0" else "right"
        return (
            f"The value on the {side} of `@` is a single number or None, with no axes to multiply along. Did a sum remove its last axis, "
            "or is a `return` missing in the function that made it?"
        )
    if match := _STACKS.search(message):
        return (
            f"`@` treats the last two axes as matrices. The axes before them do not fit: {_lead(match['left'])} and {_lead(match['right'])}. "
            "Line the shapes up from the right: the sizes in each pair must be equal, or one must be 1. Print both shapes: is an axis in a different place than you think?"
        )
    if "original->remapped" in message and "requested shape" in message:
        before = " and ".join(f"({sizes})" for sizes in re.findall(r"\)->\(([\d,]*)", message))
        return f"The function works on the last axes of its arrays. The axes before them do not fit: {before}. Each pair of sizes must be equal, or one must be 1."
    if "einsum" in message or "original->remapped" in message:
        return "Write the shape of each array next to its letters. Axes with the same letter must have the same size, and the axes in place of `...` must have equal sizes or size 1."
    if match := _BROADCAST.search(message):
        return _not_stretched(match["shapes"], line, shapes)
    return ""


def _lead(shape: str) -> Shape:
    return tuple(map(int, re.findall(r"\d+", shape)))[:-2]


def _not_stretched(listed: str, line: str, shapes: Mapping[str, Shape]) -> str:
    # A single number has the shape () and always fits.
    parts = [part for part in listed.split() if part.startswith("(") and part != "()"]
    axes = {part.count(",") + (",)" not in part) for part in parts}
    text = (
        f"The shapes {' and '.join(dict.fromkeys(parts)) or listed} do not fit. Line the shapes up from the right: the sizes in each pair "
        "must be equal, or one must be 1."
    )
    if len(axes) > 1 and _REDUCTION.search(line) and "keepdims" not in line:
        return f"{text} Without `keepdims=True`, a sum or a maximum drops its axis. `x[..., None]` adds an axis at the end."
    sizes = sorted((tuple(map(int, re.findall(r"\d+", part))) for part in parts), key=len) or [()]
    if sizes[0] in {sizes[-1][:axis] + sizes[-1][axis + 1 :] for axis in range(len(sizes[-1]))}:
        small = [name for name, shape in shapes.items() if shape == sizes[0]]
        made = f"`{small[0]}`" if len(small) == 1 else "the smaller array"
        return f"{text} Did a sum, a mean or a maximum drop an axis from {made}? `keepdims=True` keeps it, and `x[..., None]` adds one at the end."
    return f"{text} Which axis of the first array should match which axis of the second?"


def _meaning(kind: str, message: str, line: str, known: Iterable[str], exercises: Collection[str], other: str) -> str:
    if kind == "UnboundLocalError" and (match := _LOCAL.search(message)):
        return f"`{match['name'] or match['old']}` is used before this function has given it a value. Does an `if` or a loop skip that line?"
    if kind == "NameError" and (match := _NAME.search(message)):
        if match["name"] == "np":
            return "`np` is the usual name of NumPy. Run the cell with `import numpy as np` first."
        if match["name"] == "numpy":
            return "After `import numpy as np`, the name of NumPy is `np`, and `numpy` is not defined."
        if match["name"] in exercises:
            return f"`{match['name']}` is an exercise of this notebook, but it does not exist when this line runs. Its cell has not run yet, is missing, or stopped with an error."
        plain = match["name"].replace("_", "").lower()
        same = next((name for name in exercises if name.replace("_", "").lower() == plain), "")
        near = same or nearest(match["name"], (name for name in known if name not in exercises))
        hint = f" Did you mean `{near}`?" if near else ""
        return f"Nothing called `{match['name']}` exists when this line runs. Is it misspelled (capital letters matter), or is its cell missing or further down?{hint}"
    if kind == "IndexError" and "(" in line and "[" not in line and "pop" not in message:
        return "A function that this line calls asks for an axis or an entry that its array does not have. Print the shape of what you pass."
    if _NONE.search(message):
        return "Something here is None. Usually it comes from a function without a `return`, a method that works in place, or an omitted argument."
    if match := _UNPACK_MANY.search(message):
        what = f"The right side has more than {match['n']} parts, but there are only {match['n']} names on the left."
        if "shape" not in line:
            return f"{what} Print the right side just before this line."
        return f"{what} An array with batch axes has more sizes: take the sizes that you need from the end."
    if match := _UNPACK_FEW.search(message):
        return f"There are {match['n']} names on the left, but only {match['got']} value{'s' if match['got'] != '1' else ''} on the right."
    # Python says this only about classes. About a function, it says "takes 0 positional arguments".
    if kind == "TypeError" and message.endswith("() takes no arguments"):
        return "The class has no `__init__` that accepts these arguments. Does its name have two underscores on each side, and is it indented inside the class?"
    wrong = _KEYWORD.search(message) if kind == "TypeError" and other else None
    if wrong and wrong[1] not in _OPTIONS and (near := nearest(wrong[1], _OPTIONS)):
        return f"`{other}` has no argument `{wrong[1]}`. Did you mean `{near}`?"
    if kind == "TypeError" and _ARGUMENTS.search(message) and other:
        return f"`{other}` does not accept these arguments. Compare this line with its documentation or its `def` line."
    if kind == "TypeError" and (match := _ARGUMENTS.search(message)):
        return "A function was called with arguments that its `def` line does not accept. Keep the parameters of the exercise's function as they were."
    if kind in {"AxisError", "numpy.exceptions.AxisError", "ValueError"} and (match := _AXIS.search(message)):
        ndim, missing = int(match["ndim"]), int(match["axis"])
        if not ndim:
            return "This is a single number, with no axes left. Did an earlier sum remove its last axis?"
        text = (
            f"The array has {'1 axis' if ndim == 1 else f'{ndim} axes'}, counted from 0, so there is no axis {missing}."
        )
        return f"{text} The last axis is -1, however many axes there are." if missing >= 0 else text
    if kind == "IndexError" and (match := _INDEX.search(message)):
        axis, size, index = match["axis"], int(match["size"]), int(match["index"])
        past = "past the end" if index >= 0 else "before the start"
        entries = "1 entry" if size == 1 else f"{size} entries"
        return f"Axis {axis} has {entries}, counted from 0, so index {index} is {past}."
    if (match := _RESHAPE.search(message)) and match["size"] == "0":
        return f"The array is empty, so it cannot be arranged as {match['shape']}. Which slice or size made it empty?"
    if match := _RESHAPE.search(message):
        shape = match["shape"].replace("newaxis", "-1")  # as the student wrote it
        return f"{match['size']} entries cannot be arranged as {shape}. The product of the sizes must be {match['size']}. If one size is -1, the product of the others must divide {match['size']}."
    if kind == "AttributeError" and (match := _ATTRIBUTE.search(message)):
        return f"`{match['owner'] or match['module']}` has nothing called `{match['name'] or match['missing']}`. Is the name misspelled, or does the value have a different type than you expect?"
    if kind in {"ModuleNotFoundError", "ImportError"} and (match := _MODULE.search(message)):
        return (
            f"`{match['name']}` is not available here. The rest of your code may well be right. Use only the packages that the "
            "notebook itself imports."
        )
    if kind == "ValueError" and "ambiguous" in message and re.search(r"[!=]= *None\b", line):
        return "`==` and `!=` compare each entry of an array with None. Write `is None` or `is not None`."
    if kind == "ValueError" and "ambiguous" in message and (match := _COMPARES.search(line)):
        own = {"max": "np.max", "min": "np.min", "sorted": "np.sort", "sort": "np.sort"}[match["name"]]
        return (
            f"Python's own `{match['name']}` compares whole arrays here, or tuples that contain arrays, and such a comparison does "
            f"not give a single True or False. `{own}` works along an axis that you choose."
        )
    for case, sentence in _SENTENCES.items():
        of, _, words = case.partition(": ")
        if kind == of and all(part in message for part in words.split(" … ")):
            return sentence
    return ""
