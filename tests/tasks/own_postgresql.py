"""A PostgreSQL server of a test's own, from the system's packages."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

NEEDS = "needs PostgreSQL's server: apt-get install postgresql"


@contextmanager
def postgresql() -> Iterator[str]:
    """Yield the address of an empty database, as MLflow and SQLAlchemy take it."""
    found = shutil.which("initdb") or next(
        map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None
    )
    if found is None:
        pytest.skip(NEEDS)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        if os.getuid() == 0:  # the server refuses root
            shutil.chown(folder, "postgres")
            shutil.chown(data, "postgres")

        def run(program: str, *words: str) -> None:
            own = [] if os.getuid() else ["runuser", "-u", "postgres", "--"]
            command = [*own, str(Path(found).with_name(program)), "-D", str(data), *words]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr + done.stdout

        run("initdb", "--auth=trust", "--username=rolecall", "--no-sync")
        settings = f"-p {port} -h 127.0.0.1 -k {folder} -F"
        run("pg_ctl", "start", "--wait", "-o", settings, "-l", str(data / "log"))
        try:
            yield f"postgresql+psycopg2://rolecall@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "stop", "--mode=immediate")
