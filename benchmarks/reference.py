"""The lexical baselines on ESCO and real vacancy titles, straight from the publishers' files.

`$ROLECALL_DATA/esco/occupations_en.csv` is the whole index (every alias, nothing held out) and
`$ROLECALL_DATA/jobbert/titles.csv` the queries; gold is a query's label. An occupation scores as
its best alias. This checks matchers and metrics against figures measured elsewhere; the pipeline's
own splits play no part, and of `params.yaml` it takes the seed and the number of draws. Run it with
`python -m benchmarks.reference`.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from benchmarks.machine import command, data_folder, machine
from benchmarks.results_file import Row, replace_rows
from models.intervals import bootstrap_interval
from models.metrics import rank_gold, reciprocal_rank, success_at_k
from models.ngram_matcher import NgramMatcher
from models.occupation_scores import Memberships, best_scores
from models.seeding import child_seed
from tasks.params import load_params
from tasks.tfidf import TfidfMatcher

if TYPE_CHECKING:
    from jaxtyping import Float, Float64, Int64

BLOCK = 256  # queries at a time: 256 x 32,878 similarities of 4 bytes are 32 MiB
METRICS = ("success_at_1", "success_at_5", "success_at_10", "mrr")


class Matcher(Protocol):
    """What a lexical baseline offers: cleaned titles in, dense similarities of a block out."""

    def similarities(self, queries: Sequence[str]) -> Float[np.ndarray, "query title"]:
        """Similarity of every query and title; higher is closer."""
        ...


@dataclass(frozen=True)
class Reference:
    """Every alias, its occupation, and the labelled queries.

    A title of two occupations stands here twice, and TF-IDF counts it twice: the figures that this
    is compared with were measured so (counted once, they are lower by 0.001 at most).
    """

    titles: list[str]
    memberships: Memberships
    queries: list[str]
    gold: Int64[np.ndarray, "query 1"]


SYSTEMS: dict[str, Callable[[Sequence[str]], Matcher]] = {
    "ngram": NgramMatcher,
    "tfidf": partial(TfidfMatcher, smallest=2, largest=5),
}


def read_reference(data: Path) -> Reference:
    """Read both files as published; titles lower-cased and stripped, empty ones left out."""
    occupations = list(_records(data / "esco" / "occupations_en.csv"))
    codes = {row["conceptUri"]: code for code, row in enumerate(occupations)}
    aliases = sorted(
        {
            (codes[row["conceptUri"]], title)
            for row in occupations
            for raw_title in [row["preferredLabel"], *row["altLabels"].split("\n")]
            if (title := raw_title.lower().strip())
        }
    )
    occupation_index = np.array([code for code, _ in aliases])
    labelled = list(_records(data / "jobbert" / "titles.csv"))
    return Reference(
        titles=[title for _, title in aliases],
        memberships=Memberships.from_pairs(
            np.arange(len(aliases)), occupation_index, len(occupations)
        ),
        queries=[row["vacancyTitle"].lower().strip() for row in labelled],
        gold=np.array([[codes[row["conceptUri"]]] for row in labelled]),
    )


def measure(
    reference: Reference, matcher: Matcher, progress: Callable[[int], None]
) -> dict[str, Float64[np.ndarray, " query"]]:
    """Every query's value of every metric, block by block."""
    blocks: dict[str, list[Float64[np.ndarray, " query"]]] = {metric: [] for metric in METRICS}
    for start in range(0, len(reference.queries), BLOCK):
        block = slice(start, start + BLOCK)
        similarities = matcher.similarities(reference.queries[block])
        scores = best_scores(similarities, reference.memberships)
        rank = rank_gold(scores, reference.gold[block])
        for k in (1, 5, 10):
            blocks[f"success_at_{k}"].append(success_at_k(rank, k))
        blocks["mrr"].append(reciprocal_rank(rank))
        progress(start + len(scores))
    return {metric: np.concatenate(values) for metric, values in blocks.items()}


def rows() -> list[Row]:
    """One tidy row per system and metric, with its 95 % bootstrap interval."""
    params = load_params()
    seed = child_seed(params.seed, "reference", "bootstrap")
    reference = read_reference(data_folder())
    return [
        {
            "experiment": "reference",
            "dataset": "esco",
            "system": system,
            "test": "vacancy_titles",
            "metric": metric,
            "value": interval.value,
            "low": interval.low,
            "high": interval.high,
            "n": len(values),
            "seed": params.seed,
            "machine": machine(),
            "command": command("reference", data=True),
        }
        for system, build in SYSTEMS.items()
        for metric, values in measure(
            reference, build(reference.titles), _progress(system, len(reference.queries))
        ).items()
        for interval in [bootstrap_interval(values, params.evaluate.bootstrap_draws, seed)]
    ]


def _records(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(file)


def _progress(system: str, queries: int) -> Callable[[int], None]:
    def report(done: int) -> None:
        if done == queries or done % (10 * BLOCK) == 0:
            print(f"{system}: {done:,} of {queries:,} queries", file=sys.stderr, flush=True)

    return report


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the table and write `results/reference.csv`."""
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    table = rows()
    replace_rows(table)
    for row in table:
        ends = f"[{row['low']:.3f}, {row['high']:.3f}]"
        print(f"{row['system']:8} {row['metric']:14} {row['value']:.3f} {ends}  n={row['n']}")


if __name__ == "__main__":
    main()
