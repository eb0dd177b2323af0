"""The same bytes by another way, in another place, with other threads, hashes, zone and locale."""

from __future__ import annotations

from pathlib import Path

import pytest
from clones import MODEL, ROOT, Clone, fresh_clone

pytestmark = pytest.mark.slow
OTHER = {
    "POLARS_MAX_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "4711",
    "TZ": "Asia/Kathmandu",
    "LC_ALL": "C",
}


@pytest.fixture(scope="module")
def elsewhere(small_source: Clone, tmp_path_factory: pytest.TempPathFactory) -> tuple[Clone, str]:
    """Run the flow instead of a bare `dvc repro report`, under `OTHER`; return what it printed."""
    clone = small_source.copied(tmp_path_factory.mktemp("else where"))
    return clone, clone.retrain(**OTHER)


@pytest.mark.parametrize(
    "stage",
    [
        "ingest",
        "split",
        "typos",
        "synonyms",
        "extra_words",
        "auxiliary_taxonomy",
        *(f"pairs/{k}" for k in ("base", "typos", "synonyms", "extra_words", "corrections")),
        "training_code_hash",
        "reference_model",
        "teacher",
        "train",
        "simulate_feedback",
        "feedback",
        "lexical",
        "calibrate",
        "evaluate",
        "report",
    ],
)
def test_each_stage_writes_the_same_bytes(
    small: Clone, elsewhere: tuple[Clone, str], stage: str
) -> None:
    """Compare `small`, which ran with two threads, with this one, on one."""
    folder = f"data/{stage}/"
    here, there = (
        {name: digest for name, digest in clone.files().items() if name.startswith(folder)}
        for clone in (small, elsewhere[0])
    )
    assert here
    assert here == there


def test_the_flow_writes_the_lock_of_a_bare_repro(
    small: Clone, elsewhere: tuple[Clone, str]
) -> None:
    clone, printed = elsewhere
    assert f"evaluate@{MODEL} ran, report ran" in printed
    assert clone.lock == small.lock
    assert str(clone.root) not in clone.lock
    assert str(clone.root).encode() not in b"".join(
        (clone.root / name).read_bytes() for name in clone.files()
    )


@pytest.mark.skipif(not (ROOT / "dvc.lock").exists(), reason="no dvc.lock is committed yet")
def test_data_stages_at_full_size_are_those_of_the_committed_lock(
    tmp_path: Path, home: Path
) -> None:
    """Run all stages before training: a difference in one byte would change dvc.lock."""
    clone = fresh_clone(tmp_path, home)
    assert "Running stage 'pairs@extra_words'" in clone.dvc("repro", "pairs@extra_words", **OTHER)
    assert clone.changed() == ""
