"""The weeks of one arm, one after the other: answer, ask a person, pick up, retrain, decide.

A week's inputs are answered by the champion as it stands; then some of its titles are given their
labels. What is learned, gathered and asked at the gate has seen the titles of these weeks alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import polars as pl

from benchmarks.studies.loop import values
from benchmarks.studies.loop.choosing import CHOICES, Week
from benchmarks.studies.loop.retraining import Retraining
from benchmarks.studies.loop.saying import People
from benchmarks.studies.loop.standing import Standing
from benchmarks.studies.loop.stream import titles_of
from benchmarks.studies.loop.turn import Turn
from benchmarks.title_networks import TitleNetwork


class Ran(NamedTuple):
    """Values by test and query, and the networks by their week, 0 before the first."""

    values: list[pl.DataFrame]
    networks: dict[int, TitleNetwork]


@dataclass(frozen=True)
class Arm:
    """Who answers what.

    Attributes:
        name: of the arm; what it chooses stands in `choosing.CHOICES`, nothing if it is not there.
        budget: titles that a person answers in a week.
        retraining: makes networks, with the seed of this arm.
    """

    name: str
    budget: int
    retraining: Retraining

    def run(self) -> Ran:
        """Go through all weeks; the last is asked alone."""
        network = self.retraining.first(f"{self._who}: first network")
        ran = Ran([values.EMPTY], {0: network})
        with TemporaryDirectory() as place:
            self._go_through(Path(place), ran)
        return ran

    def _go_through(self, folder: Path, ran: Ran) -> None:
        stream, told = self.retraining.stream, list[pl.DataFrame]()
        people, last = People(stream, folder / "said"), len(stream.weeks)
        first = self.retraining.artefact(ran.networks[0].folder, people.heard(), folder / "0")
        champion = Standing(first)
        for number, inputs in enumerate(stream.weeks, 1):
            name = f"{self._who}, week {number} of {last}"
            before = champion.answers(inputs)
            ran.values.append(values.accuracy(f"{values.WEEK}{number}", before))
            print(f"{name}: {values.share_right(before):.3f} right", flush=True)
            if number == last or self.name not in CHOICES:
                continue
            asked = self._asked(champion, before, number)
            people.say(asked, number)
            told.append(values.mistakes(asked))
            turn = Turn(name, number, before, asked, pl.concat(told))
            own = folder / str(number)
            taken = turn.taken(champion, people.heard(), self.retraining, own)
            champion, ran.networks[number] = taken.champion, taken.network
            ran.values.extend(taken.values)

    @property
    def _who(self) -> str:
        return f"{self.name}, seed {self.retraining.settings.seed}"

    def _asked(self, champion: Standing, answered: pl.DataFrame, number: int) -> pl.DataFrame:
        """Return the titles that a person answers this week."""
        titles = titles_of(answered)
        shown = titles.drop("occupation_id", "said")
        seed = self.retraining.settings.seed
        week = Week(shown, champion.normalizer.embed, seed, number)
        chosen = CHOICES[self.name](week, self.budget)
        return titles.filter(pl.col("normalized").is_in(chosen))
