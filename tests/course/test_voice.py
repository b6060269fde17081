"""Tests of the small model that writes in chapters 0 to 8, and of what the chapters say about it."""

import importlib
import importlib.util
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from autograder import requires
from autograder.course.course import load_course
from solutions.ch1_weighted_averaging import softmax
from solutions.ch2_query_key_value import dot_product_attention
from solutions.ch3_scaling import scaled_dot_product_attention
from solutions.ch4_masking import causal_mask, masked_attention
from solutions.ch5_multi_head import merge_heads, split_heads
from solutions.ch6_complexity import decode_step
from solutions.ch8_language_model import generate
from tests.support import ROOT

COURSE = load_course(ROOT)
WRITERS = [
    COURSE.source(chapter).parent for chapter in ("ch0_orientation", "ch1_weighted_averaging", "ch8_language_model")
]
RECORD = json.loads((ROOT / "solutions" / "training" / "voice.json").read_text("utf-8"))


def cells_of(chapter):
    """Return the text of each cell of a chapter, by its id."""
    return {c["id"]: "".join(c["source"]) for c in json.loads(COURSE.source(chapter).read_text("utf-8"))["cells"]}


CELLS = cells_of("ch8_language_model")


def assert_says(cell, *numbers):
    """Assert that the text of a cell of chapter 8 has these numbers, in this order."""
    places = iter(re.findall(r"\d+(?:[.,]\d+)*", CELLS[cell]))
    assert all(number in places for number in numbers), (cell, numbers)


def arrays_in(part):
    """Return every array of a model."""
    if isinstance(part, np.ndarray):
        return [part]
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return [array for one in inner for array in arrays_in(one)]


