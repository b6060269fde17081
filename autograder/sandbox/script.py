"""Call sequences, called scripts: create objects of a student's classes and use them step by step in the child.

A script is an ordinary ``Call`` whose probe, ``PLAY``, runs all steps and returns the result of the last one. So no object
outlives a call, and scripts are planned, cached, recorded and replayed like any other call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.base.foreign import Value
from autograder.sandbox.protocol import SCRIPT, Call, ExpectedError, NameReference

__all__ = [
    "PLAY", "Step", "is_script", "maximal_scripts", "names_in", "redacted", "script", "steps_of",
    "with_caller_mutations", "with_mutation_report",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a script.

    Attributes:
        do: One of

            - ``"make"``: create an object of the class ``name``.
            - ``"call"``: call the method ``name``.
            - ``"get"``, ``"set"``: read or write the attribute ``name``.
            - ``"use"``: apply the operator ``name``, such as ``"len"``.
            - ``"give"``: call the notebook's function ``name``.
            - ``"change"``: change the argument ``name`` of the step ``on``, or its result if ``name`` is ``"="``.

        on: The step that returned the object, or None.
        name: The class, method, attribute, operator, function or argument.
        args: The arguments: ``("v", value)``, ``("o", step)`` for the result of an earlier step, or ``("l", …)`` and ``("t", …)`` for
            a list or a tuple of these.
        kwargs: The keyword arguments, in the same form.
        raises: The error that the step is expected to raise, if any.
    """

    do: str
    on: int | None
    name: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    raises: str = ""


def script(function: str, steps: Sequence[Step], *, outcome: bool = False) -> Call:
    """Return the call that runs ``steps``, which counts as a call of ``function``.

    With ``outcome``, the answer is how the last step ended, as ``ExpectedError`` describes it.
    """
    encoded = []
    for step in steps:
        name: Any = NameReference(step.name) if step.do in ("make", "give") else step.name
        raises = (step.raises,) if step.raises else ()
        encoded.append((step.do, step.on, name, list(step.args), dict(step.kwargs), *raises))
    expects = ExpectedError((steps[-1].raises,), reports_others=True) if outcome else None
    return Call(function, (encoded,), {}, PLAY, expects=expects)


def is_script(call: Call) -> bool:
    """Return whether ``call`` is a script."""
    return bool(call.probe) and call.probe in (PLAY, SPOIL, KEEP)


def steps_of(call: Call) -> list[Step]:
    """Return the steps of a script."""
    return [
        Step(do, on, name.name if isinstance(name, NameReference) else name, tuple(args), kwargs, *raises)
        for do, on, name, args, kwargs, *raises in call.args[0]
    ]


def redacted(call: Call) -> Call:
    """Return ``call`` as the child may see it: without the errors that it, or a step of a script, is expected to raise."""
    if is_script(call):
        return replace(call, args=([step[:5] for step in call.args[0]],), expects=None)
    return call if call.expects is None else replace(call, expects=None)


def names_in(call: Call) -> Iterator[str]:
    """Yield the notebook's classes and functions that a call uses."""
    yield call.function
    if is_script(call):
        yield from (step.name for step in steps_of(call) if step.do in ("make", "give"))


def with_caller_mutations(call: Call) -> Call:
    """Return the same script, in which the caller changes arguments and results after each step."""
    return Call(call.function, call.args, {}, SPOIL)


def with_mutation_report(call: Call) -> Call:
    """Return the same script, which returns the arguments that its steps changed: ``[step, position or keyword]``."""
    return Call(call.function, call.args, {}, KEEP)


def maximal_scripts(calls: Iterable[Call]) -> list[Call]:
    """Return the scripts in ``calls`` that the next script does not continue."""
    scripts = [call for call in calls if is_script(call)]
    result: list[Call] = []
    for call, then in zip(scripts, [*scripts[1:], None], strict=False):
        steps = call.args[0]
        if then is None or len(then.args[0]) <= len(steps) or repr(then.args[0][: len(steps)]) != repr(steps):
            result.append(call)
    return result


