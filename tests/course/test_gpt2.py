"""Tests of chapter 8's last cell: GPT-2's weights run through the learner's own functions."""

import importlib.util
import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from autograder import requires
from autograder.course.course import load_course
from autograder.misconception import alternatives_in
from solutions import ch8_language_model as own
from tests.support import ROOT

COURSE = load_course(ROOT)
FOLDER = COURSE.source("ch8_language_model").parent
CELLS = {
    c["id"]: "".join(c["source"]) for c in json.loads(COURSE.source("ch8_language_model").read_text("utf-8"))["cells"]
}
D, HEADS, BLOCKS, POSITIONS = 8, 2, 3, 64
# "the" is joined in two steps, and Ġ is a space. The pair ("e", "r") comes first, so "there" is th + er + e.
PAIRS = [("e", "r"), ("t", "h"), ("th", "e"), ("Ġ", "the"), ("Ġ", "a"), ("Ã", "©")]


def import_gpt2():
    """Import ``gpt2.py``, which is next to the notebook, and return the module."""
    spec = importlib.util.spec_from_file_location("gpt2", FOLDER / "gpt2.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gpt2 = import_gpt2()


def checkpoint(dtype="<f8", width=D):
    """Return random arrays with the names and the layout of GPT-2's file. No bias is 0, and no gain is 1."""
    rng, n_vocab, d = np.random.default_rng(28), 256 + len(PAIRS), width
    shapes = {"wte.weight": (n_vocab, d), "wpe.weight": (POSITIONS, d), "ln_f.weight": (d,), "ln_f.bias": (d,)}
    for i in range(BLOCKS):
        for name, shape in {"ln_1": (), "ln_2": (), "attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d)}.items():
            shapes |= {f"h.{i}.{name}.weight": shape or (d,), f"h.{i}.{name}.bias": (shape or (d,))[-1:]}
        for name, shape in {"mlp.c_fc": (d, 4 * d), "mlp.c_proj": (4 * d, d)}.items():
            shapes |= {f"h.{i}.{name}.weight": shape, f"h.{i}.{name}.bias": shape[-1:]}
    return {name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}


def save(path, arrays, **metadata):
    """Write a safetensors file in the documented format."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        place = [len(data), len(data) + array.nbytes]
        kind = {"f": "F", "u": "U"}[array.dtype.kind] + str(8 * array.itemsize)
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": place}
        data += array.tobytes()
    written = json.dumps(header | metadata).encode()
    path.write_bytes(struct.pack("<Q", len(written)) + written + data)


def save_tokens(folder):
    """Write the list of pieces, which begins with all bytes in GPT-2's order, and the list of pairs."""
    pieces = sorted(gpt2.BYTES.values()) + ["".join(pair) for pair in PAIRS]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}), "utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in PAIRS), "utf-8")


@pytest.fixture
def folder(tmp_path):
    """Return a folder as it looks after the learner's download, but with a tiny model."""
    save(tmp_path / "model.safetensors", checkpoint())
    save_tokens(tmp_path)
    return tmp_path


def reference_logits(tokens, arrays):
    """Return GPT-2's logits for each position, computed from GPT-2's description without the course's functions."""
    n, width = len(tokens), len(arrays["ln_f.bias"]) // HEADS

    def norm(x, name):
        centered = x - x.mean(-1, keepdims=True)
        scaled = centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)
        return scaled * arrays[f"{name}.weight"] + arrays[f"{name}.bias"]

    def linear(x, name):
        return x @ arrays[f"{name}.weight"] + arrays[f"{name}.bias"]

    x = arrays["wte.weight"][tokens] + arrays["wpe.weight"][:n]
    for i in range(BLOCKS):
        joined = linear(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn")
        mixed = np.zeros((n, HEADS * width))
        for head in range(HEADS):
            columns = slice(head * width, (head + 1) * width)
            q, k, v = (part[:, columns] for part in np.split(joined, 3, axis=1))
            for row in range(n):
                scores = np.exp(q[row] @ k[: row + 1].T / np.sqrt(width))
                mixed[row, columns] = scores / scores.sum() @ v[: row + 1]
        x = x + linear(mixed, f"h.{i}.attn.c_proj")
        hidden = linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc")
        hidden = 0.5 * hidden * (1 + np.tanh(np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3)))
        x = x + linear(hidden, f"h.{i}.mlp.c_proj")
    return norm(x, "ln_f") @ arrays["wte.weight"].T


