"""Weeks of a toy board, reviewed by a queue, at random and not at all."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from mlflow_import import WARNINGS
from test_study_champion import write_board
from toy_workspace import JOBS

from benchmarks.results import Row, _tidied
from benchmarks.studies.loop import arm
from benchmarks.studies.loop import measure as loop
from benchmarks.studies.loop.arm import Arm, Ran
from benchmarks.studies.loop.measure import ARMS, Job, run_arm
from benchmarks.studies.loop.reviewer import SELECTIONS, Reviewer
from benchmarks.studies.loop.stream import Stream
from tasks.apps.review import title_coverage
from tasks.io.frames import write_frame
from tasks.io.schemas import GROUPS, OCCUPATIONS
from tasks.release.gate.rule import GateDecision
from tasks.release.model_package import phrases

pytestmark = WARNINGS
OPTIONS: dict[str, Any] = {"weeks": 2, "budget": 8, "steps": 4, "batch": 6, "seeds": 1}
FRONTS = [one + two for one in "abcdefg" for two in "mnopqrs"]


def board_rows(*, poisoned: set[str] | None = None) -> list[tuple[str, str]]:
    """A row a title, some twice; poisoned ones have the label of another occupation."""
    rows = [(f"{front} {job}", k) for k, job in enumerate(JOBS) for front in FRONTS]
    rows += [(title.upper(), k) for title, k in rows[::7]]
    bad = poisoned or set()
    return [(title, f"o{(k + (title.lower() in bad)) % len(JOBS)}") for title, k in rows]


@pytest.fixture
def board(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_board(tmp_path, board_rows())
    monkeypatch.setattr(loop, "data_folder", lambda: tmp_path)
    monkeypatch.setattr(title_coverage, "ALIKE", 1.1)  # so few numbers tell nothing apart
    monkeypatch.setattr(phrases, "places", lambda titles: [])  # megabytes, for every artefact
    codes = [(f"o{k}", job, ["1", f"1{k % 2}"]) for k, job in enumerate(JOBS)]
    frame = pl.DataFrame(codes, schema=dict(OCCUPATIONS), orient="row")
    write_frame(frame, workspace / "data/ingest/occupations.parquet", OCCUPATIONS)
    groups = pl.DataFrame(schema=dict(GROUPS))
    write_frame(groups, workspace / "data/ingest/groups.parquet", GROUPS)
    return tmp_path


def options(folder: Path, **changes: int) -> Namespace:
    return Namespace(**OPTIONS | changes, processes=1, kept=folder / "kept")


def table(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, orient="row", schema=list(Row._fields), infer_schema_length=None)


def test_a_study_on_a_toy(board: Path) -> None:
    """Every arm has every week; what is kept is trained once; counts add up; the page is drawn."""
    lists = list(loop.measure("sample", options(board)))
    made = table([row for rows in lists for row in rows])
    weekly = made.filter(pl.col("metric") == "success_at_1", pl.col("seed") == 1)
    tests = ["week:1", "week:2", "week:3", "later_weeks"]
    for name in ARMS:
        assert weekly.filter(system=name)["test"].to_list() == tests
    first = weekly.filter(test="week:1")
    assert first["value"].n_unique() == 1  # nobody has reviewed anything yet
    sizes = dict(weekly.filter(system="queue").select("test", "n").rows())
    assert sizes["week:2"] + sizes["week:3"] == sizes["later_weeks"]
    mistakes = made.filter(metric="mistakes", seed=1).select("system", "test", "n").rows()
    assert set(mistakes) == {
        (name, test, n)
        for name in ("queue", "random")
        for test, n in (("week:1/queried", 8), ("week:2/queried", 8), ("all_weeks/queried", 16))
    }
    gained = made.filter(pl.col("metric").str.starts_with("gain_"))
    assert set(gained["system"]) == {"queue-random", "queue-nothing", "random-nothing"}
    once = made.filter(test="all_weeks/at_once", metric="corrected", seed=1)
    assert once["value"].to_list() == [1.0, 1.0]  # exact matches
    assert len(made.filter(metric="best_step")) == 1 + 2 * 2
    shares = made.filter(~pl.col("metric").str.contains("step|gain_"))
    assert shares["value"].is_between(0, 1).all()
    lines = [_tidied("sample", row, "loop-1") for rows in lists for row in rows]
    drawn = loop.plot(lines)
    assert drawn.count("inputs answered correctly") == 1 and "the queue reviewed" in drawn


def test_nothing_of_later_weeks_is_seen(board: Path) -> None:
    """With other labels in the weeks after, all that the first week says and does is the same."""
    job = Job("sample", "queue", 1, options(board, weeks=1))
    before = pl.concat(run_arm(job).values)
    weeks = Stream.read("sample", board, 1).weeks
    later = {title for week in weeks[1:] for title in week["normalized"]}
    write_board(board, board_rows(poisoned=later))
    again = Stream.read("sample", board, 1).weeks
    assert again[0].equals(weeks[0]) and not again[1].equals(weeks[1])
    after = pl.concat(run_arm(job).values)
    assert not after.equals(before)
    early = pl.col("test").str.starts_with("week:1")
    assert after.filter(early).equals(before.filter(early))
    assert len(before.filter(early))


def test_arms_differ_only_in_the_reviewed_titles(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the random arm chooses as the queue does, all of its values are the queue's.

    The second one trains anew: what comes out is a matter of the seed.
    """
    ran = run_arm(Job("sample", "queue", 1, options(board, weeks=1)))
    monkeypatch.setitem(SELECTIONS, "random", SELECTIONS["queue"])
    same = run_arm(Job("sample", "random", 1, options(board / "again", weeks=1)))
    assert pl.concat(same.values).equals(pl.concat(ran.values))


