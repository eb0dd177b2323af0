"""The gate's ranking against that of a search within the index, query by query."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from frames_of import queries_of
from served_toy import NOTHING, embed, table, toy_normalizer

from models.normalizer.normalizer import Normalizer
from models.search.index import AliasIndex
from models.search.occupation_scores import ScoreRule
from models.search.stored_vectors import StoredVectors
from tasks.evaluation.ranking import rank_queries
from tasks.release.gate import first_ranks
from tasks.release.gate.first_ranks import QueriedModel, rank_first

RULES = [
    ScoreRule("best", 0.07),
    ScoreRule("soft", 0.07),
    ScoreRule("soft", 0.07, {"en": 4.0}),
    ScoreRule("soft", 0.001),
]
WORDS = ("bread", "night", "ward", "nurse", "maker", "keeper", "sister", "oven")
TITLES = [f"{one} {other}" for one in WORDS for other in WORDS if one < other]
OWNERS = {  # an occupation and every how manieth title is its alias; the last two are alike
    "baker": TITLES[::2],
    "miller": TITLES[::3],
    "nurse": TITLES[1::4],
    "warden": TITLES[5:8],
    "guard": TITLES[20:21],
    "usher": TITLES[20:21],
}
ROWS = [(owner, title) for owner, titles in OWNERS.items() for title in titles]
LANGUAGES = [("en", "de")[row % 2] for row in range(len(ROWS))]
INDEX = AliasIndex.of([row[1] for row in ROWS[1:]], [row[0] for row in ROWS[1:]], LANGUAGES[1:])
"""Without the first alias of the bakers."""


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_ranks, "QUERIES_AT_ONCE", 7)


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
    queried = queries()
    made = rank_first({"a": model(rule), "b": model(rule, *TAUGHT)}, INDEX, queried)
    for name, own in (("a", model(rule)), ("b", model(rule, *TAUGHT))):
        scores, run = rank_queries(name, own.within(INDEX), queried, 1)
        assert made[name][0].equals(scores.select(made[name][0].columns))
        assert made[name][1].equals(run.select(made[name][1].columns))
    shares = made["a"][0]["success_at_1"]
    assert shares[0] == 0 and 0.2 < shares.mean() < 0.9, "there is something to confuse"


@pytest.mark.parametrize("rule", RULES[:3], ids=str)
def test_scores_are_those_of_the_search(rule: ScoreRule) -> None:
    own, titles = model(rule, *TAUGHT), queries()["cleaned"].to_list()
    queried = QueriedModel.of(own, INDEX, titles)
    scores = queried.scores(queried.alias_scores())
    assert scores == pytest.approx(own.within(INDEX)(titles, 1).scores, abs=1e-6)


def test_equal_occupations_tie() -> None:
    queried = queries_of([("q", "typos", "gate", TITLES[20], ["usher"], 1, "input")])
    scores, run = rank_first({"a": model(RULES[1])}, INDEX, queried)["a"]
    assert scores["success_at_1"].to_list() == [0.5] and run["occupation_id"].to_list() == ["guard"]


def test_one_network_is_compared_with_the_aliases_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exemplars make no difference; other embeddings of titles or queries do, or another rule."""
    compared: list[QueriedModel] = []
    of_one = QueriedModel.alias_scores

    def counted(self: QueriedModel) -> np.ndarray:
        compared.append(self)
        return of_one(self)

    monkeypatch.setattr(QueriedModel, "alias_scores", counted)
    base = model(RULES[1])
    turned = StoredVectors.of(embed(base.index.titles)[:, ::-1])
    in_half_bytes = StoredVectors.of(np.full((len(base.embeddings), 32), 0x99, np.uint8))
    others = {
        1: [model(RULES[1], *TAUGHT), base],
        2: [
            model(RULES[2]),
            model(ScoreRule("soft", 0.08)),
            replace(base, embeddings=turned),
            replace(base, embeddings=in_half_bytes),
            replace(base, embed=lambda titles: embed(titles)[:, ::-1]),
        ],
    }
    for times, models in others.items():
        for other in models:
            compared.clear()
            rank_first({"a": base, "b": other}, INDEX, queries())
            assert len(compared) == times


def test_no_queries() -> None:
    scores, run = rank_first({"a": model(RULES[1])}, INDEX, queries().clear())["a"]
    assert scores.is_empty() and run.is_empty()
