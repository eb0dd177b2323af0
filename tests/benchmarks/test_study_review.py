"""A queue as its user makes it, from titles to the page, and the rows of sessions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import tiny_run
from mlflow_import import WARNINGS

from benchmarks.results import Row
from benchmarks.studies.review.measure import queue_of, rows_of
from benchmarks.studies.review.session import Session
from benchmarks.workspace import Workspace

pytestmark = [pytest.mark.study, *WARNINGS]


def test_rows_are_of_all_keys_and_of_the_sessions() -> None:
    """95 of 100 among 1 to 19 and 40: place 0.95 · 21 = 19.95, so 19 + 0.95 · (40 - 19) = 38.95."""
    keys = [float(number) for number in range(1, 20)] + [40.0]
    rows = [*rows_of([Session(100, 200, keys[:7]), Session(120, 190, keys[7:])])]
    assert rows == [
        Row("review_page", "opening", "painted", 110, 2, 100, 120),
        Row("review_page", "opening", "loaded", 195, 2, 190, 200),
        Row("review_page", "key", "shown", 10.5, 20, 1, 40),
        Row("review_page", "key", "shown_95", pytest.approx(38.95), 20),
    ]


@pytest.mark.slow
def test_a_queue_of_a_bulk_run(tmp_path: Path) -> None:
    sample = replace(Workspace.read("sample"), folder=tiny_run.make_run(tmp_path / "run"))
    titles = [f"{word} {number}" for number in range(30) for word in ("nurse", "baker")]
    folder = queue_of(sample, titles, 20, tmp_path)
    assert 0 < len(pl.read_csv(folder / "queue.csv")) <= 20
    assert "</html>" in (folder / "review.html").read_text(encoding="utf-8")
