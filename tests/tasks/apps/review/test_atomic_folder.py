"""A folder whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.apps.review.queue import atomic_folder


def test_it_is_there_when_all_of_it_is(tmp_path: Path) -> None:
    place = tmp_path / "out"
    (tmp_path / "out.unfinished").mkdir()
    (tmp_path / "out.unfinished/.queue.csv.partial").write_text("left by a kill")
    (tmp_path / "out.unfinished/titles-x").mkdir()
    with atomic_folder(place) as folder:
        (folder / "a").write_text("1")
        assert not place.exists()
    assert [path.name for path in place.iterdir()] == ["a"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), atomic_folder(tmp_path / "out") as folder:
        (folder / "queue.csv").write_text("1")
        raise RuntimeError
    assert not [*tmp_path.iterdir()]


def test_a_place_that_is_taken(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is there already"), atomic_folder(tmp_path):
        pass


def test_the_unfinished_answers_of_that_name_are_not_emptied(tmp_path: Path) -> None:
    part = tmp_path / "out.unfinished/part-0000-00000.parquet"
    part.parent.mkdir()
    part.write_text("of rolecall normalize")
    with (
        pytest.raises(ValueError, match="holds files of somebody else"),
        atomic_folder(tmp_path / "out"),
    ):
        pass
    assert part.read_text() == "of rolecall normalize"
