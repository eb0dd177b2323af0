"""The temporary server: each has a password and a database of its own, and leaves neither."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from flows.processes import server as module

CLIENT = ("PREFECT_API_URL", "PREFECT_API_AUTH_STRING")


def test_each_has_a_password_and_a_database_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a password any web page could run commands while a flow is at work."""
    started: list[Mapping[str, str]] = []

    @contextmanager
    def serving(port: int, settings: Mapping[str, str], *_: int, **__: float) -> Iterator[None]:
        started.append(settings)
        (Path(settings["PREFECT_HOME"]) / "prefect.db").touch()
        yield

    monkeypatch.setattr(module, "serving", serving)
    monkeypatch.setattr(module, "PREFECT_API_URL", SimpleNamespace(value=lambda: ""))
    monkeypatch.setattr(module, "refresh_global_settings_context", lambda: None)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    before = {name: os.environ.get(name) for name in CLIENT}
    for _ in range(2):
        with module.server():
            own, folder = started[-1], Path(started[-1]["PREFECT_HOME"])
            assert [os.environ[name] for name in CLIENT] == [own[name] for name in CLIENT]
            assert own["PREFECT_SERVER_API_AUTH_STRING"] == own["PREFECT_API_AUTH_STRING"]
            address = own["PREFECT_API_URL"].removesuffix("/api")
            assert address in own["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"].split(",")
            assert "*" not in own["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"]
            database = own["PREFECT_SERVER_DATABASE_CONNECTION_URL"]
            assert database.endswith(f"///{folder}/prefect.db")
            assert folder.parent == tmp_path / ".prefect/temporary"
        assert not folder.exists()
        assert {name: os.environ.get(name) for name in CLIENT} == before
    passwords, homes = (
        {settings[name] for settings in started}
        for name in ("PREFECT_API_AUTH_STRING", "PREFECT_HOME")
    )
    assert len(passwords) == len(homes) == 2 and min(map(len, passwords)) > 30
