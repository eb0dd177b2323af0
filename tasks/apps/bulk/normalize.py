"""`python -m tasks.apps.bulk.normalize INPUT OUTPUT --model ADDRESS`: each row with its answer.

In: files that `source.py` reads, and a registered model. Out: rows and columns as they came with
the answer's columns behind them, as one file or as a folder of Parquet parts, and a manifest
(`tasks/io/bulk_output.py`). The model answers each distinct title once; `cache_dir` keeps the
answers for the next run, by model and parameters. Each step of a part has a thread: reading,
asking, taking the answers, joining and writing. So titles of the next part are answered together
with the last ones of a part.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from operator import call
from pathlib import Path
from typing import Any, TypeVar

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from fsspec.implementations.local import LocalFileSystem

from models.reproducibility import Progress
from models.serving.answer import PARAMS
from models.serving.answer import columns as answer_columns
from models.serving.search import BATCH
from tasks.apps.bulk.answering import Answering
from tasks.apps.bulk.inspection import File, Refused, SourceError, state_of, usual_column
from tasks.apps.bulk.output import OWN, STATE, Output, compact, require_same_run
from tasks.apps.bulk.prediction_cache import Ask, PredictionCache, is_disk_full, prediction_cache
from tasks.apps.bulk.source import ROWS, TitleSource
from tasks.apps.unfinished import OutputError, require_free, unfinished, unfinished_at
from tasks.io.bulk_output import FILES, kind_of, manifest_of, refused_of
from tasks.io.command import listed, run
from tasks.io.files import read_json, text_hash
from tasks.release.gate.impact import remember
from tasks.release.registry.opening import fetched

VERSIONS = ("model_version", "taxonomy_version")  # of a plan, known once the model is loaded
TEXT = (".tsv", ".txt", ".tab", ".json", ".jsonl", ".ndjson")
BINARY = (".xls", ".xlsm", ".xlsb", ".ods", ".pq", ".feather", ".arrow", ".gz", ".zip")
EXCEL_ROWS, EXCEL_COLUMNS = 1_048_576, 16_384  # of a sheet, the header included
Item = TypeVar("Item")


def normalize(
    source: str,
    output: Path,
    model: str,
    cache_dir: Path,
    root: Path,
    *,
    column: Sequence[str] = (),
    encoding: str = "",
    file_column: str = "",
    shard: str = "",
    threads: int | None = None,
    **options: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Write every row of an input with its answer; return the manifest.

    `source`: address of the input; `output`: file or folder; `model`: address in the registry of
    `root`, or a folder; `cache_dir`: of earlier answers; `root`: the project, whose profile may
    name the column of titles; `column`, `encoding`, `file_column`, `shard`: as `TitleSource.find`
    takes them; `threads`: batches answered at once; None: one for each core; `options`: `prefix`,
    before the names of the answer's columns, and the parameters of `predict` by name. An
    OutputError says that the output is taken, the disk full, or every row refused; a ValueError
    what to name instead.
    """
    require_place(output, source)
    with unfinished(output, OWN):
        usual = usual_column(root)
        found = TitleSource.find(source, column, encoding, file_column, usual, shard)
        print(*found.description, sep="\n", flush=True)
        require_room(output, found)
        prefix = options.get("prefix", "")
        plan: dict[str, Any] = {
            "params": {name: options[name] for name in PARAMS if options.get(name) is not None},
            "column": found.column,
            **found.settings,
            "prefix": prefix,
            "part_rows": ROWS,
            "input": text_hash(source),
        }
        _require_free_names(found, prefix, answer_columns())
        if output.exists():  # before a model is loaded
            same = plan | {STATE: state_of(found.files)}
            require_same_run(output, same, unknown=("model", *VERSIONS))
        with fetched(model, root) as (address, folder):
            try:
                with closing(Answering(folder, threads, many=found.rows > BATCH)) as ask:
                    plan = {"model": address, **plan}
                    manifest = _normalized(found, output, plan, ask, cache_dir)
            except BrokenProcessPool:
                raise OutputError(
                    "a process that answers was ended, perhaps for want of memory: run the same "
                    "again with fewer --threads: finished parts are kept"
                ) from None
            except Exception as error:
                if not is_disk_full(error):
                    raise
                raise OutputError(
                    f"the disk is full: make room beside {output} and in {cache_dir}, and run "
                    "again: finished parts are kept"
                ) from None
    remember(root, output)
    print(
        f"{output}: {manifest['rows']:,} rows, {manifest['answered']:,} answered, "
        f"{manifest['refused']:,} more refused"
    )
    if manifest["refused"] and not manifest["rows"]:
        counts = Counter(manifest["refused_reasons"]).most_common()
        reasons = listed([f"{count:,} × {reason}" for reason, count in counts], 3)
        raise OutputError(
            f"every row was refused, {manifest['refused']:,} of {manifest['refused']:,} "
            f"({reasons}): {refused_of(output)} has them. Correct the input, or name its encoding "
            f"(--encoding), remove {output}, and run the same again"
        )
    return manifest


