"""The gate's queries and its ranking, against that of a search; what training had to go by."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest
from frames_of import queries_of
from served_toy import NOTHING, embed, table, toy_normalizer

from models.serving.index import AliasIndex, StoredVectors
from models.serving.model import Normalizer
from models.serving.scores import ScoreRule
from tasks.evaluation.ranking import rank_queries
from tasks.io.frames import write_frame
from tasks.io.mixes import BEFORE_FEEDBACK
from tasks.io.schemas import QUERIES
from tasks.release.gate import answers as answering
from tasks.release.gate.answers import (
    QueriedModel,
    changed_predictions,
    everyday_queries,
    first_answers,
    gate_queries,
    rank_first,
)
from tasks.release.gate.run_gate import what_training_saw

RULES = [ScoreRule("best", 0.07), ScoreRule("soft", 0.07)]
RULES += [ScoreRule("soft", 0.07, {"en": 4.0}), ScoreRule("soft", 0.001)]
WORDS = ("bread", "night", "ward", "nurse", "maker", "keeper", "sister", "oven")
TITLES = [f"{one} {other}" for one in WORDS for other in WORDS if one < other]
OWNERS = {  # an occupation and every how manieth title is its alias; the last two are alike
    "baker": TITLES[::2],
    "miller": TITLES[::3],
    "nurse": TITLES[1::4],
    **{"warden": TITLES[5:8], "guard": TITLES[20:21], "usher": TITLES[20:21]},
}
ROWS = [(owner, title) for owner, titles in OWNERS.items() for title in titles]
LANGUAGES = [("en", "de")[row % 2] for row in range(len(ROWS))]
INDEX = AliasIndex.of([row[1] for row in ROWS[1:]], [row[0] for row in ROWS[1:]], LANGUAGES[1:])
"""Without the first alias of the bakers."""


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "QUERIES_AT_ONCE", 7)


def model(rule: ScoreRule, *exemplars: tuple[str, str, float]) -> Normalizer:
    """Make one; exemplars are title, occupation and weight."""
    own = [
        (owner, title, title, language, False, "train")
        for (owner, title), language in zip(ROWS, LANGUAGES, strict=True)
    ]
    labels = [(owner, owner, [], [], len(owner) % 5 / 100) for owner in OWNERS]
    titles = sorted({title for _, title in ROWS})
    rows = [(*row, "label") for row in exemplars]
    taught = sorted({title for title, *_ in exemplars})
    return replace(
        toy_normalizer(),
        aliases=table("occupation_id title written language preferred split", own),
        occupations=table("occupation_id occupation_label codes crosswalk_codes bias", labels),
        exemplars=table("title occupation_id weight source", rows) if rows else NOTHING,
        embeddings=StoredVectors.of(embed([*titles, *taught])),
        rule=rule,
    )


def queries() -> pl.DataFrame:
    """Titles with a word too many; the gold of one is no occupation of the index."""
    rows = [("none", "typos", "gate", "baker", ["surgeon"], 1, "input")]
    rows += [
        (f"q{number}", "typos", "gate", f"{title} {WORDS[number % 5]}", [owner], 1, "input")
        for number, (owner, title) in enumerate(ROWS)
    ]
    rows.append(("two", "typos", "gate", "nurse of bread", ["nurse", "baker"], 2, "input"))
    return queries_of(rows)


TAUGHT = [("oven hand", "baker", 2.0), ("oven hand", "miller", 0.5), ("night watch", "guard", 1.0)]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_it_ranks_as_a_search_within_the_index(rule: ScoreRule) -> None:
    """The scores of soft rules are near those of the search, too."""
    queried, models = queries(), [model(rule), model(rule, *TAUGHT)]
    ranked = rank_first(models, INDEX, queried)
    for own, (answer, right) in zip(models, ranked, strict=True):
        scores, run = rank_queries("a", own.within(INDEX), queried, 1)
        assert answer.tolist() == run["occupation_id"].to_list()
        assert right.tolist() == scores["success_at_1"].to_list()
    shares = ranked[0][1]
    assert shares[0] == 0 and 0.2 < shares.mean() < 0.9, "there is something to confuse"
    titles = queried["cleaned"].to_list()
    taught = QueriedModel.of(models[1], INDEX, titles)
    expected = models[1].within(INDEX)(titles, 1).scores
    if rule.temperature > 0.01:
        assert taught.scores(taught.alias_scores()) == pytest.approx(expected, abs=1e-6)


def test_equal_occupations_tie_and_no_queries_have_no_answers() -> None:
    queried = queries_of([("q", "typos", "gate", TITLES[20], ["usher"], 1, "input")])
    ((answer, right),) = rank_first([model(RULES[1])], INDEX, queried)
    assert right.tolist() == [0.5] and answer.tolist() == ["guard"]
    ((answer, right),) = rank_first([model(RULES[1])], INDEX, queried.clear())
    assert len(answer) == len(right) == 0


def test_one_network_is_compared_with_the_aliases_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exemplars make no difference; other embeddings of titles or queries do, or another rule."""
    compared = Mock(side_effect=QueriedModel.alias_scores)
    monkeypatch.setattr(QueriedModel, "alias_scores", lambda self: compared(self))
    base = model(RULES[1])
    turned = StoredVectors.of(embed(base.index.titles)[:, ::-1])
    in_half_bytes = StoredVectors.of(np.full((len(base.embeddings), 32), 0x99, np.uint8))
    others = [model(RULES[2]), model(ScoreRule("soft", 0.08)), replace(base, embeddings=turned)]
    others.append(replace(base, embeddings=in_half_bytes))
    others.append(replace(base, network=lambda titles: embed(titles)[:, ::-1]))
    for times, models in {1: [model(RULES[1], *TAUGHT), base], 2: others}.items():
        for other in models:
            compared.reset_mock()
            rank_first([base, other], INDEX, queries())
            assert compared.call_count == times


