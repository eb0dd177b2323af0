"""Tiny runs in the default registry of a folder without git."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import mlflow_import  # noqa: F401  its warnings
import pytest
import tiny_run

from tasks.io.tracking import registry
from tasks.release.registry.register import register


def new_database(folder: Path) -> str:
    """Put an empty database of MLflow into a folder, as `mlflow.db`; return its address."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(_empty_database(), folder / "mlflow.db")
    return f"sqlite:///{folder.resolve()}/mlflow.db"


@cache
def _empty_database() -> Path:
    """Make the tables once a process, which takes seconds."""
    file = Path(mkdtemp()) / "mlflow.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{file}")
        with registry(file.parent) as client:
            client.search_registered_models()
    return file


def registered(folder: Path, *seeds: int) -> Path:
    """Register one run a seed as versions 1, 2, ... of `rolecall`; return the folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
        new_database(folder / ".mlflow")
        for version, seed in enumerate(seeds, start=1):
            assert register(tiny_run.make_run(folder, seed)).version == str(version)
    return folder
