"""The served file put together: whole, self-contained, and without two things of one name."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import tiny_run

from tasks.release.model_package import serving_file
from tasks.release.model_package.folder import build_artefact
from tasks.release.model_package.run_files import RunFiles
from tasks.release.model_package.serving_file import self_contained, sources


@pytest.mark.thorough
def test_it_defines_what_it_uses_and_imports_nothing_of_this_repository() -> None:
    tree = ast.parse(self_contained())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {str(name).split(".")[0] for name in imported} & {"models", "tasks", "flows"}
    names = [path.name for path in sources()]
    assert names[-1] == "serving.py"
    assert names.index("titles.py") < names.index("featurizer.py")
    assert len(set(names)) == len(names)


ALONE = """
import sys
from types import SimpleNamespace
import served
model = served.ServedNormalizer()
model.load_context(SimpleNamespace(artifacts={"normalizer": "artefact"}))
print(*model.predict(None, [" Ward  SISTER", None, "coder"], {"top_k": 1}).matched_title)
print(model.embed(["Nurse"]).shape, {"torch", "models", "tasks", "flows"} & set(sys.modules))
"""


@pytest.mark.thorough
def test_it_runs_alone(tmp_path: Path) -> None:
    """Without torch, in a folder with nothing but the artefact, beside packages of our names."""
    build_artefact(RunFiles.below(tiny_run.make_run(tmp_path / "run")), tmp_path / "artefact")
    for package in ("models", "tasks"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise ImportError('foreign')\n")
    (tmp_path / "served.py").write_text(self_contained(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ALONE], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "Ward sister None Coder\n(1, 8) set()\n", done.stderr


def test_two_things_of_one_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/first.py").write_text("SIZE = 1\n")
    (tmp_path / "second.py").write_text("from models.first import SIZE\n\ndef SIZE(): ...\n")
    monkeypatch.setattr(serving_file, "ROOT", tmp_path)
    with pytest.raises(ValueError, match=r"\['SIZE'\] mean two things"):
        self_contained(tmp_path / "second.py")
