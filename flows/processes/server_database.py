"""A database for one run of Prefect's temporary server, in a folder that goes with it.

Prefect takes ten seconds and more to make its tables and to register its blocks. The first run
keeps the database as it is then, and later runs begin with a copy. The next run removes what runs
that were killed left.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import prefect

from tasks.release.registry.scratch import own_folder


@dataclass(frozen=True)
class Database:
    """The database of one run; `template` is a database in which nothing has run."""

    file: Path
    template: Path

    @property
    def settings(self) -> dict[str, str]:
        """Prefect's settings for it; those of a copy leave out what the template has."""
        settings = {
            "PREFECT_HOME": str(self.file.parent),
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{self.file}",
        }
        if not self.file.is_file():
            return settings
        skipped = (
            "PREFECT_SERVER_DATABASE_MIGRATE_ON_START",
            "PREFECT_API_BLOCKS_REGISTER_ON_START",
        )
        return settings | dict.fromkeys(skipped, "false")

    def keep(self) -> None:
        """Make the template of the database as it is, if there is none yet."""
        if self.template.is_file():
            return
        partial = self.file.with_name("template.db")
        with (
            closing(sqlite3.connect(self.file)) as whole,
            closing(sqlite3.connect(partial)) as copy,
        ):
            whole.backup(copy)
        partial.replace(self.template)


@contextmanager
def temporary_database(folder: Path) -> Iterator[Database]:
    """Make a database below `folder` that is gone after the block, also when others run."""
    for made in (folder.parent, folder):
        made.mkdir(mode=0o700, exist_ok=True)
    with own_folder(folder) as own:
        database = Database(own / "prefect.db", folder / f"empty-{prefect.__version__}.db")
        if database.template.is_file():
            shutil.copyfile(database.template, database.file)
        yield database
