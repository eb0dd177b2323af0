"""The same bytes by another way, in another place, with other threads, hashes, zone and locale."""

from __future__ import annotations

import pytest
from clones import MODEL, Clone

pytestmark = pytest.mark.slow


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
    small: Clone, retrained: tuple[Clone, str], stage: str
) -> None:
    """Compare a bare `dvc repro report` in two threads with the flow in one, under `OTHER`."""
    folder = f"data/{stage}/"
    here, there = (
        {name: digest for name, digest in clone.files().items() if name.startswith(folder)}
        for clone in (small, retrained[0])
    )
    assert here
    assert here == there


def test_the_flow_writes_the_lock_of_a_bare_repro(
    small: Clone, retrained: tuple[Clone, str]
) -> None:
    clone, printed = retrained
    assert f"evaluate@{MODEL} ran, report ran" in printed
    assert clone.lock == small.lock
    assert str(clone.root) not in clone.lock
    assert str(clone.root).encode() not in b"".join(
        (clone.root / name).read_bytes() for name in clone.files()
    )
