"""Train the small language model of chapter 8 on the prose of this course, and write it next to the chapter's notebook.

    pip install '.[train]'
    python solutions/training/ch8_language_model.py

The script takes about half an hour on one core and is run once, manually. Grading and the tests only read the file that
it writes. ``ch8_language_model.json``, next to this script, records the run: seed, text, loss curve, and what the
trained model does. On another machine or with another version of PyTorch, the numbers are slightly different.
"""

import hashlib
import json
import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "source" / "ch8_language_model" / "model.npz"
RECORD = Path(__file__).with_suffix(".json")

SEED = 8
RECORDED = "The weights of a row add up to 1"
D_MODEL, HEADS, LAYERS, HIDDEN = 128, 4, 2, 512
RARE = 30  # paragraphs with a character that occurs less often are left out
HELD_OUT = 20  # one in this many paragraphs is held out from training
WARM_UP, DECAY, DROPOUT = 100, 0.1, 0.1


@dataclass(frozen=True)
class Stage:
    """A number of training steps on pieces of one length. Some of the pieces are not text, but repeated characters.

    Short pieces come first, because with them the model learns much sooner to continue what it has seen before.
    """

    steps: int
    context: int
    batch: int
    repeated: float
    rate: float
    last_rate: float


STAGES = (
    Stage(1200, 64, 32, 0.2, 3e-3, 3e-3),
    Stage(1200, 32, 32, 0.5, 3e-3, 3e-3),
    Stage(2000, 192, 16, 0.2, 3e-3, 1e-4),
)
LONGEST = max(stage.context for stage in STAGES)


def prose(markdown: str) -> list[str]:
    """Return the paragraphs of a page as plain text, each on one line, without code, tables, markup and formulas."""
    markdown = re.sub(r"```.*?```|~~~.*?~~~|\$\$.*?\$\$|<[^>]*>", "", markdown, flags=re.DOTALL)
    found = []
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*#>|]|\d+\.) )", markdown):
        if block.lstrip().startswith("|") or "\n|" in block:
            continue
        text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", block)
        text = re.sub(r"^\s*(?:[-*#>]+|\d+\.)\s+", "", text, flags=re.MULTILINE)
        text = re.sub(r"\\sqrt\{?([\w ]+)\}?", r"√\1", text)
        text = re.sub(r"\s+", " ", re.sub(r"[*`$]", "", text)).replace("…", "...").strip()
        if len(text) > 20 and not re.search(r"[\\{}_]{2}|[\\{}]", text):
            found.append(text)
    return found


def pages() -> list[str]:
    """Return the text of the course's notebooks and pages, without chapter 8."""
    notebooks = sorted(p for p in (ROOT / "source").glob("*/*.ipynb") if p.stem != MODEL.parent.name)
    cells = [cell for path in notebooks for cell in json.loads(path.read_text("utf-8"))["cells"]]
    from_notebooks = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return from_notebooks + [p.read_text("utf-8") for p in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]]


def corpus() -> tuple[str, str, str]:
    """Return the text to train on, the held-out text, and the characters of both."""
    paragraphs = [text for page in pages() for text in prose(page)]
    everything = "".join(paragraphs)
    rare = {c for c in set(everything) if everything.count(c) < RARE}
    paragraphs = [text for text in paragraphs if not rare & set(text)]
    held_out = [text for i, text in enumerate(paragraphs) if i % HELD_OUT == HELD_OUT - 1]
    trained_on = [text for i, text in enumerate(paragraphs) if i % HELD_OUT != HELD_OUT - 1]
    vocabulary = "".join(sorted({"\n", *"".join(paragraphs)}))
    return "\n".join(trained_on) + "\n", "\n".join(held_out) + "\n", vocabulary


