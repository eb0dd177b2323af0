"""The titles of a run that a queue is chosen from.

In: one answered run, an earlier one if there is one, and the titles that people have judged. Out: a
frame of schema `CANDIDATES`: titles of rows that were drawn at random, and those with most rows
that are probably answered incorrectly. Draws and ties follow a hash of the title, so that equal
runs give equal queues, and the budget cuts off no letter of the alphabet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from models.reproducibility.progress import Progress
from tasks.apps.review.answered_run import TITLES, AnsweredRun, bucket_titles
from tasks.apps.review.priority import is_readable, priority
from tasks.io.frames import Schema, read_parquet

CANDIDATES: Schema = {
    **TITLES,
    "earlier_occupation_id": pl.String,
    "priority": pl.Float64,
    "drawn": pl.Boolean,
}
"""`drawn` marks the titles of random rows."""
JUDGED = (Path("data/feedback/judged.parquet"), Path("data/feedback/reviews.parquet"))
"""Predictions that were judged, and all reviews; in both titles are `normalized`."""
MOST = 100_000
"""Titles that are kept in memory, with their embeddings."""
AT_RANDOM = 5
"""One title in so many is that of a random row."""
HASHES = 2**32


def candidates(
    run: AnsweredRun, earlier: AnsweredRun | None, judged: pl.DataFrame, budget: int, place: Path
) -> pl.DataFrame:
    """Return the titles for a queue of `budget`, of those that nobody has judged.

    `earlier`: of another model, on the same titles or some of them; `judged`: column `normalized`;
    `place`: a folder to be made, for what does not fit into memory.
    """
    buckets = _buckets(run, earlier, place)
    # feedback refuses a title that is empty when normalized
    titled = (titles.filter(pl.col("normalized") != "") for titles in buckets)
    return pooled((titles.join(judged, on="normalized", how="anti") for titles in titled), budget)


def pooled(titles: Iterable[pl.DataFrame], budget: int) -> pl.DataFrame:
    """Return the drawn titles in their order, and the heaviest others, the first before all.

    `titles`: frames with the columns of `TITLES` and `earlier_occupation_id`, each title once.
    """
    drawn = best = pl.DataFrame(schema={**CANDIDATES, "turn": pl.Float64})
    for frame in titles:
        some = frame.filter(is_readable()).with_columns(
            priority=priority(), drawn=pl.lit(value=False), turn=_turn()
        )
        some = some.select(best.columns)
        drawn = pl.concat([drawn, some]).sort("turn", "normalized").head(budget // AT_RANDOM)
        heavy = some.filter(pl.col("priority") > 0)
        best = pl.concat([best, heavy]).sort(
            "priority", "hash", "normalized", descending=[True, False, False]
        )
        best = best.head(MOST)
    others = best.join(drawn, on="normalized", how="anti", maintain_order="left")
    both = [drawn.with_columns(drawn=pl.lit(value=True)), others]
    return pl.concat(both).select(list(CANDIDATES))


def judged_titles(root: Path) -> pl.DataFrame:
    """Return what people, or labels, have judged in `root`: the column `normalized`."""
    files = [root / file for file in JUDGED if (root / file).is_file()]
    titles = [read_parquet(file).select("normalized") for file in files]
    none = pl.DataFrame(schema={"normalized": pl.String})
    return pl.concat([none, *titles]).drop_nulls().unique()


def _turn() -> pl.Expr:
    """Return when the first row of a title is drawn, if each row has an exponential time.

    So titles come as those of rows that are drawn one by one (Efraimidis and Spirakis 2006).
    """
    chance = (pl.col("hash").cast(pl.Float64) + 0.5) / HASHES
    return -chance.log() / pl.col("rows")


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