# Runs in the child next to student code. It contains no secrets, and its results are not trusted.
PLAY = (
    SCRIPT
    + """import operator as _o
from itertools import islice as _islice

MODE, MOST = "", 10000

class NotAsAsked(Exception):
    pass

class NoSuchName(Exception):
    pass

def _items(thing):
    found = list(_islice(iter(thing), MOST + 1))
    if len(found) > MOST:
        raise NotAsAsked("looping over it gives more than 10,000 items, and was stopped: does it ever end")
    return found

def _leave(thing):
    return type(thing).__exit__(thing, None, None, None)

_USES = {"len": len, "str": str, "repr": repr, "bool": bool, "int": int, "float": float, "list": _items, "hash": hash,
         "next": next, "reversed": lambda thing: _items(reversed(thing)), "call": lambda thing, *a, **k: thing(*a, **k),
         "in": _o.contains, "[]": _o.getitem, "[]=": _o.setitem, "del[]": _o.delitem, "format": format,
         "round": round, "with": lambda thing: type(thing).__enter__(thing), "leave": _leave, "-x": _o.neg, "+x": _o.pos,
         "~x": _o.invert, "abs": abs, "divmod": divmod, "**": pow, "//": _o.floordiv, "/": _o.truediv}
_USES.update({s: getattr(_o, n) for s, n in [("==", "eq"), ("!=", "ne"), ("<", "lt"), ("<=", "le"), (">", "gt"),
    (">=", "ge"), ("+", "add"), ("-", "sub"), ("*", "mul"), ("@", "matmul"), ("%", "mod"), ("&", "and_"), ("|", "or_"),
    ("^", "xor"), ("+=", "iadd"), ("-=", "isub"), ("*=", "imul"), ("/=", "itruediv"), ("|=", "ior"), ("&=", "iand")]})

def _own(value):
    kind = type(value)
    if kind in (list, tuple):
        return kind([_own(part) for part in value])
    if kind is dict:
        return {key: _own(part) for key, part in value.items()}
    return kind(value) if kind is set else value.copy() if getattr(kind, "__module__", "") == "numpy" and hasattr(value, "copy") else value

def _change(value, new):
    kind = type(value)
    if kind is list:
        value[:] = new
    elif kind in (dict, set):
        value.clear()
        value.update(new)
    elif getattr(kind, "__module__", "") == "numpy":
        value[...] = new

def _spoil(value, depth=0):
    kind = type(value)
    if kind in (list, tuple) and depth < 3:
        for part in value:
            _spoil(part, depth + 1)
    if kind is list:
        value.reverse()
        value.append("changed by the caller")
    elif kind is set:
        value.add("changed by the caller")
    elif kind is dict:
        for part in value.values():
            _spoil(part, depth + 1)
        value["changed by the caller"] = None
    elif getattr(kind, "__module__", "") == "numpy" and kind.__name__ == "ndarray" and value.flags.writeable:
        value[...] = 0

def _same(one, other):
    kind = type(other)
    if kind in (list, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if kind is dict:
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in other)
    if getattr(kind, "__module__", "") == "numpy" and hasattr(other, "tobytes"):
        return one.shape == other.shape and one.tobytes() == other.tobytes()
    return kind not in (set, str, int, bytes) or one == other

def _missing(thing, name, error):
    if not hasattr(type(thing), name) and name in str(error) and error.__traceback__.tb_next is None:
        known = sorted({n for n in dir(thing) if not n.startswith("_")})[:40]
        raise NoSuchName(name + ": " + ", ".join(known)) from None
    raise error

def _shared(kind, found):
    # What all objects of a class share and a method may change, each with a copy of it as it is.
    for base in getattr(kind, "__mro__", ()):
        if getattr(base, "__module__", "") != getattr(kind, "__module__", ""):
            continue
        for name, value in list(vars(base).items()):
            function = getattr(value, "__func__", value)
            values = [*(getattr(function, "__defaults__", None) or ()), *(getattr(function, "__kwdefaults__", None) or {}).values()]
            found += [(one, _own(one)) for one in [value, *values] if type(one) in (list, dict, set)]
            if type(value) in (int, float, str, tuple, type(None)) and not name.startswith("__"):
                found.append(((base, name), value))

def _restore(found):
    for place, value in found:
        if type(place) is tuple:
            if vars(place[0]).get(place[1]) is not value:
                setattr(*place, value)
        elif place != value:
            _change(place, value)

def probe(function, steps):
    shared = []
    for do, on, name, *_ in steps:
        if do == "make" and isinstance(name, type):
            _shared(name, shared)
    try:
        return _own(_played(steps))
    finally:
        _restore(shared)  # so that no script begins where another one ended

def _played(steps):
    kept, given, classes, changed = [], [], {}, []

    def real(part):
        kind, held = part
        if kind == "o":
            return kept[held]
        if kind == "v":
            return _own(held)
        return (list if kind == "l" else tuple)([real(one) for one in held])

    def taken(do, on, name, args, kwargs):
        if do == "make":
            if not isinstance(name, type):
                raise NotAsAsked("CLASS")
            classes[name] = None
            return name(*args, **kwargs)
        if do == "give":
            return name(*args, **kwargs)
        thing = kept[on] if on is not None else None
        if do == "use":
            return _USES[name](*([thing] if on is not None else []), *args, **kwargs)
        if do == "set":
            return setattr(thing, name, *args)
        try:
            value = getattr(thing, name)
        except AttributeError as error:
            _missing(thing, name, error)
        return value(*args, **kwargs) if do == "call" else value

    last = len(steps) - 1
    for place, (do, on, name, args, kwargs, *_) in enumerate(steps):
        if do == "change":
            own, named = given[on]
            _change(kept[on] if name == "=" else own[int(name)] if name.isdigit() else named[name], real(args[0]))
            own, named, value = (), {}, None
        else:
            own, named = [real(part) for part in args], {key: real(part) for key, part in kwargs.items()}
            try:
                value = taken(do, on, name, own, named)
            except Exception:
                if place == last and MODE != "keep":
                    raise
                value = None
            if MODE == "keep":
                given_now = [*enumerate(own), *named.items()]
                was = [real(part) for part in (*args, *kwargs.values())]
                changed += [[place, str(label)] for (label, now), old in zip(given_now, was) if not _same(now, old)]
            if MODE == "spoil" and place < last:
                _spoil(own)
                _spoil(list(named.values()))
                _spoil(value)
        kept.append(value)
        given.append((own, named))
    if MODE == "keep":
        return changed
    if steps[last][0] == "make":
        return None
    for kind in classes:
        if isinstance(value, kind):
            return type(kind.__name__, (), {"__module__": "given"})()
    return value
"""
)
SPOIL = PLAY.replace('MODE, MOST = ""', 'MODE, MOST = "spoil"')
KEEP = PLAY.replace('MODE, MOST = ""', 'MODE, MOST = "keep"')
