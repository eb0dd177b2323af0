"""Measure the registered champion as served, beside alternatives: `make benchmark`.

In, below the working directory: the registry, `params.yaml` and the test queries in `data/`, or
those of a profile's workspace. Out: tables on the terminal, `results/product.csv`, and the block
`benchmark` of the README. It needs at most five minutes on two cores for the sample.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import torch
from threadpoolctl import threadpool_limits

from benchmarks.product.figures import Draws, Figure, accuracy
from benchmarks.product.page import FILE, lines_of, readme_block, replace, table
from benchmarks.product.queries import BOARD, queries
from benchmarks.product.systems import COST, OURS, RegisteredModel, alternatives, ranked, speed
from benchmarks.readme import README, between_markers
from benchmarks.results import machine
from benchmarks.workspace import SAMPLE, data_folder, place
from models.ranking.search import Search
from tasks.evaluation.params import EvaluateParams
from tasks.io.command import ROOT, run
from tasks.io.section import load, load_run
from tasks.pipeline.lexical.params import LexicalParams
from tasks.release.model_package.params import RegisterParams
from tasks.release.registry.loading import fetched
from tasks.release.registry.provenance import git_commit, tree

WRITTEN = ("results/", "README.md", "docs/")
"""What differs from a commit in these is no other code."""


def main() -> None:
    """Measure, print and write."""
    options = _options()
    profile = f" PROFILE={options.profile}" if options.profile != SAMPLE else ""
    root, first = place(options.profile), f"run `make retrain{profile}` first"
    if not (root / "params.yaml").is_file():
        sys.exit(f"{root} holds no workspace: {first}")
    with ExitStack() as stack:
        name = load(RegisterParams, root / "params.yaml").name
        asked = options.model or f"models:/{name}@champion"
        try:
            address, folder = stack.enter_context(fetched(asked, root))
        except ValueError as error:
            sys.exit(f"{error}\nIf no champion is registered, {first}.")
        print(f"{address}, loaded and asked as a consumer does", flush=True)
        figures = [*measure(RegisteredModel.load(folder), root)]
    whence = {
        "model": address,
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "command": f"make benchmark{profile}",
        "machine": machine(),
    }
    lines = lines_of(options.profile, figures, whence)
    replace(lines, options.out)
    print("", table(lines), "", f"written: {options.out}", sep="\n")
    if options.out == FILE:
        text = README.read_text(encoding="utf-8")
        text = between_markers(text, "benchmark", readme_block(options.out))
        README.write_text(text, encoding="utf-8")


def measure(ours: RegisteredModel, root: Path) -> Iterator[Figure]:
    """Yield every figure of a registered model and of its alternatives."""
    file, index = root / "params.yaml", ours.index()
    params = load(EvaluateParams, file)
    draws = Draws(params.bootstrap_draws, load_run(file).seed)
    board = data_folder() / BOARD
    questions = queries(root / "data", board, set(index.occupations), ours.reviewed())
    raw_titles, cleaned = (questions[name].to_list() for name in ("raw_title", "cleaned"))
    yield from accuracy(OURS, questions, ours.answers(raw_titles), draws)
    print(f"{OURS}: speed", flush=True)
    yield from ours.costs(raw_titles, draws)
    torch.set_num_threads(1)
    with threadpool_limits(1):
        for name, similarities, megabytes in alternatives(index.titles, load(LexicalParams, file)):
            print(f"{name}: accuracy and speed", flush=True)
            search = Search(index, similarities, params.rule)
            yield from accuracy(name, questions, ranked(name, search, cleaned), draws)
            yield speed(name, search, cleaned, draws)
            yield Figure(name, COST, "megabytes", megabytes, 1)


def commit() -> str:
    """Return the commit of this code, marked if the code differs from it."""
    changed = tree(ROOT).removeprefix("changed: ").split(", ")
    clean = all(name.startswith((*WRITTEN, "clean", "unknown")) for name in changed)
    return git_commit(ROOT)[:12] + ("" if clean else " with changes")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.product", description=__doc__)
    parser.add_argument("--profile", default=SAMPLE, help="whose workspace and champion")
    parser.add_argument("--model", help="address of another model than the champion")
    parser.add_argument("--out", type=Path, default=FILE, help=str(FILE))
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
