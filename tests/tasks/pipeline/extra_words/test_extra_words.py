"""The stage: what the Extra Words test promises, its parts, and what no string of it may be."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from frames_of import inputs_of, queries_that_ask, titles_of, variants_of
from pydantic import ValidationError

from models.text.titles import clean_title
from tasks.io.frames import check
from tasks.io.schemas import EXTRA_WORDS_VARIANTS, QUERIES, SPLIT_INPUTS, VARIANTS
from tasks.pipeline.extra_words.stage import (
    ExtraWords,
    ExtraWordsParams,
    extra_words,
    labelled_inputs,
    padded_titles,
)
from tasks.pipeline.extra_words.superfluous import phrases_by_language

NO_INPUTS = pl.DataFrame(schema=dict(SPLIT_INPUTS))


def params(**changes: Any) -> ExtraWordsParams:
    values: dict[str, object] = {"test_share": 0.4, "valid_share": 0.1, "gate_share": 0.1}
    values |= {"padded": 2, "labelled": 0, "phrases": {"before": [], "after": []}}
    values |= {"phrases_by_language": False}
    return ExtraWordsParams(**values | changes)


def made_of(titles: pl.DataFrame, inputs: pl.DataFrame, **changes: Any) -> ExtraWords:
    none = queries_that_ask([]), variants_of([])
    return extra_words(titles, inputs, *none, params(**changes), 1)


ROWS = [("a", "Nurse", "train"), ("a", "ward  nurse", "train"), ("b", "nurse", "train")]
TITLES_OF_TWO = titles_of([*ROWS, ("b", "cook", "train"), ("b", "chef", "valid")])
TWENTY = inputs_of(
    [(f"Cook no. {n}", "b" if n % 2 else None, "train") for n in range(10)]
    + [(f"wanted: NURSE {n}", "c", "train") for n in range(10)]
)


def test_queries_variants_and_counts_worked_by_hand() -> None:
    """20 mined, 15 labelled: 6 + 2 (7.5 to 8) + 1 (9 less 8) + 6 and 5 unlabelled ones.

    b has three titles, one of them held out.
    """
    made = made_of(TITLES_OF_TWO, TWENTY, padded=0)
    slices = {"label_agrees": 5, "label_differs": 10, "unlabelled": 5}
    assert made.metrics["mined"]["by_slice"] == slices
    parts = {"gate": 1, "test": 6, "train": 11, "valid": 2}
    assert dict(made.variants["split"].value_counts().iter_rows()) == parts
    assert made.variants["variant"].to_list() == TWENTY["cleaned"].to_list()
    for query in made.queries.iter_rows(named=True):
        nurse = "NURSE" in query["raw_title"]
        number = int(query["raw_title"].split()[-1])
        assert query["occupation_ids"] == (["a", "b"] if nurse else ["b"])
        assert query["occupation_size"] == 3
        assert query["test"] == "extra_words"
        assert nurse or number % 2
        assert query["source"] == ("label_differs" if nurse else "label_agrees")
    tests = made.queries.filter(pl.col("split") == "test")
    assert tests["query_id"].to_list() == [f"extra_words-test-{n}" for n in range(6)]
    unlabelled = made.variants.filter(pl.col("label_agrees").is_null())
    assert unlabelled["split"].to_list() == ["train"] * 5


def test_what_earlier_stages_ask_or_train_on_is_left_out() -> None:
    asked, trained = queries_that_ask(["Cook no. 1"]), variants_of([("nurse", "wanted: nurse 2")])
    made = extra_words(TITLES_OF_TWO, TWENTY, asked, trained, params(padded=0), 1)
    left_out = {*TWENTY["cleaned"]} - {*made.variants["variant"]}
    assert left_out == {"cook no. 1", "wanted: nurse 2"}


def test_padded_titles_have_the_words_of_the_training_part_alone() -> None:
    made = made_of(TITLES_OF_TWO, TWENTY, padded=3)
    padded = made.variants.filter(pl.col("kind") == "padded")
    train = made.variants.filter((pl.col("kind") == "mined") & (pl.col("split") == "train"))
    learned = {word for text in train["variant"] for word in clean_title(text).split()}
    assert padded["split"].unique().to_list() == ["train"]
    assert padded["label_agrees"].null_count() == len(padded) > 0
    for title, variant in padded.select("title", "variant").rows():
        assert f" {title} " in f" {variant} "
        assert set(variant.split()) - set(title.split()) <= learned
    assert made.metrics["padded"]["drawn"] == 3 * 3


@pytest.mark.parametrize("split", ["annotations", "gate", "valid", "known"])
def test_other_parts_of_the_inputs_are_not_looked_at(split: str) -> None:
    made = made_of(TITLES_OF_TWO, inputs_of([("old cook", "b", split)]))
    assert len(made.variants) == made.metrics["mined"]["inputs"] == 0


def test_no_inputs_or_no_titles_give_empty_frames() -> None:
    for titles, inputs in ((TITLES_OF_TWO, NO_INPUTS), (titles_of([]), TWENTY)):
        made = made_of(titles, inputs)
        check(made.variants, EXTRA_WORDS_VARIANTS, "variants")
        check(made.queries, QUERIES, "queries")
        assert len(made.variants) == len(made.queries) == 0
        assert made.metrics["padded"]["drawn"] == 0


def test_known_phrases_pad_without_any_input() -> None:
    """A taxonomy alone has none to learn from."""
    phrases = {"before": ["looking for a"], "after": ["(m/f)"]}
    made = made_of(TITLES_OF_TWO, NO_INPUTS, padded=3, phrases=phrases)
    forms = {"looking for a {}", "{} (m/f)", "looking for a {} (m/f)"}
    titles = set(made.variants["title"])
    assert titles
    assert set(made.variants["variant"]) <= {form.format(t) for t in titles for form in forms}
    with pytest.raises(ValidationError, match="no character to put beside a title"):
        params(phrases={"before": [" "], "after": []})


def test_our_phrases_of_a_titles_language_pad_without_any_input() -> None:
    titles = titles_of([("a", "nurse", "train"), ("b", "koch", "train")])
    titles = titles.with_columns(language=pl.Series(["en", "de"]))
    made = made_of(titles, NO_INPUTS, padded=3, phrases_by_language=True)
    assert set(made.variants["title"]) == {"nurse", "koch"}
    for title, variant in made.variants.select("title", "variant").iter_rows():
        pairs = phrases_by_language()["en" if title == "nurse" else "de"]
        words = {word for pair in pairs for text in pair for word in text.split()}
        assert {*variant.split()} - {title} <= words


OWNERS = {"a": ("nurse", "staff nurse", "carer"), "b": ("cook", "carer")}
OWNED = titles_of((one, title, "train") for one, titles in OWNERS.items() for title in titles)
INPUTS = inputs_of(
    [
        ("rgn / nights", "a", "train"),
        ("RGN / Nights!", "a", "train"),  # normalizes to the same
        ("chef de partie", "b", "train"),
        ("something", None, "train"),
        ("cleaner", "c", "train"),  # no title has its occupation
        ("", "a", "train"),
    ]
)


def test_each_rule_of_labelled_inputs() -> None:
    """Drawn are titles of its occupation, and none that another has as well."""
    made = labelled_inputs(INPUTS, OWNED, {"chef de partie"}, 50, np.random.default_rng(1))
    check(made, VARIANTS, "variants")
    titles = ("nurse", "staff nurse")
    assert made.sort("title").rows() == [(title, *["rgn / nights"] * 2) for title in titles]


def test_each_rule_of_padded_titles() -> None:
    """One phrase around three titles: taken, longer title inside, kept; the second copy repeats."""
    titles = titles_of(("a", title, "train") for title in ("nurse", "cook", "cook manager"))
    taken, rng = {"taken": {"the nurse manager"}}, np.random.default_rng(1)
    variants, counts = padded_titles(titles, lambda _: [("the", "manager")], taken, 2, rng)
    assert variants.rows() == [("cook manager", *["the cook manager manager"] * 2)]
    assert counts == {"drawn": 6, "taken": 2, "holds_a_longer_title": 2, "repeated": 1}
