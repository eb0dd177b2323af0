"""The temporary server's database: made once, copied for each run, gone afterwards."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from flows.processes.login import kept_password, new_password
from flows.processes.server_database import temporary_database

MIGRATE = "PREFECT_SERVER_DATABASE_MIGRATE_ON_START"


def test_later_runs_begin_with_the_first_ones_tables(tmp_path: Path) -> None:
    with temporary_database(tmp_path / "t") as first:
        assert MIGRATE not in first.settings
        with closing(sqlite3.connect(first.file)) as database:
            database.execute("create table made (x)")
        first.keep()
        with temporary_database(tmp_path / "t") as second:
            assert second.settings[MIGRATE] == "false"
            assert second.file != first.file
            with closing(sqlite3.connect(second.file)) as database:
                assert database.execute("select * from made").fetchall() == []
        assert first.file.is_file()
    assert [file.name for file in (tmp_path / "t").iterdir()] == [first.template.name]


def test_the_folder_of_a_killed_run_is_removed(tmp_path: Path) -> None:
    (tmp_path / "of a killed run").mkdir()
    with temporary_database(tmp_path) as database:
        assert [*tmp_path.glob("*/")] == [database.file.parent]


def test_nobody_else_reads_the_database_or_the_password(tmp_path: Path) -> None:
    with temporary_database(tmp_path / "made" / "t") as database:
        folders = (tmp_path / "made", tmp_path / "made/t", database.file.parent)
        assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700] * 3
    file = tmp_path / "made" / "password"
    file.touch(0o644)  # empty: of a start that was killed
    password = kept_password(file)
    assert file.read_text() == password + "\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert kept_password(file) == password
    assert new_password() != password
