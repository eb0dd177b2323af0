"""Files of made titles through the process of `rolecall normalize`, and through Spark.

`spark` runs `examples/spark_consumer.py` on a cluster of two workers of one core each, on this
machine.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.results import Row
from benchmarks.systems import SPEED
from benchmarks.workspace import Workspace
from models.reproducibility import Progress, generator
from tasks.io.frames import read_frame
from tasks.io.schemas import INPUTS
from tasks.pipeline.typos import corrupt_by_rate, letters_of
from tasks.release.model_package.phrases import PHRASES, places

EVERY = 2.0  # seconds between two looks at the memory; each takes a core 20 ms a process
WRONG = 0.02  # share of characters that are substituted, and as many deleted
DRAWN_AT_ONCE = 1 << 20  # titles of a draw
WORKERS = 2
SPARK, TEST = "spark", "cluster"
EXAMPLE = Path(__file__).parents[2] / "examples/spark_consumer.py"


def whole_run(
    system: str, titles: pl.Series, count: int, model: Path, threads: int
) -> Iterator[Row]:
    """Run `count` rows with titles, with an empty cache, Parquet to Parquet."""
    test = f"{'distinct' if count == len(titles) else 'repeats'}/{count / 1e6:g}m"
    with TemporaryDirectory() as folder:
        file, out = Path(folder) / "titles.parquet", Path(folder) / "out"
        write_titles(titles, count, file, 1)
        seconds, memory = normalized(file, out, model, threads)
        rows = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["rows"]
    print(f"{system}, {test}: {seconds:.1f} s, {memory:.0f} MiB", flush=True)
    yield Row(system, test, "titles_per_second", len(titles) / seconds, len(titles))
    yield Row(system, test, "rows_per_second", rows / seconds, rows)
    yield Row(system, test, "seconds", seconds, rows)
    yield Row(system, test, "peak_mib", memory, rows)


def on_spark(model: Path, titles: pl.Series, threads: int) -> Iterator[Row]:
    """Normalize distinct titles, and a tenth (for the time to begin), on Spark and with ours."""
    submit = Path(sys.executable).with_name("spark-submit")
    if not shutil.which("java") or not submit.is_file():
        print(f"{SPARK}: left out, it needs Java 17 and the extra `spark`", flush=True)
        return
    command = [str(submit), "--master", f"local-cluster[{WORKERS},1,2048]"]
    command += ["--conf", "spark.executorEnv.OMP_NUM_THREADS=1", str(EXAMPLE)]
    count, seconds = len(titles), {}
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        own = {"MLFLOW_TRACKING_URI": registered(model, folder), "PYSPARK_PYTHON": sys.executable}
        run = partial(subprocess.run, env=os.environ | own, check=True, stderr=subprocess.DEVNULL)
        for size in (count // 10, count):
            file = folder / f"{size}.parquet"
            write_titles(titles[:size], size, file, 1)
            began = time.perf_counter()
            run([*command, str(file), str(folder / f"spark{size}")])
            seconds[size] = time.perf_counter() - began
            print(f"{SPARK}: {size:,} titles in {seconds[size]:.0f} s", flush=True)
        normalized(file, folder / "bulk", model, threads)
        same = same_rows(folder / "bulk", folder / f"spark{count}")
    each = (count - count // 10) / (seconds[count] - seconds[count // 10]) / WORKERS
    yield Row(SPARK, TEST, SPEED, count / seconds[count], count)
    yield Row(SPARK, TEST, f"{SPEED}_and_core", each, count)
    yield Row(SPARK, TEST, "same_rows", same, count)


def distinct_titles(workspace: Workspace, count: int) -> pl.Series:
    """Make distinct titles: inputs with typos, seniority before, contract or town behind."""
    rng = generator(workspace.params.seed, "bulk", "titles")
    raw = read_frame(workspace.data / "ingest/inputs.parquet", INPUTS)["raw_title"].unique()
    raw_titles = [title for title in raw.sort().to_list() if title.strip()]
    letters = letters_of(raw_titles)
    phrases = pl.read_csv(PHRASES).filter(~pl.col("phrase").str.contains("#"))
    before = phrases.filter(kind="seniority")["phrase"]
    behind = pl.concat([phrases.filter(kind="contract")["phrase"], pl.Series([*places(())])])
    made, progress = pl.Series([], dtype=pl.String), Progress("distinct titles", count)
    while len(made) < count:
        size = min(count, DRAWN_AT_ONCE)
        drawn = [raw_titles[row] for row in rng.integers(len(raw_titles), size=size)]
        wrong = pl.Series(corrupt_by_rate(drawn, WRONG, WRONG, letters, rng))
        heads, tails = (rng.integers(len(words), size=size) for words in (before, behind))
        columns = pl.DataFrame({"a": before[heads], "b": wrong, "c": behind[tails]})
        titles = columns.select(pl.format("{} {} - {}", "a", "b", "c")).to_series()
        made = pl.concat([made, titles]).unique(maintain_order=True)
        progress(min(len(made), count))
    return made[:count]


def write_titles(titles: pl.Series, rows: int, file: Path, seed: int) -> None:
    """Write rows with titles, each equally often, in any order, to Parquet."""
    rng = generator(seed, "bulk", "rows", str(rows))
    column = titles.to_arrow()
    with pq.ParquetWriter(file, pa.schema([("raw_title", column.type)])) as writer:
        for _ in range(rows // len(titles)):
            order = pa.array(rng.permutation(len(titles)))
            writer.write_table(pa.table({"raw_title": column.take(order)}), row_group_size=1 << 16)


def normalized(titles: Path, output: Path, model: Path, threads: int) -> tuple[float, float]:
    """Run `rolecall normalize` with a new cache; return its seconds and most memory in MiB."""
    command = [sys.executable, "-m", "tasks.apps.bulk.normalize", str(titles), str(output)]
    command += [f"--model={model}", f"--cache-dir={output}-cache"]
    command += ["--column=raw_title", f"--threads={threads}"]
    began, most = time.perf_counter(), 0.0
    with subprocess.Popen(command) as run:
        while run.poll() is None:
            most = max(most, memory_of(run.pid))
            time.sleep(EVERY)
    seconds = time.perf_counter() - began
    if run.returncode:
        raise subprocess.CalledProcessError(run.returncode, command)
    return seconds, most


def memory_of(pid: int) -> float:
    """Return the MiB of a process and its children, pages that they share counted once."""
    try:
        parent = psutil.Process(pid)
        processes = (parent, *parent.children(recursive=True))
        return float(sum(own.memory_full_info().pss for own in processes) / 2**20)
    except psutil.NoSuchProcess:  # it ended meanwhile
        return 0.0


def registered(model: Path, folder: Path) -> str:
    """Make a registry with the model as champion; return its address."""
    from mlflow import MlflowClient

    address = f"sqlite:///{folder}/registry.db"
    client = MlflowClient(address, address)
    client.create_registered_model("rolecall")
    version = client.create_model_version("rolecall", model.absolute().as_uri()).version
    client.set_registered_model_alias("rolecall", "champion", version)
    return address


def same_rows(ours: Path, spark: Path) -> float:
    """Return the share of rows with the same occupation and reason; titles are distinct."""
    found, expected = (
        pl.read_parquet(folder / pattern).sort("raw_title")
        for folder, pattern in ((spark, "*.parquet"), (ours, "part*.parquet"))
    )
    assert found.columns == expected.columns and len(found) == len(expected)
    equal = [found[name].eq_missing(expected[name]) for name in ("occupation_id", "reason")]
    return float((equal[0] & equal[1]).to_numpy().mean())
