"""The mixes of the paper, and what a stage reads of those before it."""

from pathlib import Path

import pytest
from frames_of import queries_of, queries_that_ask, variants_of

from tasks.io.frames import write_frame
from tasks.io.mixes import (
    BEFORE_FEEDBACK,
    FEEDBACK,
    MIXES,
    PAIR_SOURCES,
    SOURCES,
    WRITERS,
    checked_mix,
    earlier_queries,
    earlier_variants,
    mix_before,
    queried_strings,
    read_queries,
    sources_of,
    training_variants,
)
from tasks.io.schemas import EXTRA_WORDS_VARIANTS, QUERIES, SPLITS, SYNONYM_VARIANTS, VARIANTS


def test_the_mixes_of_the_paper() -> None:
    """Draws of pairs and their files depend on these names."""
    assert MIXES == ("base", "typos", "synonyms", "extra_words", "verdicts", "corrections")
    before = ("base", "typos", "synonyms", "extra_words", "extra_words")
    assert tuple(map(mix_before, MIXES[1:])) == before
    assert PAIR_SOURCES == ("base", "typo", "synonym", "extra_words", "feedback")
    assert WRITERS == ("typos", "synonyms", "extra_words", "split", "feedback")
    assert sources_of("synonyms") == ("typos", "synonyms")
    added = ("typos", "synonyms", "extra words", "verdicts", "corrections")
    assert sources_of("corrections") == added
    assert all(checked_mix(mix) == mix for mix in MIXES)


@pytest.mark.parametrize("mix", ["", "5", "stage", "base "])
def test_there_is_no_other_mix(mix: str) -> None:
    with pytest.raises(ValueError, match="is no mix; choose base, typos, synonyms, extra_words"):
        checked_mix(mix)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Variants and queries of all stages; two extra words are held out."""
    synonyms = variants_of([("cook", "Chef", "cook", "chef", "manual")], SYNONYM_VARIANTS)
    mined = [
        ("cook", "Old cook", "mined", None, "train"),
        ("cook", "New cook", "mined", True, "test"),
        ("cook", "a cook", "mined", False, "valid"),
        ("cook", "the cook", "padded", None, "train"),
    ]
    for stage, frame, schema in (
        ("typos", variants_of([("cook", "cok")]), VARIANTS),
        ("synonyms", synonyms, SYNONYM_VARIANTS),
        ("extra_words", variants_of(mined, EXTRA_WORDS_VARIANTS), EXTRA_WORDS_VARIANTS),
    ):
        write_frame(frame, tmp_path / stage / "variants.parquet", schema)
    for stage in ("split", "typos", "synonyms", "extra_words"):
        queries = queries_that_ask([f"{stage} query"], split="gate")
        write_frame(queries, tmp_path / stage / "queries.parquet", QUERIES)
    return tmp_path


def test_variants_that_train(data: Path) -> None:
    assert [training_variants(source, data).rows() for source in SOURCES] == [
        [("cook", "cok", "cok")],
        [("cook", "chef", "chef")],
        [("cook", "old cook", "old cook"), ("cook", "the cook", "the cook")],
    ]


def test_what_stands_before_a_stage(data: Path) -> None:
    """Of the variants those of the stages before it; of the queries those of `split` as well."""
    variants = {source.stage: earlier_variants(source.stage, data) for source in SOURCES}
    expected = {"typos": [], "synonyms": ["cok"], "extra_words": ["cok", "chef"]}
    assert {stage: frame["variant"].to_list() for stage, frame in variants.items()} == expected
    assert all(frame.schema == VARIANTS for frame in variants.values())
    queries = {source.stage: earlier_queries(source.stage, data) for source in SOURCES}
    asked = ["split query", "typos query", "synonyms query"]
    expected = {"typos": asked[:1], "synonyms": asked[:2], "extra_words": asked}
    assert {stage: frame["cleaned"].to_list() for stage, frame in queries.items()} == expected


@pytest.fixture
def queried(tmp_path: Path) -> Path:
    """Queries of all writers, with one title a split."""
    for writer in WRITERS:
        frame = queries_of(
            (f"{writer}-{split}", writer, split, f"{writer}: {split.upper()}", ["a"], 1, "alias")
            for split in (("gate",) if writer == FEEDBACK else ("gate", "test", "valid"))
        )
        write_frame(frame, tmp_path / writer / "queries.parquet", QUERIES)
    return tmp_path


@pytest.mark.parametrize("split", SPLITS)
def test_one_part_of_every_file_in_the_order_of_the_tables(queried: Path, split: str) -> None:
    queries = read_queries(split, queried)
    writers = WRITERS if split == "gate" else BEFORE_FEEDBACK
    assert queries["query_id"].to_list() == [f"{writer}-{split}" for writer in writers]
    assert set(queries["split"]) == {split}


def test_a_mix_without_feedback_has_no_reserve(queried: Path) -> None:
    """And what later stages may not learn from is the same with it and without."""
    before = queried_strings(queried)
    stages = ("typos", "synonyms", "extrawords", "split")
    assert before == {f"{stage} {split}" for stage in stages for split in SPLITS}, "normalized"
    (queried / "feedback/queries.parquet").unlink()
    assert queried_strings(queried) == before
    assert len(read_queries("gate", queried)) == len(BEFORE_FEEDBACK)


def test_a_missing_file_names_itself(queried: Path) -> None:
    (queried / "synonyms/queries.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"synonyms/queries\.parquet is missing"):
        read_queries("test", queried)
