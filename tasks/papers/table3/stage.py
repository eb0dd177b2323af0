"""The paper's Table 3 on our data: every system on every test, effects, and the paper beside.

In: `data/lexical/{scores.parquet,table.csv}`, `data/evaluate/K/SEED/{scores.parquet,table.csv}` of
every mix K and all `seeds`, all tests' queries. Out, in `data/table3/`: `table.csv` (each seed),
`summary.csv` (mean and spread over seeds), `effects.csv` and `kept_up.csv`
(`tasks/papers/table3/effects.py`), `table3.md` for people, `metrics.json`.
"""

from __future__ import annotations

from pathlib import Path

from models.reproducibility.atomic_write import write_bytes
from tasks.evaluation.metric_tables import nested, write_table
from tasks.io.command import run
from tasks.io.frames import write_json
from tasks.io.queries import read_queries
from tasks.io.section import load, load_run
from tasks.papers.table3.effects import EFFECTS, KEPT_UP
from tasks.papers.table3.page import as_markdown
from tasks.papers.table3.params import Table3Params
from tasks.papers.table3.tables import SUMMARY, TABLE_BY_SEED, read_evaluations, table3

FOLDER = Path("data/table3")


def main() -> None:
    """Run the stage on its files."""
    chosen = load_run()
    evaluations = read_evaluations(Path("data"), chosen.seeds)
    draws = load(Table3Params).bootstrap_draws
    results = table3(evaluations, read_queries("test"), draws, chosen.seed)
    write_table(results.table, FOLDER / "table.csv", TABLE_BY_SEED)
    write_table(results.summary, FOLDER / "summary.csv", SUMMARY)
    write_table(results.effects, FOLDER / "effects.csv", EFFECTS)
    write_table(results.kept_up, FOLDER / "kept_up.csv", KEPT_UP)
    page = as_markdown(results.summary, results.effects, results.kept_up)
    write_bytes(page.encode(), FOLDER / "table3.md")
    write_json(nested(results.summary.rename({"mean": "value"})), FOLDER / "metrics.json")
    print(page)


if __name__ == "__main__":
    run(main)
