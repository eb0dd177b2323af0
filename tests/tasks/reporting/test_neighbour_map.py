"""The map: neighbours by a loop, groups apart, and the same bytes with any number of threads."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from tasks.reporting.neighbour_map import kept_neighbours, places

PROGRAM = """
import sys
import numpy as np
from tasks.reporting.neighbour_map import places
points = np.random.default_rng(3).normal(size=(150, 8))
points /= np.linalg.norm(points, axis=1, keepdims=True)
sys.stdout.buffer.write(places(points, 5).tobytes())
"""


def groups(count: int, size: int) -> np.ndarray:
    """Unit vectors around so many axes."""
    rng = np.random.default_rng(1)
    points = np.repeat(np.eye(count, 8), size, axis=0) + rng.normal(
        scale=0.05, size=(count * size, 8)
    )
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def run_with(threads: int, kernel: str) -> bytes:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    settings = {**dict.fromkeys(names, str(threads)), "OPENBLAS_CORETYPE": kernel}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(
        command, env={**os.environ, **settings}, check=True, capture_output=True
    ).stdout


def test_groups_stay_together():
    """Place five groups of twelve: the eleven nearest of each point are its group."""
    found = places(groups(5, 12), 1)
    apart = np.linalg.norm(found[:, None] - found[None], axis=2)
    nearest = np.argsort(apart, axis=1)[:, :12]
    assert (nearest // 12 == np.arange(60)[:, None] // 12).all()


def test_kept_neighbours_against_a_loop():
    rng = np.random.default_rng(2)
    embeddings, found = rng.normal(size=(30, 4)) / 4, rng.normal(size=(30, 2))
    kept = 0
    for one in range(30):
        others = [other for other in range(30) if other != one]
        closest = min(others, key=lambda o: np.linalg.norm(found[o] - found[one]))
        others.sort(key=lambda o: np.linalg.norm(embeddings[o] - embeddings[one]))
        kept += closest in others[:10]
    assert 0 < kept < 30
    assert kept_neighbours(embeddings, found) == pytest.approx(kept / 30)


@pytest.mark.parametrize("embeddings", [np.eye(3), np.ones((5, 4)) / 2, groups(2, 2)])
def test_few_or_equal_embeddings_have_finite_places(embeddings):
    found = places(embeddings, 1)
    assert found.shape == (len(embeddings), 2)
    assert np.isfinite(found).all()


@pytest.mark.slow
def test_equal_bytes_with_one_or_two_threads_and_another_algebra():
    """OpenBLAS takes the kernels of an old processor; other libraries ignore the name."""
    first = run_with(1, "Nehalem")
    assert first == run_with(2, "Haswell")
    assert len(first) == 150 * 2 * 8
