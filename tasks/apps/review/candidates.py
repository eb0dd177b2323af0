"""The titles of answered runs that a queue is chosen from, by the rows that are probably wrong.

In: outputs of `rolecall normalize`, the newest last, perhaps the answers of another model, the
titles that have a verdict, and those that the gate left undecided. Rows are read in batches and
their titles written to buckets by hash, so that memory holds a batch or a bucket. Each normalized
title comes once (schema `MERGED`): the raw title that most rows have, the newest answer, the rows
of all that normalize so. Out: a frame of schema `CANDIDATES`: titles of rows of the newest run that
were drawn at random, disputed ones (with 0 rows if no run has them), and those of highest priority.

    priority = rows · wrong · (1 + changed)

`wrong` is the chance that the answer is wrong: 1 − confidence; ½ without calibration or if the
title is out of the model's domain; 1 if held back for low confidence. `changed` is 1 if an earlier
run answered another occupation, else 0. Draws and ties follow a hash of the title, so that equal
runs give equal queues, and the budget cuts off no letter of the alphabet.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from models.reproducibility import Progress
from models.serving.clean import NOT_A_JOB_TITLE, UNKNOWN_WORDS, UNSURE
from tasks.io.bulk_output import kind_of, manifest_of, parts_of, scanned
from tasks.io.files import read_json, sha256
from tasks.io.frames import Schema, read_parquet
from tasks.io.title_readings import normalized
from tasks.pipeline.feedback.reader import COVERAGE, DISPUTED, RANDOM
from tasks.release.gate.disputed import TITLES as DISPUTED_TITLES
from tasks.release.gate.disputed import draw_time, title_hashes

ANSWER: Schema = {  # the columns of an answer that are read
    "occupation_id": pl.String,
    **dict.fromkeys(("score", "score_margin", "confidence"), pl.Float64),
    "abstained": pl.Boolean,
    "reason": pl.String,
}
TITLES: Schema = {
    **dict.fromkeys(("normalized", "raw_title"), pl.String),
    **dict.fromkeys(("rows", "hash"), pl.UInt32),
    **ANSWER,
}
MERGED: Schema = {**TITLES, "newest_rows": pl.UInt32, "earlier_occupation_id": pl.String}
"""`rows` are those of all runs, `newest_rows` those of the last; the last column is the other
model's answer."""
BATCH_ROWS, BUCKET_ROWS = 1 << 17, 4_000_000
OUT_OF_DOMAIN = (NOT_A_JOB_TITLE, UNKNOWN_WORDS)
LEVEL, UNLIKE = 0.02, 0.5  # the margin and the score below which the queue says so
UNKNOWN, HELD_BACK = 0.5, 1.0  # chances of a wrong answer where no confidence is known
CANDIDATES: Schema = {
    **TITLES,
    "earlier_occupation_id": pl.String,
    "priority": pl.Float64,
    "chosen_by": pl.String,
    "other_occupation_id": pl.String,  # to a disputed title, by the model that is not champion
}
VERDICTS_FILE = Path("data/feedback/verdicts.parquet")
MOST = 100_000  # titles that are kept in memory, with their embeddings
AT_RANDOM = 5  # one title in so many is that of a random row; as many are disputed, if there are


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
        column, prefix, model = (manifest["result"][one] for one in ("column", "prefix", "model"))
        parts, digits = tuple(parts_of(place, manifest)), zlib.crc32("".join(sums).encode())
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
    """Read the manifests of runs, in their order; ValueError as `find`, or if one stands twice."""
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
    frame = once.with_columns(names, title_hashes(names))
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