def reference_text(tokens, n_new, arrays):
    """Return the likeliest continuation, with the whole text computed again for each token."""
    for _ in range(n_new):
        tokens = [*tokens, int(reference_logits(tokens, arrays)[-1].argmax())]
    return tokens


def load(folder):
    """Return the tiny model. Its heads have 4 columns."""
    return gpt2.GPT2(folder, head_width=D // HEADS)


def test_next_token_logits_are_gpt2s(folder):
    """`transformer_block` and `next_token_logits` give the logits of an independent forward pass."""
    tokens = [3, 250, 17, 17, 90, 0, 255]
    with load(folder).filled_in(vars(own)) as model:
        found = own.next_token_logits(tokens, model)
    np.testing.assert_allclose(found, reference_logits(tokens, checkpoint()), rtol=1e-9, atol=1e-9)


def test_generate_writes_what_gpt2_writes(folder):
    """`generate`, with its cache, continues a text as the independent forward pass does, up to the last position."""
    tokens, n_new = [3, 250, 17, 17], POSITIONS - 4
    with load(folder).filled_in(vars(own)) as model:
        found = own.generate(tokens, n_new, model, 0, np.random.default_rng(0))
    assert found.tolist() == reference_text(tokens, n_new, checkpoint())


WRITERS = [one for one in alternatives_in(COURSE.alternatives("ch8_language_model")) if one.exercise == "generate"]


@pytest.mark.parametrize("writer", WRITERS, ids=lambda one: one.name)
def test_other_ways_to_write_generate_work_too(folder, writer):
    """Alternative solutions also give the text of the independent forward pass."""
    large = load(folder)
    with large.filled_in(writer.function.__globals__) as model, large.filled_in(vars(own)):
        found = writer.function([3, 250, 17, 17], 12, model, 0, np.random.default_rng(0))
    assert list(found) == reference_text([3, 250, 17, 17], 12, checkpoint())


def test_float32_stays_float32(tmp_path):
    """If the file's numbers are float32, the logits are float32 and differ only by rounding. Half precision is read as float32."""
    save_tokens(tmp_path)
    for dtype in ("<f4", "<f2"):
        save(tmp_path / "model.safetensors", checkpoint(dtype))
        with load(tmp_path).filled_in(vars(own)) as model:
            found = own.next_token_logits([3, 250, 17], model)
        assert found.dtype == np.float32
        exact = {name: array.astype(np.float64) for name, array in checkpoint(dtype).items()}
        np.testing.assert_allclose(found, reference_logits([3, 250, 17], exact), rtol=1e-3, atol=1e-3)


def test_the_functions_come_back(folder):
    """After GPT-2 has run, even with an error, the learner's own functions are restored."""
    before = dict(vars(own))
    with pytest.raises(ValueError, match="GPT-2 reads at most 64 tokens"), load(folder).filled_in(vars(own)) as model:
        own.next_token_logits([0] * (POSITIONS + 1), model)
    assert all(vars(own)[name] is before[name] for name in ("layer_norm", "rotate_positions"))


def test_texts_become_tokens_and_texts_again(folder):
    """Pairs are joined in the order of the list and never across words, and the tokens of a text give the same text again."""
    model = load(folder)
    pieces = [[model.pieces[token] for token in model.tokens_of(text)] for text in (" the", "there", "é an a")]
    assert pieces == [["Ġthe"], ["th", "er", "e"], ["Ã©", "Ġa", "n", "Ġa"]]
    for text in ("It's 12_x!\n\n  two  spaces", "naïve – 日本 🙂", ""):
        assert model.text_of(model.tokens_of(text)) == text


def test_words_are_cut_as_gpt2_cuts_them():
    """Words are cut as by GPT-2's own pattern: endings with an apostrophe, one space in front, numbers, signs and runs of spaces."""
    found = gpt2.WORDS.findall("I'll see 3 of them,  isn't it?\n\n  a_b 12%")
    expected = "I|'ll| see| 3| of| them|,| | isn|'t| it|?|\n\n | a|_|b| 12|%"
    assert "|".join(found) == expected


@pytest.mark.parametrize("joined", [" ".join, list])
def test_one_tokenizer_file_will_do(folder, joined):
    """With tokenizer.json, the two other files are not needed. Each of its pairs is a string or a list of two strings."""
    model = load(folder)
    pairs = [joined(pair) for pair in PAIRS]
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": model.numbers, "merges": pairs}}), "utf-8")
    for name in ("vocab.json", "merges.txt"):
        (folder / name).unlink()
    assert load(folder).tokens_of("the other") == model.tokens_of("the other")


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.json", "merges.txt"])
def test_a_missing_file_is_named(folder, name):
    """The error says which file is missing, where to get the files, and where to put them."""
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=rf"download .* into a folder named gpt2 next to .*\({name} is not"):
        load(folder)


