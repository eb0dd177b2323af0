"""The weeks of one arm: answer, review some titles, apply the answers, now and then retrain.

The champion answers a week's inputs first. Then a person reviews some of its titles, and the
product's own commands do the rest (`product.py`).

Out: frames of `test, query_id` and the columns `METRICS`; a null counts in no mean. `week:3` holds
the inputs of a week before its reviews, `week:3/…` the effects of these reviews.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks.studies.loop.product import ANSWER, Product
from benchmarks.studies.loop.reviewer import (
    FILLED_IN,
    NOTHING,
    QUEUE,
    filled_in,
    random_queue,
)
from benchmarks.studies.loop.stream import titles_of
from models.normalizer.normalizer import Normalizer
from models.reproducibility.seeding import generator
from tasks.io.frames import write_frame
from tasks.io.title_readings import normalized
from tasks.pipeline.feedback.feedback_rows.cells import CORRECT

METRICS = (
    "success_at_1",
    "mistakes",
    "corrected",
    "gain_of_retraining",
    "repaired",
    "broken",
    "promoted",
    "promoted_if_better",
    "promoted_if_worse",
)
EMPTY = pl.DataFrame(
    schema={"test": pl.String, "query_id": pl.String, **dict.fromkeys(METRICS, pl.Float64)}
)
RIGHT = pl.col(f"{ANSWER}occupation_id").eq_missing(pl.col("occupation_id"))
"""Whether an input's answer is its label; an abstention is not."""
WEEK, ALL, LATER = "week:", "all_weeks", "later_weeks"
PER_WEEK = ("queried", "at_once", "retrained", "later", "gate")
"""Tests that have a mean over all weeks as well."""


@dataclass(frozen=True)
class Arm:
    """How the weeks go.

    Attributes:
        name: of the arm, which says who chooses the titles.
        budget: titles that a person reviews in a week.
        every: weeks from one retraining to the next.
        weeks: as `read_weeks` returns them.
        product: of this arm alone.
    """

    name: str
    budget: int
    every: int
    weeks: Sequence[pl.DataFrame]
    product: Product

    def run(self) -> pl.DataFrame:
        """Go through all weeks; titles of the last are not reviewed."""
        return pl.concat([EMPTY, *self._values()])

    def _values(self) -> Iterator[pl.DataFrame]:
        champion = self.product.register_first()
        if self.name == NOTHING:
            yield from self._unreviewed()
            return
        challengers: list[Challenger] = []
        for number, inputs in enumerate(self.weeks, 1):
            week = f"{WEEK}{number}"
            answered = self._answered(_file(number), inputs)
            yield values(answered, week, success_at_1=RIGHT)
            if number == len(self.weeks):
                continue
            reviewed = self._review(answered, number)
            corrected, waiting = self.product.apply_feedback(_file(number))
            if corrected and corrected.promoted:
                champion = corrected.version
            if waiting and waiting.promoted:
                champion = waiting.version
                challengers[-1] = challengers[-1]._replace(promoted=True)
            models = [self.product.normalizer(champion)]
            if number % self.every:
                yield from corrections(week, self.titles, reviewed, models)
                continue
            retrained = self.product.retrain(_file(number))
            models.append(self.product.normalizer(retrained.version))
            yield from corrections(week, self.titles, reviewed, models)
            effects = effects_of(pl.concat(self.weeks[number:]), models)
            yield values(effects, f"{week}/later", **EFFECTS)
            better = int(effects["now"].sum()) - int(effects["before"].sum())
            challengers.append(Challenger(week, better, retrained.promoted))
            if retrained.promoted:
                champion = retrained.version
        yield from map(decided, challengers)

    def _unreviewed(self) -> Iterator[pl.DataFrame]:
        """Answer the inputs of all weeks in one run: nothing changes between them."""
        answered = self._answered("weeks", pl.concat(self.weeks))
        for number, inputs in enumerate(self.weeks, 1):
            own = inputs.select("query_id").join(answered, on="query_id", maintain_order="left")
            yield values(own, f"{WEEK}{number}", success_at_1=RIGHT)

    def _answered(self, file: str, inputs: pl.DataFrame) -> pl.DataFrame:
        """Return inputs with the champion's answers."""
        answers = self.product.answer(file, inputs.select("query_id", "raw_title"))
        return inputs.join(answers.drop("raw_title"), on="query_id", maintain_order="left")

    @cached_property
    def titles(self) -> pl.DataFrame:
        """The distinct titles of all weeks: a queue holds titles of earlier weeks as well."""
        return titles_of(pl.concat(self.weeks))

    def _review(self, answered: pl.DataFrame, number: int) -> pl.DataFrame:
        """Write the person's file of a week, and return it."""
        if self.name == QUEUE:
            weeks = [*map(_file, range(1, number + 1))]
            queue = self.product.queue(weeks, self.budget)
        else:
            rng = generator(self.product.seed, "loop", self.name, str(number))
            queue = random_queue(titles_of(answered), self.budget, rng)
        reviewed = filled_in(queue, self.titles, number)
        write_frame(reviewed, self.product.reviews / f"{_file(number)}.parquet", FILLED_IN)
        return reviewed


