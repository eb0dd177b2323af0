"""`examples/spark_consumer.py` on a cluster of two workers, beside `rolecall normalize`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import tiny_registry
import tiny_run
from mlflow_import import WARNINGS
from polars.testing import assert_frame_equal
from web_port import environment

pytestmark = [
    pytest.mark.slow,
    *WARNINGS,
    pytest.mark.skipif(not shutil.which("java"), reason="Spark needs Java 17: install a JRE"),
]

ODD = [None, "", "???", "Developer", "developer", "C++ developer", "None", "n" * 300, "бейкер"]
CLUSTER = ["--master", "local-cluster[2,1,1024]", "--conf", "spark.executorEnv.OMP_NUM_THREADS=1"]


def test_two_workers_answer_as_normalize_does(tmp_path: Path) -> None:
    from mlflow import MlflowClient

    folder = tiny_registry.registered(tmp_path / "registered", 1)
    address = f"sqlite:///{folder.resolve()}/.mlflow/mlflow.db"
    MlflowClient(address).set_registered_model_alias("rolecall", "champion", "1")
    titles = ODD + [f"{word} {number % 50}" for number in range(500) for word in ("nurse", "baker")]
    file = tmp_path / "titles.parquet"
    rows = pl.DataFrame({"row": range(len(titles)), "raw_title": titles})
    rows.write_parquet(file)

    def run(command: list[str], cwd: Path) -> None:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment(address) | {"PYSPARK_PYTHON": sys.executable},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr[-5000:]

    submit = [str(Path(sys.executable).with_name("spark-submit")), *CLUSTER]
    example = str(tiny_run.ROOT / "examples/spark_consumer.py")
    run([*submit, example, str(file), str(tmp_path / "spark")], tmp_path)
    bulk = [sys.executable, "-m", "tasks.apps.bulk", str(file), str(tmp_path / "bulk")]
    champion = "--model=models:/rolecall@champion"
    run([*bulk, champion, "--threads=1", f"--cache-dir={tmp_path / 'cache'}"], tiny_run.ROOT)

    ours, spark = (
        pl.read_parquet(tmp_path / name / pattern).sort("row")
        for name, pattern in (("bulk", "part*.parquet"), ("spark", "*.parquet"))
    )
    assert spark.columns == ours.columns and len(ours.columns) == 27
    # the last bit of a recurrent network depends on what else is in its batch
    assert_frame_equal(spark, ours, abs_tol=2e-7, rel_tol=0)
    assert len(spark) == len(titles)
    assert ours["score"].null_count() > 3  # what MLflow would have made NaN
