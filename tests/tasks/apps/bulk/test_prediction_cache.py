"""Answers kept by title: asked once, whole or not at all, one run at a time."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.apps.bulk import prediction_cache as cache
from tasks.apps.bulk.disk_faults import is_disk_full, usable
from tasks.apps.bulk.prediction_cache import Cached, distinct, prediction_cache


def shouted(titles: Sequence[str]) -> Callable[[], pa.Table]:
    return lambda: pa.table({"loud": [title.upper() for title in titles]})


def loud(cached: Cached) -> list[str]:
    titles: list[str] = pa.concat_tables(cached.tables)["loud"].take(cached.rows).to_pylist()
    return titles


def test_a_title_is_asked_once_also_tomorrow(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(titles: Sequence[str]) -> Callable[[], pa.Table]:
        asked.extend(titles)
        return shouted(titles)

    with prediction_cache(tmp_path / "known") as known:
        assert known(pa.array(["b", "a"]), ask)().new == 2
        cached = known(pa.array(["c", "a", "b\0", "b"]), ask)()
        assert (loud(cached), cached.new) == (["C", "A", "B\0", "B"], 2)
    with prediction_cache(tmp_path / "known") as known:
        cached = known(pa.array(["a", "b\0", "c", "b"]), ask)()
        assert (loud(cached), cached.new) == (["A", "B\0", "C", "B"], 0)
    assert asked == ["b", "a", "c", "b\0"]


def test_titles_that_are_being_answered_are_not_asked_again(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(titles: Sequence[str]) -> Callable[[], pa.Table]:
        asked.extend(titles)
        return shouted(titles)

    with prediction_cache(tmp_path) as known:
        waiting = [known(pa.array(titles), ask) for titles in (["b", "a"], ["c", "b"], ["a", "c"])]
        assert [loud(answers()) for answers in waiting] == [["B", "A"], ["C", "B"], ["A", "C"]]
    assert asked == ["b", "a", "c"]


def test_what_fails_leaves_nothing_half(tmp_path: Path) -> None:
    def fail() -> pa.Table:
        raise RuntimeError("killed")

    with prediction_cache(tmp_path) as known:
        known(pa.array(["a"]), shouted)()
        with pytest.raises(RuntimeError, match="killed"):
            known(pa.array(["a", "b"]), lambda titles: fail)()
        (tmp_path / "1.arrow").write_bytes(b"left by a kill before the table named it")
        cached = known(pa.array(["b", "a"]), shouted)()
    assert (loud(cached), cached.new) == (["B", "A"], 1)


@pytest.mark.parametrize("damage", ["missing", "short", "table", "file"])
def test_a_damaged_folder_is_named_with_what_to_do(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "known"
    with prediction_cache(folder) as known:
        known(pa.array(["b", "a"]), shouted)()
    if damage == "missing":
        (folder / "0.arrow").unlink()
    elif damage == "short":
        (folder / "0.arrow").write_bytes(b"ARROW1")
    elif damage == "table":
        (folder / "places.sqlite").write_bytes(b"no database" * 99)
    else:
        folder = folder / "0.arrow"
    message = f"answers in {folder} cannot be used .*: remove this folder and run again"
    with pytest.raises(ValueError, match=message), prediction_cache(folder) as known:
        known(pa.array(["b", "a"]), shouted)()


def test_a_full_disk_is_no_damage(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no room") as raised, usable(tmp_path):
        raise OSError(errno.ENOSPC, "no room")
    assert is_disk_full(raised.value)


def test_titles_of_one_hash_have_their_own_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "hashes_of", lambda titles: np.zeros(len(titles), np.int64))
    with prediction_cache(tmp_path) as known:
        for new in (2, 1):  # the first one is kept
            cached = known(pa.array(["a", "b"]), shouted)()
            assert (loud(cached), cached.new) == (["A", "B"], new)


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with prediction_cache(tmp_path), pytest.raises(ValueError, match="--cache-dir"):  # noqa: SIM117
        with prediction_cache(tmp_path):
            pass


@pytest.mark.thorough
@given(st.lists(st.none() | st.text(max_size=3)))
def test_distinct_titles_and_where_each_row_has_its_own(titles: list[str | None]) -> None:
    once, places = distinct(pa.chunked_array([titles[:3], titles[3:]], pa.string()))
    assert len(set(once.to_pylist())) == len(once)
    back = [None if place is None else once[place].as_py() for place in places.to_pylist()]
    assert back == titles
