"""Where the registry is, whether it answers, what a move does to it, and masked addresses."""

import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pandas as pd
import pytest
import tiny_registry
import tiny_run
from background import git, web_server
from mlflow_import import WARNINGS, mlflow

from tasks.io import tracking
from tasks.io.tracking import (
    COLUMNS,
    check_answer,
    follow_move,
    main_tree,
    masked,
    registry,
    tracking_uri,
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit and a worktree `.workspaces/esco`."""
    tree = tmp_path / "tree with space"
    tree.mkdir()
    for words in ("init -q", "commit -q --allow-empty -m one", "worktree add -q .workspaces/esco"):
        git(tree, *words.split())
    return tree.resolve()


def test_a_worktree_shares_the_main_trees_registry(repository: Path, monkeypatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    expected = f"sqlite:///{repository}/.mlflow/mlflow.db"
    assert tracking_uri(repository) == expected
    assert tracking_uri(repository / ".workspaces" / "esco") == expected
    assert not (repository / ".mlflow").exists()  # asking makes nothing


def test_without_git_it_is_the_folder_itself_unless_the_variable_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main_tree(tmp_path) == tmp_path.resolve()
    monkeypatch.setenv("PATH", "")  # no git at all
    assert main_tree(tmp_path) == tmp_path.resolve()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:////elsewhere.db")
    assert tracking_uri(tmp_path) == "sqlite:////elsewhere.db"


pytestmark = WARNINGS
ELSEWHERE = ("s3://bucket/.mlflow/artifacts-of-others/1", "file:///data/mlruns/0")


@contextmanager
def database(folder: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(folder / "mlflow.db")) as connection, connection:
        yield connection


def made(folder: Path, *addresses: str) -> Path:
    """Make a database with these addresses in all columns."""
    folder.mkdir(parents=True, exist_ok=True)
    with database(folder) as connection:
        for table, column in COLUMNS:
            connection.execute(f"CREATE TABLE {table} ({column} TEXT)")
            rows = [(address,) for address in addresses]
            connection.executemany(f"INSERT INTO {table} VALUES (?)", rows)
    return folder


def test_every_place_below_the_old_folder_follows(tmp_path: Path) -> None:
    old = "file:///home/ann/my%20clone/.mlflow/artifacts"
    near = f"{old}-of-others/1"
    folder = made(tmp_path / "O'Brien über", old, f"{old}/models/m-1", near, *ELSEWHERE)
    assert follow_move(folder)
    here = (folder / "artifacts").as_uri()
    with database(folder) as connection:
        for table, column in COLUMNS:
            rows = connection.execute(f"SELECT {column} FROM {table}")
            assert {row[0] for row in rows} == {here, f"{here}/models/m-1", near, *ELSEWHERE}
    assert not follow_move(folder)


def test_a_folder_without_a_database_or_tables_stays_as_it_is(tmp_path: Path) -> None:
    assert not follow_move(tmp_path / "none")
    (tmp_path / "mlflow.db").touch()
    assert not follow_move(tmp_path)
    assert (tmp_path / "mlflow.db").read_bytes() == b""


def test_a_failure_changes_nothing(tmp_path: Path) -> None:
    folder = made(tmp_path, "file:///old/.mlflow/artifacts")
    with database(folder) as connection:
        connection.execute("DROP TABLE logged_models")
        connection.execute("CREATE TABLE logged_models (other TEXT)")
    with pytest.raises(sqlite3.OperationalError):
        follow_move(folder)
    with database(folder) as connection:
        rows = connection.execute("SELECT artifact_location FROM experiments").fetchall()
    assert rows == [("file:///old/.mlflow/artifacts",)]


def test_the_address_of_a_clone_that_is_gone_is_refused(tmp_path, monkeypatch) -> None:
    """MLflow would make an empty registry there."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/old/.mlflow/mlflow.db")
    message = "no such folder; if the clone was moved, `unset MLFLOW_TRACKING_URI`"
    with pytest.raises(ValueError, match=message), registry(tmp_path):
        pass
    assert not (tmp_path / "old").exists()


@pytest.mark.slow
def test_the_model_of_a_moved_clone_is_found_by_all(tmp_path, monkeypatch, capsys) -> None:
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


@pytest.mark.thorough
@pytest.mark.parametrize("status", [200, 401, 404, 500])
def test_any_answer_is_one(status: int) -> None:
    def do_GET(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.end_headers()

    with web_server(do_GET) as port:
        check_answer(f"http://me:secret@127.0.0.1:{port}/below/")


@pytest.mark.parametrize("scheme", ["http", "postgresql+psycopg2"])
def test_a_closed_port_is_named_without_the_password(scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    message = rf"server {scheme.split('+')[0]}.*://\*\*\*@127.0.0.1:{port}.*refused.* unset"
    with pytest.raises(ValueError, match=message) as error:
        check_answer(f"{scheme}://me:secret@127.0.0.1:{port}/x")
    assert "secret" not in str(error.value)


def test_silence_ends_and_files_are_no_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracking, "SECONDS", 0.2)
    silent = socket.create_server(("127.0.0.1", 0))
    with silent, pytest.raises(ValueError, match="timed out"):
        check_answer(f"http://127.0.0.1:{silent.getsockname()[1]}")
    with pytest.raises(ValueError, match="MLFLOW_TRACKING_URI"):
        check_answer("http://host:port:8")
    for address in ("sqlite:////nowhere/mlflow.db", "/nowhere", "postgresql:///by_socket"):
        check_answer(address)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql+psycopg2://me:s3cret@db:5432/x", "postgresql+psycopg2://***@db:5432/x"),
        ("at http://me:a@b:c@host, and s3://k:s@b/y", "at http://***@host, and s3://***@b/y"),
        ("no 'https://token@host/x.csv?sig=1&b=2' there", "no 'https://***@host/x.csv?***' there"),
        ("zip://a.csv::https://u:p@h/x.zip?t=1", "zip://a.csv::https://***@h/x.zip?***"),
        ("sftp://:p@h", "sftp://***@h"),
        ("abfss://container@account/x", "abfss://container@account/x"),
        ("models:/rolecall@champion", "models:/rolecall@champion"),
        ("sqlite:////home/me/a b/mlflow.db", "sqlite:////home/me/a b/mlflow.db"),
        ("which? me@example.org: http://host:80/x", "which? me@example.org: http://host:80/x"),
    ],
)
def test_only_secrets_are_masked(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert masked(shown) == shown
