"""Files that every evaluation reads: three occupations of one training title, five tests."""

import shutil
from pathlib import Path

from frames_of import queries_of, titles_of

from tasks.io.frames import write_frame
from tasks.io.schemas import QUERIES, TITLES

ROOT = Path(__file__).parents[2]
ALIASES = [
    ("a", "Cook", "train"),
    ("b", "nurse", "train"),
    ("c", "tutor", "train"),
    ("c", "teacher", "heldout_alias"),
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
    """Write `params.yaml` and, in `data/`, the titles and the queries of four stages."""
    shutil.copy(ROOT / "params.yaml", folder)
    write_frame(titles_of(ALIASES), folder / "data/split/titles.parquet", TITLES)
    for stage, rows in TESTS.items():
        write_frame(queries_of(rows), folder / f"data/{stage}/queries.parquet", QUERIES)
