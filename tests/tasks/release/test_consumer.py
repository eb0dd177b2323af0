"""The registered model where a consumer has it: own environment, own folder, foreign packages."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import tiny_run
from mlflow_import import WARNINGS
from tiny_registry import address_of, with_champion
from web_port import environment

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
    """The address of two versions of `rolecall` in the store of a folder without git."""
    return address_of(with_champion(tmp_path_factory.mktemp("registered"), 1, 2))


def install(python: str, *packages: str) -> None:
    """Let uv do it, in a fifth of pip's time, and pip where uv reaches no index, as `make` does."""
    module = [sys.executable, "-m"]
    uv = [*module, "uv", "pip", "install", "--no-cache", "--quiet", "-p", python, *packages]
    pip = [*module, "pip", "--python", python, "install", "--no-compile", "--quiet", *packages]
    if subprocess.run(uv, timeout=300).returncode:
        subprocess.run(pip, check=True, timeout=600)


def test_an_empty_environment_elsewhere_beside_foreign_packages(registered: str, tmp_path) -> None:
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
        options = {"cwd": tmp_path, "env": environment(registered), "timeout": 300}
        command = [python, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    out = json.loads(printed(tmp_path / "consumer.py").splitlines()[-1])
    assert len(out["answers"]) == len(TITLES) and not out["torch"]
    reasons = [row[out["columns"].index("reason")] for row in out["answers"]]
    odd = ["null", "empty", "no letters"]
    assert reasons == ["uncalibrated"] * 2 + odd + ["uncalibrated"] * 2
    words = ["nurse", "coder"]
    np.testing.assert_allclose(out["one"], tiny_run.embedded(1, words), atol=1e-5)
    np.testing.assert_allclose(out["two"], tiny_run.embedded(2, words), atol=1e-5)
    assert out["numbers"] == ["not text", "uncalibrated"]
    assert "unknown params ['topk']" in out["refused"]
    assert len((EXAMPLES / "consumer.py").read_text(encoding="utf-8").splitlines()) <= 15
    printout = printed(EXAMPLES / "consumer.py")
    assert "no letters" in printout and "the nearest other" in printout
    install(python, f"polars=={version('polars')}")
    assert '["nights"]' in printed(EXAMPLES / "polars_consumer.py")
