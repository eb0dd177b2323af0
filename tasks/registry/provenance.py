"""Where a registered version comes from: commit, hashes of lock, parameters and data, as tags."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from tasks.files.queries import WRITERS

DATA = (
    "data/ingest/aliases.parquet",
    "data/ingest/inputs.parquet",
    "data/ingest/occupations.parquet",
    "data/split/aliases.parquet",
    "data/split/titles.parquet",
    *(f"data/{writer}/queries.parquet" for writer in WRITERS),
    "data/feedback/verdicts.parquet",
)
RECORDED = (":!dvc.lock", ":!params.yaml")  # their own hashes are tags


def provenance(root: Path) -> dict[str, str]:
    """Tags `git_commit`, `lock_md5`, `params_md5` and `data_md5`.

    The commit has `-dirty` behind it if a tracked file other than `dvc.lock` and `params.yaml`
    differs from it, and is `unknown` without a commit. `data_md5` is JSON from path to MD5, the
    same as in `dvc.lock`; missing files are left out.
    """
    data = {name: md5(root / name) for name in DATA if (root / name).is_file()}
    return {
        "git_commit": git_commit(root),
        "lock_md5": md5(root / "dvc.lock"),
        "params_md5": md5(root / "params.yaml"),
        "data_md5": json.dumps(data, sort_keys=True),
    }


def git_commit(root: Path) -> str:
    """HEAD, `-dirty` behind it if tracked files were changed; `unknown` where there is none."""
    try:
        commit = _git(root, "rev-parse", "--verify", "--quiet", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", ".", *RECORDED)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit + ("-dirty" if changed else "")


def md5(path: Path) -> str:
    """Return the MD5 of a file as DVC writes it, or `missing`."""
    if not path.is_file():
        return "missing"
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def taxonomy_hash(aliases: pl.DataFrame, occupations: pl.DataFrame) -> str:
    """Of what there is to answer with: titles and occupations, without labels' order or splits."""
    titles = sorted(aliases.select("occupation_id", "title").rows())
    known = sorted(occupations.select("occupation_id", "occupation_label").rows())
    text = json.dumps([titles, known], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def content_hash(files: Iterable[Path], settings: str) -> str:
    """Return the SHA-256 of the names and contents of files, in their order, and of `settings`."""
    digest = hashlib.sha256(settings.encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _git(root: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()
