"""A registry whose clone was moved: places follow, those elsewhere stay, and consumers load."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
import tiny_registry
import tiny_run
from mlflow_import import WARNINGS, mlflow

from tasks.io.moved_registry import COLUMNS, follow_move
from tasks.io.tracking import registry

pytestmark = WARNINGS
ELSEWHERE = ("s3://bucket/.mlflow/artifacts-of-others/1", "file:///data/mlruns/0")


def made(folder: Path, *places: str) -> Path:
    """Make a database with these places in all columns."""
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "mlflow.db")) as connection, connection:
        for table, column in COLUMNS:
            connection.execute(f"CREATE TABLE {table} ({column} TEXT)")
            rows = [(place,) for place in places]
            connection.executemany(f"INSERT INTO {table} VALUES (?)", rows)
    return folder


def kept(folder: Path) -> list[set[str]]:
    with closing(sqlite3.connect(folder / "mlflow.db")) as connection:
        return [
            {place for (place,) in connection.execute(f"SELECT {column} FROM {table}")}
            for table, column in COLUMNS
        ]


def test_every_place_below_the_old_folder_follows(tmp_path: Path) -> None:
    old = "file:///home/ann/my%20clone/.mlflow/artifacts"
    near = f"{old}-of-others/1"
    folder = made(tmp_path / "O'Brien über", old, f"{old}/models/m-1", near, *ELSEWHERE)
    assert follow_move(folder)
    here = (folder / "artifacts").as_uri()
    assert kept(folder) == [{here, f"{here}/models/m-1", near, *ELSEWHERE}] * len(COLUMNS)
    assert not follow_move(folder)


def test_a_folder_without_a_database_or_tables_stays_as_it_is(tmp_path: Path) -> None:
    assert not follow_move(tmp_path / "none")
    (tmp_path / "mlflow.db").touch()
    assert not follow_move(tmp_path)
    assert (tmp_path / "mlflow.db").read_bytes() == b""


def test_a_failure_changes_nothing(tmp_path: Path) -> None:
    folder = made(tmp_path, "file:///old/.mlflow/artifacts")
    with closing(sqlite3.connect(folder / "mlflow.db")) as connection, connection:
        connection.execute("DROP TABLE logged_models")
        connection.execute("CREATE TABLE logged_models (other TEXT)")
    with pytest.raises(sqlite3.OperationalError):
        follow_move(folder)
    with closing(sqlite3.connect(folder / "mlflow.db")) as connection:
        rows = connection.execute("SELECT artifact_location FROM experiments").fetchall()
    assert rows == [("file:///old/.mlflow/artifacts",)]


def test_the_address_of_a_clone_that_is_gone_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLflow would make an empty registry there."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/old/.mlflow/mlflow.db")
    message = "no such folder; if the clone was moved, `unset MLFLOW_TRACKING_URI`"
    with pytest.raises(ValueError, match=message), registry(tmp_path):
        pass
    assert not (tmp_path / "old").exists()


@pytest.mark.slow
def test_the_model_of_a_moved_clone_is_found_by_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also at a path with blanks, an apostrophe and letters beyond ASCII."""
    old = tiny_registry.registered(tmp_path / "clone", 1)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tiny_run.ROOT))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    root = old.rename(tmp_path / "O'Brien über #1")
    with registry(root) as client:
        assert mlflow.artifacts.list_artifacts("models:/rolecall@challenger")
        assert client.get_model_version("rolecall", "1").run_id
    assert "the clone was moved" in capsys.readouterr().out
    again = root.rename(tmp_path / "Łódź")
    shutil.copy(tiny_run.ROOT / "dvc.yaml", again)
    command = [sys.executable, "-m", "flows.cli", "models", "--address"]
    done = subprocess.run(command, cwd=again, capture_output=True, text=True, check=True)
    mlflow.set_tracking_uri(done.stdout.strip())
    try:
        model = mlflow.pyfunc.load_model("models:/rolecall@challenger")
    finally:
        mlflow.set_tracking_uri(None)
    answers = model.predict(pd.DataFrame({"raw_title": ["nurse"]}))
    assert answers["occupation_id"].tolist() == ["nurse"]
