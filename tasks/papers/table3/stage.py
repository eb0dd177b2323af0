"""The paper's Table 3 on our data: every system on every test, effects, and the paper beside.

In: `data/lexical/{scores.parquet,table.csv}`, `data/evaluate/K/SEED/{scores.parquet,table.csv}` of
every mix K and all `seeds`, all tests' queries; `untrained` is that of the mix `base`. Out, in
`data/table3/`: `table.csv` (each seed), `summary.csv` (mean and spread over seeds), `effects.csv`
and `kept_up.csv` (`tasks/papers/table3/effects.py`), `metrics.json`, `table3.md` for people.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar

import polars as pl
from pydantic import Field

from models.metrics.intervals import MARGIN
from models.reproducibility import write_bytes
from tasks.evaluation.metric_tables import nested, read_table, table, write_table
from tasks.io.command import run
from tasks.io.files import write_json
from tasks.io.frames import Schema, read_frame
from tasks.io.mixes import BASE, LAST, MIXES, PAPER_NUMBERS, VERDICTS, read_queries
from tasks.io.schemas import SCORES, TABLE
from tasks.io.section import Section, load, load_run
from tasks.papers.table3.effects import EFFECTS, KEPT_UP, METRICS, PAPER_ACCURACY, effects, kept_up
from tasks.pipeline.report import names

FOLDER = Path("data/table3")
TABLE_BY_SEED: Schema = {**TABLE, "seed": pl.Int64}
ROW = ["system", "test", "slice", "metric"]
SUMMARY: Schema = {
    **dict.fromkeys(ROW, pl.String),
    **dict.fromkeys(("mean", "low", "high"), pl.Float64),
    **dict.fromkeys(("n", "seeds"), pl.Int64),
    **dict.fromkeys(("smallest", "largest", "deviation", "paper"), pl.Float64),
}

ACCURACY = pl.col("metric") == "success_at_1"
WHOLE = pl.col("slice") == "all"
NOTE = (
    "Beside each test is the paper's figure, of its own data. The n-gram matcher chose the queries "
    "of Extra Words: its 1.000 there is by construction. ± is the deviation over seeds."
)


class Table3Params(Section):
    """Section `table3`: of the intervals of gains; Holm over three tests needs some hundred."""

    NAME: ClassVar[str] = "table3"
    bootstrap_draws: Annotated[int, Field(ge=200)]


def summary(
    tables: pl.DataFrame, scores: pl.DataFrame, queries: pl.DataFrame, draws: int, seed: int
) -> pl.DataFrame:
    """Return schema `SUMMARY` of `TABLE_BY_SEED`, `SCORES_BY_SEED` and `QUERIES`.

    `low` and `high` hold the chance of the queries, not that of training; one seed has no spread.
    """
    by_query = scores.group_by("system", "test", "query_id", maintain_order=True)
    means = by_query.agg(pl.col(*METRICS).mean())
    values = table(means, queries, draws, seed, METRICS).rename({"value": "mean"})
    several = pl.len() > 1
    spread = tables.group_by(ROW).agg(
        seeds=pl.len().cast(pl.Int64),
        smallest=pl.when(several).then(pl.col("value").min()),
        largest=pl.when(several).then(pl.col("value").max()),
        deviation=pl.when(several).then(pl.col("value").std().round(6)),
    )
    printed = [(*key, "all", "success_at_1", value) for key, value in PAPER_ACCURACY.items()]
    paper = pl.DataFrame(printed, schema=[*ROW, "paper"], orient="row")
    joined = values.join(spread, on=ROW, how="left", maintain_order="left")
    return joined.join(paper, on=ROW, how="left", maintain_order="left").select(list(SUMMARY))


def read_evaluations(data: Path, seeds: list[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read `TABLE_BY_SEED` and `SCORES_BY_SEED` of all systems; FileNotFoundError without them."""
    sources: list[tuple[Path, int | None, list[str]]]
    sources = [(data / "lexical", None, ["ngram", "tfidf"])]
    for mix in MIXES:
        systems = ["untrained", mix] if mix == BASE else [mix]
        sources += [(data / f"evaluate/{mix}/{seed}", seed, systems) for seed in seeds]
    tables, scores = [], []
    for folder, seed, systems in sources:
        trained_with = pl.lit(seed, pl.Int64).alias("seed")
        measures = read_table(folder / "table.csv", TABLE).with_columns(trained_with)
        tables.append(measures.filter(pl.col("system").is_in(systems)))
        values = read_frame(folder / "scores.parquet", SCORES).with_columns(trained_with)
        scores.append(values.filter(pl.col("system").is_in(systems)))
    reported = pl.col("metric").is_in(list(METRICS.values()))
    return pl.concat(tables).filter(reported), pl.concat(scores)


