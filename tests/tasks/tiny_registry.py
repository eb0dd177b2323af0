"""Tiny runs in the default registry of a folder without git."""

from __future__ import annotations

from pathlib import Path

import mlflow_import  # noqa: F401  its warnings
import pytest
import tiny_run

from tasks.release.registry.register import register


def registered(folder: Path, *seeds: int) -> Path:
    """Register one run a seed as versions 1, 2, ... of `rolecall`; return the folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
        for version, seed in enumerate(seeds, start=1):
            assert register(tiny_run.make_run(folder, seed)).version == str(version)
    return folder
