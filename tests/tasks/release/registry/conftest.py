"""A tiny run for each test, and one registry for those of a module."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import tiny_run


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One database for the module: making it takes seconds; tests differ by the model's name."""
    return f"sqlite:///{tmp_path_factory.mktemp('store')}/mlflow.db"


@pytest.fixture
def make_run(request: pytest.FixtureRequest) -> Callable[..., Path]:
    """Make a run in a folder, of a seed, good or not, whose model is named for the test."""
    return partial(tiny_run.make_run, register=tiny_run.register_section(request.node.name))


@pytest.fixture
def root(store: str, tmp_path, monkeypatch, make_run: Callable[..., Path]) -> Path:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.chdir(tmp_path)  # where MLflow puts artifacts of a foreign store
    return make_run(tmp_path / "run")
