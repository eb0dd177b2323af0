"""The README's commands: each is run by a test, which is named here; a new one needs a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from clones import ROOT

HERE = Path(__file__).parent
FLOWS = ROOT / "tests" / "flows"
RUN_BY = {
    "make retrain": HERE / "test_fresh_clone.py",
    "make test": ROOT / ".ci" / "run",
    "model.predict": HERE / "test_fresh_clone.py",
    "rolecall status": FLOWS / "test_cli.py",
    "rolecall registry": HERE / "test_fresh_clone.py",
    "rolecall profile mine": HERE / "test_own_taxonomy.py",
    "rolecall benchmark": HERE / "test_benchmark.py",
    "rolecall retrain --profile": HERE / "test_own_taxonomy.py",
    "rolecall retrain --serve": FLOWS / "test_cli.py",
    "rolecall reproduce": HERE / "test_reproduce_table3.py",
    "dvc repro report": HERE / "test_reproduce.py",
    "dvc repro table3": HERE / "test_reproduce_table3.py",
    "dvc metrics diff": HERE / "test_storage.py",
    "dvc exp run --temp": HERE / "test_storage.py",
    "dvc exp show": HERE / "test_storage.py",
    "dvc push --with-deps report": HERE / "test_storage.py",
    "dvc pull --with-deps report": HERE / "test_storage.py",
    "prefect server start": FLOWS / "test_schedule.py",
    "prefect work-pool create rolecall --type process": FLOWS / "test_schedule.py",
    "prefect deploy --all": FLOWS / "test_schedule.py",
    "prefect worker start --pool rolecall": FLOWS / "test_schedule.py",
    "prefect deployment run retrain/weekly -p profile=": FLOWS / "test_schedule.py",
}
COMMAND = re.compile(r"^(?:make|rolecall|dvc|prefect|model\.predict)\b.*", re.MULTILINE)


def commands() -> list[str]:
    """List the lines of the README's blocks that are commands."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in COMMAND.findall(block)]


@pytest.mark.parametrize("command", commands())
def test_every_command_is_run_by_a_test(command: str) -> None:
    known = [start for start in RUN_BY if command.startswith(start)]
    assert known, f"{command!r}: name the test that runs it"


@pytest.mark.parametrize(("command", "test"), RUN_BY.items())
def test_the_test_types_its_words(command: str, test: Path) -> None:
    """Words that are no option's value stand in the test, or in what it calls, as they are."""
    text = test.read_text(encoding="utf-8") + (HERE / "clones.py").read_text(encoding="utf-8")
    for word in re.findall(r"[\w./-]+", command)[1:]:
        assert word in text, word
