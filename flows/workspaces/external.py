"""Brings a profile's external files and folders into `data/external/` with DVC's imports.

`data/NAME.dvc` looks as `dvc import-url` would write it: `dvc update` copies the source, keeps its
checksum, and sees whether it has changed. The file holds a path or address and stays untracked in
the workspace, beside the folder, not in it: a stage that depends on the folder then has the same
checksum in `dvc.lock` wherever the files came from.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from flows.environment import stage_environment
from flows.processes.streaming import Show
from flows.workspaces.sources import resolve_sources

FOLDER = Path("data/external")


def import_external(
    workspace: Path, external: Mapping[str, str], data: str | None, main: Path, show: Show
) -> None:
    """Import or update each file or folder of `external` (name -> source).

    Args:
        workspace: a DVC repository.
        external: names below `data/external`, and their sources.
        data: the value of ROLECALL_DATA: a folder (relative to `main`) or the beginning of a URL,
            of which only some kinds (s3, ssh, not http) have folders.
        main: the main tree.
        show: takes a line for each import.

    Raises:
        ExternalError: `data` is needed and not set, or a file or folder does not exist.
    """
    sources = resolve_sources(external, data, main)
    (workspace / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, source in sources.items():
        show(f"import {name}")
        stage = FOLDER.with_name(f"{name}.dvc")
        if _imported_source(workspace / stage) != source:
            output = {"path": f"{FOLDER.name}/{name}"}
            stub = {"frozen": True, "deps": [{"path": source}], "outs": [output]}
            (workspace / stage).write_text(yaml.safe_dump(stub), encoding="utf-8")
        subprocess.run(
            [sys.executable, "-m", "dvc", "--wait-for-lock", "update", "--quiet", str(stage)],
            cwd=workspace,
            env=stage_environment(),
            check=True,
            capture_output=True,
            text=True,
        )


def _imported_source(stage: Path) -> str | None:
    if not stage.exists():
        return None
    source: str = yaml.safe_load(stage.read_text(encoding="utf-8"))["deps"][0]["path"]
    return source
