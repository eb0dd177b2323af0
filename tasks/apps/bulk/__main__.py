"""`python -m tasks.apps.bulk INPUT OUTPUT --model ADDRESS`: every row of an input with its answer.

In: files that `source.py` reads, and a registered model. Out: rows and columns as they came with
the answer's columns behind them, as one file or as a folder of Parquet parts, and a manifest
(`tasks/io/bulk_output.py`). The model answers each distinct title once; `--cache-dir` keeps the
answers for the next run, by model and parameters.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from operator import call
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from models.reproducibility.progress import Progress
from tasks.apps.bulk.ahead import ahead
from tasks.apps.bulk.answering import Answering
from tasks.apps.bulk.disk_faults import is_disk_full
from tasks.apps.bulk.files import File, Refused
from tasks.apps.bulk.output import OWN, Output
from tasks.apps.bulk.place import require_free_names, require_place, require_room
from tasks.apps.bulk.plan import VERSIONS, plan_of
from tasks.apps.bulk.prediction_cache import (
    Ask,
    Cached,
    PredictionCache,
    distinct,
    prediction_cache,
)
from tasks.apps.bulk.publishing import publish
from tasks.apps.bulk.source import TitleSource
from tasks.apps.bulk.title_columns import usual_column
from tasks.apps.unfinished import OutputError, unfinished
from tasks.io.bulk_output import manifest_of, refused_of
from tasks.io.command import listed, run
from tasks.io.frames import read_json
from tasks.io.hashes import text_hash
from tasks.release.gate.last_run import remember
from tasks.release.registry.loading import fetched

NULL = pa.scalar(None, pa.string())


def main() -> None:
    """Normalize, with the registry of the working directory."""
    options = _options()
    require_place(options.output, options.input)
    named = (options.column, options.encoding, options.file_column)
    usual = usual_column(Path.cwd())
    source = TitleSource.find(options.input, *named, usual, shard=options.shard)
    print(*source.description, sep="\n", flush=True)
    require_room(options.output, source)
    with (
        unfinished(options.output, OWN),
        fetched(options.model, Path.cwd()) as (address, folder),
    ):
        try:
            with closing(Answering(folder, options.threads)) as ask:
                manifest = _normalized(options, source, address, ask)
        except Exception as error:
            if not is_disk_full(error):
                raise
            raise OutputError(
                f"the disk is full: make room beside {options.output} and in {options.cache_dir}, "
                "and run again: finished parts are kept"
            ) from None
    remember(Path.cwd(), options.output)
    print(
        f"{options.output}: {manifest['rows']:,} rows, {manifest['answered']:,} answered, "
        f"{manifest['refused']:,} more refused"
    )
    _require_rows(options.output, manifest)


def _require_rows(output: Path, manifest: Mapping[str, Any]) -> None:
    """Fail if every row was refused: such an input is not what it should be."""
    if manifest["refused"] and not manifest["rows"]:
        counts = Counter(manifest["refused_reasons"]).most_common()
        reasons = listed([f"{count:,} × {reason}" for reason, count in counts], 3)
        raise OutputError(
            f"every row was refused, {manifest['refused']:,} of {manifest['refused']:,} "
            f"({reasons}): {refused_of(output)} has them. Correct the input, or name its encoding "
            f"(--encoding), remove {output}, and run the same again"
        )


def _normalized(
    options: argparse.Namespace, source: TitleSource, address: str, ask: Answering
) -> dict[str, Any]:
    """Take the steps of a run; return the manifest."""
    named = [field.with_name(options.prefix + field.name) for field in ask.schema]
    require_free_names(source, options.prefix, ask.schema.names)
    plan = plan_of(source, options.input, vars(options))
    params = plan["params"]
    try:
        nothing = ask(params, [None])()
    except ValueError as error:  # of the model's own code
        raise ValueError(str(error)) from None
    versions = {name: nothing[name][0].as_py() for name in VERSIONS}
    plan = {"model": address, **versions, **plan}
    output = Output(options.output, plan, source.files, pa.schema([*source.schema, *named]))
    if output.begin():
        print("up to date: the output is complete", flush=True)
        return dict(read_json(manifest_of(options.output)))
    settings = json.dumps([versions, params, ask.schema.to_string()], sort_keys=True)
    with prediction_cache(options.cache_dir / text_hash(settings)) as cache:
        progress = Progress("rows normalized:", source.rows)
        bulk = _Bulk(source, output, partial(ask, params), cache, nothing, progress)
        for number, file in enumerate(source.files):
            bulk.file(number, file)
    print(f"{bulk.rows:,} rows; of their titles {bulk.new_titles:,} were new", flush=True)
    return publish(output)


@dataclass
class _Bulk:
    """A run, file by file; `nothing` is the answer to no title, a row.

    Each step of a part has a thread: reading, asking, taking the answers, joining and writing. So
    titles of the next part are answered together with the last ones of a part.
    """

    source: TitleSource
    output: Output
    ask: Ask
    cache: PredictionCache
    nothing: pa.Table
    progress: Progress
    rows: int = 0
    new_titles: int = 0

    def file(self, number: int, file: File) -> None:
        """Normalize what is not finished of a file."""
        parts = self.output.done(number)
        if parts is not None:
            self.rows += sum(self.output.rows(number, part) or 0 for part in range(parts))
            return
        refused: list[Refused] = []
        read = ahead(self.source.parts(file, refused.append))
        begun = ahead(starmap(partial(self._begun, number), enumerate(read)))
        answered = ahead(map(call, begun))
        with closing(ahead(map(self._joined, answered))) as joined:
            count = sum(map(partial(self._written, number), joined))
        self.output.write_file(number, count, refused)

    def _begun(self, number: int, part: int, table: pa.Table) -> Callable[[], _Part]:
        """Begin to answer a part, unless it is finished; what is returned waits for the answers."""
        if self.output.rows(number, part) is not None:
            return partial(_Part, part, table)
        titles, places = distinct(table[self.source.column])
        return partial(self._answered, part, table, places, self.cache(titles, self.ask))

    def _answered(
        self, number: int, table: pa.Table, places: pa.Array, answers: Callable[[], Cached]
    ) -> _Part:
        cached = answers()
        self.new_titles += cached.new
        tables = [*cached.tables, *[self.nothing] * (places.null_count > 0)]
        row_of = np.append(cached.rows, len(cached.rows))  # the last: of no title
        rows = row_of[pc.fill_null(places, len(cached.rows)).to_numpy()]
        return _Part(number, table, pa.concat_tables(tables), rows)

    def _joined(self, part: _Part) -> _Part:
        """Put the answers behind the columns of a part."""
        if part.answers is None:
            return part
        answers = part.answers.take(pa.array(part.rows))
        columns = [*part.table.columns, *answers.columns]
        whole = pa.Table.from_arrays(columns, schema=self.output.schema)
        return _Part(part.number, whole, answers)

    def _written(self, number: int, part: _Part) -> bool:
        """Write a part that is not finished."""
        if part.answers is not None:
            why = pc.if_else(part.answers["abstained"], part.answers["reason"], NULL)
            self.output.write_part(number, part.number, part.table, why)
        self.rows += len(part.table)
        self.progress(self.rows)
        return True


class _Part(NamedTuple):
    """A part of a file; `rows`: where each of its rows has its answer."""

    number: int
    table: pa.Table
    answers: pa.Table | None = None
    rows: np.ndarray | None = None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tasks.apps.bulk", description=__doc__)
    parser.add_argument("input")
    parser.add_argument("output", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--column", action="append", default=[])
    parser.add_argument("--encoding", default="")
    parser.add_argument("--file-column", default="")
    parser.add_argument("--shard", default="")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--top-k", type=int)
    parser.add_argument("--min-confidence", type=float)
    parser.add_argument("--code-depth", type=int)
    parser.add_argument("--language")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--cache-dir", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
