"""The temporary server: each has a password and a database of its own, and leaves neither."""

import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from flows import server as module
from flows.server import FOLDER, server

CLIENT = ("PREFECT_API_URL", "PREFECT_API_AUTH_STRING")
MIGRATE = "PREFECT_SERVER_DATABASE_MIGRATE_ON_START"


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, str]]:
    """Note the settings of servers that would start here, and make their tables."""
    noted: list[Mapping[str, str]] = []

    @contextmanager
    def serving(port: int, settings: Mapping[str, str], *_: int, **__: float) -> Iterator[None]:
        noted.append(settings)
        with closing(sqlite3.connect(Path(settings["PREFECT_HOME"]) / "prefect.db")) as database:
            database.execute("create table if not exists made (x)")
        yield

    monkeypatch.setattr(module, "serving", serving)
    monkeypatch.setattr(module, "PREFECT_API_URL", SimpleNamespace(value=lambda: ""))
    monkeypatch.setattr(module, "refresh_global_settings_context", lambda: None)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    return noted


def test_each_has_a_password_and_a_database_of_its_own(started, tmp_path) -> None:
    """Without a password any web page could run commands while a flow is at work."""
    before = {name: os.environ.get(name) for name in CLIENT}
    (tmp_path / FOLDER / "of a killed run").mkdir(parents=True)
    for _ in range(2):
        with server():
            own, folder = started[-1], Path(started[-1]["PREFECT_HOME"])
            assert [os.environ[name] for name in CLIENT] == [own[name] for name in CLIENT]
            assert own["PREFECT_SERVER_API_AUTH_STRING"] == own["PREFECT_API_AUTH_STRING"]
            address = own["PREFECT_API_URL"].removesuffix("/api")
            assert address in own["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"].split(",")
            assert "*" not in own["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"]
            database = own["PREFECT_SERVER_DATABASE_CONNECTION_URL"]
            assert database.endswith(f"///{folder}/prefect.db")
            assert [*(tmp_path / FOLDER).glob("*/")] == [folder]
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert not folder.exists()
        assert {name: os.environ.get(name) for name in CLIENT} == before
    passwords = {settings["PREFECT_API_AUTH_STRING"] for settings in started}
    homes = {settings["PREFECT_HOME"] for settings in started}
    assert len(passwords) == len(homes) == 2 and min(map(len, passwords)) > 30


def test_later_ones_begin_with_the_first_ones_tables(started, tmp_path) -> None:
    with server(), server():
        first, second = started
        assert MIGRATE not in first and second[MIGRATE] == "false"
        with closing(sqlite3.connect(Path(second["PREFECT_HOME"]) / "prefect.db")) as database:
            assert database.execute("select * from made").fetchall() == []
    folders = tmp_path / ".prefect", tmp_path / FOLDER
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700] * 2
    (template,) = (tmp_path / FOLDER).iterdir()
    assert template.name.startswith("empty-")
