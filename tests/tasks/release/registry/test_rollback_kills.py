"""Rollbacks by a process that is killed at any moment: the alias always names a version."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tiny_run
from mlflow_import import WARNINGS
from tiny_registry import new_database

from tasks.io.tracking import registry
from tasks.release.registry.register import CHAMPION
from tasks.release.registry.rollback import BACK, RESTORED, rollback

pytestmark = [pytest.mark.slow, *WARNINGS]

KILLS, NAME = 10, "killed"
BACK_AND_FORTH = """
from itertools import cycle
from pathlib import Path
from tasks.release.registry.rollback import rollback
root = Path.cwd()
for number in cycle("12"):
    try:
        rollback(root, number)
    except ValueError as error:
        assert f"champion is {number}" in str(error)
    print(number, flush=True)
"""


def test_kills_leave_a_champion_that_the_next_rollback_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was begun is finished, and each version says of itself what it is."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", new_database(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tiny_run.ROOT))
    words = f"  name: {NAME}\n  top_k: 2\n  precision: byte\n  qualifiers: ''\n  crosswalk: ''\n"
    (tmp_path / "params.yaml").write_text(f"register:\n{words}", encoding="utf-8")
    with registry(tmp_path) as client:
        client.create_registered_model(NAME)
        for number in "12":
            client.create_model_version(NAME, f"file:///nowhere/{number}")
        client.set_registered_model_alias(NAME, CHAMPION, "1")
    rng = random.Random(1)
    interrupted = 0
    for _ in range(KILLS):
        run = subprocess.Popen(
            [sys.executable, "-c", BACK_AND_FORTH],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert run.stdout is not None and run.stdout.readline()
        time.sleep(rng.uniform(0, 0.3))
        run.send_signal(signal.SIGKILL)
        run.communicate()
        with registry(tmp_path) as client:
            before = client.get_model_version_by_alias(NAME, CHAMPION)
        if BACK in before.tags:
            interrupted += 1
            rollback(tmp_path)
            with registry(tmp_path) as client:
                after = client.get_model_version_by_alias(NAME, CHAMPION)
            assert str(after.version) == json.loads(before.tags[BACK])["to"]
            assert BACK not in after.tags and RESTORED in after.tags
    assert interrupted, "no kill fell between two writes"
