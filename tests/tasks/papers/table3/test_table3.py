"""Table 3 on invented scores: what is taken from where, mean and spread by hand, the page."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from frames_of import queries_of
from params_of import write_params
from toy_evaluation import TESTS, write_toy

from tasks.evaluation.metric_tables import read_table, table, write_table
from tasks.io.frames import write_frame
from tasks.io.mixes import MIXES, read_queries
from tasks.io.schemas import QUERIES, SCORES, TABLE
from tasks.papers.table3.effects import EFFECTS, KEPT_UP, SCORES_BY_SEED, effects, kept_up
from tasks.papers.table3.stage import (
    FOLDER,
    SUMMARY,
    TABLE_BY_SEED,
    as_markdown,
    main,
    read_evaluations,
    summary,
)
from tasks.pipeline.report.names import aligned

pytestmark = pytest.mark.thorough

SEEDS = [1, 5]
FILES = {"table.csv", "summary.csv", "effects.csv", "kept_up.csv", "table3.md", "metrics.json"}
FOUR = queries_of((f"q{i}", "typos", "test", "baker", ["a"], 1, "typo") for i in range(4))


def scores_of(system: str, seed: int | None, hits: list[float]) -> pl.DataFrame:
    rows = [(system, "typos", f"q{i}", hit, 1.0, 1.0, hit, seed) for i, hit in enumerate(hits)]
    return pl.DataFrame(rows, schema=dict(SCORES_BY_SEED), orient="row")


def summary_of(*scores: pl.DataFrame) -> pl.DataFrame:
    """With the tables that `evaluate` makes of each part."""
    tables = [
        table(part.drop("seed"), FOUR, 100, 1).with_columns(seed=pl.lit(part["seed"][0], pl.Int64))
        for part in scores
    ]
    return summary(pl.concat(tables), pl.concat(scores), FOUR, 100, 1)


def accuracy(means: pl.DataFrame, system: str) -> dict[str, Any]:
    rows = means.filter(system=system, metric="success_at_1", slice="all")
    return rows.row(0, named=True)


def test_mean_and_spread_by_hand() -> None:
    """Seeds give (1 + 1 + 0 + 0) / 4 = 0.5 and (1 + 1 + 1 + 0) / 4 = 0.75: mean 0.625.

    Deviation of a sample of two: 0.25 / √2 = 0.176777. The queries' means over seeds are
    1, 1, 0.5, 0; the interval is that of these four. A system with one seed has no spread, and
    the interval of its table. The paper's figure stands beside its own row only.
    """
    seeds = [scores_of("typos", 1, [1, 1, 0, 0]), scores_of("typos", 5, [1, 1, 1, 0])]
    untrained = [scores_of(system, None, [1, 0.5, 0, 0]) for system in ("ngram", "tfidf")]
    means = summary_of(*untrained, *seeds)
    row = accuracy(means, "typos")
    assert (row["mean"], row["n"], row["seeds"], row["paper"]) == (0.625, 4, 2, 0.99)
    assert (row["smallest"], row["largest"], row["deviation"]) == (0.5, 0.75, 0.176777)
    of_means = table(scores_of("typos", None, [1, 1, 0.5, 0]).drop("seed"), FOUR, 100, 1)
    expected = of_means.filter(metric="success_at_1", slice="all").row(0, named=True)
    assert (row["low"], row["high"]) == (expected["low"], expected["high"])
    single = accuracy(means, "ngram")
    assert (single["mean"], single["seeds"]) == (0.375, 1)
    assert (single["smallest"], single["largest"], single["deviation"]) == (None, None, None)
    own = table(untrained[0].drop("seed"), FOUR, 100, 1)
    ends = own.filter(metric="success_at_1")["low", "high"].row(0)
    assert (single["low"], single["high"]) == ends
    assert set(means["metric"]) == {"success_at_1", "mrr"}
    of_paper = means.drop_nulls("paper")["system", "slice", "metric", "paper"]
    assert of_paper.rows() == [(one, "all", "success_at_1", 0.99) for one in ("ngram", "typos")]
    nothing = effects(pl.concat(untrained), FOUR, 100, 1), kept_up(pl.concat(untrained), FOUR, 9, 1)
    assert as_markdown(means, *nothing).count("#") == 1


@pytest.fixture
def data(here: Path) -> Path:
    """All evaluations of two seeds: the k-th mix answers the first k queries of each test."""
    write_toy(here)
    write_params(seeds=SEEDS)
    for writer, rows in TESTS.items():
        more = [(f"{row[0]}{i}", *row[1:]) for row in rows if row[2] == "test" for i in range(6)]
        write_frame(queries_of(more), here / f"data/{writer}/queries.parquet", QUERIES)
    write_evaluation(here / "data/lexical", {"ngram": 1, "tfidf": 2})
    for number, mix in enumerate(MIXES):
        for seed in SEEDS:
            folder = here / f"data/evaluate/{mix}/{seed}"
            # an untrained network of a later mix would show as 6 of 6
            write_evaluation(folder, {"untrained": 6 if number else 0, mix: number})
    return here / "data"


def write_evaluation(folder: Path, right: dict[str, int]) -> None:
    queries = read_queries("test")
    number = pl.col("query_id").str.slice(-1).cast(pl.Int64)
    scores = pl.concat(
        queries.select(
            pl.lit(system).alias("system"),
            "test",
            "query_id",
            *((number < known).cast(pl.Float64).alias(column) for column in list(SCORES)[3:]),
        )
        for system, known in right.items()
    )
    write_frame(scores, folder / "scores.parquet", SCORES)
    write_table(table(scores, queries, 100, 1), folder / "table.csv", TABLE)


def test_the_stage_on_files(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The k-th mix finds k of 6, `untrained` is that of the mix `base`, each mix gains 1 / 6.

    The page has the paper beside the tests that it has, and the corrected mix's gains of each seed.
    """
    main()
    means = read_table(FOLDER / "summary.csv", SUMMARY)
    sixths = {"ngram": 1, "tfidf": 2, "untrained": 0, **{k: i for i, k in enumerate(MIXES)}}
    expected = {system: pytest.approx(known / 6, abs=1e-6) for system, known in sixths.items()}
    composition = means.filter(test="composition", metric="mrr", slice="all")
    shown = dict(composition["system", "mean"].iter_rows())
    assert shown == expected and list(shown) == list(sixths)
    gains = read_table(FOLDER / "effects.csv", EFFECTS)
    of_synonyms = gains.filter(system="synonyms", metric="success_at_1")["gain"]
    assert of_synonyms.to_list() == pytest.approx([1 / 6] * 2 * 4, abs=1e-6)
    assert gains.filter("own")["seed"].to_list() == [1, 1, 5, 5] * 3
    kept = read_table(FOLDER / "kept_up.csv", KEPT_UP)
    assert kept["system", "seed"].unique().height == 4 and kept["passed"].all()
    by_seed = read_table(FOLDER / "table.csv", TABLE_BY_SEED)
    assert by_seed.filter(system="ngram")["seed"].unique().to_list() == [None]
    assert by_seed.filter(system="corrections")["seed"].unique().sort().to_list() == SEEDS
    figures = json.loads((FOLDER / "metrics.json").read_text())
    assert figures["corrections"]["typos"]["success_at_1"] == pytest.approx(5 / 6, abs=1e-6)
    page = (FOLDER / "table3.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out == page + "\n"
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()]
    head, first = rows[2], rows[4]
    tests = ("Typos (n 6)", "paper", "Composition (n 6)", "paper", "Extra Words (n 6)", "paper")
    assert head == ["system", *tests, "Held-out alias (n 6)"]
    assert (first[0], first[2], first[4], first[6]) == ("ngram", "0.99", "0.61", "1.00")
    assert first[1].startswith("0.167 [0.000, ")
    last = next(row for row in rows if row[:1] == ["corrections (4c)"])
    assert last[1].startswith("0.833 ±0.000 [")
    assert ["corrections (4c)", "verdicts (4)", "5"] in [row[:3] for row in rows]
    removed = next(row for row in rows if row[3:4] == ["Typos"] and len(row) == 8)
    assert removed[:3] == ["typos (1)", "base (0)", "1"] and removed[6:] == ["0.17", "0.80"]
    assert all(line.isascii() or "±" in line or "−" in line for line in page.splitlines())
    before = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    main()
    assert before == {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    assert set(before) == FILES


def test_a_missing_seed_is_named(data: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"evaluate/base/9/table\.csv is missing"):
        read_evaluations(data, [1, 9])


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    rows = ["| a      | bbbb |", "| ------ | ---- |", "| cccccc | d    |"]
    assert aligned(["a", "bbbb"], [["cccccc", "d"]]) == "\n".join(rows)
    assert aligned(["a"], []) == ""
