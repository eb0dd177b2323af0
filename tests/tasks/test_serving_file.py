"""The served file put together: whole, self-contained, and without two things of one name."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tasks import serving_file
from tasks.serving_file import self_contained, sources


def test_it_defines_what_it_uses_and_imports_nothing_of_this_repository() -> None:
    tree = ast.parse(self_contained())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {str(name).split(".")[0] for name in imported} & {"models", "tasks", "flows"}
    names = [path.name for path in sources()]
    assert names[-1] == "serving.py"
    assert names.index("titles.py") < names.index("featurizer.py")
    assert len(set(names)) == len(names)


def test_it_runs_alone(tmp_path: Path) -> None:
    """In an empty folder, beside foreign packages of our names."""
    for package in ("models", "tasks"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise ImportError('foreign')\n")
    (tmp_path / "served.py").write_text(self_contained(), encoding="utf-8")
    code = "import served; print(served.clean_title(' Ward  SISTER '))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "ward sister\n", done.stderr


def test_two_things_of_one_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/first.py").write_text("SIZE = 1\n")
    (tmp_path / "second.py").write_text("from models.first import SIZE\n\ndef SIZE(): ...\n")
    monkeypatch.setattr(serving_file, "ROOT", tmp_path)
    with pytest.raises(ValueError, match=r"\['SIZE'\] mean two things"):
        self_contained(tmp_path / "second.py")
