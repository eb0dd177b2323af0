"""Several runs merged as one; their best titles, by priority, without those that have a verdict."""

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queues import abstention, answer, write_run

from models.serving import clean as reasons
from models.text.titles import normalize_title
from tasks.apps.bulk.single_file import write_tables
from tasks.apps.review import candidates as candidates_module
from tasks.apps.review.candidates import (
    ANSWER,
    CANDIDATES,
    MERGED,
    AnsweredRun,
    answered_runs,
    candidates,
    is_readable,
    merged_titles,
    pooled,
    priority,
    titles_with_verdicts,
    why_queued,
)
from tasks.io.bulk_output import manifest_of
from tasks.io.files import sha256
from tasks.io.frames import write_frame
from tasks.io.schemas import VERDICTS
from tasks.release.gate.disputed import TITLES as DISPUTED_TITLES

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
    monkeypatch.setattr(candidates_module, "BUCKET_ROWS", bucket_rows)
    best = candidates([run], None, NOTHING, 4, tmp_path / "titles")
    assert dict(best.schema) == dict(CANDIDATES)
    assert best["raw_title"].to_list() == ["often", "seldom", "Cook!"]
    assert set(best["chosen_by"]) == {"coverage"}
    monkeypatch.setattr(candidates_module, "MOST", 1)
    assert candidates([run], None, NOTHING, 4, tmp_path / "less")["rows"].to_list() == [2]


@pytest.mark.parametrize("bucket_rows", [100, 2])
def test_a_fifth_is_drawn_of_all_that_can_be_read(run, tmp_path, monkeypatch, bucket_rows) -> None:
    """Sure answers too; the drawn ones come first, and no title comes twice."""
    monkeypatch.setattr(candidates_module, "BUCKET_ROWS", bucket_rows)
    ten = candidates([run], None, NOTHING, 10, tmp_path / "ten")
    assert ten["chosen_by"].to_list() == ["random"] * 2 + ["coverage"] * (len(ten) - 2)
    everything = candidates([run], None, NOTHING, 25, tmp_path / "all")
    assert set(everything["chosen_by"]) == {"random"}
    assert sorted(everything["raw_title"]) == ["Cook!", "often", "seldom", "sure"]
    assert everything["raw_title"][:2].equals(ten["raw_title"][:2])


