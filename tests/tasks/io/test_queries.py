"""All tests' queries from their files, and the strings that no later stage may learn from."""

from __future__ import annotations

from pathlib import Path

import pytest
from frames_of import queries_of

from tasks.io.frames import SchemaError, write_frame
from tasks.io.queries import BEFORE_FEEDBACK, FEEDBACK, WRITERS, queried_strings, read_queries
from tasks.io.schemas import QUERIES, SPLITS


def write(data: Path) -> None:
    for writer in WRITERS:
        frame = queries_of(
            (f"{writer}-{split}", writer, split, f"{writer}: {split.upper()}", ["a"], 1, "alias")
            for split in (("gate",) if writer == FEEDBACK else ("gate", "test", "valid"))
        )
        write_frame(frame, data / writer / "queries.parquet", QUERIES)


@pytest.mark.parametrize("split", SPLITS)
def test_one_part_of_every_file_in_the_order_of_the_tables(tmp_path: Path, split: str) -> None:
    write(tmp_path)
    queries = read_queries(split, tmp_path)
    writers = WRITERS if split == "gate" else BEFORE_FEEDBACK
    assert queries["query_id"].to_list() == [f"{writer}-{split}" for writer in writers]
    assert set(queries["split"]) == {split}


def test_every_stage_that_has_a_test_writes_it() -> None:
    assert WRITERS == ("typos", "synonyms", "extra_words", "split", "feedback")


def test_a_mix_without_feedback_has_no_reserve(tmp_path: Path) -> None:
    """And what later stages may not learn from is the same with it and without."""
    write(tmp_path)
    before = queried_strings(tmp_path)
    assert "feedback gate" not in before
    (tmp_path / "feedback/queries.parquet").unlink()
    assert queried_strings(tmp_path) == before
    assert len(read_queries("gate", tmp_path)) == len(BEFORE_FEEDBACK)


def test_a_missing_file_names_itself(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "synonyms/queries.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"synonyms/queries\.parquet is missing"):
        read_queries("test", tmp_path)


def test_an_older_file_asks_for_its_stage(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "split/queries.parquet"
    older = {name: kind for name, kind in QUERIES.items() if name != "cleaned"}
    write_frame(read_queries("test", tmp_path).drop("cleaned"), path, older)
    with pytest.raises(SchemaError, match=r"cleaned: missing, .*Rerun the stage"):
        read_queries("test", tmp_path)


def test_the_strings_of_every_part_are_normalized(tmp_path: Path) -> None:
    write(tmp_path)
    assert queried_strings(tmp_path) == {
        f"{stage} {split}"
        for stage in ("typos", "synonyms", "extrawords", "split")
        for split in SPLITS
    }
