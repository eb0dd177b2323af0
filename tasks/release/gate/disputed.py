"""Disputed titles: inputs of the last bulk run to which champion and challenger answer differently.

Titles are drawn as those of random rows, without regard to any answer, and both models answer them
with the parameters of the run. So the titles with two answers are a random sample of the rows that
would change, and their share is that of the rows. If the gate lacks evidence, the next review queue
asks people for them (`chosen_by` is `disputed`).
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from models.normalizer.normalizer import Normalizer
from tasks.io.frames import Schema, read_json
from tasks.io.title_readings import normalized
from tasks.release.gate.impact import both_answers
from tasks.release.gate.last_run import LastRun
from tasks.release.registry.outcomes import DISPUTED

TITLES: Schema = {
    "raw_title": pl.String,
    "normalized": pl.String,
    "place": pl.UInt32,
    "other_occupation_id": pl.String,
}
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
    drawn = run.titles.sort(_turn(run.titles), run.titles["raw_title"]).head(SAMPLED)
    answers = both_answers(run, drawn["raw_title"].to_list(), before, after)
    if answers is None:
        return None
    was, now = (table["occupation_id"].to_pylist() for table in answers)
    rows = zip(drawn["raw_title"], was, now, strict=True)
    return Disputed(len(drawn), [(title, new) for title, old, new in rows if old != new])


def read_disputed(root: Path) -> pl.DataFrame:
    """Read the titles that the gate left undecided below `root`, in their order: `TITLES`."""
    file = root / DISPUTED
    found = read_json(file) if file.is_file() else None
    rows = pl.DataFrame(
        found["titles"] if found else [],
        schema={"raw_title": pl.String, "other_occupation_id": pl.String},
        orient="row",
    )
    named = rows.with_columns(normalized(rows["raw_title"])).with_row_index("place")
    return named.unique("normalized", keep="first", maintain_order=True).select(list(TITLES))


def _turn(titles: pl.DataFrame) -> pl.Series:
    """Return when the first row of a title is drawn, if each row has an exponential time.

    The times follow a hash of the title (Efraimidis and Spirakis 2006).
    """
    hashes = [zlib.crc32(title.encode("utf-8", "surrogatepass")) for title in titles["raw_title"]]
    chance = (pl.Series(hashes, dtype=pl.Float64) + 0.5) / HASHES
    return -chance.log() / titles["rows"]