def require_place(output: Path, address: str) -> None:
    """Refuse an output that is taken, of another kind, or would replace its input or be read as it.

    The OutputError says what to name instead. `address`: of the input, as fsspec reads it.
    """
    if output.suffix.lower() in TEXT + BINARY:
        raise OutputError(
            f"{output}: no {output.suffix} file can be written; let the name end in "
            f"{', '.join(FILES)}, or have no suffix for a folder of Parquet files"
        )
    system, path = fsspec.core.url_to_fs(address)
    if isinstance(system, LocalFileSystem):
        source, place = Path(path).resolve(), output.resolve()
        beside = [manifest_of(place), refused_of(place)] if kind_of(place) else []
        if any(source.is_relative_to(one) for one in (place, unfinished_at(place), *beside)):
            raise OutputError(f"{output} holds the input {address}: name another output")
        if source.is_dir() and place.is_relative_to(source):
            raise OutputError(
                f"{output} lies in the input folder, all of whose files are read: name an output "
                f"outside of {source}"
            )
    if not manifest_of(output).is_file():
        require_free(output)


def _require_free_names(source: TitleSource, prefix: str, names: Iterable[str]) -> None:
    """Refuse an input that has a column of the answer, whose `names` are without `prefix`."""
    if taken := sorted({f"{prefix}{name}" for name in names} & {*source.schema.names}):
        fault = f"the input has columns of the answer: {listed(taken)}"
        raise SourceError(f"{fault}; use --prefix=answer_")


def require_room(output: Path, source: TitleSource) -> None:
    """Refuse a workbook of more rows or columns than Excel opens, with an OutputError."""
    if kind_of(output) != ".xlsx":
        return
    rows, columns = source.rows, len(source.schema) + len(answer_columns())
    if rows > EXCEL_ROWS // 2:  # estimated from the first lines, so perhaps half of them
        parts = (part for file in source.files for part in source.parts(file, lambda row: None))
        rows = sum(len(part) for part in parts)
    if rows >= EXCEL_ROWS or columns > EXCEL_COLUMNS:
        raise OutputError(
            f"{output}: {rows:,} rows of {columns:,} columns, and a sheet of Excel has room for "
            f"{EXCEL_ROWS - 1:,} of {EXCEL_COLUMNS:,}: let the name end in .csv or .parquet"
        )


def _normalized(
    source: TitleSource, place: Path, plan: dict[str, Any], ask: Answering, cache_dir: Path
) -> dict[str, Any]:
    """Take the steps of a run; return the manifest."""
    params, prefix = plan["params"], plan["prefix"]
    _require_free_names(source, prefix, ask.schema.names)
    try:
        nothing = ask(params, [None])()
    except ValueError as error:  # of the model's own code
        raise ValueError(str(error)) from None
    versions = {name: nothing[name][0].as_py() for name in VERSIONS}
    named = [field.with_name(prefix + field.name) for field in ask.schema]
    output = Output(place, plan | versions, source.files, pa.schema([*source.schema, *named]))
    if output.begin():
        print("up to date: the output is complete", flush=True)
        return dict(read_json(manifest_of(place)))
    settings = json.dumps([versions, params, ask.schema.to_string()], sort_keys=True)
    with prediction_cache(cache_dir / text_hash(settings), ask.schema) as cache:
        progress = Progress("rows normalized:", source.rows)
        bulk = _Run(source, output, partial(ask, params), cache, cache.numbered(nothing), progress)
        for number, file in enumerate(source.files):
            bulk.file(number, file)
    print(f"{bulk.rows:,} rows; of their titles {bulk.new_titles:,} were new", flush=True)
    return output.publish()