def _file(number: int) -> str:
    return f"week-{number:02}"


def corrections(
    week: str, titles: pl.DataFrame, reviewed: pl.DataFrame, models: Sequence[Normalizer]
) -> Iterator[pl.DataFrame]:
    """Yield which reviewed answers were mistakes, and which of these each model corrects.

    `models`: the corrected champion, and the retrained network if there is one.
    """
    verdicts = reviewed.select("verdict", normalized(reviewed["raw_title"]))
    chosen = verdicts.join(titles, on="normalized", how="left", maintain_order="left")
    wrong = pl.col("verdict") != CORRECT
    yield values(chosen, f"{week}/queried", mistakes=wrong)
    mistakes = chosen.filter(wrong)
    for name, model in zip(("at_once", "retrained"), models, strict=False):
        right = right_answers(model, mistakes["raw_title"], mistakes["label"])
        yield values(mistakes, f"{week}/{name}", corrected=pl.lit(pl.Series(right)))


EFFECTS = {
    "gain_of_retraining": pl.col("now").cast(pl.Float64) - pl.col("before").cast(pl.Float64),
    "repaired": pl.when(~pl.col("before")).then("now"),
    "broken": pl.when("before").then(~pl.col("now")),
}
"""Effects of retraining on an answer that was right or not `before` and is `now`."""


def effects_of(later: pl.DataFrame, models: Sequence[Normalizer]) -> pl.DataFrame:
    """Tell of later inputs whether the corrected champion and the retrained network are right."""
    before, now = (
        right_answers(model, later["raw_title"], later["occupation_id"]) for model in models
    )
    return later.with_columns(before=before, now=now)


class Challenger(NamedTuple):
    """A retrained network: how many more later inputs it answers rightly, and its fate."""

    week: str
    better: int
    promoted: bool  # at once, or by people's replies before the next one came


def decided(challenger: Challenger) -> pl.DataFrame:
    """Return the gate's decision about a challenger, also by its effect on later inputs."""
    week, better, promoted = challenger
    return values(
        pl.DataFrame({"query_id": [week]}),
        f"{week}/gate",
        promoted=pl.lit(promoted),
        promoted_if_better=pl.lit(promoted if better > 0 else None),
        promoted_if_worse=pl.lit(promoted if better < 0 else None),
    )


def right_answers(model: Normalizer, raw_titles: pl.Series, labels: pl.Series) -> np.ndarray:
    """Tell which titles a model answers with their label; an abstention is wrong."""
    answers = model.predict(raw_titles.to_list()).table["occupation_id"].to_pylist()
    return np.array([a == b for a, b in zip(answers, labels, strict=True)], bool)


def values(frame: pl.DataFrame, test: str, **columns: pl.Expr) -> pl.DataFrame:
    """Return `test, query_id` and the columns `METRICS`, null where no value is passed."""
    own = {name: column.cast(pl.Float64) for name, column in columns.items()}
    made = frame.select(pl.lit(test).alias("test"), "query_id", **own)
    return pl.concat([EMPTY, made], how="diagonal")


def with_sums(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the same, and the tests of all weeks, and of all weeks but the first."""
    test = pl.col("test")
    weekly = test.str.starts_with(WEEK)
    later = weekly & ~test.str.contains("/") & (test != f"{WEEK}1")
    sums = [frame.filter(later).with_columns(test=pl.lit(LATER))]
    for name in PER_WEEK:
        own = frame.filter(weekly & test.str.ends_with(f"/{name}"))
        sums.append(own.with_columns(test=pl.lit(f"{ALL}/{name}")))
    return pl.concat([frame, *sums])
