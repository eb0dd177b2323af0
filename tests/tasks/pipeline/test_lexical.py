"""The stage `lexical` on toy files, and ranking with systems whose answers are known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from toy_evaluation import write_toy

from models.serving.search import Search
from tasks.evaluation.metric_tables import read_table
from tasks.evaluation.ranking import measure
from tasks.evaluation.systems import EvaluateParams, read_index
from tasks.io.frames import read_frame
from tasks.io.mixes import read_queries
from tasks.io.schemas import RUN, SCORES, TABLE
from tasks.io.section import load
from tasks.pipeline.lexical import main

FOLDER = Path("data/lexical")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_toy(tmp_path)


def test_known_systems_by_hand() -> None:
    """`exact` finds three titles; "teacher" is not in the index, so all three tie: ⅓.

    To `alike` all titles are alike: ⅓ always.
    """
    index = read_index()
    systems = {
        "exact": lambda titles: np.array(
            [[title == alias for alias in index.titles] for title in titles], np.float32
        ),
        "alike": lambda titles: np.zeros((len(titles), len(index.titles)), np.float32),
    }
    params = load(EvaluateParams)
    searches = {name: Search(index, known, params.rule) for name, known in systems.items()}
    made = measure(searches, read_queries("test"), params, 1)
    third = pytest.approx(1 / 3)
    assert made.scores.select("system", "test", "success_at_1").rows() == [
        ("exact", "typos", 1),
        ("exact", "composition", 1),
        ("exact", "extra_words", 1),
        ("exact", "heldout_alias", third),
        ("alike", "typos", third),
        ("alike", "composition", third),
        ("alike", "extra_words", third),
        ("alike", "heldout_alias", third),
    ]
    assert made.run.group_by("system", "query_id").len()["len"].to_list() == [3] * 8
    assert set(made.run["title"]) == {"cook", "nurse", "tutor"}
    assert "source:label_agrees" in made.table["slice"].to_list()


@pytest.mark.thorough
def test_both_systems_are_written_once_for_all_mixes() -> None:
    main()
    figures = json.loads((FOLDER / "metrics.json").read_text())
    assert set(figures) == {"ngram", "tfidf"}
    for tests in figures.values():
        assert set(tests) == {"typos", "composition", "extra_words", "heldout_alias"}
        assert tests["typos"]["success_at_1"] == tests["extra_words"]["success_at_1"] == 1
    scores = read_frame(FOLDER / "scores.parquet", SCORES)
    assert scores["system"].unique(maintain_order=True).to_list() == ["ngram", "tfidf"]
    read_frame(FOLDER / "run.parquet", RUN)
    read_table(FOLDER / "table.csv", TABLE)
    before = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    main()
    assert before == {path.name: path.read_bytes() for path in FOLDER.iterdir()}