def test_a_file_that_cannot_be_used_is_named(folder):
    """A web page instead of the file, a truncated file, a different model and numbers of a wrong type each have a message."""
    path, arrays = folder / "model.safetensors", checkpoint()
    whole = path.read_bytes()
    missing = {name: array for name, array in arrays.items() if name != "h.1.ln_2.bias"}
    for content, message in {
        b"<!doctype html>": "model.safetensors is not a safetensors file. Download it again from https",
        b"": "is not a safetensors file",
        whole[:-1]: "is cut off after .* bytes. Download it again",
    }.items():
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            load(folder)
    for wrong, message in (
        (missing, "no array 'h.1.ln_2.bias': is it GPT-2's"),
        (arrays | {"wte.weight": np.zeros((2, D), np.uint8)}, "has numbers of type U8. Take"),
    ):
        save(path, wrong)
        with pytest.raises(ValueError, match=message):
            load(folder)
    save(path, arrays)
    (folder / "vocab.json").write_text("<html>")
    with pytest.raises(ValueError, match=r"vocab.json cannot be read. Download it again"):
        load(folder)


def test_names_with_a_prefix_and_masks_are_read(folder):
    """Some files begin each name with `transformer.` and have a mask for each block."""
    arrays = {f"transformer.{name}": array for name, array in checkpoint().items()}
    save(folder / "model.safetensors", arrays | {"transformer.h.0.attn.bias": np.ones((1, 1, 4, 4), np.uint8)})
    assert len(load(folder).model["blocks"]) == 1 + BLOCKS


@pytest.fixture
def chapter(folder, monkeypatch):
    """Change to a chapter's folder next to a folder `gpt2` with a tiny model whose heads have 64 columns, and return its arrays."""
    (folder / "gpt2").mkdir()
    (folder / "ch8").mkdir()
    arrays = checkpoint(width=64 * HEADS)
    save(folder / "gpt2" / "model.safetensors", arrays)
    save_tokens(folder / "gpt2")
    monkeypatch.chdir(folder / "ch8")
    monkeypatch.setitem(sys.modules, "gpt2", gpt2)
    return arrays


def run_the_cell():
    """Run the notebook's cell with the reference solutions."""
    exec(CELLS["gpt2-cell"], vars(own) | {"requires": requires})  # noqa: S102 - a cell of the course


@pytest.mark.usefixtures("chapter")
def test_without_the_download_the_cell_prints_one_sentence(capsys):
    """The sentence says where to get the files and where to put them."""
    Path("../gpt2/vocab.json").unlink()
    run_the_cell()
    printed = capsys.readouterr().out
    assert printed.startswith(
        "To see GPT-2 write, download model.safetensors (about 550 MB), vocab.json and merges.txt"
    )
    assert printed.count("\n") == 1


def test_with_the_download_the_cell_writes(chapter, capsys):
    """The cell shows the likeliest next tokens, and the beginning with the text that GPT-2 adds."""
    run_the_cell()
    first, text = capsys.readouterr().out.split("\n", 1)
    model = gpt2.GPT2()
    logits = reference_logits(model.tokens_of("The weights of a row"), chapter)[-1]
    likeliest = [repr(model.text_of([token])) for token in np.argsort(-logits)[:5]]
    assert first == f"the likeliest next tokens: {' '.join(likeliest)}"
    assert text.startswith("The weights of a row")


def test_the_chapter_counts_gpt2s_numbers():
    """The numbers and the file size that chapter 8 states follow from the sizes of GPT-2's arrays."""
    d, blocks, tokens, positions = 768, 12, 50257, 1024
    in_a_block = 2 * 2 * d + (d + 1) * 3 * d + (d + 1) * d + (d + 1) * 4 * d + (4 * d + 1) * d
    count = (tokens + positions) * d + blocks * in_a_block + 2 * d
    size = 4 * (count + blocks * positions**2)  # including a float32 mask for each block
    assert f"{count:,} numbers" in CELLS["gpt2"]
    assert f"({size / 1e6:.0f} MB)" in CELLS["gpt2"]
    assert f"{tokens:,} tokens" in CELLS["gpt2"]
    assert 100 < count / 1_008_160 < 200
