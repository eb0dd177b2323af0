"""What weeks are measured by: a value for each input or title, from answers before and after.

Frames have `test, query_id` and the columns `METRICS`; a null counts in no mean. `week:3` is asked
before anybody answers a title of that week; what follows from the answers stands in `week:3/…`.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

METRICS = (
    *("success_at_1", "first_right", "answered"),
    *("mistakes", "corrected", "side_effects", "mended"),
    *("learned", "promoted", "fell_back"),
)
EMPTY = pl.DataFrame(
    schema={"test": pl.String, "query_id": pl.String, **dict.fromkeys(METRICS, pl.Float64)}
)
WEEK, ALL, LATER = "week:", "all_weeks", "later_weeks"
PER_WEEK = ("asked", "at_once", "retrained", "after", "gate")
"""Of which all weeks together have a mean as well."""


def accuracy(test: str, answered: pl.DataFrame) -> pl.DataFrame:
    """Return whether each input was answered, and answered right.

    Args:
        test: its name.
        answered: inputs with their label, `occupation_id`, and the columns of `standing.ANSWER`.
    """
    return _values(
        answered,
        test,
        success_at_1=_right("answer"),
        first_right=_right("first"),
        answered=pl.col("answer").is_not_null(),
    )


def share_right(answered: pl.DataFrame) -> float:
    """Return the share of inputs that are answered right."""
    return float(answered.select(_right("answer").cast(pl.Float64).mean()).item())


def mistakes(asked: pl.DataFrame) -> pl.DataFrame:
    """Return the titles of those that a person was asked whose answer is not what he `said`."""
    return asked.filter(pl.col("answer").ne_missing(pl.col("said")))


def found(test: str, asked: pl.DataFrame) -> pl.DataFrame:
    """Return which of the titles that a person was asked had been answered wrong."""
    return _values(asked, test, mistakes=pl.col("answer").ne_missing(pl.col("said")))


def effects(
    test: str, before: pl.DataFrame, after: pl.DataFrame, asked: pl.DataFrame
) -> pl.DataFrame:
    """Return what a new model does to a week's inputs.

    Args:
        test: its name.
        before: the inputs as they were answered when people were asked.
        after: the same inputs, answered by the new model, in the same order.
        asked: the titles that a person was asked.

    Returns:
        `corrected` of each mistake that was told; of the inputs that nobody was asked,
        `side_effects` of those that were right and `mended` of those that were not.
    """
    wrong = mistakes(asked).select("query_id", told="said")
    both = before.select("query_id", "normalized", "occupation_id", was="answer").with_columns(
        now=after["answer"]
    )
    told = both.join(wrong, on="query_id", how="left", maintain_order="left")
    names = asked["normalized"].to_list()
    other, was = ~pl.col("normalized").is_in(names), _right("was")
    return _values(
        told,
        test,
        corrected=pl.when(pl.col("told").is_not_null()).then(
            pl.col("now").eq_missing(pl.col("told"))
        ),
        side_effects=pl.when(other & was).then(~_right("now")),
        mended=pl.when(other & ~was).then(_right("now")),
    )


def learned(test: str, told: pl.DataFrame, answers: pl.DataFrame, plain: list[str]) -> pl.DataFrame:
    """Return which of all mistakes so far are right now, and which are without the look-up.

    Args:
        test: its name.
        told: the mistakes, with `said`.
        answers: the same titles as they are answered now.
        plain: the best occupation of each without the look-up.
    """
    now = told.select(
        "query_id", "said", now=answers["answer"], best=pl.Series(plain, dtype=pl.String)
    )
    return _values(
        now,
        test,
        corrected=pl.col("now").eq_missing(pl.col("said")),
        learned=pl.col("best").eq_missing(pl.col("said")),
    )


def decisions(test: str, week: int, *, promoted: bool, fell_back: bool) -> pl.DataFrame:
    """Return what the gate decided in a week: on the retrained network, and on exemplars."""
    row = pl.DataFrame({"query_id": [f"{WEEK}{week}"]})
    return _values(row, test, promoted=pl.lit(promoted), fell_back=pl.lit(fell_back))


def with_sums(values: pl.DataFrame) -> pl.DataFrame:
    """Return the same, and the tests of all weeks, and of all weeks but the first."""
    return pl.concat([values, *_sums(values)])


def _sums(values: pl.DataFrame) -> Iterator[pl.DataFrame]:
    test = pl.col("test")
    weekly = test.str.starts_with(WEEK)
    later = weekly & ~test.str.contains("/") & (test != f"{WEEK}1")
    yield values.filter(later).with_columns(test=pl.lit(LATER))
    for name in PER_WEEK:
        own = values.filter(weekly & test.str.ends_with(f"/{name}"))
        yield own.with_columns(test=pl.lit(f"{ALL}/{name}"))


def _right(column: str) -> pl.Expr:
    return pl.col(column).eq_missing(pl.col("occupation_id"))


def _values(frame: pl.DataFrame, test: str, **columns: pl.Expr) -> pl.DataFrame:
    own = {name: column.cast(pl.Float64) for name, column in columns.items()}
    made = frame.select(pl.lit(test).alias("test"), "query_id", **own)
    return pl.concat([EMPTY, made], how="diagonal")
