"""Train the model that writes in the voice of Jane Austen's novels, and store it for the notebooks.

    apt-get download r-cran-janeaustenr && dpkg -x r-cran-janeaustenr_*.deb austen
    pip install '.[train]'
    python solutions/training/voice.py austen
    python solutions/training/voice.py austen --characters --stop 250   # for comparison

The Debian package (MIT license) contains the six novels of Jane Austen, published from 1811 to 1818 and in the public
domain. Their text is that of Project Gutenberg. The first run trains on pieces of words (512 byte pairs), the second on
single characters. Each run uses one thread and bfloat16, and continues if it was interrupted. `voice.json`, next
to this script, records the runs that were made: seed, text, bits per character on held-out paragraphs, and what the model
wrote at four moments. On another machine or with another version of PyTorch the numbers differ a little.
"""

import argparse
import hashlib
import itertools
import json
import re
import struct
import time
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = ("ch0_orientation", "ch1_weighted_averaging", "ch8_language_model")
MODELS = [ROOT / "source" / chapter / "voice.npz" for chapter in CHAPTERS]
RECORD = Path(__file__).with_suffix(".json")

SEED = 1775
D_MODEL, HEADS, LAYERS, HIDDEN = 160, 5, 3, 640
VOCABULARY = 512  # characters and pieces together
RARE = 100  # paragraphs with a character that occurs less often are left out
HELD_OUT = 20  # one in this many paragraphs is held out from training
STEPS, TOKENS_A_STEP = 1400, 4096
CONTEXT = {"pieces": 256, "characters": 512}
WARM_UP, COOL_DOWN = 100, 400  # steps: the rate rises, stays, and falls to zero
RATE, MATRIX_RATE, DECAY = 2e-3, 4e-3, 0.05
MOMENTS = (0, 50, 400, STEPS)  # after these numbers of steps, the model writes a sample
BEGINNING = "Elizabeth"


def lines_of(package: Path) -> list[str]:
    """Return the lines of all novels in the unpacked Debian package, in R's serialized form."""
    (path,) = package.glob("usr/lib/R/site-library/janeaustenr/data/Rdata.rdb")
    data, lines = path.read_bytes(), []
    while data:
        unpack = zlib.decompressobj()
        novel, data = unpack.decompress(data[4:]), unpack.unused_data
        place = 23 + 4  # after the header, which names the encoding, and the type of a vector of strings
        (count,) = struct.unpack_from(">i", novel, place)
        place += 4
        for _ in range(count):
            _, length = struct.unpack_from(">ii", novel, place)
            lines.append(novel[place + 8 : place + 8 + length].decode())
            place += 8 + length
        lines.append("")
    return lines


def corpus(package: Path) -> tuple[str, str]:
    """Return the text to train on and the held-out text, with one paragraph on each line."""
    blocks = re.split(r"\n\s*\n", "\n".join(lines_of(package)))
    paragraphs = [re.sub(r"\s+", " ", block.replace("_", "")).strip() for block in blocks]
    headings = re.compile(r"(chapter|volume|finis|the end|by jane|\(?18\d\d)\b", re.IGNORECASE)
    paragraphs = [text for text in paragraphs if re.search(r"[.?!,;:\"'-]$", text) and not headings.match(text)]
    counts = Counter("".join(paragraphs))
    paragraphs = [text for text in paragraphs if min(counts[c] for c in text) >= RARE]
    held_out = paragraphs[HELD_OUT - 1 :: HELD_OUT]
    trained_on = [text for i, text in enumerate(paragraphs) if i % HELD_OUT != HELD_OUT - 1]
    return "\n".join(trained_on) + "\n", "\n".join(held_out) + "\n"


def words_of(text: str) -> list[str]:
    """Cut a text into words, each with the space before it, and the pieces between words. No piece crosses a cut."""
    return re.findall(r" ?[A-Za-z]+| ?[^A-Za-z\s]+|\s", text)


def joined(parts: tuple[int, ...], pair: tuple[int, int], new: int) -> tuple[int, ...]:
    """Replace a pair of neighbors by one token, wherever it occurs."""
    found, i = [], 0
    while i < len(parts):
        if parts[i : i + 2] == pair:
            found.append(new)
            i += 2
        else:
            found.append(parts[i])
            i += 1
    return tuple(found)


