"""`rolecall normalize` with a registered model: as it is typed, and killed at ten moments."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tiny_registry
import tiny_run
from mlflow_import import WARNINGS

from tasks.bulk.source import ROWS

pytestmark = [pytest.mark.slow, *WARNINGS]
MODEL = "--model=models:/rolecall/1"
WORDS = ["nurse", "software developer", "ward", "senior", "night", "", "4 hrs", "🍞"]
KILLS = 10


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with one registered version and three parts of titles."""
    root = tiny_registry.registered(tmp_path_factory.mktemp("root"), 1)
    rng = random.Random(1)
    titles = [" ".join(rng.choices(WORDS, k=3)) for _ in range(2 * ROWS + 1000)]
    pq.write_table(pa.table({"raw_title": titles, "row": range(len(titles))}), root / "in.parquet")
    return root


def environment(root: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    return kept | {"PYTHONPATH": str(tiny_run.ROOT), "GIT_CEILING_DIRECTORIES": str(root.parent)}


def begun(root: Path, output: str, known: str) -> subprocess.Popen[bytes]:
    words = ["in.parquet", output, MODEL, f"--known={known}", "--processes=2"]
    return subprocess.Popen(
        [sys.executable, "-m", "tasks.bulk", *words],
        cwd=root,
        env=environment(root),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_kills_lose_nothing_and_double_nothing(root: Path) -> None:
    start = time.monotonic()
    assert begun(root, "whole", "known_whole").wait() == 0
    lasted = time.monotonic() - start
    rng = random.Random(2)
    killed = 0
    for _ in range(KILLS):
        run = begun(root, "out", "known_out")
        try:
            run.wait(rng.uniform(0.3, 1) * lasted)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            killed += 1
        assert not (root / "out").exists() or (root / "out/manifest.json").is_file()
    assert killed, "none was at work any more"
    assert begun(root, "out", "known_out").wait() == 0
    assert content(root / "out") == content(root / "whole")
    parts = sorted((root / "out").glob("part-*.parquet"))
    rows = pa.concat_tables(map(pq.read_table, parts))
    assert rows["row"].to_pylist() == [*range(2 * ROWS + 1000)]
