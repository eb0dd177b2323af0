"""Answers kept by title: asked once, whole or not at all, one run at a time."""

import errno
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest

from tasks.apps.bulk import prediction_cache as cache
from tasks.apps.bulk.prediction_cache import (
    Ask,
    Cached,
    PredictionCache,
    is_disk_full,
    prediction_cache,
    usable,
)

SCHEMA = pa.schema([("loud", pa.string()), ("words", pa.list_(pa.string())), ("n", pa.int64())])


def shouted(titles: Sequence[str]) -> Callable[[], pa.Table]:
    rows = [
        {"loud": title.upper() or None, "words": title.split() or None, "n": len(title)}
        for title in titles
    ]
    return lambda: pa.Table.from_pylist(rows, SCHEMA)


def answers(known: PredictionCache, cached: Cached) -> pa.Table:
    taken = pa.concat_tables(cached.tables).take(pa.array(cached.rows))
    return known.with_texts(taken).cast(SCHEMA)


def asked(ask: Mock) -> list[str]:
    return [title for call in ask.call_args_list for title in call.args[0]]


def require_shouts(known: PredictionCache, titles: list[str], ask: Ask, new: int) -> None:
    cached = known(pa.array(titles), ask)()
    assert answers(known, cached).equals(shouted(titles)())
    assert cached.new == new


def test_a_title_is_asked_once_also_tomorrow(tmp_path: Path) -> None:
    ask = Mock(side_effect=shouted)
    with prediction_cache(tmp_path / "known", SCHEMA) as known:
        require_shouts(known, ["b", "a c"], ask, 2)
        require_shouts(known, ["c", "a c", "b\0", "b", ""], ask, 3)
    with prediction_cache(tmp_path / "known", SCHEMA) as known:
        require_shouts(known, ["a c", "b\0", "", "c", "b", "c d"], ask, 1)
        require_shouts(known, ["c d", "b"], ask, 0)
    assert asked(ask) == ["b", "a c", "c", "b\0", "", "c d"]


@pytest.mark.parametrize("recent", [1 << 22, 1], ids=["remembered", "only in the table"])
def test_memory_of_positions_changes_nothing(tmp_path, monkeypatch, recent: int) -> None:
    """Titles that are still being answered are not asked again, unless memory is short."""
    monkeypatch.setattr(cache, "RECENT", recent)
    ask, parts = Mock(side_effect=shouted), (["b", "a"], ["c", "b"], ["a", "c"])
    with prediction_cache(tmp_path, SCHEMA) as known:
        waiting = [known(pa.array(titles), ask) for titles in parts]
        for titles, wait in zip(parts, waiting, strict=True):
            assert answers(known, wait())["loud"].to_pylist() == [*map(str.upper, titles)]
        for titles in parts:
            require_shouts(known, titles, ask, 0)
    assert recent == 1 or asked(ask) == ["b", "a", "c"]


def test_what_fails_leaves_nothing_half(tmp_path: Path) -> None:
    def fail() -> pa.Table:
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"), prediction_cache(tmp_path, SCHEMA) as known:
        known(pa.array(["a"]), shouted)()
        known(pa.array(["a", "b"]), lambda titles: fail)()
    (tmp_path / "1.arrow").write_bytes(b"left by a kill before the table named it")
    with prediction_cache(tmp_path, SCHEMA) as known:
        require_shouts(known, ["b", "a"], shouted, 1)


@pytest.mark.parametrize("damage", ["missing", "short", "table", "file"])
def test_a_damaged_folder_is_named_with_what_to_do(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "known"
    with prediction_cache(folder, SCHEMA) as known:
        known(pa.array(["b", "a"]), shouted)()
    if damage == "missing":
        (folder / "0.arrow").unlink()
    elif damage == "short":
        (folder / "0.arrow").write_bytes(b"ARROW1")
    elif damage == "table":
        (folder / "positions.sqlite").write_bytes(b"no database" * 99)
    else:
        folder = folder / "0.arrow"
    message = f"answers in {folder} cannot be used .*: remove this folder and run again"
    with pytest.raises(ValueError, match=message), prediction_cache(folder, SCHEMA) as known:
        known(pa.array(["b", "a"]), shouted)()


def test_a_full_disk_is_no_damage(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no room") as raised, usable(tmp_path):
        raise OSError(errno.ENOSPC, "no room")
    assert is_disk_full(raised.value)


def test_titles_of_one_hash_have_their_own_answers(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(cache, "hashes_of", lambda titles: np.zeros(len(titles), np.int64))
    for new in (2, 1):  # one of them is kept
        with prediction_cache(tmp_path, SCHEMA) as known:
            require_shouts(known, ["a", "b"], shouted, new)
            require_shouts(known, ["a", "b"], shouted, 1)


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        prediction_cache(tmp_path, SCHEMA),
        pytest.raises(ValueError, match="--cache-dir"),
        prediction_cache(tmp_path, SCHEMA),
    ):
        pass