def test_titles_are_drawn_by_their_rows() -> None:
    """Of the newest run: half of the titles have three rows of four, so some 300 of 400 drawn."""
    rng, count = np.random.default_rng(1), 40_000
    values = answer(confidence=1.0) | {"earlier_occupation_id": None}
    names = [f"t{number}" for number in range(count)]
    columns = {"normalized": names, "raw_title": names, "rows": np.full(count, 9, np.uint32)}
    columns |= {"newest_rows": np.repeat(np.array([1, 3], np.uint32), count // 2)}
    columns |= {"hash": rng.integers(2**32, size=count, dtype=np.uint32)}
    frame = pl.DataFrame(columns)
    frame = frame.with_columns(
        pl.lit(v, CANDIDATES[name]).alias(name) for name, v in values.items()
    )
    drawn = pooled([frame[:9], frame[9:]], 2000)
    assert len(drawn) == 400 and set(drawn["chosen_by"]) == {"random"}
    often = frame.filter(newest_rows=3)
    assert 280 < drawn["normalized"].is_in(often["normalized"].implode()).sum() < 320
    assert pooled([frame.sample(fraction=1, shuffle=True, seed=2)], 2000).equals(drawn)
    next_week = pooled([frame], 2000, digits=0x9E3779B9)["normalized"]
    assert len({*next_week} & {*drawn["normalized"]}) < 20, "left out once is not left out again"


def test_another_answer_before_lifts_a_title(run: AnsweredRun, tmp_path: Path) -> None:
    """It is worth twice as much; a title that answers alike, and a new one, are not lifted."""
    before = [[("SELDOM", answer(occupation_id="cook")), ("often", answer())]]
    earlier = AnsweredRun.find(write_run(tmp_path / "earlier", before, "was_"))
    alone = candidates([run], None, NOTHING, 1, tmp_path / "one")
    beside = candidates([run], earlier, NOTHING, 1, tmp_path / "two")
    worth = [dict(frame.select("raw_title", "priority").iter_rows()) for frame in (alone, beside)]
    assert worth[1] == worth[0] | {"seldom": pytest.approx(2 * worth[0]["seldom"])}


def test_the_drawn_are_of_the_newest_run_and_the_heaviest_of_all(run, tmp_path) -> None:
    """`last` alone is of the last run; `often` has two rows of the earlier one."""
    last = AnsweredRun.find(write_run(tmp_path / "last", [[("last", answer())]]))
    rows = candidates([run, last], None, NOTHING, 20, tmp_path / "titles")
    named = rows.select("normalized", "chosen_by", "rows").rows()
    assert named[:2] == [("last", "random", 1), ("often", "coverage", 2)]
    assert {name for name, way, _ in named if way == "random"} == {"last"}


def test_what_people_judged_is_not_asked_again(run: AnsweredRun, tmp_path: Path) -> None:
    assert titles_with_verdicts(tmp_path).is_empty(), "nobody has judged anything"
    folder = tmp_path / "data/feedback"
    rows = [dict.fromkeys(VERDICTS) | {"normalized": title} for title in ("often", "cook", "cook")]
    write_frame(pl.DataFrame(rows, schema=dict(VERDICTS)), folder / "verdicts.parquet", VERDICTS)
    best = candidates([run], None, titles_with_verdicts(tmp_path), 10, tmp_path / "titles")
    assert sorted(best["raw_title"]) == ["seldom", "sure"]


def test_disputed_titles_come_in_their_order_behind_the_drawn(run: AnsweredRun, tmp_path) -> None:
    """As many as the drawn ones; neither a judged one, nor one that is drawn.

    A disputed title that no run has is among them, with 0 rows.
    """
    others = disputes("sure", "often", "cook", "seldom")
    judged = pl.DataFrame({"normalized": ["sure"]})
    rows = candidates([run], None, judged, 5, tmp_path / "titles", others)
    first = next(name for name in ("often", "cook", "seldom") if name != rows["normalized"][0])
    assert rows["chosen_by"].to_list() == ["random", "disputed", "coverage"]
    assert rows["normalized"][1] == first
    assert rows["other_occupation_id"].to_list() == [None, f"other of {first}", None]
    others = disputes("sure", "no such title", "often")
    rows = candidates([run], None, judged, 5, tmp_path / "more", others)
    named = ("raw_title", "rows", "occupation_id", "other_occupation_id")
    assert rows.select(named).row(1) == ("No such title", 0, None, "other of no such title")


def disputes(*names: str) -> pl.DataFrame:
    columns = [[name.capitalize() for name in names], names, range(len(names))]
    columns.append([f"other of {name}" for name in names])
    return pl.DataFrame(columns, schema=dict(DISPUTED_TITLES))


SCHEMA = {**ANSWER, "rows": pl.UInt32, "earlier_occupation_id": pl.String}


def frame(rows: int = 1, earlier: str | None = None, **values: Any) -> pl.DataFrame:
    return pl.DataFrame([values | {"rows": rows, "earlier_occupation_id": earlier}], schema=SCHEMA)


def worth(**values: Any) -> float:
    return float(frame(**values).select(priority()).item())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (answer(confidence=0.75), 0.25),
        (answer(confidence=0.75, rows=8), 2.0),
        (answer(confidence=0.75, earlier="cook"), 0.25 * 2),
        (answer(confidence=0.75, earlier="nurse"), 0.25),
        (answer(confidence=1.0), 0.0),
        (answer(confidence=None, reason="uncalibrated"), 0.5),
        (abstention(reasons.UNSURE), 1.0),
        (abstention(reasons.NOT_A_JOB_TITLE), 0.5),
        (abstention(reasons.UNKNOWN_WORDS), 0.5),
    ],
)
def test_priority(values: dict[str, Any], expected: float) -> None:
    assert worth(**values) == pytest.approx(expected)
    assert frame(**values).select(is_readable()).item()


