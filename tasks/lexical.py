"""The systems that learn nothing, on every test: the n-gram matcher and TF-IDF, measured once.

In: `data/split/aliases.parquet` and all tests' queries (`tasks/queries.py`).
Out: `data/lexical/{scores,run}.parquet`, `table.csv` (tidy, with slices) and `metrics.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from models.ngram_matcher import NgramMatcher
from tasks.alias_index import Similarities
from tasks.command import run
from tasks.measured import measure, read_index, write_measured
from tasks.params import load_params
from tasks.queries import read_queries
from tasks.sections import LexicalParams
from tasks.tfidf import TfidfMatcher

FOLDER = Path("data/lexical")


def lexical_systems(titles: Sequence[str], params: LexicalParams) -> dict[str, Similarities]:
    """`ngram` (Neculoiu et al. 2016, section 4.1) and `tfidf`, both against `titles`."""
    smallest, largest = params.tfidf_orders
    return {
        "ngram": NgramMatcher(titles).similarities,
        "tfidf": TfidfMatcher(titles, smallest, largest).similarities,
    }


def main() -> None:
    """Run the stage on its files."""
    params, index = load_params(), read_index()
    systems = lexical_systems(index.titles, params.lexical)
    measured = measure(systems, index, read_queries("test"), params.evaluate, params.seed)
    write_measured(measured, FOLDER)


if __name__ == "__main__":
    run(main)
