"""A profile's workspace: what it holds and shares, and that the main tree stays as it was."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from background import ROOT, git, rolecall

from flows.errors import Failure
from flows.processes import check_params
from flows.profiles import ProfileError
from flows.workspace import (
    check_out,
    copy_changes,
    follow_move,
    prepare,
    refuse_new_code,
    require_repository,
    workspace_of,
)

pytestmark = pytest.mark.slow  # each calls git and DVC several times
Run = Callable[..., str]
Dvc = tuple[str, ...]
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


def test_a_workspace_holds_the_profiles_files_and_values(toy, sources, run_in, dvc) -> None:
    """Leave the sample's committed lock unused; cache and remote are the main tree's."""
    (toy / "dvc.lock").write_text("schema: '2.0'\n")
    run_in(toy, "git", "add", "dvc.lock")
    run_in(toy, "git", "commit", "--quiet", "--message=lock")
    before = state(toy, run_in)

    workspace = prepare(toy, "other", lambda _: None)

    assert workspace == toy / ".workspaces" / "other"
    assert state(toy, run_in) == before
    params = yaml.safe_load((workspace / "params.yaml").read_text())
    taxonomy = {"reader": "table", "files": {"own name": "source titles.csv"}}
    assert params["ingest"] == {"folder": "data/external", "taxonomy": taxonomy}
    assert params["register"] == {"name": "toy-other", "top_k": 5}
    assert params["mix"] == "typos"
    assert not (workspace / "dvc.lock").exists()
    assert (workspace / FILE).read_text() == "title\ncooper\n"
    assert run_in(workspace, *dvc, "cache", "dir").strip() == str(toy / ".dvc" / "cache")
    assert str(toy.parent / "storage") in run_in(workspace, *dvc, "remote", "list")
    assert run_in(workspace, "git", "ls-files", "data") == "data/sample/titles.csv\n"
    assert [path.name for path in (workspace / "data/external").iterdir()] == [Path(FILE).name]


def test_a_refresh_follows_head_and_the_source_and_keeps_the_lock(toy, sources, run_in) -> None:
    workspace = prepare(toy, "other", lambda _: None)
    (workspace / "dvc.lock").write_text("schema: '2.0'\nstages: {}\n")
    (workspace / "dvc.yaml").write_text("stages: {}\n")
    params = toy / "params.yaml"
    params.write_text(params.read_text().replace("top_k: 5", "top_k: 6"))
    run_in(toy, "git", "commit", "--quiet", "--all", "--message=six")
    (sources / "source titles.csv").write_text("title\nwheelwright\n")
    (toy / "feedback/other/monday.csv").write_text("raw_title\n")

    assert prepare(toy, "other", lambda _: None) == workspace
    assert yaml.safe_load((workspace / "params.yaml").read_text())["register"]["top_k"] == 6
    assert (workspace / "dvc.yaml").read_text() == (toy / "dvc.yaml").read_text()
    assert (workspace / "dvc.lock").read_text() == "schema: '2.0'\nstages: {}\n"
    assert (workspace / FILE).read_text() == "title\nwheelwright\n"
    assert (workspace / "feedback/monday.csv").read_text() == "raw_title\n"


def test_a_source_that_moved_is_imported_anew(toy, sources, monkeypatch, run_in, dvc) -> None:
    """No stage runs for the new path, which is in no checksum; for other bytes one does."""
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
    deps, outs = [{"path": str(source)}], [{"path": "external/source titles.csv"}]
    text = yaml.safe_dump({"frozen": True, "deps": deps, "outs": outs})
    (workspace / "data/source titles.csv.dvc").write_text(text)
    (workspace / FILE).unlink()
    prepare(toy, "other", lambda _: None)
    assert (workspace / FILE).read_text() == "title\ncooper\n"
    assert (workspace / "data/source titles.csv.dvc").read_text() == whole


def test_a_folder_is_brought_whole_and_follows_its_source(toy, sources, run_in) -> None:
    """Bring files at any depth; what leaves the source leaves the workspace."""
    years = sources / "years"
    (years / "2012").mkdir(parents=True)
    (years / "2012/first.tsv").write_text("one\n")
    (years / "about.txt").write_text("two sets\n")
    (toy / "profiles" / "folder.yaml").write_text("external: {sets: below/years}\n")
    run_in(toy, "git", "add", "profiles")
    run_in(toy, "git", "commit", "--quiet", "--message=folder")

    brought = prepare(toy, "folder", lambda _: None) / "data" / "external" / "sets"
    assert contents(brought) == {"2012/first.tsv": "one\n", "about.txt": "two sets\n"}

    (years / "about.txt").unlink()
    (years / "2012/first.tsv").write_text("other\n")
    (years / "2012/second.tsv").write_text("three\n")
    prepare(toy, "folder", lambda _: None)
    assert contents(brought) == {"2012/first.tsv": "other\n", "2012/second.tsv": "three\n"}


def contents(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_the_command_runs_in_the_workspace(
    toy: Path, sources: Path, flow_environment: dict[str, str], run_in: Run, tmp_path: Path
) -> None:
    """The lock holds a name and a checksum, no path; the main tree is as it was."""
    before = state(toy, run_in)
    first = rolecall(toy, "retrain", "--profile", "other", environment=flow_environment)
    assert first.returncode == 0, first.stdout + first.stderr
    workspace = toy / ".workspaces" / "other"
    assert "model   toy-other version 1, champion" in first.stdout
    assert f"report  {workspace}/data/gate/report.html" in first.stdout
    lock = (workspace / "dvc.lock").read_text(encoding="utf-8")
    assert "path: data/external\n" in lock and str(tmp_path) not in lock and "below" not in lock
    assert state(toy, run_in) == before
    assert not (toy / "dvc.lock").exists() and not (toy / "data" / "ingest").exists()


def test_the_workspaces_own_code_runs(toy: Path, sources: Path, monkeypatch, capsys) -> None:
    """Run not the code that is installed or on PYTHONPATH but HEAD's, in the workspace."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    workspace = prepare(toy, "other", lambda _: None)
    check_params(workspace)
    assert capsys.readouterr().out == "checked top_k 5\n"


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """A repository at a path with an apostrophe, a blank and a letter beyond ASCII."""
    tree = tmp_path / "O'Brien über" / "clone"
    for name in ("models/code.py", "tasks/code.py", "gone.txt", "dvc.lock", ".gitignore"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("committed\n")
    (tree / ".gitignore").write_text(".workspaces/\n")
    git(tree, "init", "--quiet")
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "--message=one")
    return tree


