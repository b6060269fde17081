"""What the checks of several chapters hand to a student's function."""

from functools import partial

import numpy as np

from autograder.checking import Source


def arrays_of(*numbers):
    """Each of these (nested) lists of numbers as an array of float64."""
    return [np.array(these, dtype=np.float64) for these in numbers]


def never_empty(mask):
    """The mask, with the first key allowed in each row that would have nothing."""
    mask = mask.copy()
    mask[..., 0] |= ~mask.any(axis=-1)
    return mask


def moved_weights(weights, h, level, out=1.0):
    """The four matrices for a feature more, always 1, that adds ``level`` to every score and ``out`` to the output."""

    def wider(W, value):
        # A row more and, for each head, a column more; where these meet stands the value, else 0.
        padded = np.pad(W.reshape(len(W), h, -1), ((0, 1), (0, 0), (0, 1)))
        padded[-1, :, -1] = value
        return padded.reshape(len(W) + 1, -1)

    d_k = weights["W_Q"].shape[1] // h + 1
    return {
        "W_Q": wider(weights["W_Q"], 40.0),
        "W_K": wider(weights["W_K"], level * np.sqrt(d_k) / 40.0),
        "W_V": wider(weights["W_V"], 1.0),
        "W_O": wider(weights["W_O"].T, out).T,
    }


def function(head, *body):
    """The function ``def head:`` with these lines as its body, to be handed over as source."""
    return Source("\n    ".join([f"def {head}:", *body]) + "\n", head.partition("(")[0])


attend = partial(function, "attend(X)")  # of one array: what may stand for an attention
