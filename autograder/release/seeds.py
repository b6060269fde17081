"""Random numbers in a check file that are not the same for every student, found in its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["unseeded"]

_SEEDED_BY_ARGUMENT = frozenset({
    "default_rng", "RandomState", "SeedSequence", "Random", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64",
})  # fmt: skip
_NO_DRAW = frozenset({
    "seed", "Generator", "get_state", "set_state", "getstate", "setstate", "get_bit_generator", "set_bit_generator",
})  # fmt: skip


def unseeded(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line of each random number that has no seed, and a sentence.

    A draw from the global state of NumPy or of ``random`` is let pass in a function that seeds that state itself: what a
    seed elsewhere makes of it hangs on what was drawn before.
    """
    sources = _names_of_sources(tree)
    found: dict[int, str] = {}
    for scope in _scopes(tree):
        calls = [node for node in _inside(scope) if isinstance(node, ast.Call)]
        drawn = [(call, sources.get(ast.unparse(call.func).rpartition(".")[0])) for call in calls]
        seeded = {owner for call, owner in drawn if owner and _last(call) == "seed" and (call.args or call.keywords)}
        for call, owner in drawn:
            name = _last(call)
            module, bare = sources.get(name, ""), isinstance(call.func, ast.Name)
            where = owner or (module.rpartition(".")[0] if bare and "." in module else None)
            if where is None:
                continue
            if bare:
                name = module.rpartition(".")[2]
            text = ast.unparse(call.func)
            if name in _SEEDED_BY_ARGUMENT:
                if not call.args and not call.keywords:
                    found[call.lineno] = f"{text}()"
            elif name not in _NO_DRAW and where not in seeded:
                found[call.lineno] = f"{text}(…)"
    yield from ((line, _sentence(text)) for line, text in sorted(found.items()))


def _sentence(text: str) -> str:
    return (
        f"{text} has no seed, so its random numbers are others at every run: students would not be asked the same. Ask for the "
        "fixture rng, draw with @given, or write np.random.default_rng(0)."
    )


def _names_of_sources(tree: ast.Module) -> dict[str, str]:
    """By which names NumPy's and Python's random numbers are called: ``np.random``, or a function that was imported."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "numpy":
                    names[f"{alias.asname or 'numpy'}.random"] = "numpy.random"
                elif alias.name in {"random", "numpy.random"}:
                    names[alias.asname or alias.name] = alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                if node.module == "numpy" and alias.name == "random":
                    names[alias.asname or "random"] = "numpy.random"
                elif node.module in {"numpy.random", "random"}:
                    names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _scopes(tree: ast.Module) -> Iterator[ast.AST]:
    yield tree
    yield from (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    )


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """What runs when ``scope`` does, without what the functions in it do."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
        elif not isinstance(node, ast.Lambda):
            waiting += node.decorator_list


def _last(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]