def of_test(ran: Ran, test: str) -> pl.DataFrame:
    return pl.concat(ran.values).filter(test=test).drop("test")


def test_exact_matches_alone_change_no_other_title(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where exemplars do harm: mistakes are right at once, the next week's inputs as before."""
    refused = GateDecision(False, "worse", [])
    monkeypatch.setattr(arm, "decide_corrected", lambda *_: refused)
    monkeypatch.setattr(Arm, "_promoted", lambda *_: False)
    job = Job("sample", "queue", 1, options(board, weeks=1))
    ran, nothing = run_arm(job), run_arm(job._replace(arm="nothing"))
    assert of_test(ran, "week:1/at_once")["corrected"].to_list() == [1.0] * len(
        of_test(ran, "week:1/at_once")
    )
    assert of_test(ran, "week:1/gate").select("promoted", "fell_back").row(0) == (0.0, 1.0)
    assert of_test(ran, "week:2").equals(of_test(nothing, "week:2"))


def test_who_is_promoted_answers_the_next_week(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered: list[Path] = []
    answers = arm.ServedModel.answers

    def noted(model: arm.ServedModel, inputs: pl.DataFrame) -> pl.DataFrame:
        answered.append(model.folder)
        return answers(model, inputs)

    monkeypatch.setattr(arm.ServedModel, "answers", noted)
    monkeypatch.setattr(Arm, "_promoted", lambda *_: True)
    ran = run_arm(Job("sample", "queue", 1, options(board, weeks=1)))
    assert [folder.name for folder in answered] == [
        "artefact",  # the first network
        "with_exemplars",
        "artefact",  # the retrained one, asked the mistakes, and then the next week
        "artefact",
    ]
    assert answered[2] == answered[3] != answered[0]
    assert of_test(ran, "week:1/gate")["promoted"].to_list() == [1.0]
    mistakes = of_test(ran, "week:1/queried")["mistakes"].sum()
    assert len(of_test(ran, "week:1/retrained")) == mistakes > 0


def test_reviews_are_read_as_by_the_pipeline(board: Path, tmp_path: Path) -> None:
    """A confirmed answer, a corrected one and one that was missing; some are kept for the gate."""
    stream = Stream.read("sample", board, 2)
    reviewer = Reviewer(stream, tmp_path / "reviews")
    assert reviewer.read().overrides.is_empty()
    rows = [(f"zz {k} {JOBS[k % 5]}", (None, "o0", "o1")[k % 3], "x", "o1") for k in range(30)]
    names = ["raw_title", "answer", "matched_title", "label"]
    reviewer.write(pl.DataFrame(rows, schema=names, orient="row"), 1)
    made = reviewer.read()
    assert len(made.overrides) == 30 and set(made.overrides["occupation_id"]) == {"o1"}
    assert sorted(made.judged["resolution"].value_counts().rows()) == [
        ("correct", 20),
        ("incorrect", 10),
    ]
    assert len(made.queries) == made.judged["held_out"].sum() > 0
    assert len(made.verdicts) == 30 - len(made.queries)
    assert not set(made.verdicts["normalized"]) & set(made.queries["normalized"])
