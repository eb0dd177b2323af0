"""A profile's workspace: what it holds, what it shares, and that the main tree stays as it was."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from flows.failure import Failure
from flows.processes.command import check_params
from flows.workspaces.workspace import prepare

pytestmark = pytest.mark.slow  # each calls git and DVC several times
Run = Callable[..., str]
Dvc = tuple[str, ...]
ROOT = Path(__file__).parents[2]
FILE = "data/external/source titles.csv"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of external data, named by ROLECALL_DATA."""
    folder = tmp_path / "sources" / "below"
    folder.mkdir(parents=True)
    (folder / "source titles.csv").write_text("title\ncooper\n")
    monkeypatch.setenv("ROLECALL_DATA", str(folder.parent))
    return folder


def state(root: Path, run_in: Run) -> tuple[str, ...]:
    """Return what git says of the main tree, and the bytes of what a profile overrides."""
    return (
        run_in(root, "git", "status", "--porcelain", "--untracked-files=all"),
        run_in(root, "git", "rev-parse", "HEAD"),
        run_in(root, "git", "branch", "--list"),
        run_in(root, "git", "stash", "list"),
        *((root / name).read_text() for name in ("params.yaml", "dvc.yaml", ".dvc/config")),
    )


def test_a_workspace_holds_the_profiles_files_and_values(
    toy: Path, sources: Path, run_in: Run, dvc: Dvc
) -> None:
    """Leave the sample's committed lock unused; cache and remote are the main tree's."""
    (toy / "dvc.lock").write_text("schema: '2.0'\n")
    run_in(toy, "git", "add", "dvc.lock")
    run_in(toy, "git", "commit", "--quiet", "--message=lock")
    before = state(toy, run_in)

    workspace = prepare(toy, "other", lambda _: None)

    assert workspace == toy / ".workspaces" / "other"
    assert state(toy, run_in) == before
    params = yaml.safe_load((workspace / "params.yaml").read_text())
    assert params["ingest"]["taxonomy"] == {
        "reader": "table",
        "files": {"own name": "source titles.csv"},
    }
    assert params["register"] == {"name": "toy-other", "top_k": 5}
    assert params["ingest"]["folder"] == "data/external"
    assert params["mix"] == "typos"
    assert not (workspace / "dvc.lock").exists()
    assert (workspace / FILE).read_text() == "title\ncooper\n"
    assert run_in(workspace, *dvc, "cache", "dir").strip() == str(toy / ".dvc" / "cache")
    assert str(toy.parent / "storage") in run_in(workspace, *dvc, "remote", "list")
    assert run_in(workspace, "git", "ls-files", "data") == "data/sample/titles.csv\n"
    assert [path.name for path in (workspace / "data/external").iterdir()] == [Path(FILE).name]


def test_a_refresh_follows_head_and_the_source_and_keeps_the_lock(
    toy: Path, sources: Path, run_in: Run
) -> None:
    workspace = prepare(toy, "other", lambda _: None)
    (workspace / "dvc.lock").write_text("schema: '2.0'\nstages: {}\n")
    (workspace / "dvc.yaml").write_text("stages: {}\n")
    (toy / "params.yaml").write_text(
        (toy / "params.yaml").read_text().replace("top_k: 5", "top_k: 6")
    )
    run_in(toy, "git", "commit", "--quiet", "--all", "--message=six")
    (sources / "source titles.csv").write_text("title\nwheelwright\n")
    (toy / "feedback/other/monday.csv").write_text("raw_title\n")

    assert prepare(toy, "other", lambda _: None) == workspace
    assert yaml.safe_load((workspace / "params.yaml").read_text())["register"]["top_k"] == 6
    assert (workspace / "dvc.yaml").read_text() == (toy / "dvc.yaml").read_text()
    assert (workspace / "dvc.lock").read_text() == "schema: '2.0'\nstages: {}\n"
    assert (workspace / FILE).read_text() == "title\nwheelwright\n"
    assert (workspace / "feedback/monday.csv").read_text() == "raw_title\n"


def test_a_source_that_moved_is_imported_anew(
    toy: Path, sources: Path, monkeypatch: pytest.MonkeyPatch, run_in: Run, dvc: Dvc
) -> None:
    """No stage runs for the new place, whose name is in no checksum; for other bytes one does."""
    workspace = prepare(toy, "other", lambda _: None)
    run_in(workspace, *dvc, "repro", "ingest")
    lock = (workspace / "dvc.lock").read_bytes()
    moved = sources.parent.rename(sources.parents[1] / "moved")
    monkeypatch.setenv("ROLECALL_DATA", "../moved")  # relative: to the main tree
    prepare(toy, "other", lambda _: None)
    assert str(moved) in (workspace / "data/source titles.csv.dvc").read_text()
    assert "Running stage" not in run_in(workspace, *dvc, "repro", "ingest")
    assert (workspace / "dvc.lock").read_bytes() == lock

    (moved / "below" / "source titles.csv").write_text("title\nfletcher\n")
    prepare(toy, "other", lambda _: None)
    assert (workspace / FILE).read_text() == "title\nfletcher\n"
    assert "Running stage 'ingest'" in run_in(workspace, *dvc, "repro", "ingest")


