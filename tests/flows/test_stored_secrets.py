"""No password of an address comes into Prefect's database, whether the run succeeds or fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import tiny_registry
from mlflow_import import WARNINGS

from tasks.io.masked import concealed

pytestmark = [pytest.mark.slow, *WARNINGS]
ROOT = Path(__file__).parents[2]
MODEL = "models:/rolecall/1"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """Serve a folder with a table of titles; yield the host and the port."""
    (tmp_path / "in.csv").write_text("title\nnurse\n")
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def test_prefect_s_database_holds_no_password(
    prefect_server: None, served: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.logging.handlers import APILogHandler
    from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL

    from flows.failure import Failure
    from flows.normalize import normalize

    monkeypatch.chdir(tiny_registry.registered(tmp_path / "run", 1))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    address = f"http://user:s3cret@{served}/{{}}.csv?token=h1dden"
    normalize(concealed(address.format("in")), str(tmp_path / "out.csv"), MODEL)
    with pytest.raises(Failure):
        normalize(concealed(address.format("absent")), str(tmp_path / "none.csv"), MODEL)
    APILogHandler().flush()
    file = PREFECT_API_DATABASE_CONNECTION_URL.value().removeprefix("sqlite+aiosqlite:///")
    with closing(sqlite3.connect(file)) as database:
        text = "\n".join(database.iterdump())
    assert text.count(f"http://***@{served}/in.csv?***") >= 1
    assert text.count(f"http://***@{served}/absent.csv?***") >= 1
    assert "s3cret" not in text and "h1dden" not in text
