"""`examples/spark_consumer.py` on a cluster of two workers of one core each, on this machine.

Two sizes, so that a row's time is told apart from what any run takes to begin: Java, the model in
every worker. Beside it the same rows by the process of `rolecall normalize`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchmarks.results import Row
from benchmarks.studies.bulk.inputs import write_titles
from benchmarks.studies.bulk.whole_run import normalized
from tasks.files.command import ROOT

WORKERS = 2
CLUSTER = f"local-cluster[{WORKERS},1,1024]"
BILLION, HOUR = 1e9, 3600.0
SPARK, TEST = "spark", "cluster"


def on_spark(
    model: Path, titles: Sequence[str], rows: int, seed: int, processes: int
) -> Iterator[Row]:
    """Normalize rows of distinct titles, and a tenth of them, on Spark; compare the answers.

    Args:
        model: that MLflow saved.
        titles: distinct, as many as `rows` at least.
        rows: of the larger run.
        seed: of their order.
        processes: of `rolecall normalize`.
    """
    with TemporaryDirectory() as folder:
        place = Path(folder)
        address = _registered(model, place)
        seconds = {}
        for size in (rows // 10, rows):
            file = place / f"{size}.parquet"
            write_titles(titles[:size], size, file, seed)
            seconds[size] = _submitted(file, place / f"spark{size}", address)
            print(f"{SPARK}: {size:,} rows in {seconds[size]:.0f} s", flush=True)
        normalized(place / f"{rows}.parquet", place / "bulk", model, place / "known", processes)
        same = _same(place / "bulk", place / f"spark{rows}")
    each = (rows - rows // 10) / (seconds[rows] - seconds[rows // 10]) / WORKERS
    yield Row(SPARK, TEST, "rows_per_second", rows / seconds[rows], rows)
    yield Row(SPARK, TEST, "rows_per_second_and_core", each, rows)
    yield Row(SPARK, TEST, "cores_for_a_billion", BILLION / HOUR / each, rows)
    yield Row(SPARK, TEST, "same_rows", same, rows)


def _registered(model: Path, place: Path) -> str:
    """Make a registry with the model as champion; return its address."""
    from mlflow import MlflowClient

    address = f"sqlite:///{place}/registry.db"
    client = MlflowClient(address, address)
    client.create_registered_model("rolecall")
    version = client.create_model_version("rolecall", model.as_uri()).version
    client.set_registered_model_alias("rolecall", "champion", version)
    return address


def _submitted(file: Path, output: Path, address: str) -> float:
    """Run the example; return its seconds.

    Raises:
        subprocess.CalledProcessError: it failed; what it said stands before.
    """
    submit = [str(Path(sys.executable).with_name("spark-submit")), "--master", CLUSTER]
    submit += ["--conf", "spark.executorEnv.OMP_NUM_THREADS=1"]
    example = ROOT / "examples/spark_consumer.py"
    own = {"MLFLOW_TRACKING_URI": address, "PYSPARK_PYTHON": sys.executable}
    began = time.perf_counter()
    subprocess.run(
        [*submit, str(example), str(file), str(output)],
        env=os.environ | own,
        cwd=output.parent,
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


def _same(ours: Path, spark: Path) -> float:
    """Return the share of rows whose answers are equal in every column; titles are distinct."""
    found, expected = (
        pl.read_parquet(folder / pattern).sort("raw_title")
        for folder, pattern in ((spark, "*.parquet"), (ours, "part*.parquet"))
    )
    assert found.columns == expected.columns and len(found) == len(expected)
    equal = [(found[name].eq_missing(expected[name])).alias(name) for name in expected.columns]
    return float(pl.DataFrame(equal).select(pl.all_horizontal(pl.all()).mean()).item())
