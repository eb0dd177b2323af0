"""The output of `rolecall normalize`, a file or a folder, as titles with their rows and answer.

In: its manifest and its parts. Out: the distinct normalized titles, a frame of schema `TITLES`
a bucket: the raw title that most rows have, its answer, the rows of all that normalize so, and a
hash. Rows are read in batches and their titles written to buckets by hash, so that memory holds a
batch or a bucket, whatever the run's size.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tasks.io.bulk_output import kind_of, manifest_of, parts_of, scanned
from tasks.io.frames import Schema, read_json
from tasks.io.hashes import sha256
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
BATCH_ROWS = 1 << 17


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
        result, parts = manifest["result"], tuple(parts_of(place, manifest))
        if kind_of(place) and sha256(place) != manifest["parts"][0]["sha256"]:
            raise ValueError(
                f"{place} has changed since `rolecall normalize` wrote it: normalize its input "
                "into another place, and name that; the answers are cached"
            )
        sums = "".join(part["sha256"] for part in manifest["parts"])
        return cls(
            column=result["column"],
            prefix=result["prefix"],
            model=result["model"],
            rows=manifest["rows"],
            parts=parts,
            digits=zlib.crc32(sums.encode()),
        )

    def write_buckets(self, place: Path, buckets: int, report: Callable[[int], None]) -> None:
        """Write the titles of every batch, a file a bucket; `report` gets the rows read so far."""
        place.mkdir(parents=True)
        read = 0
        for number, batch in enumerate(self._batches()):
            read += len(batch)
            titles = _titles(batch).with_columns(bucket=pl.col("hash") % buckets)
            for (bucket,), piece in titles.partition_by("bucket", as_dict=True).items():
                piece.drop("bucket").write_parquet(place / f"{bucket:04}-{number:06}.parquet")
            report(read)

    def _batches(self) -> Iterator[pl.DataFrame]:
        """Yield `raw_title` and the columns of `ANSWER`."""
        names = {self.prefix + name: kind for name, kind in ANSWER.items()}
        answer = [_cast(self.prefix + name, kind).alias(name) for name, kind in ANSWER.items()]
        raw_title = pl.col(self.column).cast(pl.String).alias("raw_title")
        if self.parts:
            rows = scanned(self.parts, [self.column, *names]).select(raw_title, *answer)
            yield from rows.collect_batches(chunk_size=BATCH_ROWS)


def _cast(column: str, kind: pl.DataType | type[pl.DataType]) -> pl.Expr:
    """Read a column of an answer, which CSV has as text."""
    if kind == pl.Boolean:
        return pl.col(column).cast(pl.String) == "true"
    return pl.col(column).cast(kind)


def bucket_titles(place: Path, bucket: int) -> pl.DataFrame:
    """Return the titles of a written bucket: schema `TITLES`, each title once."""
    files = sorted(place.glob(f"{bucket:04}-*.parquet"))
    frames = [pl.read_parquet(file) for file in files]
    return _merged(pl.concat([pl.DataFrame(schema=dict(TITLES)), *frames]))


def _titles(part: pl.DataFrame) -> pl.DataFrame:
    """Return each distinct raw title of a part, read, in schema `TITLES`; nulls have none."""
    answers = [pl.col(name).first() for name in ANSWER]
    once = part.drop_nulls("raw_title").group_by("raw_title").agg(pl.len().alias("rows"), *answers)
    names = normalized(once["raw_title"])
    hashes = [zlib.crc32(name.encode("utf-8", "surrogatepass")) for name in names]
    frame = once.with_columns(names, hash=pl.Series(hashes, dtype=pl.UInt32))
    return frame.select(pl.col(name).cast(kind) for name, kind in TITLES.items())


def _merged(titles: pl.DataFrame) -> pl.DataFrame:
    """Add up equal raw titles, then let the most frequent one stand for all that read the same."""
    firsts = [pl.col(name).first() for name in ("hash", *ANSWER)]
    raw = titles.group_by("normalized", "raw_title").agg(pl.col("rows").sum(), *firsts)
    ordered = raw.sort("normalized", "rows", "raw_title", descending=[False, True, False])
    groups = ordered.group_by("normalized", maintain_order=True)
    merged = groups.agg(pl.col("rows").sum(), pl.col("raw_title").first(), *firsts)
    return merged.select(list(TITLES))
