"""The registered model where a consumer has it: own environment, own folder, foreign packages."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import tiny_registry
import tiny_run
import web_port
from mlflow_import import WARNINGS
from web_port import environment

from models.network.embedding import embed_titles
from models.network.quantization import packed, unpacked

pytestmark = [pytest.mark.slow, *WARNINGS]

EXAMPLES = tiny_run.ROOT / "examples"
TITLES = ["nurse", "c++ devloper", None, "", "🍞", "n" * 10_000, "Developer"]
CONSUMER = """
import json, sys
import mlflow, pandas as pd
import models, tasks  # the consumer's own
assert models.MINE and tasks.MINE
one, two = (mlflow.pyfunc.load_model(f"models:/rolecall/{n}") for n in (1, 2))
frame = pd.DataFrame({"raw_title": TITLES})
out = {
    "answers": json.loads(one.predict(frame).to_json(orient="split"))["data"],
    "columns": list(one.predict(frame).columns),
    "one": one.unwrap_python_model().embed(["nurse", "coder"]).tolist(),
    "two": two.unwrap_python_model().embed(["nurse", "coder"]).tolist(),
    "torch": "torch" in sys.modules,
    "numbers": one.predict(pd.DataFrame({"raw_title": pd.Series([1, "nurse"], dtype=object)})).reason.tolist(),
}
try:
    one.unwrap_python_model().predict(None, frame, {"topk": 3})
except ValueError as error:
    out["refused"] = str(error)
print(json.dumps(out))
"""  # noqa: E501


@pytest.fixture(scope="module")
def registered(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two versions of `rolecall` in the default store of a folder without git; its address."""
    from mlflow import MlflowClient

    folder = tiny_registry.registered(tmp_path_factory.mktemp("registered"), 1, 2)
    assert (folder / ".mlflow/artifacts").is_dir()
    address = f"sqlite:///{folder.resolve()}/.mlflow/mlflow.db"
    MlflowClient(address).set_registered_model_alias("rolecall", "champion", "1")
    return address


def torch_embeddings(seed: int) -> np.ndarray:
    featurizer, encoder = tiny_run.network(seed)
    encoder.load_state_dict(unpacked(packed(encoder, "byte")))  # as it is registered
    return embed_titles(encoder, featurizer, ["nurse", "coder"]).numpy()


def install(python: str, *packages: str) -> None:
    """Let uv do it, in a fifth of pip's time, and pip where uv reaches no index, as `make` does."""
    module = [sys.executable, "-m"]
    uv = [*module, "uv", "pip", "install", "--no-cache", "--quiet", "-p", python, *packages]
    pip = [*module, "pip", "--python", python, "install", "--no-compile", "--quiet", *packages]
    if subprocess.run(uv, timeout=300).returncode:
        subprocess.run(pip, check=True, timeout=600)


def test_an_empty_environment_elsewhere_beside_foreign_packages(
    registered: str, tmp_path: Path
) -> None:
    import mlflow

    mlflow.set_tracking_uri(registered)
    requirements = mlflow.pyfunc.get_model_dependencies("models:/rolecall/1")
    mlflow.set_tracking_uri(None)
    venv = [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")]
    subprocess.run(venv, check=True)
    python = str(tmp_path / "venv/bin/python")
    install(python, "-r", requirements)
    for name in ("tasks", "models"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("MINE = True\n", encoding="utf-8")
    (tmp_path / "consumer.py").write_text(f"TITLES = {TITLES!r}\n{CONSUMER}", encoding="utf-8")

    def printed(file: Path) -> str:
        done = subprocess.run(
            [python, str(file)],
            cwd=tmp_path,
            env=environment(registered),
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    out = json.loads(printed(tmp_path / "consumer.py").splitlines()[-1])
    assert len(out["answers"]) == len(TITLES) and not out["torch"]
    reasons = [row[out["columns"].index("reason")] for row in out["answers"]]
    odd = ["null", "empty", "no letters"]
    assert reasons == ["uncalibrated"] * 2 + odd + ["uncalibrated"] * 2
    np.testing.assert_allclose(out["one"], torch_embeddings(1), atol=1e-5)
    np.testing.assert_allclose(out["two"], torch_embeddings(2), atol=1e-5)
    assert out["numbers"] == ["not text", "uncalibrated"]
    assert "unknown params ['topk']" in out["refused"]
    assert len((EXAMPLES / "consumer.py").read_text(encoding="utf-8").splitlines()) <= 15
    printout = printed(EXAMPLES / "consumer.py")
    assert "no letters" in printout and "the nearest other" in printout
    install(python, f"polars=={version('polars')}")
    assert '["nights"]' in printed(EXAMPLES / "polars_consumer.py")


def test_mlflow_models_serve(registered: str, tmp_path: Path) -> None:
    """JSON in, one row out per row in, nulls as null."""
    table = {"columns": ["raw_title"], "data": [[title] for title in TITLES]}
    body = {"dataframe_split": table, "params": {"top_k": 2}}
    with web_port.serving("models:/rolecall/1", registered, tmp_path) as server:
        status, answer = server.post(json.dumps(body).encode())
    rows = json.loads(answer)["predictions"]
    assert status == 200
    assert len(rows) == len(TITLES)
    assert rows[0]["confidence"] is None and rows[0]["reason"] == "uncalibrated"
    assert len(rows[0]["top_scores"]) == 2 and rows[0]["score"] == rows[0]["top_scores"][0]
    assert rows[2]["occupation_id"] is None and rows[2]["score"] is None
    assert rows[2]["reason"] == "null" and rows[2]["top_titles"] == []
