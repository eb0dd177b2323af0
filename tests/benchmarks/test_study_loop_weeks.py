"""Division of titles into weeks, choice of the reviewed ones, and figures of a week, by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from benchmarks.studies.loop.arm import (
    EFFECTS,
    METRICS,
    Challenger,
    decided,
    effects_of,
    values,
    with_sums,
)
from benchmarks.studies.loop.measure import counted
from benchmarks.studies.loop.reviewer import filled_in, random_queue
from benchmarks.studies.loop.stream import split_weeks, titles_of

NAMES = ["query_id", "normalized", "occupation_id"]


def inputs(count: int) -> pl.DataFrame:
    """Every third title has two rows, with two labels."""
    rows = [(f"q{k}", f"t{k}", f"o{k % 4}") for k in range(count)]
    rows += [(f"r{k}", f"t{k}", "other") for k in range(0, count, 3)]
    return pl.DataFrame(rows, schema=NAMES, orient="row")


def test_a_title_is_in_one_week_with_all_of_its_rows() -> None:
    rows = inputs(99)
    weeks = split_weeks(rows, 11, 1)
    assert [week["normalized"].n_unique() for week in weeks] == [9] * 11
    assert pl.concat(weeks).sort("query_id").equals(rows.sort("query_id"))
    poisoned = split_weeks(rows.with_columns(occupation_id=pl.lit("o9")), 11, 1)
    assert [week["query_id"].to_list() for week in poisoned] == [
        week["query_id"].to_list() for week in weeks
    ]
    assert split_weeks(rows, 11, 2)[0]["query_id"].to_list() != weeks[0]["query_id"].to_list()


def test_a_persons_label_is_that_of_most_rows() -> None:
    """Two of three rows are o1; of one each the first row's; a title's first row stands for it."""
    rows = [("q0", "a", "o0"), ("q1", "b", "o2"), ("q2", "a", "o1"), ("q3", "b", "o0")]
    rows.append(("q4", "a", "o1"))
    titles = titles_of(pl.DataFrame(rows, schema=NAMES, orient="row"))
    rows_by_title = titles.select("query_id", "normalized", "rows", "label").rows()
    assert rows_by_title == [("q0", "a", 3, "o1"), ("q1", "b", 2, "o2")]


def of_week(count: int, rows: list[int]) -> pl.DataFrame:
    """Titles with their rows, answered with the first occupation; the last is not answered."""
    answers = ["o0"] * (count - 1) + [None]
    return pl.DataFrame(
        {
            "raw_title": [f"T{k}" for k in range(count)],
            "normalized": [f"t{k}" for k in range(count)],
            "rows": rows,
            "label": [f"o{k}" for k in range(count)],
            "answer_occupation_id": answers,
            "answer_matched_title": answers,
            "answer_model_version": "v1",
        }
    )


def test_titles_are_drawn_once_and_by_their_inputs() -> None:
    """Of 200 draws of one, the title of eight in ten inputs is taken about 160 times."""
    titles = of_week(3, [8, 1, 1])
    assert sorted(drawn(titles, 9, 1)) == ["T0", "T1", "T2"]
    firsts = [drawn(titles, 1, number)[0] for number in range(200)]
    assert 140 < firsts.count("T0") < 180
    assert drawn(titles, 2, 1) == drawn(titles, 2, 1)


def drawn(titles: pl.DataFrame, budget: int, seed: int) -> list[str]:
    return random_queue(titles, budget, np.random.default_rng(seed))["raw_title"].to_list()


def test_every_fifth_of_the_random_titles_is_the_gates() -> None:
    marks = random_queue(of_week(12, [1] * 12), 11, np.random.default_rng(1))["chosen_by"]
    assert marks.to_list() == ([*["coverage"] * 4, "random"] * 3)[:11]


def test_a_person_confirms_or_corrects() -> None:
    """A file of the queue writes nothing as an empty text, and guards a formula."""
    names = ("raw_title", "predicted_occupation_id", "matched_title", "model_version", "chosen_by")
    rows = [("T0", "o0", "x", "v", "random"), ("'-T1", "o0", "x", "v", "disputed")]
    queue = pl.DataFrame([*rows, ("T2", "", "", "v", "coverage")], schema=list(names), orient="row")
    reviewed = filled_in(queue, of_week(3, [1] * 3), 2)
    assert reviewed.rows() == [
        ("T0", "o0", "x", "v", "correct", None, "person", "2026-01-12", "random"),
        ("-T1", "o0", "x", "v", "incorrect", "o1", "person", "2026-01-12", "disputed"),
        ("T2", None, None, "v", "incorrect", "o2", "person", "2026-01-12", "coverage"),
    ]


class Answers:
    """A model that answers every title with one occupation."""

    def __init__(self, name: str | None) -> None:
        self.name = name

    def predict(self, titles: list[str]) -> Answers:
        self.table = pa.table({"occupation_id": [self.name] * len(titles)})
        return self


@pytest.mark.parametrize("now", ["b", None])
def test_effects_by_hand(now: str | None) -> None:
    """Of three inputs one is `a`: the network before has it right, the one now the other two."""
    inputs = {"raw_title": ["x", "y", "z"], "occupation_id": ["a", "b", "b"]}
    later = pl.DataFrame({"query_id": ["q1", "q2", "q3"], **inputs})
    made = values(effects_of(later, [Answers("a"), Answers(now)]), "week:1/later", **EFFECTS)
    right = float(now == "b")
    columns = ("query_id", "gain_of_retraining", "repaired", "broken")
    assert made.select(columns).rows() == [
        ("q1", -1, None, 1),
        ("q2", right, right, None),
        ("q3", right, right, None),
    ]


def test_counts_are_of_each_run_and_of_all() -> None:
    """Run 1 repairs two answers and breaks one, run 2 repairs one; without a broken one no row."""
    later = pl.DataFrame(
        {"query_id": ["q1", "q2", "q3"], "raw_title": ["x"] * 3, "occupation_id": ["a", "b", "b"]}
    )
    runs = {}
    for run, models in ((1, "ab"), (2, "ca")):
        made = effects_of(later, [Answers(name) for name in models])
        runs[run] = with_sums(values(made, "week:4/later", **EFFECTS))
    rows = [(row.seed, row.metric, row.value, row.n) for row in counted("queue", runs)]
    assert rows == [
        (1, "repaired_answers", 2, 3),
        (1, "broken_answers", 1, 3),
        (1, "repaired_for_one_broken", 2, 3),
        (None, "repaired_answers", 3, 6),
        (None, "broken_answers", 1, 6),
        (None, "repaired_for_one_broken", 3, 6),
    ]
    assert [*counted("nothing", {1: runs[1].clear()})] == []


@pytest.mark.parametrize(
    ("better", "promoted", "gate"),
    [
        (1, True, (1, 1, None)),
        (2, False, (0, 0, None)),
        (-1, True, (1, None, 1)),
        (0, True, (1, None, None)),
    ],
)
def test_a_decision_by_its_effect(
    better: int, promoted: bool, gate: tuple[float | None, ...]
) -> None:
    names = ("promoted", "promoted_if_better", "promoted_if_worse")
    assert decided(Challenger("week:1", better, promoted)).select(names).rows() == [gate]


def test_sums_leave_the_first_week_out_of_the_later_ones() -> None:
    right = pl.col("answer") == pl.col("occupation_id")
    rows = pl.DataFrame({"query_id": ["q"], "occupation_id": ["a"], "answer": ["a"]})
    frames = [values(rows, f"week:{number}", success_at_1=right) for number in (1, 2, 3)]
    frames += [
        values(rows, f"week:{number}/gate", promoted=pl.lit(number == 2)) for number in (1, 2)
    ]
    summed = with_sums(pl.concat(frames))
    assert summed.columns == ["test", "query_id", *METRICS]
    assert len(summed.filter(test="later_weeks")) == 2
    assert summed.filter(test="all_weeks/gate")["promoted"].mean() == 0.5
