r"""Normalize Parquet files on Spark, a distinct title once; needs `consumer.py`'s packages there.

export MLFLOW_TRACKING_URI=...      # the driver reads the registry and sends workers the model
export MLFLOW_DISABLE_TELEMETRY=true   # or MLflow reports its use to its makers
spark-submit --conf spark.executorEnv.OMP_NUM_THREADS=1 \
  --conf spark.executorEnv.MLFLOW_DISABLE_TELEMETRY=true spark_consumer.py INPUT OUTPUT [PREFIX]

PREFIX keeps the answer's columns apart from those of INPUT. Rows go through Python as Arrow batches
that hold equal titles side by side.
"""

import gc
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import mlflow
import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType

TITLE, FOLDER = "raw_title", "rolecall"
ROWS = 1 << 17  # go to Python at once: its compiled loops want some thousand distinct titles
ANSWERED = 1 << 13  # rows come back at once


@cache
def model() -> mlflow.pyfunc.PythonModel:
    """Load the model that the driver sent, once in each Python worker."""
    folder = f"{SparkFiles.get(FOLDER)}.tar/{FOLDER}"
    loaded = mlflow.pyfunc.load_model(folder).unwrap_python_model()
    gc.freeze()  # the model stays: no looking through it for garbage
    return loaded


def answered(batches: Iterator[pa.RecordBatch], prefix: str) -> Iterator[pa.RecordBatch]:
    """Put the columns of the answers behind those of the rows."""
    for batch in batches:
        titles = batch[TITLE].dictionary_encode(null_encoding="encode")
        answers = model().answer(titles.dictionary.to_pylist()).combine_chunks()
        names = [*batch.schema.names, *(prefix + name for name in answers.column_names)]
        for start in range(0, len(batch), ANSWERED):
            rows, places = (part.slice(start, ANSWERED) for part in (batch, titles.indices))
            found = answers.take(places).to_batches()[0]
            yield pa.RecordBatch.from_arrays([*rows.columns, *found.columns], names)


def normalize(rows: DataFrame, prefix: str, place: str) -> DataFrame:
    """Add the answers of the registry's champion, their columns as `rolecall normalize` has them.

    `place`: an empty folder of the driver that stays until the rows are written; the executors
    fetch the model from it.
    """
    spark = rows.sparkSession
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", ROWS)
    context = spark.sparkContext
    folder = Path(place, FOLDER)
    folder.mkdir()
    mlflow.artifacts.download_artifacts("models:/rolecall@champion", dst_path=str(folder))
    context.addArchive(shutil.make_archive(str(folder), "tar", place, FOLDER))
    context.addPyFile(__file__)  # where the workers find `model` and keep its result
    schema = StructType([*rows.schema])
    for column in mlflow.models.Model.load(folder).get_output_schema():
        kind = repr(column.type).replace("(", "<").replace(")", ">")  # Array(string)
        schema.add(prefix + column.name, DataType.fromDDL(kind))
    rows = rows.repartition(context.defaultParallelism * 4, TITLE).sortWithinPartitions(TITLE)
    return rows.mapInArrow(lambda batches: answered(batches, prefix), schema)


def main() -> None:
    """Read, normalize, write."""
    source, output, prefix = [*sys.argv[1:], ""][:3]
    spark = SparkSession.builder.getOrCreate()
    with TemporaryDirectory() as place:
        normalize(spark.read.parquet(source), prefix, place).write.parquet(output)


if __name__ == "__main__":
    import spark_consumer  # a module that workers import, as `__main__` is not

    spark_consumer.main()