def as_markdown(summary: pl.DataFrame, effects: pl.DataFrame, kept_up: pl.DataFrame) -> str:
    """Write the whole page; parts without a row are left out."""
    title = "# Table 3: success@1, with its 95 % interval over queries"
    accuracy = summary.filter(ACCURACY)
    others = {
        "## Parts of the tests": _parts(accuracy),
        "## Gains of each mix over another, paired": _gains(effects.filter(ACCURACY & WHOLE)),
        "## Share of errors removed on its own test": _removed(effects.filter(ACCURACY, "own")),
        f"## Whether {VERDICTS} keeps up with {LAST}, margin {MARGIN}": _kept(kept_up),
    }
    return names.markdown_page(title, _systems(accuracy.filter(WHOLE)), NOTE, others)


def _systems(rows: pl.DataFrame) -> names.Table:
    """Lay systems down, tests across; the paper's figures stand behind each test that has some."""
    sizes = dict(rows.select("test", "n").iter_rows())
    printed = set(rows.drop_nulls("paper")["test"])
    columns = {}
    for test in names.in_order(sizes, names.TESTS):
        columns[test, "mean"] = f"{names.test_name(test)} (n {names.count(sizes[test])})"
        if test in printed:
            columns[test, "paper"] = "paper"
    cells = {}
    for row in rows.iter_rows(named=True):
        name = (_numbered(row["system"]),)
        cells[name, (row["test"], "mean")] = names.with_interval(row["mean"], row)
        cells[name, (row["test"], "paper")] = _share(row["paper"])
    return ["system", *columns.values()], names.crossed(cells, columns)


def _parts(accuracy: pl.DataFrame) -> names.Table:
    several = pl.col("slice").n_unique().over("test") > 1
    rows = accuracy.filter(pl.col("slice").str.starts_with("source:")).filter(several)
    sizes = {(test, part): n for test, part, n in rows.select("test", "slice", "n").iter_rows()}
    columns = {
        (test, part): f"{_named(test, part)} (n {names.count(sizes[test, part])})"
        for test in names.in_order(rows["test"], names.TESTS)
        for part in names.in_order((name for of, name in sizes if of == test), names.SLICES)
    }
    cells = {}
    for row in rows.iter_rows(named=True):
        name, column = (_numbered(row["system"]),), (row["test"], row["slice"])
        cells[name, column] = names.with_interval(row["mean"], row)
    return ["system", *columns.values()], names.crossed(cells, columns)


def _gains(rows: pl.DataFrame) -> names.Table:
    """Lay comparisons down, seed by seed; tests across."""
    tests = names.in_order(rows["test"], names.TESTS)
    cells = {
        (_compared(row), row["test"]): names.with_interval(row["gain"], row, names.signed)
        for row in rows.iter_rows(named=True)
    }
    return ["model", "over", "seed", *map(names.test_name, tests)], names.crossed(cells, tests)


def _removed(rows: pl.DataFrame) -> names.Table:
    head = ["model", "over", "seed", "test", "gain", "above 0", "errors removed", "paper"]
    body = []
    for row in rows.iter_rows(named=True):
        gain = names.with_interval(row["gain"], row, names.signed)
        shares = _share(row["errors_removed"]), _share(row["paper_errors_removed"])
        is_gain = "yes" if row["low"] > 0 else "no"
        body.append([*_compared(row), names.test_name(row["test"]), gain, is_gain, *shares])
    return head, body


def _kept(rows: pl.DataFrame) -> names.Table:
    head = ["model", "over", "seed", "test", "difference", "lower end", "n", "keeps up"]
    body = []
    for row in rows.iter_rows(named=True):
        ends = names.signed(row["difference"]), names.signed(row["low"]), names.count(row["n"])
        passed = "yes" if row["passed"] else "no"
        body.append([*_compared(row), _named(row["test"], row["slice"]), *ends, passed])
    return head, body


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".replace("-", "−")


def _compared(row: dict[str, Any]) -> tuple[str, str, str]:
    return _numbered(row["system"]), _numbered(row["over"]), str(row["seed"])


def _named(test: str, part: str) -> str:
    return names.test_name(test) + ("" if part == "all" else f", {names.slice_name(part)}")


def _numbered(system: str) -> str:
    """Return a mix with the number of the paper's model, such as `extra_words (3)`."""
    return f"{system} ({PAPER_NUMBERS[system]})" if system in PAPER_NUMBERS else system


def main() -> None:
    """Run the stage on its files."""
    chosen, draws = load_run(), load(Table3Params).bootstrap_draws
    tables, scores = read_evaluations(Path("data"), chosen.seeds)
    queries = read_queries("test")
    means = summary(tables, scores, queries, draws, chosen.seed)
    gains = effects(scores, queries, draws, chosen.seed)
    keeping_up = kept_up(scores, queries, draws, chosen.seed)
    write_table(tables, FOLDER / "table.csv", TABLE_BY_SEED)
    write_table(means, FOLDER / "summary.csv", SUMMARY)
    write_table(gains, FOLDER / "effects.csv", EFFECTS)
    write_table(keeping_up, FOLDER / "kept_up.csv", KEPT_UP)
    page = as_markdown(means, gains, keeping_up)
    write_bytes(page.encode(), FOLDER / "table3.md")
    write_json(nested(means.rename({"mean": "value"})), FOLDER / "metrics.json")
    print(page)


if __name__ == "__main__":
    run(main)