def byte_pairs(text: str, size: int) -> tuple[list[str], list[tuple[int, int]], dict[str, tuple[int, ...]]]:
    """Join the most frequent pair of tokens until there are `size` tokens. Return the tokens, the pairs, and every word's tokens."""
    tokens = sorted(set(text))
    counts = Counter(words_of(text))
    words = {word: tuple(tokens.index(c) for c in word) for word in counts}
    pairs: list[tuple[int, int]] = []
    while len(tokens) < size:
        seen: Counter[tuple[int, int]] = Counter()
        for word, parts in words.items():
            for pair in itertools.pairwise(parts):
                seen[pair] += counts[word]
        best = max(seen, key=lambda pair: (seen[pair], pair))
        for word, parts in words.items():
            if len(parts) > 1:
                words[word] = joined(parts, best, len(tokens))
        pairs.append(best)
        tokens.append(tokens[best[0]] + tokens[best[1]])
    return tokens, pairs, words


def numbers_of(
    text: str, tokens: list[str], pairs: list[tuple[int, int]], known: dict[str, tuple[int, ...]]
) -> list[int]:
    """Return the tokens of a text."""
    found: list[int] = []
    for word in words_of(text):
        if word not in known:
            parts = tuple(tokens.index(c) for c in word)
            for new, pair in enumerate(pairs, start=len(tokens) - len(pairs)):
                parts = joined(parts, pair, new)
            known[word] = parts
        found += known[word]
    return found


