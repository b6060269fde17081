"""Tests that compute the numbers in the prose of chapter 8. They run the chapter's own cells with the solutions in its stubs."""

import importlib.util
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
VOICE = json.loads((ROOT / "solutions" / "training" / "voice.json").read_text("utf-8"))
WRITERS = [ROOT / "source" / chapter for chapter in ("ch0_orientation", "ch1_weighted_averaging", SOURCE.parent.name)]
LONG = "The weights of a row add up to 1, so a head that has found nothing still has to put them somewhere."


@pytest.fixture(scope="module")
def notebook():
    """The names that the notebook defines, as attributes."""
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
    """The model has the stated numbers, characters and tokens, is about a megabyte, and has the logits recorded in training."""
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
    """The probabilities after q, after qu and after loo are as stated, and nothing is certain after a space."""
    text = "Each query looks at"
    p = notebook.softmax(notebook.next_token_logits(notebook.tokens_of(text), notebook.model))

    def share(before, character):
        return p[text.index(before) + len(before) - 1, notebook.VOCABULARY.index(character)]

    told("reading-guesses", share("q", "u"), share("qu", "e"))
    assert share("loo", "k") > 0.97
    assert max(p[4].max(), p[10].max()) < 0.2


def test_how_it_writes(notebook):
    """In a circle at temperature 0."""
    text = notebook.generate(notebook.tokens_of("The weights of a"), 120, notebook.model, 0.0, np.random.default_rng(3))
    assert notebook.text_of(text).count("of the same") > 5


def test_what_its_heads_look_at(notebook):
    """The previous-token head, the two local ones, and three that look behind the same letter."""
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
    """The loss on repeated letters is as stated, for the whole model and with one head off."""
    texts = [notebook.repeated_letters(notebook.SEGMENT, 2, seed) for seed in range(10)]

    def second_time(model):
        return np.mean([notebook.losses(text, model)[notebook.SEGMENT :].mean() for text in texts])

    off = [second_time(notebook.without_head(notebook.model, i // 4, i % 4)) for i in range(8)]
    told("reading-heads-off", second_time(notebook.model), off[1], off[2], off[5], off[7], off[4], off[6])
    first = np.mean([notebook.losses(text, notebook.model)[: notebook.SEGMENT - 1].mean() for text in texts])
    assert 3.3 < first < 3.5


@pytest.fixture(scope="module")
def voice():
    """The module that lies next to the notebooks of chapters 0, 1 and 8."""
    spec = importlib.util.spec_from_file_location("voice", SOURCE.parent / "voice.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_three_chapters_have_the_same_voice():
    """Chapters 0, 1 and 8 have the same model and the same code for it, of at most 4 MB together."""
    for name in ("voice.npz", "voice.py"):
        assert len({(folder / name).read_bytes() for folder in WRITERS}) == 1
    assert sum((folder / "voice.npz").stat().st_size for folder in WRITERS) < 4_000_000


def test_the_voice_is_what_the_text_says(voice):
    """Its numbers, tokens and characters per token are as stated, and so are its blocks and heads."""
    model = voice.load()
    count = sum(
        array.size for key, part in model.items() if key not in {"vocabulary", "pairs"} for array in arrays_in(part)
    )
    assert count == VOICE["pieces"]["parameters"]
    assert (len(model["blocks"]), model["h"], len(model["vocabulary"])) == (3, 5, VOICE["pieces"]["tokens"])
    told("voice", f"{count:,}", f"{VOICE['text']['characters']:,}", "512", VOICE["pieces"]["characters_per_token"])
    assert " the" in model["vocabulary"]


def test_pieces_are_put_together_again(voice):
    """A text of the model's characters is its tokens' text, in fewer tokens."""
    model, text = voice.load(), 'She was "not" at home; it rained.\nMr. Darcy smiled.'
    tokens = voice.tokens_of(text, model)
    assert voice.text_of(tokens, model) == text
    assert len(tokens) < len(text) / 1.5


@pytest.mark.parametrize(("temperature", "seed"), [(0.7, 1), (0.7, 5), (0.01, 1)])
def test_the_voice_writes_what_the_course_writes(notebook, voice, capsys, temperature, seed):
    """The code of chapter 0 and the functions of chapter 8 write the same text, with any softmax that is right."""
    model = voice.load()
    rng = np.random.default_rng(seed)
    text = notebook.generate(voice.tokens_of("Elizabeth", model), 40, model, temperature, rng)
    for softmax in (None, notebook.softmax):
        voice.write("Elizabeth", 40, temperature, seed, softmax=softmax)
        assert capsys.readouterr().out == voice.text_of(text, model) + "\n"


def test_a_softmax_without_its_shift_breaks_the_voice(voice, capsys):
    """Chapter 1: without the shift the warm text stays as it is and the cold one stops, and with one sum for all rows both change."""

    def plain(x, axis=-1):
        with np.errstate(all="ignore"):
            return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)

    def written(temperature, softmax=None):
        voice.write("Elizabeth", 60, temperature, 1, softmax=softmax)
        return capsys.readouterr().out

    assert written(0.7, plain) == written(0.7)
    stopped, whole = written(0.01, plain), written(0.01)
    assert "Here the model stops" in stopped
    assert len(stopped.split(" ...")[0]) < len(whole) / 2
    assert written(0.7, lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum()) != written(0.7)


def test_how_the_voice_learned():
    """The moments of its training and the comparison of pieces with characters are those of the recorded runs."""
    pieces, characters = VOICE["pieces"], VOICE["characters"]
    for moment in pieces["moments"]:
        shown = moment["text"].replace("\n", " ¶ ").replace("*", "\\*").replace("_", "\\_")
        assert f"After {moment['step']:,} steps:\n\n> {shown}" in CELLS["voice-learned"]
    [alike] = [point for point in pieces["curve"] if point["step"] == characters["steps"]]
    bits = alike["bits_per_character"], characters["bits_per_character"], pieces["bits_per_character"]
    told("deep-voice", str(characters["steps"]), "4096", *bits[:2], f"{pieces['steps']:,}", bits[2])
    assert bits[2] < bits[0] < bits[1]
    assert (len(pieces["samples"]), len(characters["samples"]), len(pieces["moments"])) == (3, 3, 4)
