"""Compiled code that a process kept for others, and scores of what is no number."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from models.search import kernels
from tasks.release.model_package import reading
from tasks.release.model_package.serving_file import self_contained

SUM = """
import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np

spec = spec_from_file_location(sys.argv[1], "serving.py")
sys.modules[sys.argv[1]] = module = module_from_spec(spec)
spec.loader.exec_module(module)
add, masses = module.kernels_for(module.MANY).add_masses, np.zeros((1, 1), np.float32)
ones, counts = np.ones(2, np.float32), np.array([2])
add(np.array([[1, 0]], np.int32), ones[:1], ones, 0 * ones, counts, counts, masses)
print(f"{masses[0, 0]:.3f}", sum(add.stats.cache_hits.values()))
"""


def added(folder: Path, served: str, cache: Path) -> str:
    """Let a new process add up with a served file; return the sum, and how much it found compiled.

    It calls the file by the folder's name, as MLflow calls it something else at each load.
    """
    folder.mkdir(exist_ok=True)
    (folder / "serving.py").write_text(served, encoding="utf-8")
    command = [sys.executable, "-c", SUM, f"code_{folder.name}"]
    variables = {**os.environ, "XDG_CACHE_HOME": str(cache), "NUMBA_CACHE_DIR": ""}
    return subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.slow
def test_compiled_code_is_found_wherever_a_served_file_lies(tmp_path: Path) -> None:
    served, cache = self_contained(Path(reading.__file__)), tmp_path / "cache"
    assert added(tmp_path / "first", served, cache) == "3.718 0"
    assert added(tmp_path / "second", f"# further down\n\n{served}", cache) == "3.718 1"
    twice = served.replace("y = x * np.float32(1 / 64)", "y = x * np.float32(1 / 32)")
    assert added(tmp_path / "second", twice, cache) == "8.389 0", "e² instead of e"
    finer = served.replace("RANKS = np.float32(1 << 16)", "RANKS = np.float32(1 << 17)")
    assert added(tmp_path / "second", finer, cache) == "3.718 0", "another loop of the file"
    assert added(tmp_path / "second", served, cache) == "3.718 1"


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_compiled_code_is_compiled_anew(tmp_path: Path, ending: str) -> None:
    served, cache = self_contained(Path(reading.__file__)), tmp_path / "cache"
    assert added(tmp_path / "served", served, cache) == "3.718 0"
    for file in cache.rglob(f"*.{ending}"):
        file.write_bytes(file.read_bytes()[:200])
    assert added(tmp_path / "served", served, cache) == "3.718 0"
    assert added(tmp_path / "served", served, cache) == "3.718 1", "and kept"


@pytest.mark.slow
def test_compiled_code_is_kept_beside_a_file_of_a_user_without_a_folder_for_it(
    tmp_path: Path,
) -> None:
    served, none = self_contained(Path(reading.__file__)), tmp_path / "file"
    none.touch()
    for found in (0, 1):
        assert added(tmp_path / "served", served, none) == f"3.718 {found}"


def test_a_similarity_that_is_no_number_ends_in_a_score_that_is_none() -> None:
    near, weights = np.array([np.nan, 0.5, 0.4], np.float32), np.ones(3, np.float32)
    best, _, score = kernels.soft_score_of(near, weights, 2, np.float32(0.1))
    assert best in range(2) and np.isnan(score)
