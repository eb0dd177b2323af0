"""The weeks of one arm: answer, review some titles, apply the answers, now and then retrain.

The even half of the job board is dealt to weeks by its normalized titles, a title with all of its
rows to one week. The champion answers a week's inputs first. Then a person reviews some of its
titles, and the product's own commands do the rest (`loop_product.py`). A person's label of a title
is that of most of its rows, of equally many the first.

Out: frames of `test, query_id` and the columns `METRICS`; a null counts in no mean. `week:3` holds
the inputs of a week before its reviews, `week:3/…` the effects of these reviews.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.studies.loop_product import ANSWER, Product
from benchmarks.systems import RegisteredModel
from benchmarks.workspace import Workspace, read_halves
from models.reproducibility import generator
from tasks.apps.review.candidates import AT_RANDOM
from tasks.io.formulas import unguarded
from tasks.io.frames import Schema, write_frame
from tasks.io.schemas import FEEDBACK
from tasks.io.title_readings import normalized
from tasks.pipeline.feedback.reader import CORRECT, COVERAGE, INCORRECT, RANDOM

HALF = "even"  # the half for choices; figures of networks are reported on the other one
QUEUE, NOTHING = "queue", "nothing"
FILLED_IN: Schema = {**FEEDBACK, "chosen_by": pl.String}
FIRST_DAY = date(2026, 1, 5)  # of the first week
METRICS = (
    *("success_at_1", "mistakes", "corrected", "gain_of_retraining", "repaired", "broken"),
    *("promoted", "promoted_if_better", "promoted_if_worse"),
)
EMPTY = pl.DataFrame(
    schema={"test": pl.String, "query_id": pl.String, **dict.fromkeys(METRICS, pl.Float64)}
)
RIGHT = pl.col(f"{ANSWER}occupation_id").eq_missing(pl.col("occupation_id"))
"""Whether an input's answer is its label; an abstention is not."""
WEEK, ALL, LATER = "week:", "all_weeks", "later_weeks"
PER_WEEK = ("queried", "at_once", "retrained", "later", "gate")
"""Tests that have a mean over all weeks as well."""
EFFECTS = {
    "gain_of_retraining": pl.col("now").cast(pl.Float64) - pl.col("before").cast(pl.Float64),
    "repaired": pl.when(~pl.col("before")).then("now"),
    "broken": pl.when("before").then(~pl.col("now")),
}
"""Effects of retraining on an answer that was right or not `before` and is `now`."""


@dataclass(frozen=True)
class Arm:
    """`budget` titles are reviewed in each of the `weeks`; `every` some weeks a network is trained.

    `rolecall review` chooses them, or they are `random` inputs of the week, or nobody reviews.
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
        challengers: list[tuple[str, int, bool]] = []
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
                challengers[-1] = (*challengers[-1][:2], True)
            models = [self.product.model(champion)]
            if number % self.every:
                yield from corrections(week, self.titles, reviewed, models)
                continue
            retrained = self.product.retrain(_file(number))
            models.append(self.product.model(retrained.version))
            yield from corrections(week, self.titles, reviewed, models)
            effects = effects_of(pl.concat(self.weeks[number:]), models)
            yield values(effects, f"{week}/later", **EFFECTS)
            better = int(effects["now"].sum()) - int(effects["before"].sum())
            challengers.append((week, better, retrained.promoted))
            if retrained.promoted:
                champion = retrained.version
        for challenger in challengers:
            yield decided(*challenger)

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
        write_frame(reviewed, self.product.folder / f"feedback/{_file(number)}.parquet", FILLED_IN)
        return reviewed


def _file(number: int) -> str:
    return f"week-{number:02}"


def read_weeks(workspace: Workspace, board: Path, weeks: int, deal: int) -> list[pl.DataFrame]:
    """Return the inputs (columns of `Halves`) of so many weeks and one more, by the `deal`."""
    inputs = read_halves(board, workspace.aliases, HALF).queried
    readable = inputs.filter(pl.col("normalized") != "")
    return split_weeks(readable, weeks + 1, deal)


def split_weeks(inputs: pl.DataFrame, weeks: int, seed: int) -> list[pl.DataFrame]:
    """Deal inputs to weeks of equally many distinct titles, their rows in the order of the file."""
    titles = inputs["normalized"].unique(maintain_order=True)
    order = generator(seed, "loop", "weeks").permutation(len(titles))
    week = np.empty(len(titles), np.int64)
    for number, rows in enumerate(np.array_split(order, weeks)):
        week[rows] = number
    of_title = pl.DataFrame({"normalized": titles, "week": week})
    dealt = inputs.join(of_title, on="normalized", how="left", maintain_order="left")
    return [dealt.filter(week=number).drop("week") for number in range(weeks)]


def titles_of(answered: pl.DataFrame) -> pl.DataFrame:
    """Return the first row of each title, with `rows` (how many it has) and `label`."""
    labels = answered.group_by("normalized", "occupation_id", maintain_order=True).len()
    most = labels.sort("len", descending=True, maintain_order=True)
    labelled = most.unique("normalized", keep="first", maintain_order=True)
    label = labelled.select("normalized", label="occupation_id")
    rows = answered.group_by("normalized").agg(rows=pl.len())
    titles = answered.unique("normalized", keep="first", maintain_order=True)
    for column in (rows, label):
        titles = titles.join(column, on="normalized", how="left", maintain_order="left")
    return titles


def random_queue(titles: pl.DataFrame, budget: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return titles of inputs drawn one by one as a queue; as there, every fifth is the gate's."""
    inputs = np.repeat(np.arange(len(titles)), titles["rows"].to_numpy())
    drawn = [*dict.fromkeys(rng.permutation(inputs).tolist())][:budget]
    is_kept = pl.int_range(pl.len()) % AT_RANDOM == AT_RANDOM - 1
    return titles[drawn].select(
        "raw_title",
        pl.col(f"{ANSWER}occupation_id").alias("predicted_occupation_id"),
        *(pl.col(ANSWER + name).alias(name) for name in ("matched_title", "model_version")),
        chosen_by=pl.when(is_kept).then(pl.lit(RANDOM)).otherwise(pl.lit(COVERAGE)),
    )


