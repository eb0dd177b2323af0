"""The titles of answered runs that a queue is chosen from, by the rows that are probably wrong.

In: the titles of the runs (`answered_runs.py`), those that have a verdict, and those that the gate
left undecided. Out: a frame of schema `CANDIDATES`: titles of rows of the newest run that were
drawn at random, disputed ones (with 0 rows if no run has them), and those of highest priority.

    priority = rows · wrong · (1 + changed)

`wrong` is the chance that the answer is wrong: 1 − confidence; ½ without calibration or if the
title is out of the model's domain; 1 if held back for low confidence. `changed` is 1 if an earlier
run answered another occupation, else 0. Draws and ties follow a hash of the title, so that equal
runs give equal queues, and the budget cuts off no letter of the alphabet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from models.serving.clean import NOT_A_JOB_TITLE, UNKNOWN_WORDS, UNSURE
from tasks.apps.review.answered_runs import TITLES, AnsweredRun, merged_titles
from tasks.io.frames import Schema, read_parquet
from tasks.pipeline.feedback.reader import COVERAGE, DISPUTED, RANDOM
from tasks.release.gate.disputed import TITLES as DISPUTED_TITLES

OUT_OF_DOMAIN = (NOT_A_JOB_TITLE, UNKNOWN_WORDS)
LEVEL, UNLIKE = 0.02, 0.5  # the margin and the score below which the queue says so
UNKNOWN, HELD_BACK = 0.5, 1.0  # chances of a wrong answer where no confidence is known
CANDIDATES: Schema = {
    **TITLES,
    "earlier_occupation_id": pl.String,
    "priority": pl.Float64,
    "chosen_by": pl.String,
    "other_occupation_id": pl.String,
}
"""The last is the answer of the model that is not champion, to a disputed title."""
VERDICTS_FILE = Path("data/feedback/verdicts.parquet")
MOST = 100_000
"""Titles that are kept in memory, with their embeddings."""
AT_RANDOM = 5
"""One title in so many is that of a random row; as many are disputed, if there are."""
HASHES = 2**32


def candidates(
    runs: Sequence[AnsweredRun],
    compared: AnsweredRun | None,
    answered: pl.DataFrame,
    budget: int,
    place: Path,
    disputed: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Return the titles for a queue of `budget`, of those without a verdict.

    `runs`, the newest last, `compared` and `place`: as of `merged_titles`; `answered`: column
    `normalized`, of titles that have one; `disputed`: as `read_disputed` returns them.
    """
    open_titles = (
        # feedback refuses a title that is empty when normalized
        titles.filter(pl.col("normalized") != "").join(answered, on="normalized", how="anti")
        for titles in merged_titles(runs, compared, place)
    )
    if disputed is not None:
        disputed = disputed.join(answered, on="normalized", how="anti")
    return pooled(open_titles, budget, disputed, runs[-1].digits)


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
    no_other = pl.lit(None, pl.String).alias("other_occupation_id")
    drawn = drawn.with_columns(no_other, chosen_by=pl.lit(RANDOM))
    first = pl.concat([drawn, argued.with_columns(chosen_by=pl.lit(DISPUTED))])
    others = best.join(first, on="normalized", how="anti", maintain_order="left")
    return pl.concat([first, others.with_columns(no_other)]).select(list(CANDIDATES))


def titles_with_verdicts(root: Path) -> pl.DataFrame:
    """Return the titles in `root` with a verdict of people, or of labels: column `normalized`."""
    if not (root / VERDICTS_FILE).is_file():
        return pl.DataFrame(schema={"normalized": pl.String})
    return read_parquet(root / VERDICTS_FILE).select("normalized").unique()


def _turn(digits: int) -> pl.Expr:
    """Return when the first row of a title is drawn, if each row has an exponential time.

    So titles come as those of rows of the newest run that are drawn one by one (Efraimidis and
    Spirakis 2006); null if it has none.
    """
    chance = ((pl.col("hash") ^ pl.lit(digits, pl.UInt32)).cast(pl.Float64) + 0.5) / HASHES
    rows = pl.col("newest_rows")
    return pl.when(rows > 0).then(-chance.log() / rows)


def is_readable() -> pl.Expr:
    """Tell whether a title could be read, so that a person can judge it."""
    return ~pl.col("abstained") | pl.col("reason").is_in([UNSURE, *OUT_OF_DOMAIN])


def priority() -> pl.Expr:
    """Return the priority from the columns of an answer, `rows` and `earlier_occupation_id`."""
    wrong = (
        pl.when(pl.col("reason") == UNSURE)
        .then(HELD_BACK)
        .when(pl.col("reason").is_in(OUT_OF_DOMAIN))
        .then(UNKNOWN)
        .otherwise((1 - pl.col("confidence")).clip(0, 1).fill_null(UNKNOWN))
    )
    changed = pl.col("earlier_occupation_id").ne(pl.col("occupation_id")).fill_null(value=False)
    return pl.col("rows") * wrong * (1 + changed.cast(pl.Float64))


def why_queued(row: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """Give the reasons for a title in words.

    `row`: an answer with `rows`, `chosen_by`, `gain` (`title_coverage.py`), `run_reason` (why the
    run gave none), `earlier_occupation_id` and `other_occupation_id`.
    """
    score, margin, earlier = row["score"], row["score_margin"], row["earlier_occupation_id"]
    rows = f"{row['rows']:,} row{'s' * (row['rows'] != 1)}" if row["rows"] else "of an earlier run"
    reasons = [rows, _how_sure(row)]
    if row["chosen_by"] == RANDOM:
        reasons.append("drawn at random")
    elif row["chosen_by"] == DISPUTED:
        other = row["other_occupation_id"]
        reasons.append(f"a newer model answers {labels.get(other, other) or 'nothing'}")
    elif row["gain"] > 1:
        reasons.append(f"helps with some {row['gain']:,.0f} rows")
    if row["run_reason"] == UNSURE:
        reasons.append("held back in the run")
    if margin is not None and margin < LEVEL:
        reasons.append("the second occupation is as close")
    if score is not None and score < UNLIKE:
        reasons.append("unlike the titles that the model knows")
    if earlier and row["occupation_id"] and earlier != row["occupation_id"]:
        reasons.append(f"an earlier run answered {labels.get(earlier, earlier)}")
    return "; ".join(reasons)


def _how_sure(row: Mapping[str, Any]) -> str:
    if row["abstained"]:
        return f"no answer: {row['reason']}"
    if row["confidence"] is None:
        return "no confidence is known"
    return f"{100 * row['confidence']:.0f} % sure"
