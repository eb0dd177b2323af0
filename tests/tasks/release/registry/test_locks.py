"""Processes side by side: one at a time changes the registry, and a kill leaves no rest."""

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiny_run
from mlflow_import import WARNINGS
from own_postgresql import postgresql
from tiny_registry import new_database

from tasks.io.tracking import registry
from tasks.release.registry.locks import FOLDER, scratch_folder, temporary_files_in
from tasks.release.registry.promote import promote
from tasks.release.registry.register import register

COUNT = """
import sys, time
from pathlib import Path
from tasks.release.registry.locks import champion_lock
file = Path("count")
for _ in range(10):
    with champion_lock(Path.cwd()):
        seen = int(file.read_text())
        time.sleep(0.01)
        file.write_text(str(seen + 1))
"""
HOLD = """
import time
from pathlib import Path
from tasks.release.registry.locks import champion_lock
with champion_lock(Path.cwd()):
    print("mine", flush=True)
    time.sleep(600)
"""

WORK = """
import sys
from pathlib import Path
from tasks.release.registry.locks import scratch_folder
with scratch_folder(Path.cwd()) as folder:
    (folder / "model").write_text("a copy")
    print(folder, flush=True)
    sys.stdin.read()
"""
pytestmark = [pytest.mark.slow, *WARNINGS]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path_factory) -> Iterator[str]:
    """The address of a registry's database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('store')}/mlflow.db"
        return
    with postgresql() as address:
        yield address


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose registry is SQLite's and its own."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", new_database(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tiny_run.ROOT))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def root(folder: Path, store: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same with a registry of either kind."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    return folder


def begun(root: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, *words], cwd=root, stdout=subprocess.PIPE, text=True)


def finished(*runs: subprocess.Popen[str]) -> list[str]:
    """Wait until all have succeeded; return what each one printed."""
    printed = [run.communicate()[0] for run in runs]
    assert {run.returncode for run in runs} == {0}
    return printed


def test_nobody_writes_over_what_another_has_written(root: Path) -> None:
    (root / "count").write_text("0")
    finished(*(begun(root, "-c", COUNT) for _ in range(6)))
    assert (root / "count").read_text() == "60"


def test_who_waits_says_so_and_comes_next_when_the_first_is_killed(root: Path) -> None:
    file = root / "count"
    file.write_text("0")
    first = begun(root, "-c", HOLD)
    assert first.stdout is not None and first.stdout.readline() == "mine\n"
    second = begun(root, "-c", COUNT)
    assert second.stdout is not None
    waits = "another run registers or promotes a version: waiting for it\n"
    assert second.stdout.readline() == waits
    time.sleep(0.5)
    assert file.read_text() == "0"
    first.send_signal(signal.SIGKILL)
    first.communicate()
    finished(second)
    assert file.read_text() == "10"


def test_one_content_that_two_register_at_once_is_one_version(folder: Path) -> None:
    tiny_run.make_run(folder)
    racing = [begun(folder, "-m", "tasks.release.registry.register", "--json") for _ in range(2)]
    outcomes = [json.loads(text.splitlines()[-1]) for text in finished(*racing)]
    assert [outcome["version"] for outcome in outcomes] == ["1", "1"]
    assert sorted(outcome["already_registered"] for outcome in outcomes) == [False, True]


def test_two_challengers_are_never_judged_beside_the_same_champion(folder: Path) -> None:
    """A useless champion and two better networks: the second is judged beside the first."""
    section = tiny_run.register_section("raced")
    runs = [folder / name for name in ("useless", "one", "two")]
    versions = []
    for seed, run in enumerate(runs):
        tiny_run.make_run(run, max(1, seed), run.name != "useless", register=section)
        versions.append(register(run).version)
    assert promote(runs[0], versions[0]).promoted
    command = ("-m", "tasks.release.registry.promote")
    racing = zip(runs[1:], versions[1:], strict=True)
    finished(*[begun(run, *command, f"--version={version}") for run, version in racing])
    decisions = [json.loads((run / "data/gate/decision.json").read_text()) for run in runs[1:]]
    first = next(one for one in decisions if one["opponent"] == "champion version 1")
    (second,) = (one for one in decisions if one is not first)
    assert first["promoted"] and second["opponent"] == f"champion version {first['version']}"
    with registry(folder) as client:
        champion = str(client.get_model_version_by_alias("raced", "champion").version)
    assert champion == (second if second["promoted"] else first)["version"]


def folders(folder: Path) -> list[Path]:
    return [*(folder / ".mlflow" / FOLDER).glob("*/")]


def test_a_folder_goes_at_the_end_of_a_block_and_after_an_error(folder: Path) -> None:
    with scratch_folder(folder) as one, scratch_folder(folder) as two:
        (one / "model").write_text("a copy")
        assert sorted(folders(folder)) == sorted([one, two])
    with pytest.raises(KeyboardInterrupt), scratch_folder(folder):
        raise KeyboardInterrupt
    assert folders(folder) == []


def test_the_next_run_removes_what_a_kill_left_and_no_more(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WORK], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        held = Path(other.stdout.readline().decode().strip())
        with scratch_folder(folder):
            assert (held / "model").read_text() == "a copy"
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert folders(folder) == [held]
    with scratch_folder(folder) as mine:
        assert folders(folder) == [mine]


def test_temporary_files_lie_in_a_folder_for_a_while(tmp_path: Path) -> None:
    before = tempfile.gettempdir()
    with temporary_files_in(tmp_path):
        assert Path(tempfile.mkdtemp()).parent == tmp_path
    assert tempfile.gettempdir() == before
