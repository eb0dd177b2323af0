"""Several answered runs as one: each title once, with the rows of all runs and its newest answer.

In: runs, the newest last, and perhaps the answers of another model. Out: frames of schema `MERGED`,
a bucket of titles each, so that memory holds one bucket, however many runs there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl

from models.reproducibility.progress import Progress
from tasks.apps.review.answered_run import TITLES, AnsweredRun, bucket_titles
from tasks.io.frames import Schema

MERGED: Schema = {**TITLES, "newest_rows": pl.UInt32, "earlier_occupation_id": pl.String}
"""`rows` are those of all runs, `newest_rows` those of the last; the last column is the other
model's answer."""
BUCKET_ROWS = 4_000_000


def answered_runs(places: Sequence[Path]) -> list[AnsweredRun]:
    """Read the manifests of several runs, in their order.

    Raises:
        ValueError: a place holds no finished run, has changed, or is named twice.
    """
    for number, place in enumerate(places):
        if any(place.resolve() == other.resolve() for other in places[:number]):
            raise ValueError(f"{place} is named twice: its rows would count twice")
    return [*map(AnsweredRun.find, places)]


def merged_titles(
    runs: Sequence[AnsweredRun], compared: AnsweredRun | None, place: Path
) -> Iterator[pl.DataFrame]:
    """Yield each title of any run once, schema `MERGED`.

    Raw title and answer are those of the last run that has the title. `compared`: of another model,
    on the same titles or some of them; `place`: a folder to be made, for what does not fit into
    memory.
    """
    read = [*runs, *([compared] if compared else [])]
    total = sum(run.rows for run in read)
    progress = Progress("rows read:", total, lambda line: print(line, flush=True))
    buckets, before = 1 + total // BUCKET_ROWS, 0
    for number, run in enumerate(read):
        run.write_buckets(place / str(number), buckets, _behind(before, progress))
        before += run.rows
    for bucket in range(buckets):
        frames = [bucket_titles(place / str(number), bucket) for number in range(len(read))]
        other = frames.pop() if compared else pl.DataFrame(schema=dict(TITLES))
        yield _merged(frames, other)


def _behind(before: int, progress: Progress) -> Callable[[int], None]:
    return lambda rows: progress(before + rows)


def _merged(frames: Sequence[pl.DataFrame], compared: pl.DataFrame) -> pl.DataFrame:
    newest_first = pl.concat(frames[::-1]).group_by("normalized", maintain_order=True)
    titles = newest_first.agg(pl.col("rows").sum(), pl.exclude("normalized", "rows").first())
    newest = frames[-1].select("normalized", newest_rows="rows")
    other = compared.select("normalized", earlier_occupation_id="occupation_id")
    for columns in (newest, other):
        titles = titles.join(columns, on="normalized", how="left")
    return titles.with_columns(pl.col("newest_rows").fill_null(0)).select(list(MERGED))
