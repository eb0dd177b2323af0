"""Normalize a Polars frame with the registry's champion; needs Polars beside `consumer.py`'s.

Its variables, MLFLOW_DISABLE_TELEMETRY among them, are those of `consumer.py`.
"""

import mlflow
import polars as pl

model = mlflow.pyfunc.load_model("models:/rolecall@champion")
titles = pl.DataFrame({"id": [7, 8, 9], "raw_title": ["Snr nurse, nights", None, "baker Leeds"]})
answers = pl.from_pandas(model.predict(titles.select("raw_title").to_pandas()))
print(pl.concat([titles, answers], how="horizontal").select("id", "occupation_label", "contract"))
