"""A registered model opened by the tables of its registry or by MLflow, and models refused."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import tiny_registry
from mlflow_import import WARNINGS, mlflow

from models.serving.package import FORMAT
from tasks.io.files import write_json
from tasks.io.tracking import tracking_uri
from tasks.release.registry.opening import ELSEWHERE, fetched, opened, stored

pytestmark = [pytest.mark.thorough, *WARNINGS]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_registry.with_champion(tmp_path_factory.mktemp("root"), 1, 2)


@pytest.fixture(autouse=True)
def _own_registry(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root.parent))


@pytest.mark.parametrize(("asked", "version"), [("@champion", "/2"), ("/1", "/1"), ("", "")])
def test_a_model_by_its_address(root: Path, asked: str, version: str) -> None:
    (_, folder) = stored("models:/rolecall/1", tracking_uri(root)) or ("", root)
    name = "models:/rolecall" if asked else str(folder)
    with opened(name + asked, root) as (address, normalizer):
        assert normalizer.predict(["Ward sister"])[0].occupation_label == "Nurse"
        assert address == name + version


@pytest.mark.parametrize("asked", ["models:/rolecall/9", "models:/rolecall@best", "models:/no/1"])
def test_no_such_version_is_said(root: Path, asked: str) -> None:
    with pytest.raises(ValueError, match=rf"no model {asked} in .*rolecall models"):
        stored(asked, tracking_uri(root))


def test_no_registry_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"mlflow\.db is missing; run `rolecall retrain`"):
        stored("models:/rolecall/1", tracking_uri(tmp_path))


def test_the_rest_is_left_to_mlflow(root: Path, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server, other tables, a folder that is gone or not beside, a registry elsewhere."""
    asked, uri = "models:/rolecall/1", tracking_uri(root)
    assert stored(asked, "http://127.0.0.1:9") is None
    moved = tmp_path / "mlflow.db"
    shutil.copy(root / ".mlflow/mlflow.db", moved)
    assert stored(asked, f"sqlite:///{moved}") is None, "the files of another clone"
    with closing(sqlite3.connect(moved)) as tables, tables:
        tables.execute("update model_versions set storage_location = 'file:///nowhere'")
    assert stored(asked, f"sqlite:///{moved}") is None
    moved.write_bytes(b"no tables")
    assert stored(asked, f"sqlite:///{moved}") is None
    monkeypatch.setenv(ELSEWHERE, "http://127.0.0.1:9")
    assert stored(asked, uri) is None


def test_models_of_somebody_else_or_of_another_format_are_refused(root: Path, tmp_path) -> None:
    (tmp_path / "MLmodel").write_text("flavors: {}\n")
    with pytest.raises(ValueError, match="answers no raw titles"), opened(str(tmp_path), root):
        pass
    settings = tmp_path / "artifacts/normalizer/settings.json"
    write_json({"format": FORMAT}, settings)
    with fetched(str(tmp_path), tmp_path) as (address, folder):
        assert (address, folder) == (str(tmp_path), tmp_path)
    write_json({"format": FORMAT - 1}, settings)
    message = f"^{tmp_path} has format {FORMAT - 1}, not {FORMAT}; .*run `rolecall retrain`"
    with pytest.raises(ValueError, match=message), fetched(str(tmp_path), tmp_path):
        pass


@pytest.mark.slow
def test_an_altered_model_of_the_registry_is_loaded_by_nobody(root: Path, monkeypatch) -> None:
    """Neither by a consumer nor by our commands, which leave no copy of it."""
    address, uri = "models:/rolecall/1", tracking_uri(root)
    (_, model) = stored(address, uri) or ("", root)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    assert mlflow.pyfunc.load_model(address)
    for name in ("serving.py", "artifacts/normalizer/weights.safetensors"):
        file = model / name
        content = file.read_bytes()
        file.write_bytes(content + b"\n")
        message = rf"{file.name} is not the file that was registered"
        with pytest.raises(ValueError, match=message):
            mlflow.pyfunc.load_model(address)
        with pytest.raises(ValueError, match=f"^{address}: .*{message}"), fetched(address, root):
            pass
        file.write_bytes(content)
    assert [*(root / ".mlflow/tmp").glob("*/")] == []
