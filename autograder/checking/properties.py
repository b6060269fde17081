"""Run checks on drawn inputs, which are the same for every student, and show the smallest failing input.

Hypothesis draws the inputs. They depend only on the course secret and the check's name. So every student of a course
gets the same inputs, and another run draws the same inputs again.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from hypothesis.internal.conjecture import providers

from autograder.checking.asserts import CheckStopped
from autograder.values import family_of

__all__ = [
    "arrays_nd", "deterministic_draws", "draw_seed", "drawing", "drawn_from", "floats", "given", "integers", "linked", "probabilities",
    "rng_for", "seed_of", "shrinking",
]  # fmt: skip

_CANDIDATES = 50  # a number rather than a time limit, so that a verdict is the same on every machine

draw_seed: ContextVar[bytes] = ContextVar("draw_seed", default=b"public")
_shrinking: ContextVar[bool] = ContextVar("shrinking", default=True)


@contextmanager
def drawing(secret: bytes, *, shrink: bool = True) -> Iterator[None]:
    """Inside the block, draw inputs from ``secret``. With ``shrink=False``, do not look for smaller failing inputs."""
    seed, small = draw_seed.set(secret), _shrinking.set(shrink)
    try:
        yield
    finally:
        draw_seed.reset(seed)
        _shrinking.reset(small)


def rng_for(check: Callable[..., Any]) -> np.random.Generator:
    """Return a new random generator for a check that draws its own inputs. Its seed is the same in every run."""
    return np.random.default_rng(seed_of(check.__qualname__))


def seed_of(name: str) -> int:
    """Return the seed for inputs called ``name``. It depends only on the secret and the name."""
    digest = hashlib.blake2b(name.encode(), key=draw_seed.get()[:64], digest_size=8).digest()
    return int.from_bytes(digest, "big")


def shrinking() -> bool:
    """Return whether to look for smaller failing inputs, because somebody will read the message."""
    return _shrinking.get()


def floats(low: float = -5.0, high: float = 5.0, *, digits: int = 2) -> st.SearchStrategy[float]:
    """Draw numbers between ``low`` and ``high`` with few ``digits`` after the point, so that they are easy to read and paste."""
    scale = 10**digits
    return st.integers(round(low * scale), round(high * scale)).map(lambda i: i / scale)


def integers(low: int, high: int) -> st.SearchStrategy[int]:
    """Draw whole numbers from ``low`` to ``high``, both included."""
    return st.integers(low, high)


def arrays_nd(
    min_dims: int = 1,
    max_dims: int = 3,
    *,
    min_side: int = 1,
    max_side: int = 4,
    shape: Sequence[int] | None = None,
    elements: st.SearchStrategy[float] | None = None,
) -> st.SearchStrategy[np.ndarray]:
    """Draw float64 arrays with ``min_dims`` to ``max_dims`` axes, or with the given ``shape``."""
    sizes = {"min_dims": min_dims, "max_dims": max_dims, "min_side": min_side, "max_side": max_side}
    return _arrays(hnp.array_shapes(**sizes) if shape is None else tuple(shape), elements)


@functools.lru_cache(maxsize=1024)  # the first draw of a strategy also validates it, which takes longer than the draw
def _arrays(shape: Any, elements: st.SearchStrategy[float] | None) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float64, shape, elements=floats() if elements is None else elements, fill=st.nothing())


def probabilities(min_side: int = 1, max_side: int = 5) -> st.SearchStrategy[np.ndarray]:
    """Draw vectors of weights that are not negative and sum to 1."""
    return (
        st.lists(st.integers(0, 9), min_size=min_side, max_size=max_side)
        .filter(lambda parts: sum(parts) > 0)
        .map(lambda parts: np.array(parts, dtype=np.float64) / sum(parts))
    )


def linked(
    shapes: Mapping[str, str],
    sides: tuple[int, int] = (1, 4),
    batch: tuple[int, int] = (0, 0),
    elements: st.SearchStrategy[float] | None = None,
) -> st.SearchStrategy[dict[str, np.ndarray]]:
    """Draw several arrays whose axes share sizes by name. Pass the result to ``given`` as a positional argument.

    >>> linked({"Q": "... n_q d_k", "K": "... n_k d_k"})  # doctest: +SKIP

    ``...`` means ``batch[0]`` to ``batch[1]`` batch axes, the same for every array.
    """
    bundle: Any = _linked(shapes, sides, batch, elements)
    bundle.names = tuple(shapes)
    return bundle  # type: ignore[no-any-return]


@st.composite
def _linked(
    draw: Any,
    shapes: Mapping[str, str],
    sides: tuple[int, int],
    batch: tuple[int, int],
    elements: st.SearchStrategy[float] | None,
) -> dict[str, np.ndarray]:
    sizes: dict[str, int] = {}
    lead = tuple(draw(st.integers(2, 3)) for _ in range(draw(st.integers(*batch)))) if batch[1] else ()
    found: dict[str, np.ndarray] = {}
    for name, letters in shapes.items():
        shape: list[int] = []
        for letter in letters.split():
            if letter == "...":
                shape.extend(lead)
            elif letter.isdigit():
                shape.append(int(letter))
            else:
                if letter not in sizes:
                    sizes[letter] = draw(st.integers(*sides))
                shape.append(sizes[letter])
        found[name] = draw(_arrays(tuple(shape), elements))
    return found


def drawn_from(sequence: Sequence[Any]) -> st.SearchStrategy[Any]:
    """Draw an item of a sequence."""
    return st.sampled_from(list(sequence))


def given(
    *bundles: st.SearchStrategy[Mapping[str, Any]], examples: int = 20, **strategies: st.SearchStrategy[Any]
) -> Any:
    """Run a check on drawn inputs. ``bundles`` draw several named inputs at once (see ``linked``).

    If the check fails, students see the smallest failing input of fifty. (Hypothesis's own search for a smaller input takes
    longer than all checks of a wrong solution together, and finds inputs that are mostly zeros.)
    """
    drawn = {*strategies, *(name for b in bundles for name in (b.names if hasattr(b, "names") else b.example()))}
    whole = st.fixed_dictionaries(strategies)
    everything = st.tuples(*bundles, whole).map(lambda parts: {k: v for part in parts for k, v in part.items()})

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        draw = functools.cache(functools.partial(_drawn, everything))

        @functools.wraps(check)
        def run(*args: Any, **fixtures: Any) -> None:
            seed = seed_of(check.__qualname__)
            once = functools.partial(check, *args, **fixtures)
            for values in draw(examples, seed):
                try:
                    once(**_copies(values))
                except CheckStopped:
                    raise
                except AssertionError as failure:
                    if not _shrinking.get():
                        raise
                    raise _smallest(draw(_CANDIDATES, seed), lambda v: once(**_copies(v)), failure) from None

        signature = inspect.signature(check)  # pytest still has to pass fixtures and the values of ``parametrize``
        left = [p for name, p in signature.parameters.items() if name not in drawn]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        run.__given__ = True  # type: ignore[attr-defined]
        return run

    return decorate


def _drawn(strategy: Any, examples: int, seed: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples, database=None, deadline=None, phases=[hypothesis.Phase.generate], print_blob=False,
        verbosity=hypothesis.Verbosity.quiet, suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    @hypothesis.given(strategy)
    def collect(values: dict[str, Any]) -> None:
        found.append(values)

    with deterministic_draws():
        collect()
    return found


def _smallest(candidates: list[dict[str, Any]], check: Callable[..., None], first: BaseException) -> BaseException:
    """Return the failure on the smallest candidate that fails, or ``first`` if its message is shorter or none fails."""
    for values in sorted(candidates, key=lambda values: sum(len(repr(value)) for value in values.values())):
        try:
            check(values)
        except CheckStopped:
            continue
        except AssertionError as failure:
            return min(first, failure, key=lambda failed: len(getattr(failed, "example", "") or str(failed)))
    return first


_LOCAL, _CACHE, _CONSTANTS = "_get_local_constants", "CONSTANTS_CACHE", "Constants"


@functools.cache
def _no_constants() -> tuple[Any, Any]:
    """Return an empty set of constants and a new cache, because the usual cache may contain constants of local modules."""
    return getattr(providers, _CONSTANTS)(), type(getattr(providers, _CACHE))(1024)


@contextmanager
def deterministic_draws() -> Iterator[None]:
    """Keep Hypothesis from using constants of the loaded modules.

    Since version 6.131, Hypothesis also draws numbers from the source of local modules in ``sys.modules``. So hidden inputs would
    depend on the notebooks graded before, and differ between two workers. Older versions need no change.
    """
    if not all(hasattr(providers, name) for name in (_LOCAL, _CACHE, _CONSTANTS)):
        yield
        return
    nothing, cache = _no_constants()
    before = getattr(providers, _LOCAL), getattr(providers, _CACHE)
    setattr(providers, _LOCAL, lambda: nothing)
    setattr(providers, _CACHE, cache)
    try:
        yield
    finally:
        setattr(providers, _LOCAL, before[0])
        setattr(providers, _CACHE, before[1])


def _copies(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v.copy() if family_of(v).has_cells else copy.deepcopy(v) for k, v in values.items()}
