"""Test queries for a registered model, each with its gold occupations.

From the pipeline: the split `test` of labelled inputs (`annotations`), `typos`, `composition` and
`extra_words`, which nothing trains on. `heldout_alias` is left out: a registered model holds every
alias of the taxonomy. `extra_words` are inputs in which the n-gram matcher found a title, so that
test favours it. From the job board of Decorte et al. 2021 (`vacancies`), if the taxonomy is ESCO:
the even half, or the odd one (`vacancies_odd`), which is for a figure at the end of a model that
learned from the even one.
"""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

import polars as pl

from benchmarks.job_board import FILE, read_halves
from models.search.index import AliasIndex
from tasks.io.frames import read_frame
from tasks.io.queries import read_queries
from tasks.io.schemas import SPLIT_INPUTS

TESTS = ("annotations", "typos", "composition", "extra_words")
VACANCIES, ESCO = "vacancies", "http://data.europa.eu/esco/"
LARGEST = 3000
"""Titles of a test of the pipeline; a larger one is sampled."""
COLUMNS = ("test", "raw_title", "cleaned", "normalized", "occupation_ids")


def queries(
    data: Path, published: Path, index: AliasIndex, reviewed: Set[str], half: str = "even"
) -> pl.DataFrame:
    """Read all queries: `COLUMNS`, test by test.

    Args:
        data: of the pipeline.
        published: folder of the publishers' files. If the job board is left out, a line says why.
        index: of the model's aliases.
        reviewed: normalized titles that the model answers from people's reviews; they are left out.
        half: of the job board, `even` or `odd`.
    """
    pipeline = read_queries("test", data).select(COLUMNS)
    tests = [pipeline.filter(test=test) for test in TESTS]
    tests = [own if len(own) <= LARGEST else own.sample(LARGEST, seed=1) for own in tests]
    if not (published / FILE).is_file():
        print(f"{VACANCIES}: left out, {FILE} is not there; set ROLECALL_DATA to its folder")
    elif not any(name.startswith(ESCO) for name in index.occupations):
        print(f"{VACANCIES}: left out, the model's taxonomy has no ids of ESCO")
    else:
        inputs = read_frame(data / "split/inputs.parquet", SPLIT_INPUTS)["normalized"]
        board = read_halves(published, index, half).queried
        test = VACANCIES if half == "even" else f"{VACANCIES}_{half}"
        board = board.with_columns(
            test=pl.lit(test), occupation_ids=pl.concat_list("occupation_id")
        )
        tests.insert(0, board.filter(~pl.col("normalized").is_in(inputs.implode())).select(COLUMNS))
    titles = pl.concat(tests)
    kept = titles.filter(~pl.col("normalized").is_in(list(reviewed)))
    print(f"{len(kept):,} titles, {len(titles) - len(kept)} left out as people have reviewed them")
    return kept
