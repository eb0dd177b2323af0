"""Disputed titles: inputs of the last bulk run to which champion and challenger answer differently.

Titles are drawn as those of random rows, without regard to any answer. Both models answer them with
the parameters of the run but for its least confidence. So the titles with two answers are a random
sample of the rows that would change. An undecided decision leaves its version and its titles in
`data/gate/disputed.json`. Review queues ask people for these (`chosen_by` is `disputed`) until the
version is decided or another network is judged.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from tasks.io.files import read_json, write_json
from tasks.io.frames import Schema
from tasks.io.title_readings import normalized
from tasks.release.gate.impact import LastRun, both_answers

if TYPE_CHECKING:
    from models.serving.model import Normalizer

FILE = Path("data/gate/disputed.json")
TITLES: Schema = {
    "raw_title": pl.String,
    "normalized": pl.String,
    "place": pl.UInt32,
    "other_occupation_id": pl.String,
}
SAMPLED = 2000  # titles that are drawn
HASHES = 2**32


def disputed(run: LastRun, before: Normalizer, after: Normalizer) -> dict[str, Any] | None:
    """Draw titles of a run and compare; None if a model cannot answer with its parameters.

    Returns `queried`, the number of titles drawn; `titles`, those of them with two answers, in the
    order of their draw: raw title and occupation of the challenger, None where it abstains.
    """
    hashed = run.titles.with_columns(title_hashes(run.titles["raw_title"]))
    titles = hashed.sort(draw_time(run.digits, "rows"), "raw_title")["raw_title"].head(SAMPLED)
    params = {name: value for name, value in run.params.items() if name != "min_confidence"}
    answers = both_answers(replace(run, params=params), titles.to_list(), before, after)
    if answers is None:
        return None
    rows = zip(titles, *(table["occupation_id"].to_pylist() for table in answers), strict=True)
    differing = [[title, new] for title, old, new in rows if old != new]
    return {"queried": len(titles), "titles": differing}


def write_waiting(
    root: Path, version: str, sample: Mapping[str, Any] | None, corrects: str | None = None
) -> None:
    """Note the version that waits and its disputed titles.

    Without a bulk run to draw a sample from, the titles stay that it waited with before, or that
    the version that it `corrects` waited with; of another version there are none.
    """
    before = _read(root) or {}
    if sample is None and before.get("version", "") in (version, corrects):
        sample = before
    write_json({"queried": 0, "titles": [], **(sample or {}), "version": version}, root / FILE)


def note_that_none_waits(root: Path) -> None:
    """Note that no version waits for verdicts below `root`."""
    write_json(None, root / FILE)


def waiting_version(root: Path) -> str | None:
    """Return the version that waits for verdicts below `root`, if one does."""
    return (_read(root) or {}).get("version")


def read_disputed(root: Path) -> pl.DataFrame:
    """Read the disputed titles of the version that waits below `root`, in their order: `TITLES`."""
    schema = {"raw_title": pl.String, "other_occupation_id": pl.String}
    rows = pl.DataFrame((_read(root) or {"titles": []})["titles"], schema, orient="row")
    named = rows.with_columns(normalized(rows["raw_title"])).with_row_index("place")
    return named.unique("normalized", keep="first", maintain_order=True).select(list(TITLES))


def title_hashes(titles: pl.Series) -> pl.Series:
    """Return the column `hash`, 32 bits for each title."""
    named = (title.encode("utf-8", "surrogatepass") for title in titles)
    return pl.Series("hash", map(zlib.crc32, named), pl.UInt32)


def draw_time(digits: int, rows: str) -> pl.Expr:
    """Return when a title's first row is drawn, if each of its `rows` has an exponential time.

    The times follow `hash` and the `digits` of the run (Efraimidis and Spirakis 2006), so that a
    network that waits for weeks does not run out of titles that come in every week. Null: no rows.
    """
    chance = ((pl.col("hash") ^ pl.lit(digits, pl.UInt32)).cast(pl.Float64) + 0.5) / HASHES
    return pl.when(pl.col(rows) > 0).then(-chance.log() / pl.col(rows))


def _read(root: Path) -> dict[str, Any] | None:
    file = root / FILE
    try:
        return read_json(file) if file.is_file() else None
    except ValueError as error:
        raise ValueError(
            f"{file} is damaged ({error}). Delete it; "
            "no version waits then, until the next retraining is judged"
        ) from error
