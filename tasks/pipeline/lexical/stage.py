"""The systems that learn nothing, on every test: the n-gram matcher and TF-IDF, measured once.

In: `data/split/titles.parquet` and all tests' queries (`tasks/io/queries.py`).
Out: `data/lexical/{scores,run}.parquet`, `table.csv` (tidy, with slices) and `metrics.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from models.search.search import Search, Similarities
from models.text.ngram_matcher import NgramMatcher
from tasks.evaluation.params import EvaluateParams
from tasks.evaluation.ranking import measure, write_measured
from tasks.evaluation.systems import read_index
from tasks.evaluation.tfidf import TfidfMatcher
from tasks.io.command import run
from tasks.io.queries import read_queries
from tasks.io.section import load, load_run
from tasks.pipeline.lexical.params import LexicalParams

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
    index, params = read_index(), load(EvaluateParams)
    systems = {
        name: Search(index, similarities, params.rule)
        for name, similarities in lexical_systems(index.titles, load(LexicalParams)).items()
    }
    measured = measure(systems, read_queries("test"), params, load_run().seed)
    write_measured(measured, FOLDER)


if __name__ == "__main__":
    run(main)
