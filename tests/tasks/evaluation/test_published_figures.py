"""The lexical baselines and measures against figures of another program, on published files.

ESCO's published file is the whole index, every alias, and the vacancy titles of a job board are the
queries; the gold is a query's label. The other program was written before this one. An occupation
scores as its best alias, as it does there.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from published import DATA, needs

from models.search.index import AliasIndex
from models.search.search import Search, Similarities
from models.text.ngram_matcher import NgramMatcher
from models.text.titles import clean_title
from tasks.check_params import load_params
from tasks.evaluation.ranking import rank_queries
from tasks.io.command import ROOT
from tasks.io.schemas import QUERIES
from tasks.io.title_readings import with_readings
from tasks.pipeline.lexical.stage import lexical_systems

PARAMS = load_params(ROOT / "params.yaml")
FIGURES = {
    "ngram": {
        "success_at_1": 0.222,
        "success_at_5": 0.369,
        "success_at_10": 0.432,
        "reciprocal_rank": 0.296,
    },
    "tfidf": {
        "success_at_1": 0.232,
        "success_at_5": 0.420,
        "success_at_10": 0.502,
        "reciprocal_rank": 0.323,
    },
}


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
    queries = with_readings(named).with_columns(
        test=pl.lit("vacancy_titles"),
        split=pl.lit("test"),
        occupation_size=pl.lit(1, pl.UInt32),
        source=pl.lit("input"),
    )
    return AliasIndex.of(*zip(*aliases, strict=True)), queries.select(list(QUERIES))


def scores(index: AliasIndex, queries: pl.DataFrame, similarities: Similarities) -> pl.DataFrame:
    best = PARAMS.evaluate.model_copy(update={"occupation_score": "best"})
    search = Search(index, similarities, best.rule)
    return rank_queries("", search, queries, best.run_depth)[0]


def test_reads_both_files(tmp_path: Path) -> None:
    """Two occupations of two aliases in ESCO's form (BOM, CRLF, aliases in one field).

    Reciprocal ranks: "baker" 1; "cook" labelled baker 1/2. "xyzw" has M = 4 and 2 trigrams and
    shares none, so "cook" (2 trigrams) with 4 − 4 = 0 is ahead of "baker" (3): the label cook, 1.
    """
    for folder in ("esco", "jobbert"):
        (tmp_path / folder).mkdir()
    (tmp_path / "esco" / "occupations_en.csv").write_bytes(
        b"\xef\xbb\xbfconceptUri,preferredLabel,altLabels\r\n"
        b'u/1,Baker,"bread baker\nBAKER\n"\r\nu/2,cook,"kitchen cook"\r\n'
    )
    (tmp_path / "jobbert" / "titles.csv").write_text(
        ",vacancyTitle,conceptUri\n0, BAKER ,u/1\n1,cook,u/1\n2,xyzw,u/2\n", encoding="utf-8"
    )
    index, queries = read(tmp_path)
    assert index.titles == ["baker", "bread baker", "cook", "kitchen cook"]
    made = scores(index, queries, NgramMatcher(index.titles).similarities)
    assert made["reciprocal_rank"].to_list() == [1.0, 0.5, 1.0]
    assert made["success_at_1"].to_list() == [1.0, 0.0, 1.0]
    assert made["success_at_5"].to_list() == [1.0, 1.0, 1.0]


@pytest.mark.slow
@needs(DATA / "jobbert/titles.csv")
def test_figures_are_within_five_thousandths() -> None:
    index, queries = read(DATA)
    assert len(queries) == 15_463
    for system, similarities in lexical_systems(index.titles, PARAMS.lexical).items():
        made = scores(index, queries, similarities)
        measured = {name: made[name].mean() for name in FIGURES[system]}
        assert measured == pytest.approx(FIGURES[system], abs=0.005)
