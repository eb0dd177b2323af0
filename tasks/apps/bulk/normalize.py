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
import ctypes
import gc
import json
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from operator import call
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from threadpoolctl import threadpool_limits

from models.reproducibility import Progress
from models.serving.answer import columns as answer_columns
from models.serving.kernels import threads as usual_threads
from models.serving.search import BATCH
from tasks.apps.bulk.inspection import File, Refused, state_of, usual_column
from tasks.apps.bulk.output import OWN, STATE, Output, compact, require_same_run
from tasks.apps.bulk.plan import VERSIONS, plan_of, require_free_names, require_place, require_room
from tasks.apps.bulk.prediction_cache import Ask, PredictionCache, is_disk_full, prediction_cache
from tasks.apps.bulk.source import TitleSource
from tasks.apps.unfinished import OutputError, unfinished
from tasks.io.bulk_output import manifest_of, refused_of
from tasks.io.command import listed, run
from tasks.io.files import read_json, text_hash
from tasks.release.gate.impact import remember
from tasks.release.registry.opening import fetched

MMAP_THRESHOLD = -3  # an option of glibc's mallopt
LARGE = 1 << 23  # bytes; arrays of 4 MiB come and go more often
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
    takes them; `threads`: for answering; None: one for each core; `options`: `prefix`, before the
    names of the answer's columns, and the parameters of `predict` by name.

    Raises:
        OutputError: the output is taken, the disk is full, or every row was refused.
        ValueError: the input, the model or a parameter is none; the message says what to do.
    """
    require_place(output, source)
    with unfinished(output, OWN):
        usual = usual_column(root)
        found = TitleSource.find(source, column, encoding, file_column, usual, shard)
        print(*found.description, sep="\n", flush=True)
        require_room(output, found)
        plan = plan_of(found, source, options)
        require_free_names(found, plan["prefix"], answer_columns())
        if output.exists():  # before a model is loaded
            same = plan | {STATE: state_of(found.files)}
            require_same_run(output, same, unknown=("model", *VERSIONS))
        with fetched(model, root) as (address, folder):
            try:
                with closing(Answering(folder, threads)) as ask:
                    plan = {"model": address, **plan}
                    manifest = _normalized(found, output, plan, ask, cache_dir)
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


def _normalized(
    source: TitleSource, place: Path, plan: dict[str, Any], ask: Answering, cache_dir: Path
) -> dict[str, Any]:
    """Take the steps of a run; return the manifest."""
    params, prefix = plan["params"], plan["prefix"]
    require_free_names(source, prefix, ask.schema.names)
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


Joined = tuple[int, pa.Table, Mapping[str, int] | None]
"""Number and rows of a part; with their answers and abstentions, or None if it was finished."""


@dataclass
class _Run:
    """A run, file by file; `nothing` is the answer to no title, a row."""

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
        if self.output.rows(number, part) is not None:
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


class Answering:
    """A served model as any consumer loads it, which answers in threads of this process.

    It keeps the settings of the process: garbage, large blocks of memory, threads of products.

    `threads`: so many; None: one for each core.

    Raises:
        ValueError: the folder's model answers no raw titles.
    """

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        gc.set_threshold(1 << 17)  # the model stays: looking through it for garbage took a tenth
        import mlflow

        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc's alone
        if mallopt:  # large arrays go back to the system, else each thread keeps what it freed
            mallopt(MMAP_THRESHOLD, LARGE)
        if threads:
            os.environ["OMP_NUM_THREADS"] = str(threads)  # `models/serving/kernels.py` reads it
        self._pool = ThreadPoolExecutor(usual_threads())
        loaded = mlflow.pyfunc.load_model(str(folder), suppress_warnings=True)
        served = loaded.unwrap_python_model()
        if not hasattr(served, "answer"):
            raise ValueError(
                f"{folder}: no model of rolecall, or an earlier one; run `rolecall retrain`"
            )
        threadpool_limits(1, "blas")  # the products of one title, beside those of others
        self._answer = served.answer
        self.schema: pa.Schema = self._answer([]).schema

    def __call__(
        self, params: Mapping[str, Any], titles: Sequence[str | None]
    ) -> Callable[[], pa.Table]:
        """Begin to answer titles, null being one, too; what is returned waits for the answers.

        Threads answer batches of equal size, those of earlier calls first.
        """
        size = -(-len(titles) // -(-len(titles) // BATCH))
        batches = [
            self._pool.submit(self._answer, titles[start : start + size], params)
            for start in range(0, len(titles), size)
        ]
        return lambda: pa.concat_tables([batch.result() for batch in batches])

    def close(self) -> None:
        """Answer nothing more."""
        self._pool.shutdown(cancel_futures=True)
        gc.freeze()  # the end of the process looks for no garbage either


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
