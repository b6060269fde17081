"""Compare the time of ``autograder --version`` with ``python -c ""``, because editors and scripts ask for the version often."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clocks import row, seconds

ROUNDS = 30


def main() -> None:
    """Measure, and print the results."""
    script = Path(sys.executable).with_name("autograder")
    words = [str(script), "--version"] if script.is_file() else [sys.executable, "-m", "autograder", "--version"]
    pairs = [(seconds(words, Path.cwd()), seconds([sys.executable, "-c", ""], Path.cwd())) for _ in range(ROUNDS + 1)][
        1:
    ]
    ours, bare = (statistics.median(times) for times in zip(*pairs, strict=True))
    row('autograder --version against python -c ""', f"{ours / bare:.1f}×", "≤ 6×")


if __name__ == "__main__":
    main()