class Block(nn.Module):
    """A block that computes the chapter's `transformer_block`."""

    def __init__(self) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(D_MODEL), nn.LayerNorm(D_MODEL)
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(D_MODEL, D_MODEL, bias=False) for _ in range(4))
        self.into, self.out_of = nn.Linear(D_MODEL, HIDDEN), nn.Linear(HIDDEN, D_MODEL)
        for linear in (self.W_Q, self.W_K, self.W_V, self.into):
            nn.init.normal_(linear.weight, std=D_MODEL**-0.5)
        for linear in (self.W_O, self.out_of):
            nn.init.normal_(linear.weight, std=0.02)
        nn.init.zeros_(self.into.bias)
        nn.init.zeros_(self.out_of.bias)

    def forward(self, X: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        B, n, _ = X.shape
        normed = self.norm_1(X)
        Q, K, V = (W(normed).view(B, n, HEADS, -1).transpose(1, 2) for W in (self.W_Q, self.W_K, self.W_V))
        O = functional.scaled_dot_product_attention(rotated(Q, cos, sin), rotated(K, cos, sin), V, is_causal=True)
        X = X + self.W_O(O.transpose(1, 2).reshape(B, n, D_MODEL))
        return X + self.out_of(torch.relu(self.into(self.norm_2(X))))


def rotated(X: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn every pair of neighboring entries by its angle."""
    first, second = X[..., 0::2], X[..., 1::2]
    turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.flatten(-2).to(X.dtype)


class LanguageModel(nn.Module):
    """A model with an embedding, blocks, a last norm, and the embedding again."""

    def __init__(self, n_vocab: int, context: int, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n_vocab, D_MODEL) * 0.02)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(D_MODEL)
        d_k = D_MODEL // HEADS
        angles = torch.arange(context, dtype=torch.float64)[:, None] * 10000.0 ** (-torch.arange(0, d_k, 2) / d_k)
        self.cos, self.sin = angles.cos().to(dtype), angles.sin().to(dtype)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        X, n = self.embedding[tokens], tokens.shape[1]
        for block in self.blocks:
            X = block(X, self.cos[:n], self.sin[:n])
        return self.norm(X) @ self.embedding.T

    def losses(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the cross-entropy of every token but the first, in nats; shape (B, n - 1)."""
        logits = self(tokens[:, :-1]).float()
        return functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")

    def write(self, tokens: list[int], n_new: int, temperature: float, seed: int) -> list[int]:
        """Return the tokens and `n_new` more."""
        chance = torch.Generator().manual_seed(seed)
        for _ in range(n_new):
            logits = self(torch.tensor([tokens[-len(self.cos) :]]))[0, -1].float()
            tokens = [*tokens, int(torch.multinomial((logits / temperature).softmax(0), 1, generator=chance))]
        return tokens


def parameters(model: LanguageModel) -> dict[str, torch.Tensor]:
    """Return the model's parameters in the notebook's format: names have dots, and matrices have shape (in, out)."""
    found = {"embedding": model.embedding, "norm.gain": model.norm.weight, "norm.bias": model.norm.bias}
    for i, block in enumerate(model.blocks):
        for name, norm in (("norm_1", block.norm_1), ("norm_2", block.norm_2)):
            found |= {f"blocks.{i}.{name}.gain": norm.weight, f"blocks.{i}.{name}.bias": norm.bias}
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            found[f"blocks.{i}.attention.{name}"] = getattr(block, name).weight.T
        for place, linear in ((1, block.into), (2, block.out_of)):
            found |= {f"blocks.{i}.mlp.W_{place}": linear.weight.T, f"blocks.{i}.mlp.b_{place}": linear.bias}
    return found


@torch.no_grad()
def bits_per_character(model: LanguageModel, tokens: torch.Tensor, tokens_of: list[str], limit: int) -> float:
    """Return the mean over the second halves of overlapping windows, so that every guess has half a context before it."""
    half, bits, characters = len(model.cos) // 2, 0.0, 0
    for start in range(0, min(len(tokens) - 2 * half - 1, limit), half):
        window = tokens[start : start + 2 * half + 1]
        bits += model.losses(window[None])[0, half:].sum().item() / np.log(2)
        characters += sum(len(tokens_of[t]) for t in window[half + 1 :].tolist())
    return float(bits / characters)


def sample(model: LanguageModel, start: list[int], tokens_of: list[str], seed: int, length: int = 300) -> str:
    """Let the model write about ``length`` characters, at temperature 0.7."""
    model.eval()
    mean = sum(map(len, tokens_of)) / len(tokens_of) if len(tokens_of) > 100 else 1
    with torch.no_grad():
        written = model.write(start, int(length / max(1.0, mean * 0.9)), 0.7, seed)
    model.train()
    return "".join(tokens_of[t] for t in written)[:length]


def store(
    parameters: dict[str, np.ndarray], tokens: list[str], pairs: list[tuple[int, int]], outputs: list[Path]
) -> None:
    """Write the model for the notebooks. A matrix has a byte for each entry and a scale for each column. A vector is in float16."""
    stored: dict[str, np.ndarray] = {"h": np.array(HEADS), "vocabulary": np.array(tokens)}
    stored["pairs"] = np.array(pairs, dtype=np.int16)
    for name, array in parameters.items():
        if array.ndim == 1:
            stored[name] = array.astype(np.float16)
            continue
        scale = (np.abs(array).max(axis=0) / 127).astype(np.float16)
        stored[name] = np.round(array / scale.astype(np.float64)).clip(-127, 127).astype(np.int8)
        stored[f"{name}.scale"] = scale
    for output in outputs:
        np.savez_compressed(output, **stored)


def go_on(
    checkpoint: Path, model: LanguageModel, optimizers: list[torch.optim.Optimizer]
) -> tuple[int, list[dict[str, float]], list[dict[str, int | str]]]:
    """Load the step, the loss curve and the texts that an interrupted run has saved. If there are none, begin at step 0."""
    if not checkpoint.exists():
        return 0, [], []
    saved = torch.load(checkpoint, weights_only=True)
    model.load_state_dict(saved["model"])
    for optimizer, state in zip(optimizers, saved["optimizers"], strict=False):
        optimizer.load_state_dict(state)
    return saved["step"], saved["curve"], saved["samples"]


def train(package: Path, kind: str, stop: int) -> None:
    """Train, write the model, and record the run."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    trained_on, held_out = corpus(package)
    tokens, pairs, known = byte_pairs(trained_on, VOCABULARY if kind == "pieces" else 0)
    text = torch.tensor(numbers_of(trained_on, tokens, pairs, known))
    other = torch.tensor(numbers_of(held_out, tokens, pairs, known))
    start = numbers_of(BEGINNING, tokens, pairs, known)
    context = CONTEXT[kind]
    model = LanguageModel(len(tokens), context)
    count = sum(p.numel() for p in model.parameters())
    print(
        f"{len(trained_on)} characters, {len(text)} tokens, {len(other)} held out, {len(tokens)} kinds, {count} parameters"
    )
    matrices = [p for p in model.blocks.parameters() if p.ndim == 2]
    others = [p for p in model.parameters() if not any(p is matrix for matrix in matrices)]
    optimizers = [
        torch.optim.Muon(matrices, lr=MATRIX_RATE, weight_decay=DECAY, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=RATE, betas=(0.9, 0.95), weight_decay=0.0),
    ]
    checkpoint = package / f"{kind}.checkpoint"
    first, curve, samples = go_on(checkpoint, model, optimizers)
    began, used = time.monotonic(), time.process_time()
    for step in range(first, stop + 1):
        if (step in MOMENTS or step == stop) and step not in [sample["step"] for sample in samples]:
            with torch.autocast("cpu", torch.bfloat16):
                samples.append({"step": step, "text": sample(model, start, tokens, 1)})
            print(samples[-1], flush=True)
        if (step % 250 == 0 or step == stop) and step not in [point["step"] for point in curve]:
            with torch.autocast("cpu", torch.bfloat16):
                bits = bits_per_character(model, other, tokens, 20_000)
            curve.append({"step": step, "bits_per_character": round(bits, 4)})
            print(
                curve[-1],
                f"{time.monotonic() - began:.0f} s, {time.process_time() - used:.0f} s of it used",
                flush=True,
            )
            torch.save(
                {
                    "step": step,
                    "curve": curve,
                    "samples": samples,
                    "model": model.state_dict(),
                    "optimizers": [optimizer.state_dict() for optimizer in optimizers],
                },
                checkpoint,
            )
        if step == stop:
            break
        share = min(1.0, (step + 1) / WARM_UP, (STEPS - step) / COOL_DOWN)
        for optimizer, rate in zip(optimizers, (MATRIX_RATE, RATE), strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate * share
        starts = np.random.default_rng((SEED, step)).integers(0, len(text) - context - 1, size=TOKENS_A_STEP // context)
        with torch.autocast("cpu", torch.bfloat16):
            loss = model.losses(torch.stack([text[i : i + context + 1] for i in starts])).mean()
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
    if kind == "pieces":
        arrays = {name: array.detach().double().numpy() for name, array in parameters(model).items()}
        store(arrays, tokens, pairs, MODELS)
    whole = bits_per_character(model, other, tokens, len(other))
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    record |= {
        "seed": SEED,
        "torch": torch.__version__,
        "text": {
            "sha256": hashlib.sha256((trained_on + held_out).encode()).hexdigest(),
            "characters": len(trained_on),
            "held_out": len(held_out),
        },
        "model": {"d_model": D_MODEL, "h": HEADS, "layers": LAYERS, "hidden": HIDDEN},
        "training": {
            "steps": STEPS,
            "cool_down": COOL_DOWN,
            "tokens_a_step": TOKENS_A_STEP,
            "rate": RATE,
            "matrix_rate": MATRIX_RATE,
        },
    }
    record[kind] = {
        "tokens": len(tokens),
        "parameters": count,
        "context": context,
        "steps": stop,
        "characters_per_token": round(len(trained_on) / len(text), 3),
        "minutes": round((time.process_time() - used) / 60, 1),
        "begun_at_step": first,
        "bits_per_character": round(whole, 4),
        "curve": curve,
        "moments": samples,
        "samples": [sample(model, start, tokens, seed) for seed in (2, 3, 4)],
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("package", type=Path, help="the folder with the unpacked Debian package")
    parser.add_argument("--characters", action="store_true", help="one token for each character")
    parser.add_argument("--stop", type=int, default=STEPS, help="stop after so many steps")
    given = parser.parse_args()
    train(given.package, "characters" if given.characters else "pieces", given.stop)
