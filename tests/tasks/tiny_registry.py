"""Tiny runs in the default registry of a folder without git."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import mlflow_import  # and its warnings
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


def address_of(folder: Path) -> str:
    """Return the address of the registry that `registered` made in a folder."""
    return f"sqlite:///{folder.resolve()}/.mlflow/mlflow.db"


def with_champion(folder: Path, *seeds: int) -> Path:
    """Do as `registered`, and make the last version champion."""
    client = mlflow_import.mlflow.MlflowClient(address_of(registered(folder, *seeds)))
    client.set_registered_model_alias("rolecall", "champion", str(len(seeds)))
    return folder


def command_environment(root: Path) -> dict[str, str]:
    """Return the variables of a command whose registry is that of a folder."""
    kept = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    own = {"PYTHONPATH": str(tiny_run.ROOT), "GIT_CEILING_DIRECTORIES": str(root.parent)}
    return kept | own


@contextmanager
def killed_before(write: int, *methods: str) -> Iterator[None]:
    """Kill what the block does before a write to the registry, counted from 0 over `methods`."""
    writes, client = count(), mlflow_import.mlflow.MlflowClient

    def dying(method: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **named: object) -> object:
            if next(writes) >= write:
                raise KeyboardInterrupt
            return method(*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        for name in set(methods):
            patch.setattr(client, name, dying(getattr(client, name)))
        yield
