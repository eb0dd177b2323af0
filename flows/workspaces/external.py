"""Brings a profile's outside files and folders into `data/external/` with DVC's imports.

`data/NAME.dvc` is one that `dvc import-url` could have written: `dvc update` copies what is there,
remembers its checksum, and sees whether the source has changed. It holds a path or address and
stays untracked in the workspace, beside the folder, not in it: a stage that has the folder as dep
has the same checksum in `dvc.lock` wherever the files came from.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml

from flows.quiet import stage_environment
from flows.workspaces.sources import located

FOLDER = Path("data/external")


def bring(
    workspace: Path,
    external: Mapping[str, str],
    data: str | None,
    main: Path,
    say: Callable[[str], None],
) -> None:
    """Import or update each file or folder of `external` (name -> source).

    Args:
        workspace: a DVC repository.
        external: names below `data/external`, and their sources.
        data: the value of ROLECALL_DATA: a folder (relative to `main`) or the beginning of a URL,
            of which only some kinds (s3, ssh, not http) have folders.
        main: the main tree.
        say: is told what is brought.

    Raises:
        ExternalError: when `data` is needed and not set, or a file or folder is not there.
    """
    sources = located(external, data, main)
    (workspace / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, source in sources.items():
        say(f"import {name}")
        stage = FOLDER.with_name(f"{name}.dvc")
        if _imported_from(workspace / stage) != source:
            stub = {
                "frozen": True,
                "deps": [{"path": source}],
                "outs": [{"path": f"{FOLDER.name}/{name}"}],
            }
            (workspace / stage).write_text(yaml.safe_dump(stub), encoding="utf-8")
        _dvc(workspace, "update", "--quiet", stage.as_posix())


def _imported_from(stage: Path) -> str | None:
    if not stage.exists():
        return None
    source: str = yaml.safe_load(stage.read_text(encoding="utf-8"))["deps"][0]["path"]
    return source


def _dvc(workspace: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", *arguments]
    environment = stage_environment()
    subprocess.run(
        command, cwd=workspace, env=environment, check=True, capture_output=True, text=True
    )
