"""The last bulk run of a registered model: where it lies, and how often each title came in.

A run leaves `.prediction_cache/last/NAME.json` in the main tree, NAME being the model's: `output`,
an absolute path, `manifest`, the hash of the manifest there, and `model`, the version. The page of
a decision shows the impact on that run; a folder that is gone or has changed since is not used.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tasks.io.bulk_output import manifest_of, parts_of, scanned
from tasks.io.frames import Schema, read_json, write_json
from tasks.io.hashes import text_hash
from tasks.io.tracking import main_tree

LAST = Path(".prediction_cache/last")
VERSION = re.compile(r"models:/([A-Za-z0-9_-]+)/\d+")
TITLES: Schema = {"raw_title": pl.String, "rows": pl.Int64}
PARTS = 160  # that are read, some twenty million rows: of a longer run every second, third … part


@dataclass(frozen=True)
class LastRun:
    """The titles of a run."""

    model: str  # address of the version that answered
    params: Mapping[str, Any]  # of the model
    rows: int  # how many there were, those without a title included
    read_rows: int  # how many of them were read
    titles: pl.DataFrame  # `TITLES`, each once, the most frequent first, equal ones by the title
    digits: int  # of its manifest: titles are drawn anew from each run

    def rows_of(self, raw_titles: Iterable[str]) -> dict[str, int]:
        """Count the rows of some titles; those that did not come in are left out."""
        titles = pl.Series(raw_titles, dtype=pl.String).unique()
        return dict(self.titles.filter(pl.col("raw_title").is_in(titles.implode())).rows())


def remember(root: Path, output: Path) -> None:
    """Note that the run in `output` is the last one of its model; print a failure, raise none."""
    try:
        manifest = manifest_of(output).read_text(encoding="utf-8")
        model = str(json.loads(manifest)["result"]["model"])
        known = VERSION.fullmatch(model)
        if known:
            place = {"output": str(output.absolute()), "manifest": text_hash(manifest)}
            write_json({**place, "model": model}, _record(root, known[1]))
    except OSError as error:
        print(
            f"the last run could not be noted, so no decision shows its impact: {error}", flush=True
        )


def last_run(root: Path, name: str) -> LastRun | None:
    """Read the last run of the model `name`; None if there is none, or it is not as it was."""
    record = _record(root, name)
    if not record.is_file():
        return None
    try:
        return _read(record)
    except (OSError, ValueError, KeyError, pl.exceptions.PolarsError) as error:
        fault = str(error).strip().splitlines()[0]
        print(f"the last bulk run of {name} cannot be read: {fault}", flush=True)
        return None


def _record(root: Path, name: str) -> Path:
    return main_tree(root) / LAST / f"{name}.json"


def _read(record: Path) -> LastRun:
    note = read_json(record)
    output = Path(note["output"])
    text = manifest_of(output).read_text(encoding="utf-8")
    if text_hash(text) != note["manifest"]:
        raise ValueError(f"{output} has changed since that run wrote it")
    manifest = json.loads(text)
    result, parts = manifest["result"], parts_of(output, manifest)
    chosen = slice(None, None, -(-len(parts) // PARTS) or 1)
    rows, titles = counted(parts[chosen], result["column"])
    noted = sum(split["rows"] for split in manifest["parts"][chosen])
    if rows != noted:
        raise ValueError(f"{output} has {rows:,} rows where its manifest says {noted:,}")
    digits = zlib.crc32(text.encode())
    return LastRun(note["model"], result["params"], manifest["rows"], rows, titles, digits)


def counted(files: Sequence[Path], column: str) -> tuple[int, pl.DataFrame]:
    """Count all rows, and those of each title of a column: `TITLES`, nulls left out."""
    if not files:  # a run without rows
        return 0, pl.DataFrame(schema=dict(TITLES))
    titles = scanned(files, [column]).group_by(raw_title=pl.col(column).cast(pl.String))
    counts = titles.agg(pl.len().cast(pl.Int64).alias("rows")).collect(engine="streaming")
    order = counts.drop_nulls("raw_title").sort("rows", "raw_title", descending=[True, False])
    return int(counts["rows"].sum()), order
