"""Commits, dirt and hashes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import polars as pl
import pytest
import tiny_run

from tasks.registry.provenance import content_hash, git_commit, provenance, taxonomy_hash


def git(tree: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.hooksPath=/dev/null"]
    run = subprocess.run([*command, *arguments], cwd=tree, check=True, capture_output=True)
    return run.stdout.decode().strip()


def test_dirty_means_changed_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_commit(tmp_path) == "unknown"
    git(tmp_path, "init", "--quiet")
    assert git_commit(tmp_path) == "unknown"
    for name in ("code.py", "dvc.lock", "params.yaml"):
        (tmp_path / name).write_text("one", encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    commit = git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "dvc.lock").write_text("two", encoding="utf-8")
    (tmp_path / "params.yaml").write_text("two", encoding="utf-8")
    (tmp_path / "untracked").write_text("two", encoding="utf-8")
    assert git_commit(tmp_path) == commit
    (tmp_path / "code.py").write_text("two", encoding="utf-8")
    assert git_commit(tmp_path) == f"{commit}-dirty"


def test_md5_is_that_of_dvc(tmp_path: Path) -> None:
    """MD5 of "abc" is 900150983cd24fb0d6963f7d28e17f72 (RFC 1321)."""
    (tmp_path / "dvc.lock").write_text("abc", encoding="utf-8")
    (tmp_path / "data/split").mkdir(parents=True)
    (tmp_path / "data/split/queries.parquet").write_text("abc", encoding="utf-8")
    tags = provenance(tmp_path)
    assert tags["lock_md5"] == "900150983cd24fb0d6963f7d28e17f72"
    assert tags["params_md5"] == "missing"
    assert json.loads(tags["data_md5"]) == {
        "data/split/queries.parquet": "900150983cd24fb0d6963f7d28e17f72"
    }


def test_taxonomy_hash_sees_titles_and_labels_but_no_split() -> None:
    aliases, occupations = tiny_run.aliases(), tiny_run.occupations()
    same = taxonomy_hash(aliases, occupations)
    assert taxonomy_hash(aliases.reverse().with_columns(split=pl.lit("x")), occupations) == same
    assert taxonomy_hash(aliases[1:], occupations) != same
    renamed = occupations.with_columns(pl.col("occupation_label").str.to_uppercase())
    assert taxonomy_hash(aliases, renamed) != same


def test_content_hash_sees_names_contents_and_settings(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"ab")
    two.write_bytes(b"c")
    hashes = {content_hash([one, two], ""), content_hash([two, one], ""), content_hash([one], "")}
    hashes.add(content_hash([one, two], "best"))
    one.write_bytes(b"a")
    two.write_bytes(b"bc")
    hashes.add(content_hash([one, two], ""))
    assert len(hashes) == 5
