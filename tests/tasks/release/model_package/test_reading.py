"""A package is read without MLflow, pandas and torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import tiny_run

from tasks.release.model_package.folder import build_artefact
from tasks.release.model_package.run_files import RunFiles

READ = """
import sys
from pathlib import Path
from tasks.release.model_package.reading import read_normalizer
normalizer = read_normalizer(Path("artefact"))
print(normalizer.predict([" Ward  SISTER"])[0].matched_title, normalizer.embed(["nurse"]).shape)
print({"torch", "mlflow", "pandas", "polars"} & set(sys.modules))
"""


@pytest.mark.thorough
def test_it_needs_neither_mlflow_nor_pandas(tmp_path: Path) -> None:
    build_artefact(RunFiles.below(tiny_run.make_run(tmp_path / "run")), tmp_path / "artefact")
    done = subprocess.run(
        [sys.executable, "-c", READ],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tiny_run.ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "Ward sister (1, 8)\nset()\n", done.stderr
