"""Stage `lexical`: the systems that learn nothing, the n-gram matcher and TF-IDF, on every test.

In: `data/split/titles.parquet` and all tests' queries (`tasks/io/mixes.py`).
Out: `data/lexical/{scores,run}.parquet`, `table.csv` (tidy, with slices) and `metrics.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from models.serving.search import Search, Similarities
from tasks.evaluation.ngram_matcher import NgramMatcher
from tasks.evaluation.ranking import measure, write_measured
from tasks.evaluation.systems import EvaluateParams, TfidfMatcher, read_index
from tasks.io.command import run
from tasks.io.mixes import read_queries
from tasks.io.section import Count, Section, load, load_run


class LexicalParams(Section):
    """Section `lexical`: orders of the character n-grams of TF-IDF, smallest and largest."""

    NAME: ClassVar[str] = "lexical"
    tfidf_orders: Annotated[list[Count], Field(min_length=2, max_length=2)]


def lexical_systems(titles: Sequence[str], params: LexicalParams) -> dict[str, Similarities]:
    """Return `ngram` (Neculoiu et al. 2016, section 4.1) and `tfidf`, both against `titles`."""
    smallest, largest = params.tfidf_orders
    return {
        "ngram": NgramMatcher(titles).similarities,
        "tfidf": TfidfMatcher(titles, smallest, largest).similarities,
    }


def main() -> None:
    """Run the stage on its files."""
    index, params = read_index(), load(EvaluateParams)
    lexical = lexical_systems(index.titles, load(LexicalParams))
    systems = {name: Search(index, compared, params.rule) for name, compared in lexical.items()}
    measured = measure(systems, read_queries("test"), params, load_run().seed)
    write_measured(*measured, Path("data/lexical"))


if __name__ == "__main__":
    run(main)