def test_where_nothing_can_be_read_nothing_can_be_judged() -> None:
    unreadable = (reasons.NULL, reasons.NOT_TEXT, reasons.EMPTY, reasons.NO_LETTERS)
    for reason in (*unreadable, reasons.UNKNOWN_LETTERS):
        assert not frame(**abstention(reason)).select(is_readable()).item()


def test_words_say_what_made_it_worth_a_minute() -> None:
    values = answer(confidence=0.314, score=0.3, score_margin=0.01)
    of_run = {"rows": 1234, "chosen_by": "coverage", "gain": 1500.4}
    row = values | of_run | {"run_reason": reasons.UNSURE, "earlier_occupation_id": "c1"}
    assert why_queued(row, {"c1": "cook"}) == (
        "1,234 rows; 31 % sure; helps with some 1,500 rows; held back in the run; the second "
        "occupation is as close; unlike the titles that the model knows; an earlier run answered "
        "cook"
    )
    row = abstention(reasons.NOT_A_JOB_TITLE) | {"rows": 1, "chosen_by": "random", "gain": None}
    row |= {"run_reason": None, "earlier_occupation_id": None}
    assert why_queued(row, {}) == "1 row; no answer: not a job title; drawn at random"
    assert why_queued(row | {"chosen_by": "coverage", "gain": 0.6}, {}).endswith("not a job title")


NURSE, COOK, KEEPER = (answer(occupation_id=name) for name in ("nurse", "cook", "keeper"))
TITLES = ["a", "A", "b", "B!", "c d", "", None]
Week = list[tuple[str | None, dict[str, object]]]


def runs_of(folder: Path, *weeks: Week) -> list[AnsweredRun]:
    """Runs whose columns of answers have different names, in parts of two rows."""
    paths = []
    for number, week in enumerate(weeks):
        parts = [week[start : start + 2] for start in range(0, len(week), 2)]
        paths.append(write_run(folder / f"{number}", parts, f"{number}_"))
    return answered_runs(paths)


def merged(runs: list[AnsweredRun], path: Path, other: AnsweredRun | None = None) -> pl.DataFrame:
    return pl.concat([*merged_titles(runs, other, path)]).sort("normalized")


def test_the_most_frequent_way_to_write_a_title_stands_for_all(tmp_path: Path) -> None:
    """`Nurse!` has four rows, `nurse` three; nulls are no titles."""
    week: Week = [("Nurse!", NURSE), ("nurse", COOK)] * 3
    week += [("Nurse!", NURSE), (None, abstention("null"))]
    (run,) = runs_of(tmp_path, week)
    assert (run.column, run.prefix, run.rows) == ("Titel", "0_", 8)
    assert run.model == "models:/rolecall/1"
    (row,) = merged([run], tmp_path / "titles").drop("hash", "earlier_occupation_id").to_dicts()
    named = {"normalized": "nurse", "raw_title": "Nurse!", "rows": 7, "newest_rows": 7}
    assert row == named | NURSE


