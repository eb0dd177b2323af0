"""The titles of answered runs that a queue is chosen from.

In: the titles of the runs (`merged_runs.py`), those that people have judged, and those that the
gate left undecided. Out: a frame of schema `CANDIDATES`: titles of rows of the newest run that were
drawn at random, disputed ones (with 0 rows if no run has them), and those with most rows, of all
runs, that are probably answered incorrectly. Draws and ties follow a hash of the title, so that
equal runs give equal queues, and the budget cuts off no letter of the alphabet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from tasks.apps.review.answered_run import TITLES, AnsweredRun
from tasks.apps.review.merged_runs import merged_titles
from tasks.apps.review.priority import is_readable, priority
from tasks.io.frames import Schema, read_parquet
from tasks.pipeline.feedback.feedback_rows.cells import COVERAGE, DISPUTED, RANDOM
from tasks.release.gate.waiting import TITLES as DISPUTED_TITLES

CANDIDATES: Schema = {
    **TITLES,
    "earlier_occupation_id": pl.String,
    "priority": pl.Float64,
    "chosen_by": pl.String,
    "other_occupation_id": pl.String,
}
"""The last is the answer of the model that is not champion, to a disputed title."""
JUDGED = (Path("data/feedback/judged.parquet"), Path("data/feedback/reviews.parquet"))
"""Predictions that were judged, and all reviews; in both titles are `normalized`."""
MOST = 100_000
"""Titles that are kept in memory, with their embeddings."""
AT_RANDOM = 5
"""One title in so many is that of a random row; as many are disputed, if there are."""
HASHES = 2**32


def candidates(
    runs: Sequence[AnsweredRun],
    compared: AnsweredRun | None,
    judged: pl.DataFrame,
    budget: int,
    place: Path,
    disputed: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Return the titles for a queue of `budget`, of those that nobody has judged.

    `runs`, the newest last, `compared` and `place`: as of `merged_titles`; `judged`: column
    `normalized`; `disputed`: as `read_disputed` returns them.
    """
    # feedback refuses a title that is empty when normalized
    named = pl.col("normalized") != ""
    titled = (titles.filter(named) for titles in merged_titles(runs, compared, place))
    unjudged = (titles.join(judged, on="normalized", how="anti") for titles in titled)
    if disputed is not None:
        disputed = disputed.join(judged, on="normalized", how="anti")
    return pooled(unjudged, budget, disputed, runs[-1].digits)


def pooled(
    titles: Iterable[pl.DataFrame],
    budget: int,
    disputed: pl.DataFrame | None = None,
    digits: int = 0,
) -> pl.DataFrame:
    """Return the drawn titles in their order, the disputed ones in theirs, and the heaviest others.

    `titles`: frames of schema `MERGED`, each title once; `digits`: 32 bits, with others of which
    other titles are drawn.
    """
    disputes = pl.DataFrame(schema=dict(DISPUTED_TITLES)) if disputed is None else disputed
    drawn = best = pl.DataFrame(schema={**CANDIDATES, "turn": pl.Float64, "place": pl.UInt32})
    named = best
    for frame in titles:
        some = frame.filter(is_readable()).with_columns(
            priority=priority(), chosen_by=pl.lit(COVERAGE), turn=_turn(digits)
        )
        some = some.join(disputes.drop("raw_title"), on="normalized", how="left")
        some = some.select(best.columns)
        named = pl.concat([named, some.drop_nulls("place")])
        here = some.drop_nulls("turn")
        drawn = pl.concat([drawn, here]).sort("turn", "normalized").head(budget // AT_RANDOM)
        heavy = some.filter(pl.col("priority") > 0)
        best = pl.concat([best, heavy]).sort(
            "priority", "hash", "normalized", descending=[True, False, False]
        )
        best = best.head(MOST)
    absent = disputes.join(named, on="normalized", how="anti")
    absent = absent.with_columns(rows=pl.lit(0, pl.UInt32))
    named = pl.concat([named, absent], how="diagonal")
    argued = named.join(drawn, on="normalized", how="anti").sort("place").head(budget // AT_RANDOM)
    first = pl.concat(
        [
            drawn.with_columns(
                chosen_by=pl.lit(RANDOM), other_occupation_id=pl.lit(None, pl.String)
            ),
            argued.with_columns(chosen_by=pl.lit(DISPUTED)),
        ]
    )
    others = best.join(first, on="normalized", how="anti", maintain_order="left")
    others = others.with_columns(other_occupation_id=pl.lit(None, pl.String))
    return pl.concat([first, others]).select(list(CANDIDATES))


def judged_titles(root: Path) -> pl.DataFrame:
    """Return what people, or labels, have judged in `root`: the column `normalized`."""
    files = [root / file for file in JUDGED if (root / file).is_file()]
    titles = [read_parquet(file).select("normalized") for file in files]
    none = pl.DataFrame(schema={"normalized": pl.String})
    return pl.concat([none, *titles]).drop_nulls().unique()


def _turn(digits: int) -> pl.Expr:
    """Return when the first row of a title is drawn, if each row has an exponential time.

    So titles come as those of rows of the newest run that are drawn one by one (Efraimidis and
    Spirakis 2006); null if it has none.
    """
    mixed = pl.col("hash") ^ pl.lit(digits, pl.UInt32)
    chance = (mixed.cast(pl.Float64) + 0.5) / HASHES
    rows = pl.col("newest_rows")
    return pl.when(rows > 0).then(-chance.log() / rows)