class Block(nn.Module):
    """A block that computes the chapter's ``transformer_block``, with dropout during training."""

    def __init__(self) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(D_MODEL), nn.LayerNorm(D_MODEL)
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(D_MODEL, D_MODEL, bias=False) for _ in range(4))
        self.into, self.out_of = nn.Linear(D_MODEL, HIDDEN), nn.Linear(HIDDEN, D_MODEL)

    def forward(self, X: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        B, n, _ = X.shape
        normed = self.norm_1(X)
        Q, K, V = (W(normed).view(B, n, HEADS, -1).transpose(1, 2) for W in (self.W_Q, self.W_K, self.W_V))
        Q, K = rotated(Q, cos, sin), rotated(K, cos, sin)
        O = functional.scaled_dot_product_attention(Q, K, V, is_causal=True)
        X = X + functional.dropout(self.W_O(O.transpose(1, 2).reshape(B, n, D_MODEL)), DROPOUT, self.training)
        return X + functional.dropout(self.out_of(torch.relu(self.into(self.norm_2(X)))), DROPOUT, self.training)


def rotated(X: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn every pair of neighboring entries by its angle."""
    first, second = X[..., 0::2], X[..., 1::2]
    return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)


def turns(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the cosines and sines of the angles, with a row for each position."""
    d_k = D_MODEL // HEADS
    angles = torch.arange(LONGEST, dtype=torch.float64)[:, None] * 10000.0 ** (-torch.arange(0, d_k, 2) / d_k)
    return angles.cos().to(dtype), angles.sin().to(dtype)


class LanguageModel(nn.Module):
    """A model with an embedding, blocks, a last norm, and the embedding again."""

    def __init__(self, n_vocab: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(n_vocab, D_MODEL) * 0.02)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(D_MODEL)
        self.cos, self.sin = turns(torch.float32)
        for block in self.blocks:
            for linear in (block.W_Q, block.W_K, block.W_V, block.into):
                nn.init.normal_(linear.weight, std=D_MODEL**-0.5)
            for linear in (block.W_O, block.out_of):
                nn.init.normal_(linear.weight, std=0.02)
            nn.init.zeros_(block.into.bias)
            nn.init.zeros_(block.out_of.bias)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        X = functional.dropout(self.embedding[tokens], DROPOUT, self.training)
        n = tokens.shape[1]
        for block in self.blocks:
            X = block(X, self.cos[:n], self.sin[:n])
        return self.norm(X) @ self.embedding.T

    def losses(self, tokens: torch.Tensor) -> torch.Tensor:
        """The cross-entropy of every character but the first, in nats; shape (B, n - 1)."""
        return functional.cross_entropy(self(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:], reduction="none")


def pieces(
    stage: Stage, text: torch.Tensor, n_vocab: int, letters: np.ndarray, rng: np.random.Generator
) -> torch.Tensor:
    """Return a batch of pieces of the text, some of which are replaced by repeated characters."""
    return torch.stack(
        [
            again_and_again(stage, n_vocab, letters, rng)
            if rng.random() < stage.repeated
            else piece(text, stage.context, rng)
            for _ in range(stage.batch)
        ]
    )


def piece(text: torch.Tensor, context: int, rng: np.random.Generator) -> torch.Tensor:
    """Return a piece of the text with the character after it."""
    start = rng.integers(0, len(text) - context - 1)
    return text[start : start + context + 1]


def again_and_again(stage: Stage, n_vocab: int, letters: np.ndarray, rng: np.random.Generator) -> torch.Tensor:
    """Return a few characters, repeated. Half of the time they are any letters, otherwise different characters of the vocabulary."""
    length = int(rng.integers(3, stage.context // 2))
    either = rng.choice(letters, size=length) if rng.random() < 0.5 else rng.permutation(n_vocab)[:length]
    return torch.from_numpy(np.resize(either, stage.context + 1))


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


def recorded(stored: dict[str, np.ndarray], number: dict[str, int]) -> dict[str, np.ndarray]:
    """Return the logits of a piece of text in float64, computed from the stored numbers. The notebook's logits must equal them."""
    model = LanguageModel(len(number)).double().eval()
    model.cos, model.sin = turns(torch.float64)
    with torch.no_grad():
        for name, parameter in parameters(model).items():
            parameter.copy_(torch.from_numpy(stored[name].astype(np.float64)))
        tokens = torch.tensor([number[c] for c in RECORDED])
        return {"recorded.tokens": tokens.numpy(), "recorded.logits": model(tokens[None])[0].numpy()}


def train() -> None:
    """Train, write the model, and record the run."""
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    rng = np.random.default_rng(SEED)
    trained_on, held_out, vocabulary = corpus()
    number = {c: i for i, c in enumerate(vocabulary)}
    text, other = (torch.tensor([number[c] for c in part]) for part in (trained_on, held_out))
    letters = np.array([number[c] for c in "abcdefghijklmnopqrstuvwxyz"])
    model = LanguageModel(len(vocabulary))
    count = sum(p.numel() for p in model.parameters())
    print(f"{len(text)} characters to train on, {len(other)} held out, {len(vocabulary)} different, {count} parameters")
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.0, betas=(0.9, 0.95), weight_decay=DECAY)
    unseen = torch.stack([other[i : i + LONGEST + 1] for i in range(0, len(other) - LONGEST - 1, LONGEST)])
    seen = torch.stack([piece(text, LONGEST, np.random.default_rng(i)) for i in range(len(unseen))])
    twice = torch.stack([torch.from_numpy(np.tile(np.random.default_rng(i).choice(letters, 30), 2)) for i in range(40)])
    curve, step, began = [], 0, time.monotonic()
    for stage in STAGES:
        for done in range(stage.steps):
            step += 1
            fall = 0.5 * (1 + np.cos(np.pi * done / stage.steps))
            for group in optimiser.param_groups:
                group["lr"] = min(1.0, step / WARM_UP) * (stage.last_rate + (stage.rate - stage.last_rate) * fall)
            loss = model.losses(pieces(stage, text, len(vocabulary), letters, rng)).mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            if step % 200 == 0:
                model.eval()
                with torch.no_grad():
                    found = {
                        "trained_on": model.losses(seen).mean(),
                        "held_out": model.losses(unseen).mean(),
                        "letters_the_second_time": model.losses(twice)[:, 30:].mean(),
                    }
                model.train()
                curve.append({"step": step, **{name: round(value.item(), 3) for name, value in found.items()}})
                print(curve[-1], f"{time.monotonic() - began:.0f} s", flush=True)
    MODEL.parent.mkdir(parents=True, exist_ok=True)
    stored = {name: array.detach().numpy().astype(np.float16) for name, array in parameters(model).items()}
    stored |= {"h": np.array(HEADS), "vocabulary": np.array(list(vocabulary))}
    np.savez_compressed(MODEL, **stored, **recorded(stored, number))
    record = {
        "seed": SEED,
        "torch": torch.__version__,
        "minutes": round((time.monotonic() - began) / 60, 1),
        "text": {
            "sha256": hashlib.sha256((trained_on + held_out).encode()).hexdigest(),
            "characters": len(trained_on),
            "held_out": len(held_out),
            "different_characters": len(vocabulary),
        },
        "model": {"d_model": D_MODEL, "h": HEADS, "layers": LAYERS, "hidden": HIDDEN, "parameters": count},
        "training": {"stages": [asdict(s) for s in STAGES], "warm_up": WARM_UP, "decay": DECAY, "dropout": DROPOUT},
        "curve": curve,
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    train()
