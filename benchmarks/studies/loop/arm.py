"""The weeks of one arm: answer, let a person judge some titles, pick up, retrain, decide.

The champion answers a week's inputs first; then some of its titles get their labels. What people
said is picked up in the champion's own network, with exemplars unless the gate shows that others
suffer, else as a look-up alone (`tasks/release/feedback_patch.py`). A network is then trained anew
with all of it, and the gate decides whether it becomes champion (`tasks/release/gate/rule.py`).

Out: frames of `test, query_id` and the columns `METRICS`; a null counts in no mean. `week:3` holds
the inputs of a week before anybody answers a title of it, `week:3/…` what follows from the answers.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import polars as pl

from benchmarks.studies.loop.people import CHOICES, People, Week
from benchmarks.studies.loop.retraining import Retraining
from benchmarks.studies.loop.standing import Standing, at_the_gate
from benchmarks.studies.loop.stream import titles_of
from benchmarks.title_networks import TitleNetwork
from tasks.pipeline.feedback.stage import Judged
from tasks.release.gate.first_version import decide_corrected
from tasks.release.gate.rule import decide
from tasks.release.model_package.patch import exemplify, learned, tell

METRICS = ("success_at_1", "mistakes", "corrected", "promoted", "fell_back")
EMPTY = pl.DataFrame(
    schema={"test": pl.String, "query_id": pl.String, **dict.fromkeys(METRICS, pl.Float64)}
)
WEEK, ALL, LATER = "week:", "all_weeks", "later_weeks"
PER_WEEK = ("asked", "at_once", "retrained", "gate")
"""Of which all weeks together have a mean as well."""
CHAMPION = "the champion"


class Ran(NamedTuple):
    """Values by test and query, and the networks by their week, 0 before the first."""

    values: list[pl.DataFrame]
    networks: dict[int, TitleNetwork]


@dataclass(frozen=True)
class Arm:
    """How the weeks go.

    Attributes:
        name: of the arm; `people.CHOICES` says which titles are answered, none if it is not there.
        budget: titles that a person answers in a week.
        retraining: makes networks, with the seed of this arm.
    """

    name: str
    budget: int
    retraining: Retraining

    def run(self) -> Ran:
        """Go through all weeks; titles of the last are not answered."""
        ran = Ran([EMPTY], {0: self.retraining.first(f"{self._who}: first network")})
        with TemporaryDirectory() as place:
            self._go_through(Path(place), ran)
        return ran

    def _go_through(self, folder: Path, ran: Ran) -> None:
        stream = self.retraining.stream
        people, last = People(stream, folder / "said"), len(stream.weeks)
        first = self.retraining.artefact(ran.networks[0].folder, people.heard(), folder / "0")
        champion = Standing(first)
        for number, inputs in enumerate(stream.weeks, 1):
            before, week = champion.answers(inputs), f"{WEEK}{number}"
            right = pl.col("answer").eq_missing(pl.col("occupation_id"))
            ran.values.append(values(before, week, success_at_1=right))
            print(f"{self._who}, {week} of {last}", flush=True)
            if number == last or self.name not in CHOICES:
                continue
            asked = self._asked(champion, before, number)
            people.say(asked, number)
            said, own = people.heard(), folder / str(number)
            corrected, fell_back = self._picked_up(champion, said, own)
            ran.networks[number] = self.retraining.again(said, f"{self._who}, {week}")
            model = ran.networks[number].folder
            challenger = Standing(self.retraining.artefact(model, said, own))
            promoted = self._promoted(challenger, corrected, said)
            ran.values.extend(self._effects(week, asked, corrected, challenger))
            decided = pl.DataFrame({"query_id": [week], "promoted": promoted, "fell": fell_back})
            columns = {"promoted": pl.col("promoted"), "fell_back": pl.col("fell")}
            ran.values.append(values(decided, f"{week}/gate", **columns))
            champion = challenger if promoted else corrected

    @property
    def _who(self) -> str:
        return f"{self.name}, seed {self.retraining.settings.seed}"

    def _asked(self, champion: Standing, answered: pl.DataFrame, number: int) -> pl.DataFrame:
        """Return the titles that a person answers this week, with the label as `said`."""
        titles = titles_of(answered)
        shown, seed = titles.drop("occupation_id", "said"), self.retraining.settings.seed
        week = Week(shown, champion.normalizer.embed, seed, number)
        return titles.filter(pl.col("normalized").is_in(CHOICES[self.name](week, self.budget)))

    def _picked_up(self, champion: Standing, said: Judged, folder: Path) -> tuple[Standing, bool]:
        """Return the champion with what people said, and whether it has the look-up alone."""
        stream = self.retraining.stream
        params = stream.workspace.params
        place = Path(shutil.copytree(champion.folder, folder / "with_exemplars"))
        tell(place, said.overrides)
        known = learned(said.judged, params.calibrate.label_weight)
        exemplify(place, said.judged["cleaned"], known)
        whole = Standing(place)
        asked = at_the_gate(whole, champion, self._queries(said), stream.index)
        verdict = decide_corrected(asked, CHAMPION, params.gate.alpha)
        print(f"{self._who}: picked up, {verdict.reason}", flush=True)
        if verdict.promoted:
            return whole, False
        place = Path(shutil.copytree(champion.folder, folder / "look_up"))
        tell(place, said.overrides)
        return Standing(place, champion), True

    def _promoted(self, challenger: Standing, champion: Standing, said: Judged) -> bool:
        stream = self.retraining.stream
        asked = at_the_gate(challenger, champion, self._queries(said), stream.index)
        verdict = decide(asked, CHAMPION, stream.workspace.params.gate)
        print(f"{self._who}: retrained, {verdict.reason}", flush=True)
        return verdict.promoted

    def _queries(self, said: Judged) -> pl.DataFrame:
        """Return the profile's queries and the judged titles that are kept from training."""
        return pl.concat([self.retraining.stream.gate, said.queries])

    def _effects(
        self, week: str, asked: pl.DataFrame, corrected: Standing, challenger: Standing
    ) -> Iterator[pl.DataFrame]:
        """Yield which answers were mistakes, and which of these are right by each model."""
        wrong = pl.col("answer").ne_missing(pl.col("said"))
        yield values(asked, f"{week}/asked", mistakes=wrong)
        mistakes = asked.filter(wrong).select("query_id", "raw_title", "cleaned", "said")
        for name, standing in (("at_once", corrected), ("retrained", challenger)):
            now = standing.answers(mistakes)
            right = pl.col("answer").eq_missing(pl.col("said"))
            yield values(now, f"{week}/{name}", corrected=right)


def values(frame: pl.DataFrame, test: str, **columns: pl.Expr) -> pl.DataFrame:
    """Return `test, query_id` and the columns `METRICS`, those that are not given null."""
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
