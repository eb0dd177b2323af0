"""Commits, what differs from them, and hashes."""

import json
from pathlib import Path

import polars as pl
import pytest
import tiny_run
import yaml
from background import git

from tasks.io.files import content_hash
from tasks.io.frames import taxonomy_hash
from tasks.release.registry.register import LONGEST, changes_as_json, provenance, tree


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One commit of code, lock and parameters, in a folder below the repository's own."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    root = tmp_path / "clone"
    root.mkdir()
    git(tmp_path, "init", "--quiet")
    for name in ("code.py", "naïve name.py", "dvc.lock"):
        (root / name).write_text("one", encoding="utf-8")
    params = {"seed": 1, "train": {"max_steps": 10, "encoder": {"kind": "a"}}, "seeds": [1, 2]}
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    return root


def test_a_clean_tree_is_the_commit(repository: Path) -> None:
    """Whatever git does not track, what DVC writes, and parameters said in another way."""
    (repository / "untracked").write_text("two", encoding="utf-8")
    (repository / "dvc.lock").write_text("two", encoding="utf-8")
    params = repository / "params.yaml"
    params.write_text("# remark\n" + params.read_text(encoding="utf-8"), encoding="utf-8")
    tags = provenance(repository)
    assert tags["git_commit"] == git(repository, "rev-parse", "HEAD")
    assert tags["tree"] == "clean"
    assert tags["params_changed"] == "{}"


def test_changed_files_are_named(repository: Path) -> None:
    """Changed, staged or deleted; not the folder beside this one."""
    (repository / "code.py").write_text("two", encoding="utf-8")
    (repository / "naïve name.py").unlink()
    (repository / "new.py").write_text("two", encoding="utf-8")
    git(repository, "add", "new.py")
    assert tree(repository) == "changed: code.py, naïve name.py, new.py"


def test_changed_parameters_are_named_with_both_values(repository: Path) -> None:
    params = {"seed": 1, "train": {"max_steps": 20, "loss": {}, "encoder": {"kind": "a"}}}
    (repository / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    assert tree(repository) == "clean"  # named by themselves
    changed = {"seeds": [[1, 2], None], "train.loss": [None, {}], "train.max_steps": [10, 20]}
    assert json.loads(provenance(repository)["params_changed"]) == changed


def test_without_a_commit_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "params.yaml").write_text("seed: 1", encoding="utf-8")
    for _ in range(2):
        tags = provenance(tmp_path)
        assert (tags["git_commit"], tags["tree"]) == ("unknown", "unknown")
        assert json.loads(tags["params_changed"]) is None
        git(tmp_path, "init", "--quiet")


def test_long_tags_are_cut_between_their_parts_and_say_so(repository: Path) -> None:
    changed = {f"parameter_{number:04}": [0, "x" * 50] for number in range(200)}
    text = changes_as_json(changed)
    overrides = json.loads(text)
    assert LONGEST - 100 < len(text) <= LONGEST
    assert overrides.pop("(cut)") == f"{200 - len(overrides)} more"
    assert overrides == {name: changed[name] for name in list(changed)[: len(overrides)]}
    for number in range(200):
        (repository / f"{number:03}{'y' * 40}.py").write_text("", encoding="utf-8")
    git(repository, "add", ".")
    said = tree(repository)
    assert LONGEST - 100 < len(said) <= LONGEST
    assert said.endswith(f", and {200 - said.count('.py')} more")


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
