"""Bad input as users meet it: a stage's exit status and message, and strange titles to the end.

Each test runs a stage as its command does, in a folder that holds only `params.yaml` and a little
data. Each reader's and stage's own bad input is in its own tests.
"""

import json
from pathlib import Path

import polars as pl
import pytest
from small_pipeline import ROWS, STAGES, TITLES, Place

from models.text.titles import LONGEST
from tasks.io.frames import write_frame
from tasks.io.schemas import AUXILIARY_TITLES
from tasks.pipeline.pairs.strings import NO_AUXILIARY


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_parameter_that_cannot_be(place: Place) -> None:
    """The stage that reads it refuses it, and so does the check of the whole file."""
    place.succeeds("check_params")
    place.set("train.clip_norm", "1")
    for command in ("train --mix typos --seed 1", "check_params"):
        message = place.fails(*command.split())
        assert "params.yaml:\n  train.clip_norm = '1': Input should be a valid number" in message


@pytest.mark.thorough
def test_occupations_of_one_title_each_give_no_pair(place: Place) -> None:
    place.table("titles.csv", [{"id": one, "title": one} for one in TITLES])
    place.succeeds("ingest")
    place.succeeds("split")
    titles = place.folder / "data/auxiliary_taxonomy/titles.parquet"
    write_frame(NO_AUXILIARY, titles, AUXILIARY_TITLES)
    assert "every occupation has a single title" in place.fails("pairs", "--mix", "base")


STRANGE = {
    "emoji": "👩‍🍳🥐🔥",
    "long": "pastry baker and " * 588 + "more",  # 10,000 characters
    "punctuation": "?!…",
    "controls": "bread\u0000 ma\u200bker\u202e",
    "right to left": "خبّاز",
    "one character": "x",
}


def strange(place: Place) -> None:
    """Each strange title as an alias and as a labelled input; rows that are empty as well."""
    assert len(STRANGE["long"]) == 10_000
    aliases = [{"id": "baker", "title": title} for title in STRANGE.values()]
    place.table("titles.csv", [*ROWS, *aliases, {"id": "nurse", "title": ""}])
    inputs = [{"raw": f"{title} job", "id": "baker"} for title in STRANGE.values()]
    empty = [{"raw": "", "id": "nurse"}, {"raw": "  ", "id": ""}]
    place.table("inputs.csv", [*inputs, {"raw": "💥", "id": ""}, *empty])
    place.params["ingest"]["max_rejected_share"] = 0.2


def test_strange_and_empty_titles_are_kept_or_counted(place: Place) -> None:
    strange(place)
    place.succeeds("ingest")
    aliases = set(place.frame("ingest/aliases")["title"])
    rejected = place.frame("ingest/rejected")
    kept = {name for name, title in STRANGE.items() if title in aliases}
    assert kept >= {"emoji", "long", "right to left", "one character"}
    assert set(STRANGE) - kept <= {"punctuation", "controls"}
    reasons = rejected.filter(pl.col("row").str.strip_chars(", \n").is_in(["", "nurse"]))
    assert set(reasons["reason"]) == {"empty title", "empty raw_title", "empty row"}
    inputs = place.frame("ingest/inputs")["raw_title"].to_list()
    assert f"{STRANGE['long']} job" in inputs
    assert "💥" in inputs
    read = json.loads((place.folder / "data/ingest/metrics.json").read_text())["rows_read"]
    assert read["inputs.csv"] == len(inputs) + rejected.filter(file="inputs.csv").height


@pytest.mark.slow
def test_strange_titles_go_through_all_stages(place: Place) -> None:
    """Two steps of training; every query of the tests gets its values, none of them NaN."""
    strange(place)
    place.params["train"].update(max_steps=2, evaluate_every=1, batch_pairs=8)
    place.params["encoders"]["ngram_bag"].update(dim=4)
    place.table("synonyms.csv", [{"term": "baker", "synonym": "maker of bread"}])
    place.params["synonyms"] |= {"folder": ".", "file": "synonyms.csv"}
    for stage in STAGES:
        place.succeeds(*stage.split())
    written = ("split", "typos", "synonyms", "extra_words")
    queries = pl.concat(place.frame(f"{stage}/queries") for stage in written)
    tests = queries.filter(split="test")
    for folder in ("lexical", "evaluate/corrections/1"):
        scores = place.frame(f"{folder}/scores")
        assert scores.height == 2 * tests.height
        assert scores["reciprocal_rank"].is_finite().all()
    assert any("👩" in title for title in tests["raw_title"])
    assert any(len(title) == LONGEST for title in tests["raw_title"])
    assert queries["cleaned"].str.len_chars().max() == LONGEST


FEW = {"baker": ["baker", "bread maker"], "nurse": ["nurse", "ward nurse"]}
NIGHTS = [
    {"raw": f"night {title} {n}", "id": one} for n in range(5) for one, (title, _) in FEW.items()
]


@pytest.mark.slow
@pytest.mark.parametrize("inputs", [[], NIGHTS, [row | {"id": ""} for row in NIGHTS]])
def test_few_titles_go_through_all_stages(place: Place, inputs: list[dict[str, str]]) -> None:
    """Two occupations of two titles, no synonyms; no inputs, labelled ones, unlabelled ones.

    Most tests are then without a query, validation and gate too, and a batch is the whole file.
    """
    place.table("titles.csv", [{"id": one, "title": title} for one in FEW for title in FEW[one]])
    if inputs:
        place.table("inputs.csv", inputs)
    else:
        place.params["ingest"]["inputs"] |= {"reader": "none", "file": "", "columns": {}}
    place.params["synonyms"]["reader"] = "none"
    place.params["train"].update(max_steps=2, evaluate_every=1)
    place.params["encoders"]["ngram_bag"].update(dim=4)
    for stage in (*STAGES, "report"):
        place.succeeds(*stage.split())
    assert place.frame("evaluate/corrections/1/scores")["reciprocal_rank"].is_finite().all()
    page = (place.folder / "data/report/report.html").read_text(encoding="utf-8")
    assert "</html>" in page
