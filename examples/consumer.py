"""Normalize a few titles with the champion of the registry; needs nothing of this repository.

export MLFLOW_TRACKING_URI=$(rolecall registry --address)   # in the repository; or your server
pip install -r $(python -c "import mlflow; print(mlflow.pyfunc.get_model_dependencies('models:/rolecall@champion'))")
python consumer.py

"""  # noqa: E501

import os

import mlflow
import pandas as pd

model = mlflow.pyfunc.load_model(os.environ.get("ROLECALL_MODEL", "models:/rolecall@champion"))
titles = ["looking for C++ developers (urgent!)", "Registered Nurse - night shift", None, "???"]
answers = model.predict(pd.DataFrame({"raw_title": titles}), params={"top_k": 3})
for title, answer in zip(titles, answers.itertuples(), strict=True):
    print(title, "->", answer.occupation_label, answer.score, answer.reason, answer.top_titles)

embeddings = model.unwrap_python_model().embed(["C++ developer", "software engineer"])
print("similarity", float(embeddings[0] @ embeddings[1]))
