"""The weeks of one arm: answer, review some titles, patch, retrain, decide.

The champion answers a week's inputs first. Then a person reviews some of its titles. The champion
is patched with the feedback: with exemplars too, unless the gate shows that other titles suffer,
else with exact matches alone (`tasks/release/feedback_patch.py`). A network is then trained anew on
all feedback, and the gate decides whether it becomes champion (`tasks/release/gate/rule.py`).

Out: frames of `test, query_id` and the columns `METRICS`; a null counts in no mean. `week:3` holds
the inputs of a week before its reviews, `week:3/…` the effects of these reviews.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import polars as pl

from benchmarks.networks.title_networks import TitleNetwork
from benchmarks.studies.loop.retraining import Retraining
from benchmarks.studies.loop.reviewer import SELECTIONS, Reviewer, Week
from benchmarks.studies.loop.served_model import ServedModel, gate_results
from benchmarks.studies.loop.stream import titles_of
from tasks.pipeline.feedback.stage import Judged
from tasks.release.gate.first_version import decide_corrected
from tasks.release.gate.rule import decide
from tasks.release.model_package.patch import exemplify, learned, replace_overrides

METRICS = ("success_at_1", "mistakes", "corrected", "promoted", "fell_back")
EMPTY = pl.DataFrame(
    schema={"test": pl.String, "query_id": pl.String, **dict.fromkeys(METRICS, pl.Float64)}
)
WEEK, ALL, LATER = "week:", "all_weeks", "later_weeks"
PER_WEEK = ("queried", "at_once", "retrained", "gate")
"""Tests that have a mean over all weeks as well."""
CHAMPION = "the champion"


class Ran(NamedTuple):
    """Values by test and query, and the networks by their week, 0 before the first."""

    values: list[pl.DataFrame]
    networks: dict[int, TitleNetwork]


@dataclass(frozen=True)
class Arm:
    """How the weeks go.

    Attributes:
        name: of the arm, whose titles `SELECTIONS` chooses; without an entry nobody reviews.
        budget: titles that a person reviews in a week.
        retraining: makes networks, with the seed of this arm.
    """

    name: str
    budget: int
    retraining: Retraining

    def run(self) -> Ran:
        """Go through all weeks; titles of the last are not reviewed."""
        ran = Ran([EMPTY], {0: self.retraining.first(f"{self._who}: first network")})
        with TemporaryDirectory() as place:
            self._go_through(Path(place), ran)
        return ran

    def _go_through(self, folder: Path, ran: Ran) -> None:
        stream = self.retraining.stream
        reviewer, last = Reviewer(stream, folder / "reviews"), len(stream.weeks)
        first = self.retraining.package(ran.networks[0].folder, reviewer.read(), folder / "0")
        champion = ServedModel(first)
        for number, inputs in enumerate(stream.weeks, 1):
            before, week = champion.answers(inputs), f"{WEEK}{number}"
            right = pl.col("answer").eq_missing(pl.col("occupation_id"))
            ran.values.append(values(before, week, success_at_1=right))
            print(f"{self._who}, {week} of {last}", flush=True)
            if number == last or self.name not in SELECTIONS:
                continue
            reviewed = self._to_review(champion, before, number)
            reviewer.write(reviewed, number)
            feedback, own = reviewer.read(), folder / str(number)
            corrected, fell_back = self._patched(champion, feedback, own)
            ran.networks[number] = self.retraining.again(feedback, f"{self._who}, {week}")
            model = ran.networks[number].folder
            challenger = ServedModel(self.retraining.package(model, feedback, own))
            promoted = self._promoted(challenger, corrected, feedback)
            ran.values.extend(self._effects(week, reviewed, corrected, challenger))
            decided = pl.DataFrame({"query_id": [week], "promoted": promoted, "fell": fell_back})
            columns = {"promoted": pl.col("promoted"), "fell_back": pl.col("fell")}
            ran.values.append(values(decided, f"{week}/gate", **columns))
            champion = challenger if promoted else corrected

    @property
    def _who(self) -> str:
        return f"{self.name}, seed {self.retraining.settings.seed}"

    def _to_review(
        self, champion: ServedModel, answered: pl.DataFrame, number: int
    ) -> pl.DataFrame:
        """Return the titles that a person reviews this week, with their `label`."""
        titles = titles_of(answered)
        preview, seed = titles.drop("occupation_id", "label"), self.retraining.settings.seed
        normalizer = champion.normalizer
        week = Week(preview, normalizer.embed, normalizer.rule.temperature, seed, number)
        return titles.filter(pl.col("normalized").is_in(SELECTIONS[self.name](week, self.budget)))

    def _patched(
        self, champion: ServedModel, feedback: Judged, folder: Path
    ) -> tuple[ServedModel, bool]:
        """Return the champion with people's feedback, and whether it has exact matches alone."""
        stream = self.retraining.stream
        params = stream.workspace.params
        place = Path(shutil.copytree(champion.folder, folder / "with_exemplars"))
        replace_overrides(place, feedback.overrides)
        exemplars = learned(feedback.judged, params.calibrate.label_weight)
        exemplify(place, feedback.judged["cleaned"], exemplars)
        whole = ServedModel(place)
        results = gate_results(whole, champion, self._queries(feedback), stream.index)
        decision = decide_corrected(results, CHAMPION, params.gate.alpha)
        print(f"{self._who}: patched, {decision.reason}", flush=True)
        if decision.promoted:
            return whole, False
        place = Path(shutil.copytree(champion.folder, folder / "look_up"))
        replace_overrides(place, feedback.overrides)
        return ServedModel(place, champion), True

    def _promoted(self, challenger: ServedModel, champion: ServedModel, feedback: Judged) -> bool:
        stream = self.retraining.stream
        results = gate_results(challenger, champion, self._queries(feedback), stream.index)
        decision = decide(results, CHAMPION, stream.workspace.params.gate)
        print(f"{self._who}: retrained, {decision.reason}", flush=True)
        return decision.promoted

    def _queries(self, feedback: Judged) -> pl.DataFrame:
        """Return the profile's queries and the held-out reviewed titles."""
        return pl.concat([self.retraining.stream.gate, feedback.queries])

    def _effects(
        self, week: str, reviewed: pl.DataFrame, corrected: ServedModel, challenger: ServedModel
    ) -> Iterator[pl.DataFrame]:
        """Yield the mistakes among the reviewed answers, and which ones each model corrects."""
        wrong = pl.col("answer").ne_missing(pl.col("label"))
        yield values(reviewed, f"{week}/queried", mistakes=wrong)
        mistakes = reviewed.filter(wrong).select("query_id", "raw_title", "cleaned", "label")
        for name, model in (("at_once", corrected), ("retrained", challenger)):
            now = model.answers(mistakes)
            right = pl.col("answer").eq_missing(pl.col("label"))
            yield values(now, f"{week}/{name}", corrected=right)


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