EVERYDAY = """raw_title,language,kind,occupation_ids,split
Baker (m/f),en,clear,baker elsewhere,work
Ward sister,en,clear,baker,work
!!!,en,clear,nurse,work
Keeper,en,vague,,work
Nurse,en,clear,nurse,final
"""


def test_everyday_titles_are_asked_of_whole_models_and_an_abstention_is_a_miss(tmp_path) -> None:
    """The title "Ward sister" is held out from the index that the gate's other tests search."""
    file = tmp_path / "everyday.csv"
    file.write_text(EVERYDAY, encoding="utf-8")
    normalizer = toy_normalizer()
    clear = everyday_queries(file, normalizer.index.occupations)
    assert clear["raw_title"].to_list() == ["Baker (m/f)", "Ward sister", "!!!"]
    assert clear["cleaned"].to_list()[0] == "baker (m/f)"
    answer, right = first_answers(normalizer, clear)
    assert right.tolist() == [1, 0, 0] and answer.tolist() == ["baker", "nurse", None]
    with pytest.raises(ValueError, match="it names no occupation of the taxonomy"):
        everyday_queries(file, ["surgeon"])


def test_an_input_whose_label_contradicts_its_title_is_not_asked(tmp_path: Path) -> None:
    sources = ("label_agrees", "label_differs")
    parts = [(source, split) for source in sources for split in ("gate", "test")]
    rows = [(f"{s}-{p}", "extra_words", p, "baker wanted", ["a"], 1, s) for s, p in parts]
    for stage in BEFORE_FEEDBACK:
        own = queries_of(rows if stage == "extra_words" else [])
        write_frame(own, tmp_path / stage / "queries.parquet", QUERIES)
    assert gate_queries(tmp_path)["query_id"].to_list() == ["label_agrees-gate"]


def test_only_first_answers_that_become_right_or_wrong() -> None:
    """q1 is right twice, q2 wrong twice with another answer, q4 may be either of two.

    For q5 the opponent abstains.
    """
    gold = {"q1": ["b"], "q2": ["a"], "q3": ["b"], "q4": ["b", "c"], "q5": ["a"]}
    rows = [(q, "annotations", "gate", f"raw {q}", own, 1, "input") for q, own in gold.items()]
    before, after = ["b", "b", "a", "c", None], ["b", "c", "b", "a", "a"]
    labels, counts = {"a": "Baker", "b": "Cook", "c": "Nurse"}, {"raw q4": 12, "raw q1": 3}
    made = changed_predictions(queries_of(rows), before, after, labels, counts)
    names = ("raw_title", "occupation_label", "before", "after", "change", "rows", "test")
    assert [tuple(title[name] for name in names) for title in made] == [
        ("raw q3", "Cook", "Baker", "Cook", "wrong to right", 0, "annotations"),
        ("raw q4", "Cook or Nurse", "Nurse", "Baker", "right to wrong", 12, "annotations"),
        ("raw q5", "Baker", None, "Baker", "wrong to right", 0, "annotations"),
    ]


@pytest.mark.parametrize(
    ("scores", "queries", "words"),
    [
        ([0.5, 0.4, 0.5], 4, "no later look at the 4 validation queries was better than that at "),
        ([0.5, 0.6, 0.6], 4, "those of step 100, chosen by 4 validation queries, whose score is "),
        ([0.5, 0.6, 0.7], 0, "training had no validation queries"),
    ],
)
def test_what_training_saw(tmp_path: Path, scores: list[float], queries: int, words: str) -> None:
    """Equal looks keep the first, as training does."""
    titles = [f"cook {number}" for number in range(queries)]
    rows = [(title, "annotations", "valid", title, ["a"], 1, "input") for title in titles]
    rows.append(("g", "annotations", "gate", "baker", ["a"], 1, "input"))
    write_frame(queries_of(rows), tmp_path / "data/split/queries.parquet", QUERIES)
    looks = pl.DataFrame({"step": [0, 100, 200], "valid_score": scores})
    looks.write_csv(tmp_path / "history.csv")
    assert words in what_training_saw(tmp_path / "model", tmp_path / "data")


def test_steps_on_verdicts_are_named(tmp_path: Path) -> None:
    """No validation query judges them: the history has no score of theirs."""
    queries = queries_of([("v", "annotations", "valid", "cook", ["a"], 1, "input")])
    write_frame(queries, tmp_path / "data/split/queries.parquet", QUERIES)
    looks = pl.DataFrame({"step": [0, 100], "valid_score": [0.5, 0.6]})
    more = pl.DataFrame({"step": [160, 220], "valid_score": [float("nan")] * 2})
    for history, ends in ((looks, "only"), (pl.concat([looks, more]), "; 120 steps on people's")):
        history.write_csv(tmp_path / "history.csv")
        said = what_training_saw(tmp_path / "model", tmp_path / "data")
        assert said.startswith("the weights are those of step 100, chosen by 1 validation queries")
        assert said.removesuffix(" verdicts followed").endswith(ends)
