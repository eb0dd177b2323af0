"""A bulk run with a model that shouts, in parts of three rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.apps.bulk import normalize as bulk
from tasks.apps.bulk import source

TITLES = ["nurse", "", None, "nurse", "cook", "cook", "nurse"]


class Shouting:
    """Answers with capitals; nothing to what is null or empty."""

    schema = pa.schema(
        [("loud", pa.string()), ("abstained", pa.bool_()), ("reason", pa.string())]
        + [(name, pa.string()) for name in ("model_version", "taxonomy_version")]
    )

    def __init__(self) -> None:
        self.asked: list[str | None] = []

    def __call__(
        self, params: Mapping[str, Any], titles: Sequence[str | None]
    ) -> Callable[[], pa.Table]:
        self.asked += titles
        rows = [
            (title.upper(), False, None)
            if title
            else (None, True, "null" if title is None else "empty")
            for title in titles
        ]
        values = [dict(zip(self.schema.names, (*row, "m1", "t1"), strict=True)) for row in rows]
        return lambda: pa.Table.from_pylist(values, self.schema)

    def close(self) -> None:
        """Hold nothing."""


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Shouting:
    """Stand in for the registry's model; a part has three rows."""
    shouting = Shouting()

    @contextmanager
    def fetched(address: str, root: Path) -> Iterator[tuple[str, Path]]:
        yield f"{address}/1", root

    monkeypatch.setattr(bulk, "fetched", fetched)
    monkeypatch.setattr(bulk, "Answering", lambda folder, threads, many: shouting)
    monkeypatch.setattr(source, "ROWS", 3)
    return shouting


@pytest.fixture
def titles(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, chosen in (("a", TITLES), ("b", TITLES[:2])):
        table = pa.table({"row": range(len(chosen)), "title": pa.array(chosen, pa.string())})
        pq.write_table(table, folder / f"{name}.parquet")
    return folder


def run(source: Path, output: Path, cache: Path, **options: Any) -> dict[str, Any]:
    """Normalize with a root that has no profile."""
    chosen = {"model": "m", "root": cache.parent, **options}
    return bulk.normalize(str(source), output, cache_dir=cache, **chosen)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
