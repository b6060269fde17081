"""Make pupils.csv, the table of both notebooks: 60 invented pupils.

Heights are drawn around a mean for each class, and minutes from the usual range of each way to school. Run it in this
folder to make the files again. The seed keeps them the same.
"""

from pathlib import Path

import numpy as np
import pandas as pd

SYLLABLES = [
    "An",
    "Ben",
    "Cla",
    "Da",
    "El",
    "Fin",
    "Ge",
    "Han",
    "Ida",
    "Jo",
    "Ka",
    "Le",
    "Mi",
    "No",
    "Ol",
    "Pe",
    "Ru",
    "So",
    "Ti",
    "Vi",
]
ENDINGS = ["na", "ra", "no", "la", "mi", "ra", "ke"]
MINUTES = {"walk": (4, 20), "bike": (6, 25), "bus": (15, 50), "car": (8, 30)}


def pupils(seed: int = 5) -> pd.DataFrame:
    """Return a table of 60 pupils. Some heights and minutes are missing, as in any survey."""
    rng = np.random.default_rng(seed)
    names = list(dict.fromkeys(a + b for b in ENDINGS for a in SYLLABLES))
    rows = []
    for name in rng.permutation(names)[:60]:
        group = str(rng.choice(["5a", "5b", "6a"], p=[0.4, 0.25, 0.35]))
        travel = str(rng.choice(list(MINUTES), p=[0.4, 0.25, 0.25, 0.1]))
        height = rng.normal({"5a": 143, "5b": 145, "6a": 150}[group], 6)
        rows.append([name, group, round(float(height), 1), travel, int(rng.integers(*MINUTES[travel]))])
    table = pd.DataFrame(rows, columns=["name", "class", "height", "travel", "minutes"])
    table["minutes"] = table["minutes"].astype("Int64")
    table.loc[rng.choice(60, 4, replace=False), "height"] = np.nan
    table.loc[rng.choice(60, 3, replace=False), "minutes"] = pd.NA
    table.loc[17, "minutes"] = 240  # somebody lives far away, or made a mistake
    return table


if __name__ == "__main__":
    for chapter in ("ch1_one_column", "ch2_groups"):
        pupils().to_csv(Path(__file__).parent / "source" / chapter / "pupils.csv", index=False)
