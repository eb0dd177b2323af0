"""The repository's `.gitignore` hides data from git and shows imports to DVC."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.workspaces.external import import_external

ROOT = Path(__file__).parents[2]


@pytest.mark.thorough
def test_dvc_sees_imports_below_the_ignored_folder(
    tmp_path: Path, run_in: Callable[..., str], dvc: tuple[str, ...]
) -> None:
    """Those that people make, and those of a profile, beside the folder.

    Ignore no folder with its slash, which DVC prunes: `/data/*` would hide `data/` itself.
    """
    run_in(tmp_path, "git", "init", "--quiet")
    run_in(tmp_path, *dvc, "init", "--quiet")
    shutil.copy(ROOT / ".gitignore", tmp_path)
    (tmp_path / "data" / "external").mkdir(parents=True)
    (tmp_path / "data" / "stage.csv").write_text("made by a stage")
    (tmp_path / "source.csv").write_text("made outside")
    run_in(tmp_path, *dvc, "import-url", "--quiet", "source.csv", "data/external/file.csv")
    external = {"other.csv": "source.csv"}
    import_external(tmp_path, external, str(tmp_path), tmp_path, lambda _: None)
    stages = ["data/external/file.csv.dvc", "data/other.csv.dvc"]
    listed = run_in(tmp_path, *dvc, "stage", "list", "--all", "--name-only").splitlines()
    assert sorted(listed) == stages
    seen = run_in(tmp_path, "git", "status", "--porcelain", "--untracked-files=all", "data")
    assert seen.splitlines() == [f"?? {stage}" for stage in stages]


@pytest.mark.thorough
def test_the_sample_does_not_depend_on_feedback_of_profiles(
    tmp_path: Path, run_in: Callable[..., str], dvc: tuple[str, ...]
) -> None:
    """Reviewers' files are in no commit; DVC sees those of the sample alone."""
    run_in(tmp_path, "git", "init", "--quiet")
    run_in(tmp_path, *dvc, "init", "--quiet")
    for name in (".gitignore", ".dvcignore"):
        shutil.copy(ROOT / name, tmp_path)
    files = ["feedback/README.md", "feedback/monday.csv", "feedback/esco/monday.csv"]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    seen = run_in(tmp_path, "git", "status", "--porcelain", "--untracked-files=all", "feedback")
    assert seen == f"?? {files[0]}\n"
    assert run_in(tmp_path, *dvc, "check-ignore", *files).splitlines() == [files[2]]
