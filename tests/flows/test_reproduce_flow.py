"""The flow `reproduce` on the toy repository: the target of the track, its page, no registry."""

from collections.abc import Callable
from pathlib import Path

import pytest
from background import rolecall
from prefect_beside import page

pytestmark = pytest.mark.slow
Run = Callable[..., str]
Dvc = tuple[str, ...]
NUMBERS = ["train@base-1", "evaluate@base-1", "train@typos-1", "evaluate@typos-1"]


def test_every_mix_then_the_table_and_a_page(toy, prefect_server, run_in, dvc, monkeypatch) -> None:
    """Run stages and leave a lock as a bare `dvc repro table3`; the report is no part of it."""
    from flows.reproduce import as_text, reproduce

    monkeypatch.chdir(toy)
    done = reproduce()
    assert set(done.stages) == {"ingest", "lexical", *NUMBERS, "table3"}
    assert list(done.stages)[-1] == "table3"
    assert done.pushed
    assert not (toy / "data/report").exists()
    assert not (toy / "registered.txt").exists()
    lock = (toy / "dvc.lock").read_bytes()
    assert "Running stage" not in run_in(toy, *dvc, "repro", "table3")
    assert (toy / "dvc.lock").read_bytes() == lock

    text = as_text(done)
    assert text.startswith("# Table 3\n\n| system | Typos |\n\nstages  7: 7 ran\n")
    assert text.endswith("data    pushed to DVC's remote")
    assert "# Table 3" in page("reproduce") and "| table3 | ran |" in page("reproduce")
    assert as_text(reproduce()).endswith("data    pushed to DVC's remote\nto do   nothing")


def test_the_track_decides_the_target_and_the_page(toy, prefect_server, monkeypatch) -> None:
    """Run nothing of the other track."""
    from flows.reproduce import as_text, reproduce

    choose_track(toy, "similarity")
    monkeypatch.chdir(toy)
    done = reproduce()
    assert done.stages == {"similarity": "ran"}
    assert as_text(done).startswith(
        f"# Similarity\n\nstages  1: 1 ran\ntable   {toy}/data/similarity\n"
    )
    assert "| similarity | ran |" in page("reproduce")
    assert page("reproduce", "description") == "Similarity of scored pairs"


def test_an_unknown_track_is_refused(toy: Path) -> None:
    from flows.errors import Failure
    from flows.reproduce import read_track

    choose_track(toy, "sentences")
    with pytest.raises(Failure, match="track = 'sentences'; choose titles or similarity"):
        read_track(toy)


def choose_track(root: Path, track: str) -> None:
    text = (root / "params.yaml").read_text()
    (root / "params.yaml").write_text(text.replace("track: titles", f"track: {track}"))


def test_the_command(toy: Path, flow_environment: dict[str, str]) -> None:
    """End with the table; a failed stage is named, with status 1."""
    (toy / "fail.txt").write_text("table3")
    failed = rolecall(toy, "reproduce", environment=flow_environment)
    assert failed.returncode == 1
    assert "stage table3 failed" in failed.stderr
    (toy / "fail.txt").unlink()
    done = rolecall(toy, "reproduce", environment=flow_environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| system | Typos |" in done.stdout
    assert "stages  7: 1 ran, 6 unchanged" in done.stdout
