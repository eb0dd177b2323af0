"""The same bytes by another way, in another place, with other threads, hashes, zone and locale."""

from __future__ import annotations

import pytest
from clones import MODEL, OTHER, THREADS, Clone

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def elsewhere(small_source: Clone, tmp_path_factory: pytest.TempPathFactory) -> tuple[Clone, str]:
    """Run the flow instead of a bare `dvc repro report`, under `OTHER`; return what it printed."""
    clone = small_source.copied(tmp_path_factory.mktemp("else where"))
    return clone, clone.retrain(**OTHER, **dict.fromkeys(THREADS, "1"))


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
