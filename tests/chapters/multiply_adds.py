"""Count the multiply-adds of a function by giving it arrays that count every multiplication.

A check runs the source of this file in the same process as the student's function, so it needs only NumPy and the
standard library. Every product with a counting array is counted, in any form: ``@``, ``matmul``, ``dot``, ``einsum``,
``tensordot``, or ``*`` and a sum. The results are counting arrays too. Numbers taken out of the arrays, for example by
``tolist``, are not counted. So a count below a minimum proves nothing. A call of an earlier exercise counts at most what
the reference needs for it, so a slow but right solution of that exercise costs no marks here.
"""

from contextlib import suppress

import numpy as np

FEW = "at most a third of those without a cache"
MANY = "more than a third of those without a cache"
LOST = "so few that most were not counted: use the model's arrays themselves"

ONE_BY_ONE = {"multiply", "divide", "true_divide", "square", "power", "float_power"}
MADE_OF_OTHERS = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")


def counting():
    """Return a class of arrays that count multiply-adds, and a list whose only entry is the count."""
    count = [0]

    class Counting(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
            given = [plain(x) for x in inputs]
            if out is not None:
                kwargs["out"] = tuple(plain(x) for x in out)
            kwargs = {name: plain(x) for name, x in kwargs.items()}
            result = getattr(ufunc, method)(*given, **kwargs)
            if ufunc.signature is not None:
                count[0] += np.size(result) * np.shape(given[0])[-1]
            elif ufunc.__name__ in ONE_BY_ONE:
                count[0] += np.size(result if method in {"__call__", "outer"} else given[0])
            if out is not None:
                return out[0] if len(out) == 1 else out
            return kept(result)

        def __array_function__(self, function, types, args, kwargs):
            measure = PRODUCTS.get(function.__name__)
            if measure is None:
                return kept(super().__array_function__(function, types, args, kwargs))
            args, kwargs = plain(args), plain(kwargs)
            result = function(*args, **kwargs)
            count[0] += int(measure(result, *args, **kwargs))
            return kept(result)

        def __getitem__(self, place):
            return kept(super().__getitem__(place))

        def dot(self, other, out=None):
            return np.dot(self, other) if out is None else np.dot(self, other, out)

        def tolist(self):
            return [row.tolist() if row.ndim else row for row in self] if self.ndim else self

        def __round__(self, digits=0):
            return np.round(self, digits)

        def __hash__(self):
            return hash(float(self))

    def plain(x):
        if isinstance(x, Counting):
            return x.view(np.ndarray)
        if isinstance(x, (list, tuple)) and any(isinstance(part, (list, tuple, np.ndarray)) for part in x):
            return type(x)(plain(part) for part in x) if type(x) in {list, tuple} else x
        return {name: plain(part) for name, part in x.items()} if type(x) is dict else x

    def kept(x):
        if isinstance(x, (np.ndarray, np.floating, np.complexfloating)) and not isinstance(x, Counting):
            return np.asanyarray(x).view(Counting) if np.asanyarray(x).dtype.kind in "fc" else x
        return type(x)(kept(part) for part in x) if type(x) in {list, tuple} else x

    return Counting, count


def among_contracted(result, a, b, *_more, **_named):
    """Return the multiply-adds of a product of two arrays that sums over some axes of both."""
    sizes = np.size(a) * np.size(b)
    return np.sqrt(sizes * np.size(result)) if sizes else 0


def of_dot(result, a, b, *_more, **_named):
    """Return the number of multiply-adds in a product that sums over the last axis of the first array."""
    return np.size(result) * (np.shape(a)[-1] if np.ndim(a) and np.ndim(b) else 1)


def of_einsum(_result, *args, **_named):
    """Return the number of combinations of indices that einsum goes through."""
    if isinstance(args[0], str):
        terms, operands = args[0].replace(" ", "").split("->")[0].split(","), args[1:]
    else:
        pairs = list(zip(args[0::2], args[1::2], strict=False))
        operands = [operand for operand, _ in pairs]
        terms = ["".join("..." if i is Ellipsis else chr(97 + i) for i in letters) for _, letters in pairs]
    sizes = {}
    for term, operand in zip(terms, operands, strict=True):
        front, dots, back = term.partition("...")
        shape = list(np.shape(operand))
        middle = len(shape) - len(front) - len(back)
        named = list(zip(front, shape, strict=False)) + list(
            zip(back, shape[len(shape) - len(back) :] if back else [], strict=True)
        )
        if dots:
            named += [(("...", middle - i), size) for i, size in enumerate(shape[len(front) : len(front) + middle])]
        for letter, size in named:
            sizes[letter] = max(sizes.get(letter, 1), size)
    total = 1
    for size in sizes.values():
        total *= size
    return total * max(1, len(operands) - 1) if len(operands) > 1 else 0


def of_all_pairs(_result, a, b, *_more, **_named):
    """Return one multiply-add for each pair of entries."""
    return np.size(a) * np.size(b)


PRODUCTS = {
    "dot": of_dot,
    "inner": of_dot,
    "vdot": lambda _result, a, _b: np.size(a),
    "tensordot": among_contracted,
    "einsum": of_einsum,
    "outer": of_all_pairs,
    "kron": of_all_pairs,
    "convolve": of_all_pairs,
    "correlate": of_all_pairs,
}


def counted(Counting, x):
    """Return ``x`` with counting arrays instead of arrays of floats."""
    if isinstance(x, dict):
        return {name: counted(Counting, part) for name, part in x.items()}
    if isinstance(x, list):
        return [counted(Counting, part) for part in x]
    return x.view(Counting) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x


def block_products(weights, n):
    """Return the multiply-adds of the matrix products when ``n`` rows go through one block."""
    products = n * sum(W.size for part in ("attention", "mlp") for W in weights[part].values() if W.ndim == 2)
    return products + n**2 * (weights["attention"]["W_K"].shape[1] + weights["attention"]["W_V"].shape[1])


def matrix_products(model, n):
    """Return the multiply-adds of the matrix products when ``n`` tokens go through the model."""
    return n * model["embedding"].size + sum(block_products(weights, n) for weights in model["blocks"])


EARLIER = {
    "next_token_logits": lambda tokens, model: matrix_products(model, len(tokens)),
    "transformer_block": lambda X, weights, h: block_products(weights, X.size // X.shape[-1]),  # noqa: ARG005 - its name
}


def probe(generate, tokens, n_new, model, temperature, rng, least, most):
    """Return the text that ``generate`` writes, and whether it took from ``least`` to ``most`` multiply-adds."""
    Counting, count = counting()
    names = getattr(generate, "__globals__", {})
    own = {name: names[name] for name in EARLIER if name in names}

    def at_usual_cost(name):
        def earlier(*args, **kwargs):
            before = count[0]
            result = own[name](*args, **kwargs)
            with suppress(Exception):  # a student may define an earlier exercise with other parameters
                count[0] = min(count[0], before + EARLIER[name](*args, **kwargs))
            return result

        return earlier

    # An array that is made from counting arrays counts too, and so does a copy.
    usual = {name: getattr(np, name) for name in MADE_OF_OTHERS}

    def holds(x):
        return isinstance(x, Counting) or (isinstance(x, (list, tuple)) and any(map(holds, x)))

    def keeping(made):
        def of(x, *args, **kwargs):
            result = made(x, *args, **kwargs)
            return result.view(Counting) if holds(x) and result.dtype.kind in "fc" else result

        return of

    try:
        names.update({name: at_usual_cost(name) for name in own})
        for name, made in usual.items():
            setattr(np, name, keeping(made))
        text = generate(tokens, n_new, counted(Counting, model), temperature, rng)
    finally:
        names.update(own)
        for name, made in usual.items():
            setattr(np, name, made)
    work = LOST if count[0] < least else FEW if count[0] <= most else MANY
    return {"text": np.array([int(token) for token in text]), "multiply-adds": work}
