"""`examples/spark_consumer.py` on a cluster of two workers, beside `rolecall normalize`.

MLflow's own `spark_udf`, which answers through pandas, is asked on one worker.
"""

import shutil
import subprocess
import sys
from datetime import UTC, datetime
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pyarrow as pa
import pytest
import served_toy
import tiny_run
from mlflow_import import WARNINGS
from polars.testing import assert_frame_equal, assert_series_equal
from tiny_registry import address_of, with_champion
from web_port import environment

pytestmark = [
    pytest.mark.slow,
    *WARNINGS,
    pytest.mark.skipif(not shutil.which("java"), reason="Spark needs Java 17: install a JRE"),
]

EXAMPLE = tiny_run.ROOT / "examples/spark_consumer.py"
SUBMIT = str(Path(sys.executable).with_name("spark-submit"))
ODD = [None, "", "???", "Developer", "developer", "C++ developer", "None", "n" * 300, "бейкер"]
CLUSTER = ["--master", "local-cluster[2,1,1024]", "--conf", "spark.executorEnv.OMP_NUM_THREADS=1"]
UDF = """
import sys
import mlflow
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
answer = mlflow.pyfunc.spark_udf(spark, "models:/rolecall@champion", env_manager="local")
rows = spark.read.parquet(sys.argv[1])
rows.select("row", answer("raw_title").alias("answer")).select("row", "answer.*").write.parquet(
    sys.argv[2]
)
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of a registry with a champion."""
    return address_of(with_champion(tmp_path_factory.mktemp("registered"), 1))


def run(command: list[str], address: str, cwd: Path) -> None:
    values = environment(address) | {"PYSPARK_PYTHON": sys.executable}
    options = {"capture_output": True, "text": True, "timeout": 600}
    done = subprocess.run(command, cwd=cwd, env=values, **options)
    assert done.returncode == 0, done.stderr[-5000:]


def test_two_workers_answer_as_normalize_does(address: str, tmp_path: Path) -> None:
    titles = ODD + [f"{word} {number % 50}" for number in range(500) for word in ("nurse", "baker")]
    file = tmp_path / "titles.parquet"
    count = len(titles)
    columns = {
        "row": range(count),
        "location": [[str(row), None] if row % 3 else None for row in range(count)],
        "raw_title": titles,
        "posted": [datetime(2026, 1, 1 + row % 28, tzinfo=UTC) for row in range(count)],
    }
    rows = pl.DataFrame(columns)
    rows.write_parquet(file)
    words = [str(EXAMPLE), str(file), str(tmp_path / "spark"), "found_"]
    run([SUBMIT, *CLUSTER, *words], address, tmp_path)
    bulk = [sys.executable, "-m", "tasks.apps.bulk.normalize", str(file), str(tmp_path / "bulk")]
    champion = ["--model=models:/rolecall@champion", "--prefix=found_", "--threads=1"]
    run([*bulk, *champion, f"--cache-dir={tmp_path / 'cache'}"], address, tiny_run.ROOT)

    ours, spark = (
        pl.read_parquet(tmp_path / name / pattern).sort("row")
        for name, pattern in (("bulk", "part*.parquet"), ("spark", "*.parquet"))
    )
    assert spark.columns == ours.columns and len(ours.columns) == 29
    as_read = pl.col("posted").dt.replace_time_zone("UTC").dt.cast_time_unit("us")
    assert_frame_equal(spark.select(rows.columns).with_columns(as_read), rows)
    answers = [name for name in ours.columns if name.startswith("found_")]
    # the last bit of a recurrent network depends on what else is in its batch
    assert_frame_equal(spark.select(answers), ours.select(answers), abs_tol=2e-7, rel_tol=0)
    assert ours["found_score"].null_count() > 3


def test_mlflows_own_udf_answers_too(address: str, tmp_path: Path) -> None:
    import mlflow

    file, script = tmp_path / "titles.parquet", tmp_path / "udf.py"
    pl.DataFrame({"row": range(len(ODD)), "raw_title": ODD}).write_parquet(file)
    script.write_text(UDF, encoding="utf-8")
    run([SUBMIT, "--master", "local[1]", str(script), str(file), "answers"], address, tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", address)
        model = mlflow.pyfunc.load_model("models:/rolecall@champion").unwrap_python_model()
    ours = pl.DataFrame(model.answer(ODD))
    spark = pl.read_parquet(tmp_path / "answers/*.parquet").sort("row")
    assert spark.drop("row").columns == ours.columns
    for name in ("occupation_id", "reason"):
        known = ours[name].fill_null("None")  # what MLflow makes of null within a struct
        assert_series_equal(spark[name], known)


def test_each_row_has_the_answer_of_its_title(monkeypatch: pytest.MonkeyPatch) -> None:
    """Titles repeat within a batch and between batches, whose answers come in pieces of three."""
    spec = spec_from_file_location("spark_consumer", EXAMPLE)
    example = module_from_spec(spec)
    spec.loader.exec_module(example)
    toy = served_toy.toy_normalizer()
    model = SimpleNamespace(answer=lambda titles: toy.predict(titles).table)
    monkeypatch.setattr(example, "model", lambda: model)
    monkeypatch.setattr(example, "ANSWERED", 3)
    titles = [None, None, "Baker", "Nurse", "Baker", "Keeper", "???", "Nurse"]
    rows = pa.table({"row": range(len(titles)), "raw_title": titles})
    batches = [*rows[:5].to_batches(), *rows[:0].to_batches(), *rows[5:].to_batches()]
    pieces = [*example.answered(iter(batches), "a_")]
    assert [len(piece) for piece in pieces] == [3, 2, 3]
    expected = toy.predict(titles).table
    expected = expected.rename_columns([f"a_{name}" for name in expected.column_names])
    found = pa.Table.from_batches(pieces)
    assert found.select(rows.column_names).equals(rows)
    assert found.select(expected.column_names).equals(expected.combine_chunks())
