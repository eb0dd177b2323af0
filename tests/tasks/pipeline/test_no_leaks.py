"""All data stages in order, on toys and on the sample: no query is trained on."""

from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.text.titles import clean_title, normalize_title
from tasks.check_params import AllParams, load_params
from tasks.io.schemas import ALIASES, FEEDBACK, INPUTS, READINGS, VARIANTS
from tasks.pipeline.auxiliary_taxonomy import auxiliary_taxonomy
from tasks.pipeline.extra_words.stage import extra_words
from tasks.pipeline.feedback.stage import feedback
from tasks.pipeline.ingest.stage import ingest
from tasks.pipeline.pairs.strings import base_strings, with_feedback_strings, with_variants
from tasks.pipeline.split import split
from tasks.pipeline.synonyms.stage import synonyms
from tasks.pipeline.synonyms.synonym_pairs import read_synonyms
from tasks.pipeline.typos import typos
from tasks.tables.rejected import RejectedRows

ROOT = Path(__file__).parents[3]


class Chain(NamedTuple):
    """All queries, and the strings table of the mix `corrections`."""

    queries: pl.DataFrame
    strings: pl.DataFrame


def chain(
    aliases: pl.DataFrame,
    inputs: pl.DataFrame,
    manual: list[tuple[str, str]],
    params: AllParams,
    folder: Path,
) -> Chain:
    """The pure functions in the order of the stages.

    People judge every input there is, also the queries: harder than the stage `simulate_feedback`.
    Their verdicts go through a file in `folder`.
    """
    seed = params.seed
    parts = split(aliases, inputs, params.split, seed)
    noisy = typos(parts.titles, parts.queries, params.typos, seed)
    queries = pl.concat([parts.queries, noisy.queries])
    reworded = synonyms(parts.titles, queries, noisy.variants, manual, params.synonyms, seed)
    queries = pl.concat([queries, reworded.queries])
    trained = pl.concat([noisy.variants, reworded.variants.select(list(VARIANTS))])
    wordy = extra_words(parts.titles, parts.inputs, queries, trained, params.extra_words, seed)
    queries = pl.concat([queries, wordy.queries])
    # the taxonomy beside itself: every title that it holds out must stay out
    beside, _ = auxiliary_taxonomy(aliases, {*queries["normalized"]})
    earlier = {*parts.aliases["normalized"], *beside["normalized"], *trained["normalized"]}
    mined = wordy.variants.filter(pl.col("split") == "train")
    folder.mkdir(exist_ok=True)
    judged(inputs, aliases).write_csv(folder / "people.csv")
    kept = params.feedback.model_copy(update={"folder": str(folder), "from_labels": False})
    known, taught = {*queries["normalized"]}, earlier | {*mined["normalized"]}
    people = feedback(kept, parts.aliases, known, taught, RejectedRows())
    queries = pl.concat([queries, people.queries])
    strings = base_strings(parts.titles, parts.queries, beside)
    for role, variants in (
        ("typo", noisy.variants),
        ("synonym", reworded.variants),
        ("extra_words", mined),
    ):
        strings = with_variants(strings, variants, role)
    learned = people.resolutions.drop_nulls("matched_title")
    return Chain(queries, with_feedback_strings(strings, learned, corrections=True))


def judged(inputs: pl.DataFrame, aliases: pl.DataFrame) -> pl.DataFrame:
    """Schema `FEEDBACK`: each input matched with some label, and corrected to its own."""
    labels = aliases.filter("preferred").select("occupation_id", "title").rows()
    rows = []
    for number, raw_title, label in inputs.iter_rows():
        predicted, title = labels[number % len(labels)]
        right = predicted == label
        verdict = ("correct", None) if right else ("incorrect", label)
        if normalize_title(raw_title):
            matched = (predicted, clean_title(title), "m")
            rows.append((raw_title, *matched, *verdict, "people", None))
    return pl.DataFrame(rows, schema=dict(FEEDBACK), orient="row")


def check_chain(made: Chain) -> None:
    """By sets of normalized strings; validation queries stand in the table, but train nothing."""
    questions = normal(made.queries["raw_title"])
    trained = made.strings.filter(pl.col("role") != "valid")
    assert not questions & normal(trained["title"])
    validation = made.queries.filter(pl.col("split") == "valid")["raw_title"]
    assert normal(made.strings.filter(pl.col("role") == "valid")["title"]) <= normal(validation)
    assert made.queries.select("test", "query_id").is_unique().all()
    assert "" not in questions
    assert all(clean_title(title) == title for title in made.strings["title"])
    for raw, cleaned, normalized in made.queries.select("raw_title", *READINGS).rows():
        assert (cleaned, normalized) == (clean_title(raw), normalize_title(raw))


def normal(titles: pl.Series) -> set[str]:
    return {normalize_title(title) for title in titles}


