"""Where a registered version comes from, as tags: commit, what differs from it, hashes of files.

A version that was made from the very commit has `tree` = `clean` and `params_changed` = `{}`.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import yaml

from tasks.io.hashes import md5
from tasks.io.masked import masked
from tasks.io.queries import WRITERS

DATA = (
    "data/ingest/aliases.parquet",
    "data/ingest/groups.parquet",
    "data/ingest/inputs.parquet",
    "data/ingest/occupations.parquet",
    "data/split/aliases.parquet",
    "data/split/titles.parquet",
    *(f"data/{writer}/queries.parquet" for writer in WRITERS),
    "data/feedback/verdicts.parquet",
)
RECORDED = (":!dvc.lock", ":!params.yaml")  # their own hashes are tags
UNKNOWN = "unknown"
LONGEST = 5000  # characters of a tag that every registry takes


def provenance(root: Path) -> dict[str, str]:
    """Tags `git_commit, tree, params_changed, lock_md5, params_md5` and `data_md5`.

    `git_commit` is HEAD; `tree` is `clean`, or names the tracked files other than `dvc.lock` and
    `params.yaml` that differ from it; without a commit both are `unknown`. `data_md5` is JSON from
    path to MD5, the same as in `dvc.lock`; missing files are left out.
    """
    data = {name: md5(root / name) for name in DATA if (root / name).is_file()}
    return {
        "git_commit": git_commit(root),
        "tree": tree(root),
        "params_changed": masked(changes_as_json(params_changed(root))),
        "lock_md5": md5(root / "dvc.lock"),
        "params_md5": md5(root / "params.yaml"),
        "data_md5": json.dumps(data, sort_keys=True),
    }


def git_commit(root: Path) -> str:
    """HEAD; `unknown` where there is none."""
    return _git(root, "rev-parse", "--verify", "--quiet", "HEAD").strip() or UNKNOWN


def tree(root: Path) -> str:
    """`clean`, `changed: ` and the tracked files that differ from HEAD, or `unknown`."""
    if git_commit(root) == UNKNOWN:
        return UNKNOWN
    differing = ("diff", "--name-only", "--no-renames", "--relative", "-z", "HEAD", "--", ".")
    names = _git(root, *differing, *RECORDED).split("\0")[:-1]
    kept = _fitting([f"{name}, " for name in names], LONGEST - len("changed: and 99999 more"))
    more = f", and {len(names) - kept} more" if kept < len(names) else ""
    return f"changed: {', '.join(names[:kept])}{more}" if names else "clean"


def params_changed(root: Path) -> dict[str, list[Any]] | None:
    """Parameters that differ between HEAD and the disk, by dotted name: [committed, here].

    One that stands on one side only is null on the other. Of a profile's workspace these are the
    profile's. None without a commit that holds parameters.
    """
    committed = _git(root, "show", "HEAD:./params.yaml")
    path = root / "params.yaml"
    if not committed or not path.is_file():
        return None
    before = dict(_flat(yaml.safe_load(committed)))
    here = dict(_flat(yaml.safe_load(path.read_text(encoding="utf-8"))))
    names = sorted(before.keys() | here.keys())
    pairs = {name: [before.get(name), here.get(name)] for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def changes_as_json(changed: dict[str, list[Any]] | None) -> str:
    """Write them as JSON of `LONGEST` characters at most; what is cut is counted under `(cut)`."""
    entries = [
        f"{json.dumps(name)}: {json.dumps(pair)}, " for name, pair in (changed or {}).items()
    ]
    kept = _fitting(entries, LONGEST - len('{"(cut)": "99999 more"}'))
    if changed is None or kept == len(entries):
        return json.dumps(changed)
    kept_changes: dict[str, Any] = dict(list(changed.items())[:kept])
    return json.dumps(kept_changes | {"(cut)": f"{len(entries) - kept} more"})


def _fitting(parts: list[str], length: int) -> int:
    """Return how many parts from the front fit into so many characters."""
    return sum(end <= length for end in accumulate(map(len, parts)))


def _flat(values: object, above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted name and value; a list is a value."""
    if not isinstance(values, dict) or not values:
        yield above, values
        return
    for name, value in values.items():
        yield from _flat(value, f"{above}.{name}" if above else str(name))


def _git(root: Path, *arguments: str) -> str:
    """Return what git says; nothing where there is no git, repository or commit."""
    command = ["git", *arguments]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout
