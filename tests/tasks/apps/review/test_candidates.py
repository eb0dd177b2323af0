"""The best titles of a run: by priority, unjudged, beside what an earlier run answered."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from queues import abstention, answer, write_run

from tasks.apps.review import answered_run
from tasks.apps.review.answered_run import AnsweredRun
from tasks.apps.review.candidates import CANDIDATES, candidates, judged_titles
from tasks.io.schemas import JUDGED, REVIEWS

NOTHING = pl.DataFrame(schema={"normalized": pl.String})
UNSURE = answer(confidence=0.1)
SPLITS = [
    [("seldom", UNSURE), ("often", UNSURE), ("sure", answer(confidence=1.0)), ("()", answer())],
    [("often", UNSURE), ("???", abstention("no letters")), ("Cook!", answer()), (None, answer())],
]


@pytest.fixture
def run(tmp_path: Path) -> AnsweredRun:
    return AnsweredRun.find(write_run(tmp_path / "run", SPLITS))


@pytest.mark.parametrize("bucket_rows", [100, 2])
def test_the_most_rows_and_the_least_sure_come_first(
    run: AnsweredRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bucket_rows: int
) -> None:
    """What is surely right is none, nor where nothing can be read, nor signs alone."""
    monkeypatch.setattr(answered_run, "BUCKET_ROWS", bucket_rows)
    best = candidates(run, None, NOTHING, 4, tmp_path / "titles")
    assert dict(best.schema) == dict(CANDIDATES)
    assert best["raw_title"].to_list()[:2] == ["often", "seldom"]
    assert sorted(best["raw_title"]) == ["Cook!", "often", "seldom"]
    assert candidates(run, None, NOTHING, 1, tmp_path / "less")["rows"].to_list() == [2]


def test_another_answer_before_lifts_a_title(run: AnsweredRun, tmp_path: Path) -> None:
    """It is worth twice as much; a title that answers alike, and a new one, are not lifted."""
    before = [[("SELDOM", answer(occupation_id="cook")), ("often", answer())]]
    earlier = AnsweredRun.find(write_run(tmp_path / "earlier", before, "was_"))
    alone = candidates(run, None, NOTHING, 9, tmp_path / "one")
    beside = candidates(run, earlier, NOTHING, 9, tmp_path / "two")
    worth = [dict(frame.select("raw_title", "priority").iter_rows()) for frame in (alone, beside)]
    assert worth[1]["often"] == worth[0]["often"]
    assert worth[1]["Cook!"] == worth[0]["Cook!"]
    assert worth[1]["seldom"] == pytest.approx(worth[0]["seldom"] + 0.9)


def test_what_people_judged_is_not_asked_again(run: AnsweredRun, tmp_path: Path) -> None:
    assert judged_titles(tmp_path).is_empty(), "nobody has judged anything"
    folder = tmp_path / "data/feedback"
    folder.mkdir(parents=True)
    for name, schema, title in (("judged", JUDGED, "often"), ("reviews", REVIEWS, "cook")):
        row = dict.fromkeys(schema) | {"normalized": title}
        frame = pl.DataFrame([row, row], schema=dict(schema))
        frame.write_parquet(folder / f"{name}.parquet")
    best = candidates(run, None, judged_titles(tmp_path), 9, tmp_path / "titles")
    assert best["raw_title"].to_list() == ["seldom"]