# number of a part; its rows; their abstentions, or None if it was finished and has no answers here
Joined = tuple[int, pa.Table, Mapping[str, int] | None]


@dataclass
class _Run:
    """A run, file by file; `nothing` is a row, the answer to no title."""

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
        parts = self.output.finished(number)
        if parts is not None:
            self.rows += sum(self.output.finished(number, part) or 0 for part in range(parts))
            return
        refused: list[Refused] = []
        read = ahead(enumerate(self.source.parts(file, refused.append)))
        begun = ahead(self._begun(number, *part) for part in read)
        answered = ahead(map(call, begun))
        parts = 0
        with closing(ahead(map(call, answered))) as joined:
            for part, table, abstained in joined:
                if abstained is not None:
                    self.output.write_part(number, part, table, abstained)
                parts += 1
                self.rows += len(table)
                self.progress(self.rows)
        self.output.write_file(number, parts, refused)

    def _begun(self, number: int, part: int, table: pa.Table) -> Callable[[], Callable[[], Joined]]:
        """Begin to answer a part; return what waits for the answers, and then joins them."""
        if self.output.finished(number, part) is not None:
            return lambda: lambda: (part, table, None)
        titles = table[self.source.column].cast(pa.string()).combine_chunks().dictionary_encode()
        wait = self.cache(titles.dictionary, self.ask)

        def answered() -> Callable[[], Joined]:
            cached = wait()
            self.new_titles += cached.new
            row_of = np.append(cached.rows, len(cached.rows))  # the last: of no title
            rows = row_of[pc.fill_null(titles.indices, len(cached.rows)).to_numpy()]
            answers = pa.concat_tables([*cached.tables, self.nothing])
            return partial(self._joined, part, table, answers, rows)

        return answered

    def _joined(self, part: int, table: pa.Table, answers: pa.Table, rows: np.ndarray) -> Joined:
        """Put the answers behind the columns of a part, and count its abstentions."""
        answers = self.cache.with_texts(answers.take(pa.array(rows)))
        columns = [*map(compact, table.columns), *answers.columns]
        reasons = answers["reason"].filter(answers["abstained"]).value_counts().to_pylist()
        abstained = {one["values"]: one["counts"] for one in reasons}
        return part, pa.table(columns, self.output.schema.names), abstained


def ahead(items: Iterator[Item]) -> Generator[Item]:
    """Yield items in their order, of which a thread makes the next one meanwhile.

    An error takes the place of the item whose making failed. A caller that wants no more waits
    until the thread has made its present item.
    """
    end: Any = object()
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(next, items, end)
        while (item := following.result()) is not end:
            following = thread.submit(next, items, end)
            yield item
            del item  # no memory for it while the next one is made


def main() -> None:
    """Normalize, with the registry of the working directory."""
    parser = argparse.ArgumentParser(prog="python -m tasks.apps.bulk.normalize")
    parser.add_argument("source")
    parser.add_argument("output", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--column", action="append", default=[])
    for name in ("encoding", "file-column", "shard", "prefix"):
        parser.add_argument(f"--{name}", default="")
    for name in ("top-k", "code-depth", "threads"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--min-confidence", type=float)
    parser.add_argument("--language")
    parser.add_argument("--cache-dir", type=Path, required=True)
    normalize(**vars(parser.parse_args()), root=Path.cwd())


if __name__ == "__main__":
    run(main)
