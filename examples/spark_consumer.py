"""Normalize Parquet files on Spark, each distinct title once; needs `consumer.py`'s packages there.

export MLFLOW_TRACKING_URI=...      # the driver asks the registry, workers get the model from it
spark-submit --conf spark.executorEnv.OMP_NUM_THREADS=1 examples/spark_consumer.py INPUT OUTPUT
"""

import sys

import mlflow
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

EMPTY = {"string": "None", "double": "NaN"}  # what MLflow makes of null within a struct

spark = SparkSession.builder.config(
    "spark.sql.execution.arrow.maxRecordsPerBatch", 4096
).getOrCreate()
rows = spark.read.parquet(sys.argv[1])
normalize = mlflow.pyfunc.spark_udf(spark, "models:/rolecall@champion", env_manager="local")
lots = spark.sparkContext.defaultParallelism * 4
titles = rows.select("raw_title").distinct().repartition(lots, "raw_title")
answers = titles.select(f.col("raw_title").alias("title"), normalize("raw_title").alias("answer"))
columns = []
for field in answers.schema["answer"].dataType:
    column, kind = f.col("answer")[field.name], field.dataType.simpleString()
    known = f.nullif(column, f.lit(EMPTY[kind]).cast(kind)) if kind in EMPTY else column
    columns.append(known.alias(field.name))
answers = answers.select("title", *columns)
same = rows["raw_title"].eqNullSafe(answers["title"])
rows.join(answers, same, "left").drop("title").write.parquet(sys.argv[2])