def test_an_import_that_was_killed_is_done_again(toy: Path, sources: Path) -> None:
    """Its `.dvc` file stands, with no checksum and nothing brought."""
    workspace = prepare(toy, "other", lambda _: None)
    whole = (workspace / "data/source titles.csv.dvc").read_text()
    source = sources / "source titles.csv"
    (workspace / "data/source titles.csv.dvc").write_text(
        yaml.safe_dump(
            {
                "frozen": True,
                "deps": [{"path": str(source)}],
                "outs": [{"path": "external/source titles.csv"}],
            }
        )
    )
    (workspace / FILE).unlink()
    prepare(toy, "other", lambda _: None)
    assert (workspace / FILE).read_text() == "title\ncooper\n"
    assert (workspace / "data/source titles.csv.dvc").read_text() == whole


def test_a_folder_is_brought_whole_and_follows_its_source(
    toy: Path, sources: Path, run_in: Run
) -> None:
    """Bring files at any depth; what leaves the source leaves the workspace."""
    (sources / "years" / "2012").mkdir(parents=True)
    (sources / "years" / "2012" / "first.tsv").write_text("one\n")
    (sources / "years" / "about.txt").write_text("two sets\n")
    (toy / "profiles" / "folder.yaml").write_text("external: {sets: below/years}\n")
    run_in(toy, "git", "add", "profiles")
    run_in(toy, "git", "commit", "--quiet", "--message=folder")

    brought = prepare(toy, "folder", lambda _: None) / "data" / "external" / "sets"
    assert contents(brought) == {"2012/first.tsv": "one\n", "about.txt": "two sets\n"}

    (sources / "years" / "about.txt").unlink()
    (sources / "years" / "2012" / "first.tsv").write_text("other\n")
    (sources / "years" / "2012" / "second.tsv").write_text("three\n")
    prepare(toy, "folder", lambda _: None)
    assert contents(brought) == {"2012/first.tsv": "other\n", "2012/second.tsv": "three\n"}


def contents(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_missing_data_say_what_to_set(
    toy: Path, sources: Path, monkeypatch: pytest.MonkeyPatch, run_in: Run
) -> None:
    before = state(toy, run_in)
    monkeypatch.setenv("ROLECALL_DATA", str(sources))
    with pytest.raises(Failure, match=r"profile other: no file or folder .*docs/SOURCES\.md"):
        prepare(toy, "other", lambda _: None)
    monkeypatch.delenv("ROLECALL_DATA")
    with pytest.raises(Failure, match=r"set ROLECALL_DATA .*docs/SOURCES\.md"):
        prepare(toy, "other", lambda _: None)
    with pytest.raises(Failure, match="no profile 'xyzzy'"):
        prepare(toy, "xyzzy", lambda _: None)
    assert state(toy, run_in) == before


def test_the_command_runs_in_the_workspace(
    toy: Path, sources: Path, flow_environment: dict[str, str], run_in: Run, tmp_path: Path
) -> None:
    """Run twice: the lock holds a name and a checksum, no path; the second run skips all."""
    before = state(toy, run_in)
    command = [sys.executable, "-m", "flows.cli", "retrain", "--profile", "other"]
    first = subprocess.run(command, cwd=toy, env=flow_environment, capture_output=True, text=True)
    assert first.returncode == 0, first.stdout + first.stderr
    workspace = toy / ".workspaces" / "other"
    assert "model   toy-other version 1, champion" in first.stdout
    assert f"report  {workspace}/data/gate/report.html" in first.stdout
    lock = (workspace / "dvc.lock").read_bytes()
    assert b"path: data/external\n" in lock
    assert str(tmp_path).encode() not in lock
    assert b"below" not in lock
    assert state(toy, run_in) == before
    assert not (toy / "dvc.lock").exists()
    assert not (toy / "data" / "ingest").exists()

    second = subprocess.run(command, cwd=toy, env=flow_environment, capture_output=True, text=True)
    assert second.returncode == 0, second.stderr
    assert second.stdout.splitlines()[-1] == "to do   nothing"
    assert (workspace / "dvc.lock").read_bytes() == lock


def test_the_workspaces_own_code_runs(
    toy: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run not the code that is installed or on PYTHONPATH but HEAD's, in the workspace."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    workspace = prepare(toy, "other", lambda _: None)
    lines: list[str] = []
    check_params(workspace, lines.append)
    assert lines == ["checked top_k 5"]
