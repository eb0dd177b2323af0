"""Kernels: what is no number, and compiled code that is damaged or cannot be kept."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from models.serving import kernels

SUM = """
import numpy as np
from models.serving.kernels import add_masses

masses, ones, counts = np.zeros((1, 1), np.float32), np.ones(2, np.float32), np.array([2])
add_masses(np.array([[1, 0]], np.int32), ones[:1], ones, 0 * ones, counts, counts, masses)
print(f"{masses[0, 0]:.3f}", sum(add_masses._compiled.stats.cache_hits.values()))
"""


def added(folder: Path) -> str:
    """Let a new process add up with a copy of the kernels; return the sum, and what was kept."""
    variables = {**os.environ, "NUMBA_CACHE_DIR": ""}
    command = [sys.executable, "-c", SUM]
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_compiled_code_is_kept_and_damaged_files_of_it_are_passed_over(tmp_path, ending) -> None:
    source = Path(kernels.__file__).parents[1]
    (tmp_path / "models").mkdir()
    (tmp_path / "models/__init__.py").touch()
    for name in ("serving", "text"):
        shutil.copytree(
            source / name, tmp_path / "models" / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    assert [added(tmp_path), added(tmp_path)] == ["3.718 0", "3.718 1"]
    for file in tmp_path.rglob(f"*.{ending}"):
        file.write_bytes(file.read_bytes()[:200])
    assert added(tmp_path) == "3.718 0"


def test_a_similarity_that_is_no_number_ends_in_a_score_that_is_none() -> None:
    near, weights = np.array([np.nan, 0.5, 0.4], np.float32), np.ones(3, np.float32)
    best, _, score = kernels.soft_score_of(near, weights, 2, np.float32(0.1))
    assert best in range(2) and np.isnan(score)


def test_the_best_are_chosen_by_rank_then_by_their_order() -> None:
    rng = np.random.default_rng(1)
    scores = rng.integers(-40, 40, (50, 90)).astype(np.float32) / 64
    best = np.empty((50, 7), np.int64)
    kernels.choose_best(scores, best)
    for row, own in zip(scores, best, strict=True):
        expected = np.sort(np.argsort(-row, kind="stable")[:7])
        assert sorted(own.tolist()) == expected.tolist()
