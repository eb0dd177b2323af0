"""The product of a package's prototypes beside numpy's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiny_run
import yaml

from models.search.stored_vectors import STEPS
from tasks.release.model_package.folder import RunFiles, build_artefact
from tasks.release.model_package.reading import read_normalizer


@pytest.mark.thorough
def test_the_graph_multiplies_whole_numbers_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random titles, and those that lie on one axis, whose digits are the largest."""
    monkeypatch.setattr("models.normalizer.normalizer.FEW", 2)
    root = tiny_run.make_run(tmp_path / "run")
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    params["evaluate"] |= {"occupation_score": "soft", "soft_temperature": 0.5}
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    build_artefact(RunFiles.below(root), tmp_path / "made")
    prototypes = read_normalizer(tmp_path / "made").prototypes
    assert prototypes is not None and prototypes.product is not None
    axes = prototypes.numbers.shape[0]
    random = np.random.default_rng(1).normal(size=(20, axes))
    random /= np.linalg.norm(random, axis=1, keepdims=True)
    titles = np.round(np.concatenate([random, np.eye(axes), -np.eye(axes)]) * STEPS)
    whole = titles.astype(np.int64) @ prototypes.numbers.astype(np.int64)
    sums = prototypes.product(titles.astype(np.float32))
    assert sums.dtype == np.float32 and (sums == whole).all()


def test_a_search_in_one_stage_has_none(tmp_path: Path) -> None:
    build_artefact(RunFiles.below(tiny_run.make_run(tmp_path / "run")), tmp_path / "made")
    assert read_normalizer(tmp_path / "made").prototypes is None
    assert not [*(tmp_path / "made").glob("prototypes*")]
