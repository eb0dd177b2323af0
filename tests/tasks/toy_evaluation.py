"""Files that every evaluation reads: three occupations of one training title, five tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl

from tasks.frames import write_frame
from tasks.schemas import QUERIES, SPLIT_ALIASES

ROOT = Path(__file__).parents[2]
ALIASES = [
    ("a", "cook", True, "train"),
    ("b", "nurse", True, "train"),
    ("c", "tutor", True, "train"),
    ("c", "teacher", False, "heldout_alias"),
]
TESTS = {
    "typos": [("1", "typos", "test", "cook", ["a"], 1, "typo")],
    "synonyms": [("2", "composition", "test", "nurse", ["b"], 1, "pair_seen")],
    "extra_words": [("3", "extra_words", "test", "TUTOR", ["c"], 2, "label_agrees")],
    "split": [
        ("h", "heldout_alias", "test", "teacher", ["c"], 2, "alias"),
        ("v", "heldout_alias", "valid", "cook", ["a"], 1, "alias"),
        ("g", "annotations", "gate", "cook", ["a"], 1, "input"),
    ],
}
"""By the stage that writes the queries; "teacher" is not in the index."""


def write_toy(folder: Path) -> None:
    """Write `params.yaml` and, in `data/`, the aliases and the queries of four stages."""
    shutil.copy(ROOT / "params.yaml", folder)
    aliases = pl.DataFrame(ALIASES, schema=dict(SPLIT_ALIASES), orient="row")
    write_frame(aliases, folder / "data/split/aliases.parquet", SPLIT_ALIASES)
    for stage, rows in TESTS.items():
        frame = pl.DataFrame(rows, schema=dict(QUERIES), orient="row")
        write_frame(frame, folder / f"data/{stage}/queries.parquet", QUERIES)
