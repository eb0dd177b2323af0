"""Feedback picked up by a process that is killed at any moment: nothing is lost, nothing double."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import tiny_run
from feedback_run import say
from mlflow_import import WARNINGS, mlflow
from tiny_registry import new_database

from tasks.io.tracking import registry
from tasks.release.feedback_patch import pick_up
from tasks.release.registry.promote import promote
from tasks.release.registry.register import CHAMPION, register

pytestmark = [pytest.mark.slow, *WARNINGS]

KILLS, NAME = 4, "killed"
SECTION = tiny_run.register_section(NAME)
CALIBRATE = {
    "prior_power": 0.0,
    "pseudo_count": 1.0,
    "prediction_weight": 0.0,
    "predictions_per_input": 5,
}
CALIBRATE |= {
    "label_weight": 1e-3,
    "input_label_weight": 0.0,
    "auxiliary_titles": 0,
    "max_false_rejection_rate": 0.05,
}
PICK_UP = """
from pathlib import Path
from tasks.release.feedback_patch import pick_up
print("begun", flush=True)
pick_up(Path.cwd())
"""


def test_kills_lose_no_correction_and_register_none_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four pick-ups of one title more each, killed at random, and each finished by the next.

    The alias names a version that loads after every kill.
    """
    monkeypatch.setenv("MLFLOW_TRACKING_URI", new_database(tmp_path))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setenv("PYTHONPATH", str(tiny_run.ROOT))
    monkeypatch.chdir(tmp_path)
    root = tiny_run.make_run(tmp_path, register=SECTION, calibrate=CALIBRATE)
    promote(root, register(root).version)
    rng, killed = random.Random(1), Counter[str]()
    said: list[tuple[str, str | None]] = []
    for number in range(KILLS):
        before = champion()
        said.append((f"night owl {number}", "nurse"))
        say(root, *said)
        command = [sys.executable, "-c", PICK_UP]
        run = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)
        assert run.stdout is not None and run.stdout.readline()
        time.sleep(rng.uniform(0.2, 4))
        run.send_signal(signal.SIGKILL)
        run.communicate()
        version = champion()
        killed["ended" if version != before and pick_up(root) is None else "resumed"] += 1
        assert mlflow.pyfunc.load_model(f"models:/{NAME}/{version}")
        pick_up(root)
        model = mlflow.pyfunc.load_model(f"models:/{NAME}@{CHAMPION}").unwrap_python_model()
        assert model.normalizer.overrides["normalized"] == sorted(title for title, _ in said)
    assert killed["resumed"], "no kill came before the end"
    with registry(root) as client:
        versions = client.search_model_versions(f"name = '{NAME}'")
    assert len(versions) == KILLS + 1
    assert len({version.tags["artefact_hash"] for version in versions}) == KILLS + 1


def champion() -> str:
    return str(mlflow.MlflowClient().get_model_version_by_alias(NAME, CHAMPION).version)
