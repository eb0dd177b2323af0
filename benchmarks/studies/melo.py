"""MELO's sets (Retyk et al. 2024): queries and corpus elements, ranked by similarities.

`elements`: an element scores as its title, ties in trec_eval's order, as in published figures.
`occupations`: it scores as its title and its occupation together, where the occupation of each
element is known (`concept_mapping.tsv`, or `melo_concepts/SET.tsv`); ties count against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from models.metrics.retrieval import RelevantPositions, pad_gold, ranked
from models.serving.index import Memberships
from models.serving.scores import ScoreRule, best_scores
from models.serving.search import TITLES_AT_ONCE, Similarities
from tasks.apps.benchmark import CONCEPTS, METRICS, Benchmark, rank, read_benchmark, read_concepts

if TYPE_CHECKING:
    from jaxtyping import Float, Float64, Int


FOLDER, MORE_CONCEPTS = "melo", "melo_concepts"
SHOWN = ("mean_average_precision", "mrr", "success_at_1")
System = Callable[[Sequence[str]], Similarities]
"""Cleaned titles to a function that compares others with them."""


def languages_of(name: str) -> tuple[str, str]:
    """Return the languages of a set: `deu_q_de_c_en` has German queries and English elements."""
    _, _, queries, _, elements = name.split("_")
    return queries, elements


def read_set(published: Path, name: str) -> tuple[Benchmark, dict[str, str]]:
    """Read a set, and the occupation of each of its elements, from the publishers' files."""
    benchmark = read_benchmark(published / FOLDER / name, concepts=False)
    own = published / FOLDER / name / CONCEPTS
    file = own if own.is_file() else published / MORE_CONCEPTS / f"{name}.tsv"
    return benchmark, read_concepts(file, benchmark.elements)


def measured(
    system: System, published: Path, names: Sequence[str], depth: int, rule: ScoreRule | None
) -> pl.DataFrame:
    """Return `test, query_id` and each metric of `SHOWN`; without a rule by elements alone."""
    frames = []
    for name in names:
        benchmark, occupation_of = read_set(published, name)
        similarities = system(benchmark.index.titles)
        by_rule = {"elements": rank(name, similarities, benchmark, depth).values}
        if rule is not None:
            by_rule["occupations"] = voted(similarities, benchmark, occupation_of, rule, depth)
        for test, values in by_rule.items():
            columns = {metric: values[metric] for metric in SHOWN}
            rows = pl.DataFrame({"query_id": [*benchmark.queries], **columns})
            frames.append(rows.with_columns(test=pl.lit(f"{FOLDER}/{name}/{test}")))
    return pl.concat(frames) if frames else pl.DataFrame()


def voted(
    similarities: Similarities,
    benchmark: Benchmark,
    occupation_of: Mapping[str, str],
    rule: ScoreRule,
    depth: int,
) -> dict[str, Float64[np.ndarray, " query"]]:
    """Rank each element by its own similarity plus the score of its occupation."""
    elements, titles = benchmark.index.occupations, [*benchmark.queries.values()]
    names = np.array([occupation_of[element] for element in elements])
    occupations, owner = np.unique(names, return_inverse=True)
    members = Memberships.from_pairs(np.arange(len(elements)), owner, len(occupations))
    gold = pad_gold(benchmark.index.gold_positions([*benchmark.qrels.values()]))
    blocks = []
    for start in range(0, len(titles), TITLES_AT_ONCE):
        block = slice(start, start + TITLES_AT_ONCE)
        own = best_scores(similarities(titles[block]), benchmark.index.memberships)
        scores = ties_against(own + rule(own, members)[:, owner], gold[block])
        positions = RelevantPositions.of(ranked(scores), gold[block], depth)
        blocks.append({name: METRICS[name][1](positions) for name in SHOWN})
    return {name: np.concatenate([block[name] for block in blocks]) for name in SHOWN}


def ties_against(
    scores: Float[np.ndarray, "query element"], gold: Int[np.ndarray, "query gold"]
) -> Float64[np.ndarray, "query element"]:
    """Return scores, of single precision before, with relevant elements below equal ones."""
    lowered = scores.astype(np.float64)
    query, column = np.nonzero(gold >= 0)
    position = query, gold[query, column]
    lowered[position] = np.nextafter(lowered[position], -np.inf)
    return lowered
