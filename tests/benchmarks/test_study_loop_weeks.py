"""Division of titles into weeks, choice of the reviewed ones, and figures of a week, by hand."""

from __future__ import annotations

import numpy as np
import polars as pl

from benchmarks.studies.loop.arm import METRICS, values, with_sums
from benchmarks.studies.loop.reviewer import Week, first_in_queue, random_titles
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


def week(sure: list[float | None], rows: list[int]) -> Week:
    """Titles of unlike embeddings, answered with these confidences; null: not answered."""
    count = len(sure)
    titles = pl.DataFrame(
        {
            "normalized": [f"t{k}" for k in range(count)],
            "raw_title": [f"T{k}" for k in range(count)],
            "cleaned": [f"t{k}" for k in range(count)],
            "rows": pl.Series(rows, dtype=pl.UInt32),
            "answer": [None if own is None else f"o{k}" for k, own in enumerate(sure)],
            "score": [None if own is None else 1.0 for own in sure],
            "score_margin": [None if own is None else 1.0 for own in sure],
            "confidence": pl.Series(sure, dtype=pl.Float64),
            "abstained": [own is None for own in sure],
            "reason": ["not a job title" if own is None else None for own in sure],
        }
    )
    embeddings = dict(zip(titles["cleaned"], np.eye(count, dtype=np.float32), strict=True))

    def embed(names: list[str]) -> np.ndarray:
        return np.stack([embeddings[name] for name in names])

    return Week(titles, embed, 0.07, 1, 1)


def test_the_queue_by_hand() -> None:
    """Rows times the chance of a wrong answer: 0.1, 0.8, 0.6; 0.5 of what is rejected.

    A review has a share of .23 in the votes on what scores 1, and nearly all without a score.
    """
    of_week = week([0.9, 0.2, 0.8, None], [1, 1, 3, 1])
    assert first_in_queue(of_week, 2) == ["t3", "t1"]
    assert first_in_queue(of_week, 4) == ["t3", "t1", "t2", "t0"]
    sure = week([1.0] * 10, [1] * 10)
    drawn = first_in_queue(sure, 10)
    assert len(drawn) == 2 and drawn == first_in_queue(sure, 10), "a fifth, of any confidence"


def test_titles_are_drawn_once_and_by_their_inputs() -> None:
    """Of 200 draws of one, the title of eight in ten inputs is taken about 160 times."""
    of_week = week([0.5] * 3, [8, 1, 1])
    assert sorted(random_titles(of_week, 9)) == ["t0", "t1", "t2"]
    firsts = [random_titles(of_week._replace(number=number), 1)[0] for number in range(200)]
    assert 140 < firsts.count("t0") < 180
    assert random_titles(of_week, 2) == random_titles(of_week, 2)


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
