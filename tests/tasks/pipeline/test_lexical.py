"""The stage `lexical` on toy files."""

import json
from pathlib import Path

import pytest
from toy_evaluation import write_toy

from tasks.evaluation.metric_tables import read_table
from tasks.io.frames import read_frame
from tasks.io.schemas import RUN, SCORES, TABLE
from tasks.pipeline.lexical import main

FOLDER = Path("data/lexical")


@pytest.fixture(autouse=True)
def files(here: Path) -> None:
    write_toy(here)


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
