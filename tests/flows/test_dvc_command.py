"""The lock that our command writes has the bytes of DVC's own."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dvc.utils.serialize import parse_yaml

from flows.stages.dvc_command import HEAD, with_stage
from flows.stages.dvc_stages import DVC

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "dvc.lock").read_text(encoding="utf-8")
STAGES = parse_yaml(LOCK, "dvc.lock")["stages"]
Run = Callable[..., str]


@pytest.mark.thorough
def test_a_stage_as_it_was_changes_no_byte() -> None:
    text = HEAD
    for name, stage in STAGES.items():
        assert with_stage(LOCK, {name: stage}) == LOCK, name
        text = with_stage(text, {name: stage})
    assert text == LOCK


def test_another_outcome_replaces_the_stage_in_its_place() -> None:
    names = list(STAGES)
    text = with_stage(LOCK, {names[1]: {"cmd": "echo"}})
    stages = parse_yaml(text, "dvc.lock")["stages"]
    assert list(stages) == names
    assert stages == STAGES | {names[1]: {"cmd": "echo"}}


@pytest.mark.slow
def test_dvc_itself_writes_the_same(
    toy: Path, tmp_path: Path, run_in: Run, dvc: tuple[str, ...]
) -> None:
    """Run all stages, then those that a changed parameter asks for, by both commands."""
    other = shutil.copytree(toy, tmp_path / "other", symlinks=True)
    ours = (sys.executable, "-m", DVC)
    for reader in ("sample", "other"):
        locks = []
        for root, command in ((toy, dvc), (other, ours)):
            params = root / "params.yaml"
            params.write_text(params.read_text().replace("reader: sample", f"reader: {reader}"))
            run_in(root, *command, "repro", "report")
            locks.append((root / "dvc.lock").read_bytes())
        assert locks[0] == locks[1]