@pytest.mark.parametrize("bucket_rows", [100, 2])
def test_rows_add_up_and_the_newest_answer_counts(tmp_path, monkeypatch, bucket_rows: int) -> None:
    """`Nurse!` of the last run stands for `nurse`, which has more rows in the first."""
    monkeypatch.setattr(candidates_module, "BUCKET_ROWS", bucket_rows)
    first: Week = [("nurse", COOK)] * 3 + [("old", COOK)]
    runs = runs_of(tmp_path, first, [("Nurse!", NURSE), ("new", NURSE)])
    frame = merged(runs, tmp_path / "titles")
    assert dict(frame.schema) == dict(MERGED)
    names = ("normalized", "raw_title", "rows", "newest_rows", "occupation_id")
    assert frame.select(names).rows() == [
        ("new", "new", 1, 1, "nurse"),
        ("nurse", "Nurse!", 4, 1, "nurse"),
        ("old", "old", 1, 0, "cook"),
    ]
    assert frame["earlier_occupation_id"].null_count() == 3
    back = merged(runs[::-1], tmp_path / "back")
    assert back["occupation_id"].to_list() == ["nurse", "cook", "cook"]


def test_another_models_answers_stand_beside_every_run(tmp_path, monkeypatch) -> None:
    """They add no rows and no titles, but are counted as read."""
    counted = list[int]()
    monkeypatch.setattr(candidates_module, "Progress", lambda _, total, __: counted.append)
    others: Week = [("NURSE", KEEPER), ("old", COOK), ("only here", COOK)]
    *runs, other = runs_of(tmp_path, [("old", NURSE)], [], [("nurse", NURSE)], others)
    frame = merged(runs, tmp_path / "titles", other)
    assert frame.select("normalized", "rows", "earlier_occupation_id").rows() == [
        ("nurse", 1, "keeper"),
        ("old", 1, "cook"),
    ]
    assert counted == [1, 2, 5]


def test_a_run_that_is_named_twice_is_refused(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By another way to it, too; also refused is a folder without a finished run."""
    monkeypatch.chdir(tmp_path)
    runs_of(tmp_path, [("a", COOK)], [("b", COOK)])
    with pytest.raises(ValueError, match="0 is named twice"):
        answered_runs([Path("0"), Path("1"), tmp_path / "0"])
    with pytest.raises(ValueError, match=r"no .*manifest\.json: name a file or folder that"):
        answered_runs([Path("0"), Path("none")])


@pytest.mark.parametrize("kind", ["parquet", "csv", "xlsx"])
def test_a_single_file_is_read_as_the_folder_is(tmp_path: Path, kind: str) -> None:
    """A score that is null, and titles that are guarded in CSV."""
    rows = [("=nurse;-", answer()), ("Nurse", answer(score=None)), (None, abstention("null"))]
    folder = AnsweredRun.find(write_run(tmp_path / "run", [rows], "=to_"))
    path = tmp_path / f"out.{kind}"
    table = pq.read_table(folder.parts[0])
    write_tables(table.schema, [table], path)
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    manifest["parts"] = [{"name": path.name, "rows": 3, "sha256": sha256(path)}]
    manifest_of(path).write_text(json.dumps(manifest))
    run = AnsweredRun.find(path)
    assert run.parts == (path,)
    assert merged([run], tmp_path / "a").equals(merged([folder], tmp_path / "b"))
    path.write_bytes(path.read_bytes() + b"1")
    with pytest.raises(ValueError, match="has changed since `rolecall normalize` wrote it"):
        AnsweredRun.find(path)


@pytest.mark.thorough
@given(st.lists(st.lists(st.sampled_from(TITLES)), min_size=1, max_size=4), st.integers(1, 20))
@settings(deadline=None, max_examples=30)
def test_no_row_is_lost_or_counted_twice(weeks: list[list[str | None]], bucket_rows: int) -> None:
    counts = [Counter(normalize_title(title) for title in w if title is not None) for w in weeks]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates_module, "BUCKET_ROWS", bucket_rows)
        answered = [[(title, dict(NURSE)) for title in week] for week in weeks]
        frame = merged(runs_of(Path(folder), *answered), Path(folder) / "titles")
    assert dict(frame.select("normalized", "rows").iter_rows()) == sum(counts, Counter())
    newest = frame.filter(pl.col("newest_rows") > 0)
    assert dict(newest.select("normalized", "newest_rows").iter_rows()) == counts[-1]
    assert frame["normalized"].is_unique().all()
