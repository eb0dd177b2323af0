r"""Normalize Parquet files on Spark, a distinct title once; needs `consumer.py`'s packages there.

export MLFLOW_TRACKING_URI=...      # the driver reads the registry and sends workers the model
export MLFLOW_DISABLE_TELEMETRY=true   # or MLflow reports its use to its makers
spark-submit --conf spark.executorEnv.OMP_NUM_THREADS=1 \
  --conf spark.executorEnv.MLFLOW_DISABLE_TELEMETRY=true spark_consumer.py INPUT OUTPUT [PREFIX]

PREFIX keeps the answer's columns apart from those of INPUT.
"""

import sys

import mlflow
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

source, output, prefix = [*sys.argv[1:], ""][:3]
EMPTY = {"string": "None", "double": "NaN"}  # what MLflow makes of null within a struct

spark = SparkSession.builder.config(
    "spark.sql.execution.arrow.maxRecordsPerBatch", 4096
).getOrCreate()
rows = spark.read.parquet(source)
normalize = mlflow.pyfunc.spark_udf(spark, "models:/rolecall@champion", env_manager="local")
lots = spark.sparkContext.defaultParallelism * 4
titles = rows.select("raw_title").distinct().repartition(lots, "raw_title")
answers = titles.select(
    f.col("raw_title").alias("queried_title"), normalize("raw_title").alias("answer")
)
columns = []
for field in answers.schema["answer"].dataType:
    column, kind = f.col("answer")[field.name], field.dataType.simpleString()
    known = f.nullif(column, f.lit(EMPTY[kind]).cast(kind)) if kind in EMPTY else column
    columns.append(known.alias(prefix + field.name))
answers = answers.select("queried_title", *columns)
same = rows["raw_title"].eqNullSafe(answers["queried_title"])
rows.join(answers, same, "left").drop("queried_title").write.parquet(output)
