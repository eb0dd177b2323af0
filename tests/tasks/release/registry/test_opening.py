"""A registered model opened by the tables of its registry, and what is left to MLflow."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import tiny_registry
from mlflow_import import WARNINGS

from tasks.io.tracking import tracking_uri
from tasks.release.registry.opening import ELSEWHERE, opened, stored

pytestmark = [pytest.mark.thorough, *WARNINGS]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from mlflow import MlflowClient

    folder = tiny_registry.registered(tmp_path_factory.mktemp("root"), 1, 2)
    client = MlflowClient(f"sqlite:///{folder.resolve()}/.mlflow/mlflow.db")
    client.set_registered_model_alias("rolecall", "champion", "2")
    return folder


@pytest.fixture(autouse=True)
def _own_registry(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root.parent))


def test_an_alias_and_a_version(root: Path) -> None:
    versions = {
        asked: opened_address(asked, root)
        for asked in ("models:/rolecall@champion", "models:/rolecall/1")
    }
    assert versions == {
        "models:/rolecall@champion": "models:/rolecall/2",
        "models:/rolecall/1": "models:/rolecall/1",
    }


def opened_address(asked: str, root: Path) -> str:
    with opened(asked, root) as (address, normalizer):
        assert normalizer.predict(["Ward sister"])[0].occupation_label == "Nurse"
        return address


def test_a_folder(root: Path) -> None:
    (_, folder) = stored("models:/rolecall/1", tracking_uri(root)) or ("", root)
    assert opened_address(str(folder), root) == str(folder)


@pytest.mark.parametrize("asked", ["models:/rolecall/9", "models:/rolecall@best", "models:/no/1"])
def test_no_such_version_is_said(root: Path, asked: str) -> None:
    with pytest.raises(ValueError, match=rf"no model {asked} in .*rolecall models"):
        stored(asked, tracking_uri(root))


def test_no_registry_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"mlflow\.db is missing; run `rolecall retrain`"):
        stored("models:/rolecall/1", tracking_uri(tmp_path))


def test_the_rest_is_left_to_mlflow(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_model_of_somebody_else_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "MLmodel").write_text("flavors: {}\n")
    with (
        pytest.raises(ValueError, match="answers no raw titles"),
        opened(str(tmp_path), root),
    ):
        pass