def filled_in(queue: pl.DataFrame, titles: pl.DataFrame, week: int) -> pl.DataFrame:
    """Return a queue's rows with verdicts: an answer is confirmed, or corrected to `label`."""
    texts = queue.with_columns(pl.col(pl.String).replace("", None))
    named = texts.with_columns(unguarded(queue["raw_title"]))
    named = named.with_columns(normalized(named["raw_title"])).join(
        titles.select("normalized", "label"), on="normalized", how="left", maintain_order="left"
    )
    right = pl.col("predicted_occupation_id").eq_missing(pl.col("label"))
    day = FIRST_DAY + timedelta(weeks=week - 1)
    return named.with_columns(
        verdict=pl.when(right).then(pl.lit(CORRECT)).otherwise(pl.lit(INCORRECT)),
        corrected_occupation_id=pl.when(~right).then("label"),
        reviewer_id=pl.lit("person"),
        judged_at=pl.lit(day.isoformat()),
    ).select(list(FILLED_IN))


def corrections(
    week: str, titles: pl.DataFrame, reviewed: pl.DataFrame, models: Sequence[RegisteredModel]
) -> Iterator[pl.DataFrame]:
    """Yield which reviewed answers were mistakes, and which of these each model corrects."""
    verdicts = reviewed.select("verdict", normalized(reviewed["raw_title"]))
    chosen = verdicts.join(titles, on="normalized", how="left", maintain_order="left")
    wrong = pl.col("verdict") != CORRECT
    yield values(chosen, f"{week}/queried", mistakes=wrong)
    mistakes = chosen.filter(wrong)
    for name, model in zip(("at_once", "retrained"), models, strict=False):
        right = right_answers(model, mistakes["raw_title"], mistakes["label"])
        yield values(mistakes, f"{week}/{name}", corrected=pl.lit(pl.Series(right)))


def effects_of(later: pl.DataFrame, models: Sequence[RegisteredModel]) -> pl.DataFrame:
    """Tell of later inputs whether the corrected champion and the retrained network are right."""
    before, now = (
        right_answers(model, later["raw_title"], later["occupation_id"]) for model in models
    )
    return later.with_columns(before=before, now=now)


def decided(week: str, better: int, promoted: bool) -> pl.DataFrame:
    """Return the gate's decision about a network, also by how many more later inputs are right."""
    chances = {
        "promoted": promoted,
        "promoted_if_better": promoted if better > 0 else None,
        "promoted_if_worse": promoted if better < 0 else None,
    }
    week_alone = pl.DataFrame({"query_id": [week]})
    return values(week_alone, f"{week}/gate", **{k: pl.lit(v) for k, v in chances.items()})


def right_answers(model: RegisteredModel, raw_titles: pl.Series, labels: pl.Series) -> np.ndarray:
    """Tell which titles a model answers with their label; an abstention is wrong."""
    answers = model.served.answer(raw_titles.to_list())["occupation_id"].to_pylist()
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
