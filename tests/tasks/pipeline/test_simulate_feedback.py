"""Which inputs are judged, what is predicted, and the file that people could have given."""

import hashlib
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from frames_of import inputs_of, queries_of, queries_that_ask
from params_of import write_params
from tiny_run import SETTINGS, TAXONOMY, aliases, network, useless

from models.network.kinds import save_model
from models.serving.scores import ScoreRule
from models.serving.search import Search
from models.text.titles import clean_title
from tasks.evaluation.ranking import rank_queries
from tasks.evaluation.systems import index_of
from tasks.io.frames import check, write_frame
from tasks.io.mixes import BEFORE_FEEDBACK
from tasks.io.schemas import FEEDBACK, QUERIES, SPLIT_INPUTS, TITLES
from tasks.pipeline.simulate_feedback import SimulateFeedbackParams, choose, judge, main, predict
from tasks.pipeline.split import distinct_titles

OUT = Path("data/simulate_feedback")
LABELS = SimulateFeedbackParams(reviewer_id="labels", judged_at="2026-01-01")


def test_choice_by_hand() -> None:
    """Of eight, three are judged: one title with both its labels, and another title."""
    rows = [("Java dev!", "a", "train"), ("java  DEV", "a", "train"), ("java dev", "b", "train")]
    rows += [("Asked!", "a", "train"), ("?!", "a", "train"), ("seen", "a", "valid")]
    rows += [("no label", None, "train"), ("cook", "b", "train")]
    inputs, left_out = choose(inputs_of(rows), {"asked", "cooks"})
    assert check(inputs, SPLIT_INPUTS, "inputs")["input_id"].to_list() == [0, 2, 7]
    assert left_out == {"no_letters": 1, "query": 1, "duplicate": 1}


def test_verdicts_by_hand() -> None:
    """Correct; incorrect with the label as correction; incorrect, and no index has the label."""
    inputs = inputs_of([("x", "a", "train"), (" Y", "b", "train"), ("z", "gone", "train")])
    judged = judge(inputs, [("a", "one")] * 3, {"a", "b"}, "train@extra_words 0", LABELS)
    said = ("labels", "2026-01-01")
    assert check(judged, FEEDBACK, "feedback").rows() == [
        ("x", "a", "one", "train@extra_words 0", "correct", None, *said),
        (" Y", "a", "one", "train@extra_words 0", "incorrect", "b", *said),
        ("z", "a", "one", "train@extra_words 0", "incorrect", None, *said),
    ]


@pytest.mark.parametrize("rule", ["best", "soft"])
def test_a_prediction_is_the_first_rank_of_the_run(rule: str) -> None:
    """As every table ranks, with ties in the order of ids, over more than one block of 256."""
    index = index_of(distinct_titles(aliases()))
    rng = np.random.default_rng(1)
    values = rng.integers(0, 4, (600, len(index.titles))).astype(np.float32) / 4
    queries = queries_that_ask(map(str, range(len(values))))

    def similarities(titles):
        return values[[int(title) for title in titles]]

    search = Search(index, similarities, ScoreRule(rule, 0.1))
    _, run = rank_queries("s", search, queries, 1)
    predicted = predict(queries["cleaned"].to_list(), search)
    assert predicted == run.select("occupation_id", "title").rows()
    assert len(set(predicted)) > len(TAXONOMY)


@pytest.fixture
def place(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny network of mix 3 and seed 7; the inputs are titles of its index as they stand."""
    monkeypatch.setattr("sys.argv", ["simulate_feedback", "--seed", "7"])
    write_params(evaluate={"occupation_score": "best"})  # so that a title of the index finds itself
    featurizer, encoder = network(1)
    folder = Path("data/train/extra_words/7/model")
    save_model(folder, featurizer, SETTINGS, encoder.state_dict(), useless())
    write_frame(distinct_titles(aliases()), Path("data/split/titles.parquet"), TITLES)
    parts = ("test", "valid", "gate", "test")
    for number, (writer, split) in enumerate(zip(BEFORE_FEEDBACK, parts, strict=True)):
        query = (str(number), writer, split, f"Asked {number}", ["nurse"], 1, "alias")
        write_frame(queries_of([query]), Path(f"data/{writer}/queries.parquet"), QUERIES)
    give(
        ("Ward sister,\r\n(night)", "nurse", "train"),
        ("Bread maker", "baker", "train"),
        ("NURSE", "baker", "train"),
        ("Nurse", "nurse", "train"),
        *[(f"asked {number}", "nurse", "train") for number in range(len(BEFORE_FEEDBACK))],
    )
    return here


def give(*rows: tuple[str, str | None, str]) -> None:
    write_frame(inputs_of(rows), Path("data/split/inputs.parquet"), SPLIT_INPUTS)


def test_the_stage_by_hand(place: Path) -> None:
    """A title of the index finds itself: right for a baker and a nurse, wrong for the second."""
    main()
    judged = pl.read_csv(OUT / "feedback.csv", schema=dict(FEEDBACK))
    assert judged["raw_title"][0] == "Ward sister,\r\n(night)"
    weights = Path("data/train/extra_words/7/model/weights.safetensors").read_bytes()
    version = f"train@extra_words {hashlib.sha256(weights).hexdigest()[:12]}"
    said = (version, "labels", "2026-01-01")
    columns = ["raw_title", "matched_title", "verdict", "corrected_occupation_id"]
    assert judged.select(columns).rows()[1:] == [
        ("Bread maker", "bread maker", "correct", None),
        ("NURSE", "nurse", "incorrect", "baker"),
        ("Nurse", "nurse", "correct", None),
    ]
    assert set(judged.select("model_version", "reviewer_id", "judged_at").rows()) == {said}
    held = {title for title, split in aliases().select("title", "split").rows() if split == "train"}
    assert set(judged["matched_title"]) <= {clean_title(title) for title in held}
    counts = json.loads((OUT / "metrics.json").read_text(encoding="utf-8"))
    assert counts["judged"] == counts["correct"] + counts["incorrect"] == 4
    assert counts["left_out"] == {"no_letters": 0, "query": 4, "duplicate": 0}
    before = {path.name: path.read_bytes() for path in OUT.iterdir()}
    main()
    assert before == {path.name: path.read_bytes() for path in OUT.iterdir()}


def test_no_labelled_inputs_give_a_header_only(place: Path, monkeypatch) -> None:
    """And embed no index: `network` is not called."""
    monkeypatch.delattr("tasks.pipeline.simulate_feedback.network")
    give(("Baker", None, "unlabelled"))
    main()
    assert (OUT / "feedback.csv").read_text() == ",".join(FEEDBACK) + "\n"
    counts = json.loads((OUT / "metrics.json").read_text(encoding="utf-8"))
    assert counts["judged"] == 0
