"""Tests that compute the numbers in the prose of chapter 8. They run the chapter's own cells with the solutions in its stubs."""

import inspect
import json
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.course.course import load_course
from solutions import ch8_language_model as solutions
from tests.support import ROOT

SOURCE = load_course(ROOT).source("ch8_language_model")
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(SOURCE.read_text("utf-8"))["cells"]}
RECORD = json.loads((ROOT / "solutions" / "training" / "ch8_language_model.json").read_text("utf-8"))
LONG = "The weights of a row add up to 1, so a head that has found nothing still has to put them somewhere."


@pytest.fixture(scope="module")
def notebook():
    """Return a namespace with the names that the notebook defines."""
    before = dict.fromkeys(["check", "hint"])
    names = {**before, "__name__": "notebook"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SOURCE.parent)
        patch.setattr(sys, "stdout", SimpleNamespace(write=lambda _text: 0, flush=lambda: None))
        exec(CELLS["imports"].rpartition("from autograder")[0], names)  # noqa: S102 - the course's own cells
        for cell in ("pictures", "given-functions", "load-model", "tokens"):
            exec(CELLS[cell], names)  # noqa: S102
        for name in (
            "layer_norm",
            "rotate_positions",
            "transformer_block",
            "next_token_logits",
            "sample_next",
            "generate",
        ):
            exec(inspect.getsource(getattr(solutions, name)), names)  # noqa: S102
        for cell in ("watch", "loss-cell"):
            exec(CELLS[cell], names)  # noqa: S102
    return SimpleNamespace(**names)


def told(cell, *numbers):
    """Assert that the text of a cell has these numbers, in this order."""
    found = re.findall(r"\d+(?:[.,]\d+)*", CELLS[cell])
    wanted = [number if isinstance(number, str) else f"{number:.2f}" for number in numbers]
    places = iter(found)
    assert all(number in places for number in wanted), f"{cell}: {wanted} are not told in this order among {found}"


def test_the_model_is_what_the_text_says(notebook):
    """The notebook states the right numbers of parameters, characters and tokens. The file is below 1 MiB, and the logits equal those recorded in training."""
    count = sum(array.size for array in arrays_in(notebook.model))
    assert count == RECORD["model"]["parameters"]
    told("model", f"{count:,}", f"{RECORD['text']['characters']:,}", str(len(notebook.VOCABULARY)))
    assert (SOURCE.parent / "model.npz").stat().st_size < 1 << 20
    found = notebook.next_token_logits(notebook.RECORDED["tokens"], notebook.model)
    np.testing.assert_allclose(found, notebook.RECORDED["logits"], atol=1e-5)


def arrays_in(part):
    """Return every array of a model."""
    if isinstance(part, np.ndarray):
        return [part]
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return [array for one in inner for array in arrays_in(one)]


def test_what_it_guesses(notebook):
    """The notebook states the right probabilities after q, qu and loo. After a space, no character has a probability above 0.2."""
    text = "Each query looks at"
    p = notebook.softmax(notebook.next_token_logits(notebook.tokens_of(text), notebook.model))

    def share(before, character):
        return p[text.index(before) + len(before) - 1, notebook.VOCABULARY.index(character)]

    told("reading-guesses", share("q", "u"), share("qu", "e"))
    assert share("loo", "k") > 0.97
    assert max(p[4].max(), p[10].max()) < 0.2


def test_how_it_writes(notebook):
    """At temperature 0, the model repeats itself."""
    text = notebook.generate(notebook.tokens_of("The weights of a"), 120, notebook.model, 0.0, np.random.default_rng(3))
    assert notebook.text_of(text).count("of the same") > 5


def test_what_its_heads_look_at(notebook):
    """The notebook states the right pattern scores of the heads, and their right weight on the letter after an earlier copy of the same letter."""
    blocks = notebook.watched(notebook.tokens_of(LONG), notebook.model)
    scores = [[notebook.pattern_scores(head) for head in weights] for weights in blocks]
    previous = [score["previous"] for block in scores for score in block]
    assert int(np.argmax(previous)) == 1
    told("reading-patterns", previous[1], scores[0][0]["local"], scores[0][3]["local"])
    assert max(score["local"] for score in scores[1]) < 0.5
    last, queries = notebook.SEGMENT, np.arange(notebook.SEGMENT, 2 * notebook.SEGMENT)
    texts = [notebook.repeated_letters(last, 2, seed) for seed in range(10)]
    seen = [notebook.watched(text, notebook.model)[1] for text in texts]
    after = [np.mean([weights[head][queries, queries - last + 1].mean() for weights in seen]) for head in range(4)]
    told("reading-induction", after[1], after[3], after[0], after[2])


def test_what_is_lost_with_a_head(notebook):
    """The notebook states the right loss on repeated letters, for the whole model and with one head switched off."""
    texts = [notebook.repeated_letters(notebook.SEGMENT, 2, seed) for seed in range(10)]

    def second_time(model):
        return np.mean([notebook.losses(text, model)[notebook.SEGMENT :].mean() for text in texts])

    off = [second_time(notebook.without_head(notebook.model, i // 4, i % 4)) for i in range(8)]
    told("reading-heads-off", second_time(notebook.model), off[1], off[2], off[5], off[7], off[4], off[6])
    first = np.mean([notebook.losses(text, notebook.model)[: notebook.SEGMENT - 1].mean() for text in texts])
    assert 3.3 < first < 3.5
