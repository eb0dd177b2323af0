"""Costs of the registered model: what is timed waits for the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmarks.product import systems
from benchmarks.product.systems import AT_ONCE, REPEATS, RegisteredModel


def test_a_timing_waits_for_all_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[int] = []

    class Late:
        def __init__(self, folder: Path, threads: int) -> None:
            assert (folder, threads) == (tmp_path, 1)

        def __call__(self, params: object, titles: Sequence[str]) -> Callable[[], None]:
            return lambda: answered.append(len(titles))

        def close(self) -> None:
            answered.append(0)

    monkeypatch.setattr(systems, "Answering", Late)
    next(RegisteredModel(tmp_path, None).costs(["cook", "baker", "cook"]))
    assert answered == [*[AT_ONCE] * (1 + REPEATS), 0]
