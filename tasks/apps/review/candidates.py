"""The titles of a run that are worth most, before the model rescores them.

In: one answered run, an earlier one if there is one, and the titles that people have judged. Out: a
frame of schema `CANDIDATES`, the best first. Equal priorities stand in the order of a hash, so that
the budget cuts off no letter of the alphabet.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from models.reproducibility.progress import Progress
from tasks.apps.review.answered_run import TITLES, AnsweredRun, bucket_titles
from tasks.apps.review.priority import priority
from tasks.io.frames import Schema, read_parquet

CANDIDATES: Schema = {**TITLES, "earlier_occupation_id": pl.String, "priority": pl.Float64}
JUDGED = (Path("data/feedback/judged.parquet"), Path("data/feedback/reviews.parquet"))
"""Predictions that were judged, and all reviews; in both titles are `normalized`."""
ORDER = ("priority", "hash", "normalized")  # descending, and then ascending


def candidates(
    run: AnsweredRun, earlier: AnsweredRun | None, judged: pl.DataFrame, count: int, place: Path
) -> pl.DataFrame:
    """Return the `count` titles of highest priority that nobody has judged.

    `earlier`: of another model, on the same titles or some of them; `judged`: column `normalized`;
    `place`: a folder to be made, for what does not fit into memory.
    """
    best = pl.DataFrame(schema=dict(CANDIDATES))
    for titles in _buckets(run, earlier, place):
        readable = titles.filter(pl.col("normalized") != "")  # feedback refuses the others
        left = readable.join(judged, on="normalized", how="anti")
        ranked = left.with_columns(priority=priority()).filter(pl.col("priority") > 0)
        best = in_order(pl.concat([best, ranked.select(best.columns)])).head(count)
    return best


def in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Sort candidates, the highest priority first."""
    return frame.sort(ORDER, descending=[True, False, False])


def judged_titles(root: Path) -> pl.DataFrame:
    """Return what people, or labels, have judged in `root`: the column `normalized`."""
    files = [root / file for file in JUDGED if (root / file).is_file()]
    titles = [read_parquet(file).select("normalized") for file in files]
    none = pl.DataFrame(schema={"normalized": pl.String})
    return pl.concat([none, *titles]).drop_nulls().unique()


def _buckets(run: AnsweredRun, earlier: AnsweredRun | None, place: Path) -> Iterator[pl.DataFrame]:
    total = run.rows + (earlier.rows if earlier else 0)
    progress = Progress("rows read:", total, lambda line: print(line, flush=True))
    run.write_buckets(place / "run", run.buckets, progress)
    if earlier:
        earlier.write_buckets(
            place / "earlier", run.buckets, lambda rows: progress(run.rows + rows)
        )
    for bucket in range(run.buckets):
        before = bucket_titles(place / "earlier", bucket)
        named = before.select("normalized", earlier_occupation_id="occupation_id")
        yield bucket_titles(place / "run", bucket).join(named, on="normalized", how="left")
