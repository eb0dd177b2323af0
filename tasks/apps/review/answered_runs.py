"""Outputs of `rolecall normalize`, files or folders, as titles with their rows and answer.

In: manifests and parts of runs, the newest last, and perhaps the answers of another model. Out:
each normalized title once, frames of schema `MERGED`: the raw title that most rows have, the newest
answer, the rows of all that normalize so, and a hash. Rows are read in batches and their titles
written to buckets by hash, so that memory holds a batch or a bucket, whatever the size of the runs.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from models.reproducibility import Progress
from tasks.io.bulk_output import kind_of, manifest_of, parts_of, scanned
from tasks.io.files import read_json, sha256
from tasks.io.frames import Schema
from tasks.io.title_readings import normalized

ANSWER: Schema = {
    "occupation_id": pl.String,
    "score": pl.Float64,
    "score_margin": pl.Float64,
    "confidence": pl.Float64,
    "abstained": pl.Boolean,
    "reason": pl.String,
}
"""The columns of an answer that are read."""
TITLES: Schema = {
    "normalized": pl.String,
    "raw_title": pl.String,
    "rows": pl.UInt32,
    "hash": pl.UInt32,
    **ANSWER,
}
MERGED: Schema = {**TITLES, "newest_rows": pl.UInt32, "earlier_occupation_id": pl.String}
"""`rows` are those of all runs, `newest_rows` those of the last; the last column is the other
model's answer."""
BATCH_ROWS, BUCKET_ROWS = 1 << 17, 4_000_000


@dataclass(frozen=True)
class AnsweredRun:
    """A finished bulk run."""

    column: str  # of the raw titles
    prefix: str  # before the names of the answer's columns
    model: str  # address of what answered
    rows: int  # how many there are
    parts: tuple[Path, ...]  # the files that hold them
    digits: int  # of their contents: titles are drawn anew from each run

    @classmethod
    def find(cls, place: Path) -> AnsweredRun:
        """Read the manifest; ValueError if the place holds no finished run, or it has changed."""
        file = manifest_of(place)
        if not file.is_file():
            raise ValueError(
                f"there is no {file}: name a file or folder that `rolecall normalize` has finished"
            )
        manifest = read_json(file)
        sums = [part["sha256"] for part in manifest["parts"]]
        if kind_of(place) and [sha256(place)] != sums:
            raise ValueError(
                f"{place} has changed since `rolecall normalize` wrote it: normalize its input "
                "into another place, and name that; the answers are cached"
            )
        result, parts = manifest["result"], tuple(parts_of(place, manifest))
        digits = zlib.crc32("".join(sums).encode())
        column, prefix, model = (result[name] for name in ("column", "prefix", "model"))
        return cls(column, prefix, model, manifest["rows"], parts, digits)

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield `raw_title` and the columns of `ANSWER`, which are text in CSV."""
        if not self.parts:
            return
        columns = [pl.col(self.column).cast(pl.String).alias("raw_title")]
        for name, kind in ANSWER.items():
            column = pl.col(self.prefix + name)
            typed = column.cast(pl.String) == "true" if kind == pl.Boolean else column.cast(kind)
            columns.append(typed.alias(name))
        names = [self.column, *(self.prefix + name for name in ANSWER)]
        yield from scanned(self.parts, names).select(columns).collect_batches(chunk_size=BATCH_ROWS)


def answered_runs(places: Sequence[Path]) -> list[AnsweredRun]:
    """Read the manifests of several runs, in their order.

    Raises:
        ValueError: a place holds no finished run, has changed, or is named twice.
    """
    for number, place in enumerate(places):
        if any(place.resolve() == other.resolve() for other in places[:number]):
            raise ValueError(f"{place} is named twice: its rows would count twice")
    return [*map(AnsweredRun.find, places)]


def merged_titles(
    runs: Sequence[AnsweredRun], compared: AnsweredRun | None, place: Path
) -> Iterator[pl.DataFrame]:
    """Yield each title of any run once, schema `MERGED`.

    Raw title and answer are those of the last run that has the title. `compared`: of another model,
    on the same titles or some of them; `place`: a folder for what does not fit into memory.
    """
    read = [*runs, *([compared] if compared else [])]
    total, rows = sum(run.rows for run in read), 0
    progress = Progress("rows read:", total, lambda line: print(line, flush=True))
    buckets = 1 + total // BUCKET_ROWS
    for number, run in enumerate(read):
        (place / str(number)).mkdir(parents=True)
        for part, batch in enumerate(run.batches()):
            titles = _titles(batch).with_columns(bucket=pl.col("hash") % buckets)
            for (bucket,), piece in titles.partition_by("bucket", as_dict=True).items():
                file = place / str(number) / f"{bucket:04}-{part:06}.parquet"
                piece.drop("bucket").write_parquet(file)
            rows += len(batch)
            progress(rows)
    for bucket in range(buckets):
        frames = [_bucket(place / str(number), bucket) for number in range(len(read))]
        other = frames.pop() if compared else pl.DataFrame(schema=dict(TITLES))
        yield _merged(frames, other)


def _titles(part: pl.DataFrame) -> pl.DataFrame:
    """Return each distinct raw title of a part, schema `TITLES`; nulls have none."""
    answers = [pl.col(name).first() for name in ANSWER]
    once = part.drop_nulls("raw_title").group_by("raw_title").agg(pl.len().alias("rows"), *answers)
    names = normalized(once["raw_title"])
    hashes = [zlib.crc32(name.encode("utf-8", "surrogatepass")) for name in names]
    frame = once.with_columns(names, hash=pl.Series(hashes, dtype=pl.UInt32))
    return frame.select(pl.col(name).cast(kind) for name, kind in TITLES.items())


def _bucket(place: Path, bucket: int) -> pl.DataFrame:
    """Add up equal raw titles, then let the most frequent one stand for all that read the same."""
    frames = [pl.read_parquet(file) for file in sorted(place.glob(f"{bucket:04}-*.parquet"))]
    titles = pl.concat([pl.DataFrame(schema=dict(TITLES)), *frames])
    firsts = [pl.col(name).first() for name in ("hash", *ANSWER)]
    raw = titles.group_by("normalized", "raw_title").agg(pl.col("rows").sum(), *firsts)
    ordered = raw.sort("normalized", "rows", "raw_title", descending=[False, True, False])
    groups = ordered.group_by("normalized", maintain_order=True)
    counted = groups.agg(pl.col("rows").sum(), pl.col("raw_title").first(), *firsts)
    return counted.select(list(TITLES))


def _merged(frames: Sequence[pl.DataFrame], compared: pl.DataFrame) -> pl.DataFrame:
    newest_first = pl.concat(frames[::-1]).group_by("normalized", maintain_order=True)
    titles = newest_first.agg(pl.col("rows").sum(), pl.exclude("normalized", "rows").first())
    newest = frames[-1].select("normalized", newest_rows="rows")
    other = compared.select("normalized", earlier_occupation_id="occupation_id")
    for columns in (newest, other):
        titles = titles.join(columns, on="normalized", how="left")
    return titles.with_columns(pl.col("newest_rows").fill_null(0)).select(list(MERGED))