def checked_out(main: Path) -> tuple[Path, list[str]]:
    workspace = main / ".workspaces" / "mine"
    check_out(main, workspace)
    return workspace, copy_changes(main, workspace)


def test_uncommitted_changes_count_until_they_are_taken_back(main: Path) -> None:
    """Changed, removed and added files; a lock stays out, and the main tree stays as it is."""
    (main / "models/code.py").write_text("changed\n")
    (main / "gone.txt").unlink()
    (main / "models/näw.py").write_text("new\n")
    git(main, "add", "models/näw.py")
    (main / "dvc.lock").write_text("a run's\n")
    before = git(main, "status", "--porcelain")
    workspace, changed = checked_out(main)
    assert changed == ["gone.txt", "models/code.py", "models/näw.py"]
    assert (workspace / "models/code.py").read_text() == "changed\n"
    assert (workspace / "models/näw.py").read_text() == "new\n"
    assert not (workspace / "gone.txt").exists() and not (workspace / "dvc.lock").exists()
    assert git(main, "status", "--porcelain") == before and git(main, "stash", "list") == ""
    assert "models/code.py" in git(workspace, "diff", "--name-only", "HEAD")  # for provenance

    git(main, "reset", "--quiet", "--hard")
    assert checked_out(main) == (workspace, [])
    assert (workspace / "models/code.py").read_text() == "committed\n"
    assert (workspace / "gone.txt").exists() and not (workspace / "models/näw.py").exists()


def test_code_that_git_does_not_know_is_refused(main: Path) -> None:
    (main / "notes.py").touch()  # no stage's
    refuse_new_code(main)
    for name in "abcde":
        (main / f"models/losses/{name}.py").parent.mkdir(exist_ok=True)
        (main / f"models/losses/{name}.py").touch()
    message = r"models/losses/a\.py, .*b\.py, .*c\.py and 2 more.*`git add`"
    with pytest.raises(ProfileError, match=message):
        refuse_new_code(main)
    git(main, "add", "models")
    refuse_new_code(main)


@pytest.mark.parametrize("copied", [False, True])
def test_a_workspace_moves_with_its_clone(main: Path, copied: bool) -> None:
    """A copy has a workspace of its own, and leaves the original's alone."""
    checked_out(main)
    there = main.with_name("there")
    shutil.copytree(main, there, symlinks=True) if copied else main.rename(there)
    workspace = there / ".workspaces" / "mine"
    assert follow_move(there, workspace)
    assert not follow_move(there, workspace)
    assert git(workspace, "rev-parse", "--show-toplevel") == str(workspace)
    common = git(workspace, "rev-parse", "--path-format=absolute", "--git-common-dir")
    assert common == str(there / ".git")
    assert checked_out(there) == (workspace, [])
    if copied:
        assert not follow_move(main, main / ".workspaces" / "mine")
        assert checked_out(main) == (main / ".workspaces" / "mine", [])
    assert not follow_move(there, there / ".workspaces" / "none")


@pytest.mark.parametrize("name", ["n" * 300, "../other", "a/b"])
def test_no_workspace_has_a_name_that_no_folder_has(main: Path, name: str) -> None:
    with pytest.raises(Failure, match=r"no profile '.{0,80}': up to 80"):
        workspace_of(main, name)


def test_a_zip_files_folder_is_refused_with_what_to_do(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(Failure, match=r"(?s)not a git repository.*`git clone`.*git init"):
        require_repository(tmp_path)
    git(tmp_path, "init", "--quiet")
    with pytest.raises(Failure, match="no commit yet"):
        require_repository(tmp_path)
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message=one")
    assert require_repository(tmp_path) == tmp_path.resolve()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Failure, match="git is not installed"):
        require_repository(tmp_path)
