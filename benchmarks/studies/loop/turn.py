"""One week's turn: what a person said is picked up, then learned, and the gate decides.

In: the champion as it stood when titles were asked, and all that people have said so far. Out: the
champion as it stands for the next week's inputs, and what each step did to this week's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmarks.studies.loop import values
from benchmarks.studies.loop.deciding import decided, picked_up
from benchmarks.studies.loop.retraining import Retraining
from benchmarks.studies.loop.standing import Standing
from benchmarks.title_networks import TitleNetwork
from tasks.feedback import Judged


class Taken(NamedTuple):
    """Who is champion then, the network that was trained, and values by test and query."""

    champion: Standing
    network: TitleNetwork
    values: list[pl.DataFrame]


@dataclass(frozen=True)
class Turn:
    """A week that was answered.

    Attributes:
        name: said of progress.
        number: of the week, from 1.
        inputs: with the champion's answers.
        asked: the titles that a person was asked, with what he `said`.
        told: the mistakes among them, and those of all weeks before.
    """

    name: str
    number: int
    inputs: pl.DataFrame
    asked: pl.DataFrame
    told: pl.DataFrame

    def taken(
        self, champion: Standing, said: Judged, retraining: Retraining, folder: Path
    ) -> Taken:
        """Pick up, retrain and decide.

        Args:
            champion: that answered.
            said: all that people have said, this week's words among them.
            retraining: makes networks.
            folder: for the artefacts.
        """
        stream = retraining.stream
        corrected = picked_up(champion, said, stream, folder)
        network = retraining.again(said, self.name)
        challenger = Standing(retraining.artefact(network.folder, said, folder))
        verdict = decided(challenger, corrected.standing, said, stream)
        print(f"{self.name}: picked up, {corrected.reason}", flush=True)
        print(f"{self.name}: retrained, {verdict.reason}", flush=True)
        promoted, fell_back = verdict.promoted, corrected.fell_back
        frames = [
            values.found(self._test("asked"), self.asked),
            *self._effects(corrected.standing, challenger, promoted=promoted),
            *self._learned(challenger, said),
            values.decisions(
                self._test("gate"), self.number, promoted=promoted, fell_back=fell_back
            ),
        ]
        return Taken(challenger if promoted else corrected.standing, network, frames)

    def _test(self, name: str) -> str:
        return f"{values.WEEK}{self.number}/{name}"

    def _effects(
        self, corrected: Standing, challenger: Standing, *, promoted: bool
    ) -> Iterator[pl.DataFrame]:
        """Yield what each of both does to this week's inputs, and what the one that stays does."""
        inputs = self.inputs.select("raw_title", "cleaned")
        at_once, retrained = (
            values.effects(self._test(name), self.inputs, standing.answers(inputs), self.asked)
            for name, standing in (("at_once", corrected), ("retrained", challenger))
        )
        yield from (at_once, retrained)
        yield (retrained if promoted else at_once).with_columns(test=pl.lit(self._test("after")))

    def _learned(self, challenger: Standing, said: Judged) -> Iterator[pl.DataFrame]:
        """Yield what is learned of all mistakes so far, and of those kept from training."""
        answers = challenger.answers(self.told.select("raw_title", "cleaned"))
        plain = challenger.best(self.told["cleaned"].to_list(), looked_up=False)
        so_far = values.learned(self._test("so_far"), self.told, answers, plain)
        yield so_far
        kept = said.judged.filter("reserved").select("normalized")
        reserved = self.told.join(kept, on="normalized", how="semi").select("query_id")
        own = so_far.join(reserved, on="query_id", how="semi", maintain_order="left")
        yield own.with_columns(test=pl.lit(self._test("reserved")))
