"""`rolecall normalize` with a registered model: as it is typed, and killed at three moments."""

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tiny_registry
import tiny_run
from background import ROLECALL, ran
from mlflow_import import WARNINGS

from flows.environment import MARKS
from tasks.apps.bulk.source import ROWS

pytestmark = [pytest.mark.slow, *WARNINGS]
MODEL = "--model=models:/rolecall/1"
WORDS = ["nurse", "software developer", "ward", "senior", "night", "", "4 hrs", "🍞"]
KILLS = 3


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with one registered version and three parts of titles."""
    root = tiny_registry.registered(tmp_path_factory.mktemp("root"), 1)
    (root / "dvc.yaml").touch()
    rng = random.Random(1)
    titles = [" ".join(rng.choices(WORDS, k=3)) for _ in range(2 * ROWS + 1000)]
    pq.write_table(pa.table({"raw_title": titles, "row": range(len(titles))}), root / "in.parquet")
    return root


def environment(root: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    return kept | {"PYTHONPATH": str(tiny_run.ROOT), "GIT_CEILING_DIRECTORIES": str(root.parent)}


def begun(
    root: Path, output: str, cache: str, stderr: int | None = None
) -> subprocess.Popen[bytes]:
    words = ["in.parquet", output, MODEL, f"--cache-dir={cache}", "--threads=2"]
    pipes: Any = {"stdout": subprocess.DEVNULL, "stderr": stderr, "start_new_session": True}
    command = [*ROLECALL, "normalize", *words]
    return subprocess.Popen(command, cwd=root, env=environment(root), **pipes)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def whole(root: Path) -> float:
    """The run `whole` that nothing disturbs, its answers cached in `cache_whole`; its seconds."""
    start = time.monotonic()
    assert begun(root, "whole", "cache_whole").wait() == 0
    return time.monotonic() - start


def test_kills_lose_nothing_and_double_nothing(root: Path, whole: float) -> None:
    rng = random.Random(2)
    killed = 0
    for _ in range(KILLS):
        run = begun(root, "out", "cache_out")
        try:
            run.wait(rng.uniform(0.3, 1) * whole)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            killed += 1
        assert not (root / "out").exists() or (root / "out/manifest.json").is_file()
    assert killed, "none was at work any more"
    assert begun(root, "out", "cache_out").wait() == 0
    assert content(root / "out") == content(root / "whole")
    parts = sorted((root / "out").glob("part-*.parquet"))
    rows = pa.concat_tables(map(pq.read_table, parts))
    assert rows["row"].to_pylist() == [*range(2 * ROWS + 1000)]


def test_of_two_runs_at_once_one_ends_with_a_message(root: Path, whole: float) -> None:
    """Whatever their caches; the other one writes what it would write alone, also as one file."""
    runs = [begun(root, "both.parquet", f"cache_{name}", subprocess.PIPE) for name in "ab"]
    messages = [run.communicate()[1].decode() for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 1]
    (message,) = (text for run, text in zip(runs, messages, strict=True) if run.returncode)
    said = f"error: another run writes {root}/both.parquet.unfinished: wait until it has ended"
    assert said in message
    parts = sorted((root / "whole").glob("part-*.parquet"))
    rows = pa.concat_tables(map(pq.read_table, parts))
    assert pq.read_table(root / "both.parquet").equals(rows)
    both = {path.name for path in root.glob("both*")}
    assert both == {"both.parquet", "both.parquet.manifest.json"}


IN_A_SMALL_DISK = """
mount -t tmpfs -o size={bytes} none {disk} || exit 77
{run} && exit 1
ls {disk}/out.unfinished > during 2>&1
mount -o remount,size=1g none {disk} && {run} && cp -r {disk}/out moved
"""


def test_a_full_disk_keeps_what_is_finished(root: Path, whole: float, tmp_path: Path) -> None:
    """A file system of its own with room for the first part alone, and then with more."""
    disk = tmp_path / "disk"
    disk.mkdir()
    sizes = sorted(path.stat().st_size for path in (root / "whole").glob("part*"))
    room = sum(sizes) - sizes[-1] // 2
    words = [root / "in.parquet", disk / "out", MODEL, "--cache-dir=k", "--threads=2"]
    run = " ".join([*ROLECALL, "normalize", *map(str, words)])
    script = IN_A_SMALL_DISK.format(bytes=room, disk=disk, run=run)
    for mark in MARKS:
        shutil.copy(root / mark, tmp_path)
    address = f"sqlite:///{root.resolve()}/.mlflow/mlflow.db"
    command = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script)
    done = ran(tmp_path, *command, environment=environment(root), MLFLOW_TRACKING_URI=address)
    if done.returncode == 77:
        pytest.skip(f"no file system of its own can be had here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    assert "error: the disk is full: make room beside" in done.stderr
    assert "part-0000-00000.parquet" in (tmp_path / "during").read_text()
    moved, expected = content(tmp_path / "moved"), content(root / "whole")
    assert moved.keys() == expected.keys()
    assert all(moved[name] == expected[name] for name in moved if name != "manifest.json")