def candidates(
    runs: Sequence[AnsweredRun],
    compared: AnsweredRun | None,
    answered: pl.DataFrame,
    budget: int,
    place: Path,
    disputed: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Return the titles for a queue of `budget`, of those without a verdict.

    `runs`, the newest last, `compared` and `place`: as of `merged_titles`; `answered`: column
    `normalized`, of titles that have one; `disputed`: as `read_disputed` returns them.
    """
    open_titles = (
        # feedback refuses a title that is empty when normalized
        titles.filter(pl.col("normalized") != "").join(answered, on="normalized", how="anti")
        for titles in merged_titles(runs, compared, place)
    )
    if disputed is not None:
        disputed = disputed.join(answered, on="normalized", how="anti")
    return pooled(open_titles, budget, disputed, runs[-1].digits)


def pooled(
    titles: Iterable[pl.DataFrame],
    budget: int,
    disputed: pl.DataFrame | None = None,
    digits: int = 0,
) -> pl.DataFrame:
    """Return the drawn titles in their order, the disputed ones in theirs, and the heaviest others.

    `titles`: frames of schema `MERGED`, each title once; `digits`: 32 bits, with others of which
    other titles are drawn.
    """
    disputes = pl.DataFrame(schema=dict(DISPUTED_TITLES)) if disputed is None else disputed
    schema = {**CANDIDATES, "turn": pl.Float64, "place": pl.UInt32}
    drawn = best = named = pl.DataFrame(schema=schema)
    for frame in titles:
        some = frame.filter(is_readable()).with_columns(
            priority=priority(), chosen_by=pl.lit(COVERAGE), turn=draw_time(digits, "newest_rows")
        )
        some = some.join(disputes.drop("raw_title"), on="normalized", how="left")
        some = some.select(best.columns)
        named = pl.concat([named, some.drop_nulls("place")])
        here = some.drop_nulls("turn")
        drawn = pl.concat([drawn, here]).sort("turn", "normalized").head(budget // AT_RANDOM)
        heavy = some.filter(pl.col("priority") > 0)
        order = pl.concat([best, heavy]).sort(
            "priority", "hash", "normalized", descending=[True, False, False]
        )
        best = order.head(MOST)
    absent = disputes.join(named, on="normalized", how="anti")
    named = pl.concat([named, absent.with_columns(rows=pl.lit(0, pl.UInt32))], how="diagonal")
    argued = named.join(drawn, on="normalized", how="anti").sort("place").head(budget // AT_RANDOM)
    no_other = pl.lit(None, pl.String).alias("other_occupation_id")
    drawn = drawn.with_columns(no_other, chosen_by=pl.lit(RANDOM))
    first = pl.concat([drawn, argued.with_columns(chosen_by=pl.lit(DISPUTED))])
    others = best.join(first, on="normalized", how="anti", maintain_order="left")
    return pl.concat([first, others.with_columns(no_other)]).select(list(CANDIDATES))


def titles_with_verdicts(root: Path) -> pl.DataFrame:
    """Return the titles in `root` with a verdict of people, or of labels: column `normalized`."""
    if not (root / VERDICTS_FILE).is_file():
        return pl.DataFrame(schema={"normalized": pl.String})
    return read_parquet(root / VERDICTS_FILE).select("normalized").unique()


def is_readable() -> pl.Expr:
    """Tell whether a title could be read, so that a person can judge it."""
    return ~pl.col("abstained") | pl.col("reason").is_in([UNSURE, *OUT_OF_DOMAIN])


def priority() -> pl.Expr:
    """Return the priority from the columns of an answer, `rows` and `earlier_occupation_id`."""
    wrong = (
        pl.when(pl.col("reason") == UNSURE)
        .then(HELD_BACK)
        .when(pl.col("reason").is_in(OUT_OF_DOMAIN))
        .then(UNKNOWN)
        .otherwise((1 - pl.col("confidence")).clip(0, 1).fill_null(UNKNOWN))
    )
    changed = pl.col("earlier_occupation_id").ne(pl.col("occupation_id")).fill_null(value=False)
    return pl.col("rows") * wrong * (1 + changed.cast(pl.Float64))


def why_queued(row: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """Give the reasons for a title in words.

    `row`: an answer with `rows`, `chosen_by`, `gain` (`title_coverage.py`), `run_reason` (why the
    run gave none), `earlier_occupation_id` and `other_occupation_id`.
    """
    score, margin, earlier = row["score"], row["score_margin"], row["earlier_occupation_id"]
    rows = f"{row['rows']:,} row{'s' * (row['rows'] != 1)}" if row["rows"] else "of an earlier run"
    reasons = [rows, _how_sure(row)]
    if row["chosen_by"] == RANDOM:
        reasons.append("drawn at random")
    elif row["chosen_by"] == DISPUTED:
        other = row["other_occupation_id"]
        reasons.append(f"a newer model answers {labels.get(other, other) or 'nothing'}")
    elif row["gain"] > 1:
        reasons.append(f"helps with some {row['gain']:,.0f} rows")
    if row["run_reason"] == UNSURE:
        reasons.append("held back in the run")
    if margin is not None and margin < LEVEL:
        reasons.append("the second occupation is as close")
    if score is not None and score < UNLIKE:
        reasons.append("unlike the titles that the model knows")
    if earlier and row["occupation_id"] and earlier != row["occupation_id"]:
        reasons.append(f"an earlier run answered {labels.get(earlier, earlier)}")
    return "; ".join(reasons)


def _how_sure(row: Mapping[str, Any]) -> str:
    if row["abstained"]:
        return f"no answer: {row['reason']}"
    if row["confidence"] is None:
        return "no confidence is known"
    return f"{100 * row['confidence']:.0f} % sure"
