"""Disputed titles: inputs of the last bulk run to which champion and challenger answer differently.

Titles are drawn as those of random rows, without regard to any answer, and both models answer them
with the parameters of the run but for its least confidence, which the gate does not judge. So the
titles with two answers are a random sample of the rows that would change, and their share is that
of the rows. Review queues ask people for them while the
challenger waits for replies (`waiting.py`).
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import polars as pl

from models.normalizer.normalizer import Normalizer
from tasks.release.gate.impact import both_answers
from tasks.release.gate.last_run import LastRun

SAMPLED = 2000
"""Titles that are drawn."""
HASHES = 2**32


@dataclass(frozen=True)
class Disputed:
    """A random sample of the inputs whose answer changes."""

    queried: int  # titles of random rows
    titles: list[tuple[str, str | None]]
    """Of these, those with two answers, in the order of their draw: raw title and occupation of the
    challenger, None where it abstains."""

    @property
    def share(self) -> float:
        """The share of inputs whose answer changes; 0 without any."""
        return len(self.titles) / max(self.queried, 1)


def disputed(run: LastRun, before: Normalizer, after: Normalizer) -> Disputed | None:
    """Draw titles of a run and compare; None if a model cannot answer with its parameters."""
    drawn = run.titles.sort(_turn(run), run.titles["raw_title"]).head(SAMPLED)
    params = {name: value for name, value in run.params.items() if name != "min_confidence"}
    unlimited = replace(run, params=params)
    answers = both_answers(unlimited, drawn["raw_title"].to_list(), before, after)
    if answers is None:
        return None
    was, now = (table["occupation_id"].to_pylist() for table in answers)
    rows = zip(drawn["raw_title"], was, now, strict=True)
    return Disputed(len(drawn), [(title, new) for title, old, new in rows if old != new])


def _turn(run: LastRun) -> pl.Series:
    """Return when the first row of a title is drawn, if each row has an exponential time.

    The times follow a hash of the title and of the run (Efraimidis and Spirakis 2006), so that a
    network that waits for weeks does not run out of titles that come in every week.
    """
    named = (title.encode("utf-8", "surrogatepass") for title in run.titles["raw_title"])
    hashes = [zlib.crc32(name) ^ run.digits for name in named]
    chance = (pl.Series(hashes, dtype=pl.Float64) + 0.5) / HASHES
    return -chance.log() / run.titles["rows"]
