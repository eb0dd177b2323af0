"""Normalize titles with the registry's champion; needs the model's requirements and nothing else.

pip install mlflow; export MLFLOW_DISABLE_TELEMETRY=true   # or MLflow reports its use to its makers
export MLFLOW_TRACKING_URI=$(rolecall models --address)   # in the repository; or your server
pip install -r $(python -c "import mlflow; print(mlflow.pyfunc.get_model_dependencies('models:/rolecall@champion'))")
"""  # noqa: E501

import mlflow
import pandas as pd

model = mlflow.pyfunc.load_model("models:/rolecall@champion")
titles = pd.DataFrame({"raw_title": ["Krankenpfleger (m/w/d)", "night nurse", None, "???"]})
answers = titles.join(model.predict(titles, params={"top_k": 3}))
print(answers[["raw_title", "occupation_label", "confidence", "reason"]].to_string())
print(model.unwrap_python_model().explain("night nurse")["why"])