@pytest.fixture(scope="module")
def voice():
    """Import ``voice.py``, which is next to the notebooks of chapters 0, 1 and 8, and return the module."""
    spec = importlib.util.spec_from_file_location("voice", WRITERS[0] / "voice.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_three_chapters_have_the_same_voice():
    """Chapters 0, 1 and 8 have the same model and the same code for it. The three copies of the model take less than 4 MB."""
    for name in ("voice.npz", "voice.py"):
        assert len({(folder / name).read_bytes() for folder in WRITERS}) == 1
    assert sum((folder / "voice.npz").stat().st_size for folder in WRITERS) < 4_000_000


def test_pieces_are_put_together_again(voice):
    """The tokens of a text give the same text again, and there are fewer tokens than characters."""
    model, text = voice.load(), 'She was "not" at home; it rained.\nMr. Darcy smiled.'
    tokens = voice.tokens_of(text, model)
    assert voice.text_of(tokens, model) == text
    assert len(tokens) < len(text) / 1.5


def written(voice, capsys, n_new=40, temperature=0.7, seed=1, **parts):
    """Return the text that the model writes with these functions."""
    voice.write("Elizabeth", n_new, temperature, seed, **parts)
    return capsys.readouterr().out


def masked(Q, K, V):
    """Return masked attention as chapter 4 puts it into the model."""
    return masked_attention(Q, K, V, causal_mask(Q.shape[-2], K.shape[-2]))


PARTS = {
    "its own": {},
    "chapter 1": {"softmax": softmax},
    "chapter 3": {"attention": scaled_dot_product_attention},
    "chapter 4": {"attention": masked},
    "chapter 5": {"split_heads": split_heads, "merge_heads": merge_heads},
    "chapter 6": {"decode_step": decode_step},
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize(("temperature", "seed"), [(0.7, 1), (0.7, 5), (0.01, 1)])
def test_every_chapter_writes_what_chapter_8_writes(voice, capsys, parts, temperature, seed):
    """The model writes the same text with the right functions of each chapter and with the last chapter's `generate`."""
    model = voice.load()
    text = generate(voice.tokens_of("Elizabeth", model), 40, model, temperature, np.random.default_rng(seed))
    assert written(voice, capsys, 40, temperature, seed, **parts) == voice.text_of(text, model) + "\n"


SHOWN = {  # the number of tokens that a chapter's cell writes, and the line at which the model's own text begins
    "ch2_query_key_value": (60, None),
    "ch3_scaling": (60, 1),
    "ch4_masking": (60, 0),
    "ch5_multi_head": (40, 1),
    "ch6_complexity": (60, 0),
    "ch7_capstone": (60, 0),
}


@pytest.mark.parametrize("chapter", SHOWN)
def test_each_chapters_cell_finds_the_model_next_door(voice, capsys, monkeypatch, chapter, tmp_path):
    """If chapter 0's folder is next to the chapter's, the cell writes the model's text. Otherwise, it prints one sentence."""
    names = vars(importlib.import_module(f"solutions.{chapter}")) | {"requires": requires, "np": np}
    # Other tests of this process may have left a path on which the model can be found.
    others = [path for path in map(Path, sys.path) if path.is_absolute() and not (path / "voice.py").is_file()]
    monkeypatch.setattr(sys, "path", [str(path) for path in others])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    monkeypatch.delitem(sys.modules, "voice", raising=False)
    (tmp_path / chapter).mkdir()
    monkeypatch.chdir(tmp_path / chapter)
    exec(cells_of(chapter)["voice-cell"], dict(names))  # noqa: S102 - a cell of the course
    sentence = "The model is in the folder of chapter 0: put that folder next to this one, and run the cell again.\n"
    assert capsys.readouterr().out == sentence
    (tmp_path / "ch0_orientation").symlink_to(WRITERS[0])  # now the learner puts it there
    exec(cells_of(chapter)["voice-cell"], dict(names))  # noqa: S102 - as above
    shown = capsys.readouterr().out
    n_new, line = SHOWN[chapter]
    own = written(voice, capsys, n_new)
    if line is None:
        assert shown.startswith("Elizabeth")
        assert shown != own
    else:
        assert "".join(shown.splitlines(keepends=True)[line:]).startswith(own)


def test_wrong_parts_change_the_text(voice, capsys):
    """The text changes without the division in attention, with a mask from the top left, or with heads in the wrong order."""

    def top_left(Q, K, V):
        return masked_attention(Q, K, V, np.arange(K.shape[-2]) <= np.arange(Q.shape[-2])[:, None])

    right = written(voice, capsys)
    for parts in (
        {"attention": dot_product_attention},
        {"attention": top_left},
        {"merge_heads": lambda heads: merge_heads(heads[::-1])},
    ):
        assert written(voice, capsys, **parts) != right


def test_a_softmax_without_its_shift_breaks_the_voice(voice, capsys):
    """Chapter 1: without the shift, only the text at low temperature stops. With one sum for all rows, the text changes."""

    def plain(x, axis=-1):
        with np.errstate(all="ignore"):
            return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)

    assert written(voice, capsys, softmax=plain) == written(voice, capsys)
    stopped, whole = (written(voice, capsys, 60, 0.01, softmax=one) for one in (plain, softmax))
    assert "Here the model stops" in stopped
    assert len(stopped.split(" ...")[0]) < len(whole) / 2
    one_sum = written(voice, capsys, softmax=lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum())
    assert one_sum != written(voice, capsys)


def test_the_voice_is_what_the_text_says(voice):
    """The notebook states the right numbers of parameters, tokens, characters per token, blocks and heads."""
    model, pieces = voice.load(), RECORD["pieces"]
    count = sum(array.size for key in ("embedding", "blocks", "norm") for array in arrays_in(model[key]))
    assert count == pieces["parameters"]
    assert (len(model["blocks"]), model["h"], len(model["vocabulary"])) == (3, 5, pieces["tokens"])
    assert_says(
        "voice", f"{count:,}", f"{RECORD['text']['characters']:,}", "512", f"{pieces['characters_per_token']:.2f}"
    )
    assert " the" in model["vocabulary"]


def test_how_the_voice_learned():
    """The texts from its training and the bits per character that the chapter gives are those of the recorded runs."""
    pieces = RECORD["pieces"]
    for moment in pieces["moments"]:
        shown = moment["text"].replace("\n", " ¶ ").replace("*", "\\*").replace("_", "\\_")
        assert f"After {moment['step']:,} steps:\n\n> {shown}" in CELLS["voice-learned"]
    assert (len(pieces["samples"]), len(pieces["moments"])) == (3, 4)
    assert_says("voice-learned", f"{pieces['steps']:,}")
    bits = [f"{bit:.2f}" for bit in (pieces["bits_per_character"], pieces["curve"][0]["bits_per_character"])]
    assert_says("deep-voice", f"{pieces['steps']:,}", *bits)