# so few and so short words that titles, misspellings, synonyms and inputs keep meeting
WORD = st.sampled_from(["ab", "ba", "bb", "Aa", "b"])
TITLE = st.lists(WORD, min_size=1, max_size=2).map(" ".join)
INPUT = st.builds("{}{}".format, TITLE, st.sampled_from(["", "", "!", " aa", " (bb)"]))
PHRASE = WORD.map(normalize_title)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame, list[tuple[str, str]]]:
    occupations = draw(st.integers(2, 4))
    aliases = []
    for name in "wxyz"[:occupations]:
        own = draw(st.lists(TITLE, min_size=1, max_size=5, unique_by=normalize_title))
        aliases += [(name, title, "en", place == 0) for place, title in enumerate(own)]
    label = st.sampled_from([None, *"wxyz"[:occupations]])
    inputs = draw(st.lists(st.tuples(INPUT, label), min_size=10, max_size=50))
    manual = draw(st.lists(st.tuples(PHRASE, PHRASE).filter(lambda p: p[0] != p[1]), max_size=4))
    frame = pl.DataFrame(aliases, schema=dict(ALIASES), orient="row")
    numbered = [(i, *row) for i, row in enumerate(inputs)]
    return frame, pl.DataFrame(numbered, schema=dict(INPUTS), orient="row"), manual


@pytest.fixture(scope="module")
def defaults() -> AllParams:
    return load_params(ROOT / "params.yaml")


def small(params: AllParams, seed: int) -> AllParams:
    """Every share of every part large enough for a toy to have rows in it."""
    parts = {"annotations_share": 0.3, "gate_share": 0.2, "valid_share": 0.2}
    sizes = {"heldout_min_titles": 2, "valid_min_titles": 3, "gate_min_titles": 4}
    few = {"max_draws": 3, "valid_titles": 3, "gate_titles": 4, "variants": 3}
    return params.model_copy(
        update={
            "seed": seed,
            "split": params.split.model_copy(update=parts | sizes),
            "typos": params.typos.model_copy(update=few),
            "synonyms": params.synonyms.model_copy(update={"valid_titles": 3, "gate_titles": 4}),
            "feedback": params.feedback.model_copy(update={"gate_share": 0.5}),
            "extra_words": params.extra_words.model_copy(update={"padded": 2, "labelled": 2}),
        }
    )


@pytest.mark.thorough
@given(worlds(), st.integers(0, 99))
@settings(max_examples=20)
def test_no_query_is_a_training_string_on_toys(defaults, tmp_path_factory, world, seed) -> None:
    check_chain(chain(*world, small(defaults, seed), tmp_path_factory.mktemp("given")))


def test_the_same_again_and_another_with_another_seed(defaults: AllParams, tmp_path: Path) -> None:
    """Every stage draws with a seed of its own."""
    words = ("cook", "nurse", "miner", "clerk", "pilot", "guide")
    rows = [
        (name, f"{front} {word}", "en", front == "old")
        for name, word in zip("uvwxyz", words, strict=True)
        for front in ("old", "new", "head", "night", "day", "ward")
    ]
    aliases = pl.DataFrame(rows, schema=dict(ALIASES), orient="row")
    titles = [(n, f"wanted: {row[1]} {n}", row[0]) for n, row in enumerate(rows)]
    inputs = pl.DataFrame(titles, schema=dict(INPUTS), orient="row")
    manual = [("cook", "chef"), ("night", "late"), ("ward", "hall")]
    world = aliases, inputs, manual
    one, two, other = (chain(*world, small(defaults, seed), tmp_path) for seed in (1, 1, 2))
    assert all(a.equals(b) for a, b in zip(one, two, strict=True))
    for test in one.queries["test"].unique():
        assert not one.queries.filter(test=test).equals(other.queries.filter(test=test)), test
    for role in ("typo", "synonym", "extra_words"):
        assert not one.strings.filter(role=role).equals(other.strings.filter(role=role)), role


@pytest.mark.thorough
def test_no_query_is_a_training_string_on_the_sample(defaults, tmp_path, monkeypatch) -> None:
    """And every test, role and part is there, so that the check is of something."""
    monkeypatch.chdir(ROOT)
    if defaults.ingest.taxonomy.reader != "sample":
        pytest.skip("params.yaml is a profile's")
    ingested = ingest(defaults.ingest)
    section = defaults.synonyms
    manual = read_synonyms(section.reader, section.paths, section.columns, RejectedRows())
    made = chain(ingested.aliases, ingested.inputs, manual, defaults, tmp_path)
    check_chain(made)
    tests = {"heldout_alias", "annotations", "typos", "composition", "extra_words"}
    parts = made.queries.select("test", "split").unique().rows()
    assert set(parts) == {(test, split) for test in tests for split in ("test", "valid", "gate")}
    assert made.queries.filter(source="feedback").height > 100  # the gate's, of people's titles
    roles = {"alias", "valid", "auxiliary_taxonomy", "typo", "synonym", "extra_words", "feedback"}
    assert set(made.strings["role"]) == roles
