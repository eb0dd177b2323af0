"""The product of a package's prototypes beside numpy's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiny_run
import yaml

from models.serving.package import read_normalizer
from models.serving.prototypes import DIGIT
from tasks.release.model_package.folder import build_artefact
from tasks.release.model_package.run_files import RunFiles


@pytest.mark.thorough
def test_the_graph_multiplies_whole_numbers_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random digits, and the largest ones."""
    monkeypatch.setattr("tasks.release.model_package.prototypes.FEW", 2)
    root = tiny_run.make_run(tmp_path / "run")
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    params["evaluate"] |= {"occupation_score": "soft", "soft_temperature": 0.5}
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    build_artefact(RunFiles.below(root), tmp_path / "made")
    prototypes = read_normalizer(tmp_path / "made").prototypes
    assert prototypes is not None
    axes = prototypes.numbers.shape[0]
    digits = np.random.default_rng(1).integers(0, 256, (20, axes)).astype(np.uint8)
    digits[:2] = [[1], [255]]
    exact = (digits.astype(np.int64) - DIGIT) @ prototypes.numbers.astype(np.int64)
    sums = prototypes.product(digits)
    assert sums.dtype == np.int32 and (sums == exact).all()


def test_a_search_in_one_stage_has_none(tmp_path: Path) -> None:
    build_artefact(RunFiles.below(tiny_run.make_run(tmp_path / "run")), tmp_path / "made")
    assert read_normalizer(tmp_path / "made").prototypes is None
    assert not [*(tmp_path / "made").glob("prototypes*")]
