"""The mixes of the paper, and what a stage reads of those before it."""

from __future__ import annotations

from pathlib import Path

import pytest
from frames_of import queries_that_ask, variants_of

from tasks.io import mixes as sources
from tasks.io.frames import SchemaError, write_frame
from tasks.io.mixes import (
    LAST,
    MIXES,
    PAIR_SOURCES,
    SOURCES,
    PairSource,
    checked_mix,
    earlier_queries,
    earlier_variants,
    mix_before,
    sources_of,
    training_variants,
)
from tasks.io.schemas import EXTRA_WORDS_VARIANTS, QUERIES, SYNONYM_VARIANTS, VARIANTS

BEFORE = {
    "typos": "base",
    "synonyms": "typos",
    "extra_words": "synonyms",
    "verdicts": "extra_words",
    "corrections": "extra_words",
}


def test_the_mixes_of_the_paper() -> None:
    assert ("base", *BEFORE) == MIXES
    assert {mix: mix_before(mix) for mix in BEFORE} == BEFORE
    assert {source.mix: source.name for source in SOURCES} == {
        "typos": "typo",
        "synonyms": "synonym",
        "extra_words": "extra_words",
    }
    assert LAST == "extra_words"
    assert PAIR_SOURCES == ("base", "typo", "synonym", "extra_words", "feedback")


def test_what_a_mix_adds_in_words() -> None:
    words = ("typos", "synonyms", "extra words", "verdicts", "corrections")
    assert {mix: sources_of(mix) for mix in MIXES} == {
        mix: words[:number] for number, mix in enumerate(MIXES)
    }


def test_people_judge_the_last_source_whichever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    more = PairSource("3b", "new", "new_stage", "new words")
    monkeypatch.setattr(sources, "SOURCES", (*SOURCES, more))
    monkeypatch.setattr(
        sources,
        "MIXES",
        ("base", "typos", "synonyms", "extra_words", "3b", "verdicts", "corrections"),
    )
    monkeypatch.setattr(sources, "LAST", "3b")
    assert [mix_before(mix) for mix in ("3b", "verdicts", "corrections")] == [
        "extra_words",
        "3b",
        "3b",
    ]
    assert sources_of("3b") == ("typos", "synonyms", "extra words", "new words")
    assert sources_of("verdicts") == (*sources_of("3b"), "verdicts")
    assert sources_of("corrections") == (*sources_of("3b"), "verdicts", "corrections")


@pytest.mark.parametrize("mix", ["", "5", "stage", "base "])
def test_there_is_no_other_mix(mix: str) -> None:
    with pytest.raises(
        ValueError,
        match="is no mix; choose base, typos, synonyms, extra_words, verdicts, corrections",
    ):
        checked_mix(mix)


@pytest.mark.parametrize("mix", MIXES)
def test_every_mix_is_one(mix: str) -> None:
    assert checked_mix(mix) == mix


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


def test_an_older_file_of_variants_asks_for_its_stage(data: Path) -> None:
    older = {"title": VARIANTS["title"], "variant": VARIANTS["variant"]}
    frame = variants_of([("cook", "cok")]).drop("normalized")
    write_frame(frame, data / "typos/variants.parquet", older)
    message = r"typos/variants\.parquet: normalized: missing, .*Rerun the stage"
    with pytest.raises(SchemaError, match=message):
        training_variants(SOURCES[0], data)
    with pytest.raises(SchemaError, match=message):
        earlier_variants("synonyms", data)


def test_what_stands_before_a_stage(data: Path) -> None:
    """Of the variants those of the stages before it; of the queries those of `split` as well."""
    variants = {source.stage: earlier_variants(source.stage, data) for source in SOURCES}
    assert {stage: frame["variant"].to_list() for stage, frame in variants.items()} == {
        "typos": [],
        "synonyms": ["cok"],
        "extra_words": ["cok", "chef"],
    }
    assert all(frame.schema == VARIANTS for frame in variants.values())
    queries = {source.stage: earlier_queries(source.stage, data) for source in SOURCES}
    assert {stage: frame["cleaned"].to_list() for stage, frame in queries.items()} == {
        "typos": ["split query"],
        "synonyms": ["split query", "typos query"],
        "extra_words": ["split query", "typos query", "synonyms query"],
    }
