"""The lexical baselines and measures against figures of another program, on published files.

ESCO's published file is the whole index, every alias, and the vacancy titles of a job board are the
queries; the gold is a query's label. The other program was written before this one. An occupation
scores as its best alias, as it does there.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from published import DATA, needs

from models.serving.index import AliasIndex
from models.serving.search import Search, Similarities
from models.text.titles import clean_title
from tasks.check_params import load_params
from tasks.evaluation.ranking import rank_queries
from tasks.io.command import ROOT
from tasks.io.schemas import QUERIES
from tasks.io.title_readings import with_readings
from tasks.pipeline.lexical import lexical_systems

PARAMS = load_params(ROOT / "params.yaml")
MEASURES = ("success_at_1", "success_at_5", "success_at_10", "reciprocal_rank")
FIGURES = {"ngram": [0.222, 0.369, 0.432, 0.296], "tfidf": [0.232, 0.420, 0.502, 0.323]}


def records(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(file)


def read(data: Path) -> tuple[AliasIndex, pl.DataFrame]:
    """Return the index of all aliases and the queries (`QUERIES`); empty titles are left out."""
    aliases = [
        (clean_title(title), row["conceptUri"])
        for row in records(data / "esco/occupations_en.csv")
        for title in [row["preferredLabel"], *row["altLabels"].split("\n")]
        if title.strip()
    ]
    rows = [
        (str(number), row["vacancyTitle"], [row["conceptUri"]])
        for number, row in enumerate(records(data / "jobbert/titles.csv"))
    ]
    named = pl.DataFrame(rows, ["query_id", "raw_title", "occupation_ids"], orient="row")
    texts = {"test": pl.lit("vacancy_titles"), "split": pl.lit("test"), "source": pl.lit("input")}
    queries = with_readings(named).with_columns(occupation_size=pl.lit(1, pl.UInt32), **texts)
    return AliasIndex.of(*zip(*aliases, strict=True)), queries.select(list(QUERIES))


def scores(index: AliasIndex, queries: pl.DataFrame, similarities: Similarities) -> pl.DataFrame:
    best = PARAMS.evaluate.model_copy(update={"occupation_score": "best"})
    search = Search(index, similarities, best.rule)
    return rank_queries("", search, queries, best.run_depth)[0]


@pytest.mark.slow
@needs(DATA / "jobbert/titles.csv")
def test_figures_are_within_five_thousandths() -> None:
    index, queries = read(DATA)
    assert len(queries) == 15_463
    for system, similarities in lexical_systems(index.titles, PARAMS.lexical).items():
        made = scores(index, queries, similarities)
        measured = [made[name].mean() for name in MEASURES]
        assert measured == pytest.approx(FIGURES[system], abs=0.005)
