"""Measure the registered champion as served, beside alternatives: `make benchmark`.

In, below the working directory: the registry, `params.yaml` and the test queries in `data/`, or
those of a profile's workspace. Out: tables on the terminal, `results/product.csv`, and the block
`benchmark` of the README. The sample takes at most five minutes on two cores. On ESCO a sentence
encoder, if one is installed, takes much longer: it reads every title of 21 languages.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.networks.runner import one_thread
from benchmarks.pages.tables import where
from benchmarks.product.everyday import everyday_figures, everyday_titles
from benchmarks.product.figures import Draws, accuracy
from benchmarks.product.page import readme_block, table
from benchmarks.product.queries import ESCO, queries
from benchmarks.product.systems import COST, OURS, RegisteredModel, alternatives, ranked, speed
from benchmarks.render import README, between_markers
from benchmarks.results import FOLDER, Row, Run, read_rows, replace_rows
from benchmarks.workspace import DEFAULT, data_folder, place
from models.search.search import Search
from tasks.evaluation.everyday import HALVES
from tasks.evaluation.params import EvaluateParams
from tasks.io.command import run
from tasks.io.section import load, load_run
from tasks.pipeline.lexical.params import LexicalParams
from tasks.release.model_package.params import RegisterParams
from tasks.release.registry.loading import fetched


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.product", description=__doc__)
    named = os.environ.get("ROLECALL_PROFILE") or DEFAULT
    parser.add_argument("--profile", default=named, help="whose workspace and champion")
    parser.add_argument("--model", help="address of another model than the champion")
    parser.add_argument("--everyday", choices=HALVES, default=HALVES[0], help="titles by hand")
    parser.add_argument(
        "--board", choices=("even", "odd"), default="even", help="half of the job board"
    )
    parser.add_argument("--results", type=Path, default=FOLDER, help="folder of the CSV files")
    options = parser.parse_args()
    profile = f" PROFILE={options.profile}" if options.profile != DEFAULT else ""
    root, first = place(options.profile), f"run `make retrain{profile}` first"
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
    print("", table(lines), "", f"written: {options.results / 'product.csv'}", sep="\n")
    if options.results == FOLDER:
        text = between_markers(README.read_text(encoding="utf-8"), "benchmark", readme_block())
        README.write_text(text, encoding="utf-8")


def measure(ours: RegisteredModel, root: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Yield every figure of a registered model, then of its alternatives.

    A model of ESCO answers the halves `options.everyday` and `options.board` besides.
    """
    file, index = root / "params.yaml", ours.index()
    params = load(EvaluateParams, file)
    draws = Draws(params.bootstrap_draws, load_run(file).seed)
    titles = queries(root / "data", data_folder(), index, ours.reviewed(), options.board)
    raw_titles, cleaned = (titles[name].to_list() for name in ("raw_title", "cleaned"))
    yield from accuracy(OURS, titles, ours.answers(raw_titles), draws)
    if any(name.startswith(ESCO) for name in index.occupations):
        everyday = everyday_titles(options.everyday)
        predicted = ours.predicted(everyday["raw_title"].to_list())
        yield from everyday_figures(options.everyday, everyday, predicted)
    print(f"{OURS}: speed", flush=True)
    yield from ours.costs(raw_titles)
    for name, similarities, megabytes in alternatives(index.titles, load(LexicalParams, file)):
        print(f"{name}: accuracy and speed", flush=True)
        search = Search(index, similarities, params.rule)
        yield from accuracy(name, titles, ranked(name, search, cleaned), draws)
        with one_thread(), threadpool_limits(1):
            yield speed(name, search, cleaned)
        yield Row(name, COST, "megabytes", megabytes, 1)


if __name__ == "__main__":
    run(main)
