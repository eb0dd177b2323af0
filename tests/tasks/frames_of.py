"""Frames as the stages write them, from rows without the columns that follow from the others."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from models.text.titles import normalize_title
from tasks.io.files import write_json
from tasks.io.frames import Schema, write_frame
from tasks.io.schemas import (
    EXEMPLARS,
    OVERRIDES,
    PRIOR,
    QUERIES,
    READINGS,
    RESOLUTIONS,
    SPLIT_ALIASES,
    SPLIT_INPUTS,
    VARIANTS,
)
from tasks.io.title_readings import with_readings
from tasks.pipeline.split import distinct_titles

Rows = Iterable[Sequence[Any]]


def frame_of(rows: Rows, schema: Schema, column: str = "raw_title") -> pl.DataFrame:
    """Rows of `schema` without its two readings, which are those of `column`."""
    short = {name: kind for name, kind in schema.items() if name not in READINGS}
    frame = pl.DataFrame([tuple(row) for row in rows], schema=short, orient="row")
    return with_readings(frame, column).select(list(schema))


def aliases_of(rows: Rows, language: str = "en") -> pl.DataFrame:
    """Schema `SPLIT_ALIASES` from (occupation_id, title, preferred, split)."""
    in_language = ((*row[:2], language, *row[2:]) for row in rows)
    return frame_of(in_language, SPLIT_ALIASES, "title")


def titles_of(rows: Rows) -> pl.DataFrame:
    """Schema `TITLES` from (occupation_id, title, split), as the stage `split` makes it.

    As there, a title that stands in the taxonomy twice is not held out: else the rows are refused.
    """
    aliases = aliases_of((occupation, title, False, split) for occupation, title, split in rows)
    held_out = aliases.filter(pl.col("normalized").is_duplicated(), pl.col("split") != "train")
    assert held_out.is_empty(), f"no stage holds these out: {held_out['title'].to_list()}"
    return distinct_titles(aliases)


def as_split_gives(rows: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Rows as `titles_of` takes them: who is held out though the title stands twice, trains."""
    rows = list(rows)
    standing = Counter(normalize_title(title) for _, title, _ in rows)
    return [
        (occupation, title, split if standing[normalize_title(title)] == 1 else "train")
        for occupation, title, split in rows
    ]


def inputs_of(rows: Rows) -> pl.DataFrame:
    """Schema `SPLIT_INPUTS` from (raw_title, occupation_id, split), numbered from 0."""
    return frame_of(((number, *row) for number, row in enumerate(rows)), SPLIT_INPUTS)


def queries_of(rows: Rows) -> pl.DataFrame:
    """Schema `QUERIES` from (query_id, test, split, raw_title, occupation_ids, size, source)."""
    return frame_of(rows, QUERIES)


def queries_that_ask(raw_titles: Iterable[str], split: str = "test") -> pl.DataFrame:
    """Schema `QUERIES`, of which only the titles matter."""
    return queries_of(
        (f"q{number}", "t", split, raw_title, ["a"], 1, "alias")
        for number, raw_title in enumerate(raw_titles)
    )


def variants_of(rows: Rows, schema: Schema = VARIANTS) -> pl.DataFrame:
    """Schema `VARIANTS`, or one that has more, from its rows without `normalized`."""
    short = {name: kind for name, kind in schema.items() if name != "normalized"}
    frame = pl.DataFrame([tuple(row) for row in rows], schema=short, orient="row")
    read = with_readings(frame, "variant")
    return read.with_columns(variant="cleaned").select(list(schema))


def resolutions_of(rows: Rows) -> pl.DataFrame:
    """Schema `RESOLUTIONS` from (raw_title, matched_title, predicted, correct, corrected)."""
    resolved = []
    for raw, matched, predicted, correct, corrected in rows:
        outcome = ("correct", False, predicted) if correct else ("incorrect", False, corrected)
        resolved.append((raw, predicted, matched, *outcome, False))
    return frame_of(resolved, RESOLUTIONS)


def write_exemplars(
    folder: Path, prior: Rows = (), exemplars: Rows = (), calibration: object = None
) -> None:
    """Write what the stage `calibrate` does, nothing by default: schemas `PRIOR`, `EXEMPLARS`."""
    for name, rows, schema in (("prior", prior, PRIOR), ("exemplars", exemplars, EXEMPLARS)):
        frame = pl.DataFrame([tuple(row) for row in rows], schema=dict(schema), orient="row")
        write_frame(frame, folder / f"{name}.parquet", schema)
    write_json(calibration, folder / "calibration.json")


def write_overrides(file: Path, fixed: Rows = ()) -> None:
    """Write the answers that reviewers fixed, (raw_title, occupation_id): schema `OVERRIDES`."""
    rows = [(normalize_title(raw), name, True) for raw, name in fixed]
    write_frame(pl.DataFrame(rows, schema=dict(OVERRIDES), orient="row"), file, OVERRIDES)
