"""A model on the disk by its address: other formats and altered files are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny_registry
from mlflow_import import WARNINGS, mlflow

from models.normalizer.package_format import FORMAT
from tasks.io.frames import write_json
from tasks.release.registry.loading import fetched

pytestmark = WARNINGS


@pytest.mark.parametrize("number", [FORMAT, FORMAT - 1])
def test_the_format_of_a_folder_is_checked(tmp_path: Path, number: int) -> None:
    (tmp_path / "MLmodel").touch()
    write_json({"format": number}, tmp_path / "artifacts/normalizer/settings.json")
    if number == FORMAT:
        with fetched(str(tmp_path), tmp_path) as (address, folder):
            assert (address, folder) == (str(tmp_path), tmp_path)
        return
    message = f"^{tmp_path} has format {number}, not {FORMAT}; .*run `rolecall retrain`"
    with pytest.raises(ValueError, match=message), fetched(str(tmp_path), tmp_path):
        pass


@pytest.mark.slow
def test_an_altered_model_of_the_registry_is_loaded_by_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by a consumer nor by our commands, which leave no copy of it."""
    root = tiny_registry.registered(tmp_path / "clone", 1)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{root}/.mlflow/mlflow.db")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    address = "models:/rolecall/1"
    assert mlflow.pyfunc.load_model(address)
    (code,) = root.glob(".mlflow/artifacts/models/*/artifacts/serving.py")
    for file in (code, code.parent / "artifacts/normalizer/weights.safetensors"):
        content = file.read_bytes()
        file.write_bytes(content + b"\n")
        message = rf"{file.name} is not the file that was registered"
        with pytest.raises(ValueError, match=message):
            mlflow.pyfunc.load_model(address)
        with pytest.raises(ValueError, match=f"^{address}: .*{message}"), fetched(address, root):
            pass
        file.write_bytes(content)
    assert [*(root / ".mlflow/tmp").glob("*/")] == []
