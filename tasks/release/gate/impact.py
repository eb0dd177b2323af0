"""The last bulk run of a model, and the impact of a decision on it.

A run leaves `.prediction_cache/last/NAME.json` in the main tree, NAME being the model's: `output`,
an absolute path, `manifest`, the hash of the manifest there, and `model`, the version. A folder
that has changed since is not used. Both models answer the most frequent titles of that run, with
its parameters. The page shows the impact beside a decision, which does not depend on it.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from tasks.io.bulk_output import manifest_of, parts_of, scanned
from tasks.io.files import read_json, text_hash, write_json
from tasks.io.frames import Schema
from tasks.io.tracking import main_tree

if TYPE_CHECKING:
    from models.serving.model import Normalizer

LAST = Path(".prediction_cache/last")
VERSION = re.compile(r"models:/([A-Za-z0-9_-]+)/\d+")
TITLES: Schema = {"raw_title": pl.String, "rows": pl.Int64}
MOST_QUERIED = 2000  # distinct titles, the most frequent ones
MOST_NAMED = 200  # titles that are named, the most frequent of those that change
PARAMS = ("min_confidence", "code_depth")  # of a run: those that change its first answers
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
        note = {"output": str(output.absolute()), "manifest": text_hash(manifest), "model": model}
        if known := VERSION.fullmatch(model):
            write_json(note, _record(root, known[1]))
    except OSError as error:
        fault = f"the last run could not be noted, so no decision shows its impact: {error}"
        print(fault, flush=True)


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


def impact(run: LastRun, before: Normalizer, after: Normalizer) -> dict[str, Any] | None:
    """Compare both models on a run; None if one cannot answer with the run's parameters.

    Returns `model`, the address of the version that answered the run; `run_rows`; `read_rows`, how
    many of them were read, which the other figures count; `queried_titles`, the most frequent ones,
    and `queried_rows`; `changed_titles`, which get another occupation, one for none, or none for
    one, and `changed_rows`; `changed`, the `MOST_NAMED` most frequent of these: `raw_title, rows`,
    and the labels `before` and `after`, None where the model abstains.
    """
    titles = run.titles.head(MOST_QUERIED)
    answers = both_answers(run, titles["raw_title"].to_list(), before, after)
    if answers is None:
        return None
    names = ("occupation_id", "occupation_label")
    columns = (table[name].to_pylist() for name in names for table in answers)
    changed = [
        {"raw_title": title, "rows": rows, "before": was, "after": now}
        for (title, rows), old, new, was, now in zip(titles.iter_rows(), *columns, strict=True)
        if old != new
    ]
    return {
        "model": run.model,
        "run_rows": run.rows,
        "read_rows": run.read_rows,
        "queried_titles": len(titles),
        "queried_rows": int(titles["rows"].sum()),
        "changed_titles": len(changed),
        "changed_rows": sum(title["rows"] for title in changed),
        "changed": changed[:MOST_NAMED],
    }


def both_answers(
    run: LastRun, raw_titles: list[str], before: Normalizer, after: Normalizer
) -> tuple[pa.Table, pa.Table] | None:
    """Return both models' answers with the parameters of a run; None if one cannot give them."""
    params = {name: run.params[name] for name in PARAMS if name in run.params}
    try:
        was, now = (model.predict(raw_titles, **params).table for model in (before, after))
    except (ValueError, TypeError, AttributeError) as error:  # a model of another release
        print(f"the impact on the last bulk run is unknown: {error}", flush=True)
        return None
    return was, now


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
    rows, titles = _counted(parts[chosen], result["column"])
    noted = sum(split["rows"] for split in manifest["parts"][chosen])
    if rows != noted:
        raise ValueError(f"{output} has {rows:,} rows where its manifest says {noted:,}")
    digits = zlib.crc32(text.encode())
    return LastRun(note["model"], result["params"], manifest["rows"], rows, titles, digits)


def _counted(files: Sequence[Path], column: str) -> tuple[int, pl.DataFrame]:
    """Count all rows, and those of each title of a column: `TITLES`, nulls left out."""
    if not files:  # a run without rows
        return 0, pl.DataFrame(schema=dict(TITLES))
    titles = scanned(files, [column]).group_by(raw_title=pl.col(column).cast(pl.String))
    counts = titles.agg(pl.len().cast(pl.Int64).alias("rows")).collect(engine="streaming")
    order = counts.drop_nulls("raw_title").sort("rows", "raw_title", descending=[True, False])
    return int(counts["rows"].sum()), order
