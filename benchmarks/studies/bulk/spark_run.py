"""`examples/spark_consumer.py` on a cluster of two workers of one core each, on this machine.

Two sizes, so that a title's time is told apart from what any run takes to begin: Java, the model in
every worker. Beside it the same titles by the process of `rolecall normalize`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchmarks.results import Row
from benchmarks.studies.bulk.inputs import write_titles
from benchmarks.studies.bulk.whole_run import normalized

WORKERS = 2
CLUSTER = f"local-cluster[{WORKERS},1,2048]"
SPARK, TEST = "spark", "cluster"
EXAMPLE = Path(__file__).parents[3] / "examples/spark_consumer.py"


def on_spark(model: Path, titles: pl.Series, threads: int) -> Iterator[Row]:
    """Normalize distinct titles, and a tenth of them, on Spark; compare the answers with ours."""
    submit = Path(sys.executable).with_name("spark-submit")
    if not shutil.which("java") or not submit.is_file():
        print(f"{SPARK}: left out, it needs Java 17 and the extra `spark`", flush=True)
        return
    count = len(titles)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        address, seconds = registered(model, place), {}
        for size in (count // 10, count):
            file = place / f"{size}.parquet"
            write_titles(titles[:size], size, file, 1)
            command = [str(submit), "--master", CLUSTER]
            command += ["--conf", "spark.executorEnv.OMP_NUM_THREADS=1", str(EXAMPLE)]
            seconds[size] = submitted([*command, str(file), str(place / f"spark{size}")], address)
            print(f"{SPARK}: {size:,} titles in {seconds[size]:.0f} s", flush=True)
        normalized(place / f"{count}.parquet", place / "bulk", model, place / "known", threads)
        same = same_rows(place / "bulk", place / f"spark{count}")
    each = (count - count // 10) / (seconds[count] - seconds[count // 10]) / WORKERS
    yield Row(SPARK, TEST, "titles_per_second", count / seconds[count], count)
    yield Row(SPARK, TEST, "titles_per_second_and_core", each, count)
    yield Row(SPARK, TEST, "same_rows", same, count)


def registered(model: Path, place: Path) -> str:
    """Make a registry with the model as champion; return its address."""
    from mlflow import MlflowClient

    address = f"sqlite:///{place}/registry.db"
    client = MlflowClient(address, address)
    client.create_registered_model("rolecall")
    version = client.create_model_version("rolecall", model.absolute().as_uri()).version
    client.set_registered_model_alias("rolecall", "champion", version)
    return address


def submitted(command: list[str], address: str) -> float:
    """Run a command beside a registry; return its seconds.

    Raises:
        subprocess.CalledProcessError: it failed; what it said stands before.
    """
    own = {"MLFLOW_TRACKING_URI": address, "PYSPARK_PYTHON": sys.executable}
    began = time.perf_counter()
    subprocess.run(command, env=os.environ | own, check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


def same_rows(ours: Path, spark: Path) -> float:
    """Return the share of rows with the same occupation and reason; titles are distinct."""
    found, expected = (
        pl.read_parquet(folder / pattern).sort("raw_title")
        for folder, pattern in ((spark, "*.parquet"), (ours, "part*.parquet"))
    )
    assert found.columns == expected.columns and len(found) == len(expected)
    equal = [
        found[name].eq_missing(expected[name]).alias(name) for name in ("occupation_id", "reason")
    ]
    return float(pl.DataFrame(equal).select(pl.all_horizontal(pl.all()).mean()).item())
