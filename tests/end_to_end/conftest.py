"""Clones for the end-to-end tests: the repository as it is, and one whose pipeline is small."""

from __future__ import annotations

from pathlib import Path

import pytest
from clones import Clone, fresh_clone

SMALL = {
    "typos.variants": 1,
    "typos.probe_titles": 100,
    "pairs.rounds": 1,
    "train.max_steps": 40,
    "train.evaluate_every": 10,
    "train.encoder.layers": 1,
    "train.encoder.hidden": 8,
    "train.encoder.dim": 8,
    "train.encoder.dim_character": 8,
    "evaluate.bootstrap_draws": 200,
}


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all clones: Prefect takes ten seconds to set up its database."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def small_source(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Clone:
    """A clone with small parameters, committed; nothing has run. Not to be written to."""
    clone = fresh_clone(tmp_path_factory.mktemp("small_source"), home)
    clone.set_params(SMALL)
    (clone.root / "dvc.lock").unlink(missing_ok=True)
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "--message=small")
    return clone


@pytest.fixture(scope="session")
def small(small_source: Clone, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """The same after a bare `dvc repro report`, its dvc.lock committed. Not to be written to."""
    clone = small_source.copied(tmp_path_factory.mktemp("small"))
    clone.dvc("repro", "report", POLARS_MAX_THREADS="2", OMP_NUM_THREADS="2", MKL_NUM_THREADS="2")
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "--message=dvc.lock")
    return clone
