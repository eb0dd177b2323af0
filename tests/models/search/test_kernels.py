"""Compiled code that a process kept, in a file that each process calls something else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from models.search import kernels
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


@pytest.mark.slow
def test_mlflow_gives_a_served_file_another_name_at_each_load(tmp_path: Path) -> None:
    served = self_contained(Path(kernels.__file__))
    (tmp_path / "serving.py").write_text(served, encoding="utf-8")
    printed = [
        subprocess.run(
            [sys.executable, "-c", SUM, name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for name in ("code_model_1", "code_model_2")
    ]
    assert printed == ["3.718 0", "3.718 1"]


def test_a_similarity_that_is_no_number_ends_in_a_score_that_is_none() -> None:
    near, weights = np.array([np.nan, 0.5, 0.4], np.float32), np.ones(3, np.float32)
    best, _, score = kernels.soft_score_of(near, weights, 2, np.float32(0.1))
    assert best in range(2) and np.isnan(score)
