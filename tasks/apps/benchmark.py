"""A registered model on a published benchmark, beside lexical baselines.

In: a folder (`benchmark_folder.py`) and a model, whose network gives embeddings: index, score rule
and abstentions of its own taxonomy play no part. A document scores as its closest element; ties
stand in trec_eval's order (`models/metrics/retrieval.py`). Out: a table on the terminal, and
`metrics.json`, `run.trec` and `qrels.trec`, from which ir-measures gives the table's figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from models.metrics.intervals import Interval, bootstrap_interval
from models.metrics.retrieval import RelevantPositions, pad_gold, ranked
from models.reproducibility import Progress, atomic_write, child_seed
from models.serving.embed import Embed
from models.serving.package import read_normalizer
from models.serving.scores import best_scores
from models.serving.search import TITLES_AT_ONCE, Similarities
from tasks.apps.benchmark_folder import Benchmark, BenchmarkError, read_benchmark
from tasks.evaluation.systems import EvaluateParams
from tasks.io.files import write_json
from tasks.io.section import load, load_run
from tasks.pipeline.lexical import LexicalParams, lexical_systems
from tasks.pipeline.report.names import SYSTEMS, aligned, counted, share
from tasks.release.registry.opening import opened

if TYPE_CHECKING:
    from jaxtyping import Float32, Float64, Int64

MODEL = "model"
PACKAGE = "settings.json"
BLOCK = 1024  # titles embedded between two looks at the clock
METRICS: dict[str, tuple[str, Callable[[RelevantPositions], np.ndarray]]] = {
    "mean_average_precision": ("MAP", RelevantPositions.average_precision),
    "mrr": ("MRR", RelevantPositions.reciprocal_rank),
    "success_at_1": ("success@1", lambda positions: positions.success_at_k(1)),
    "success_at_5": ("success@5", lambda positions: positions.success_at_k(5)),
    "success_at_10": ("success@10", lambda positions: positions.success_at_k(10)),
}
"""Name of the mean to its column in the table and the value per query."""
Figures = Mapping[str, Mapping[str, Interval]]
"""System to metric to the mean over all queries and its 95 % bootstrap interval."""


@dataclass(frozen=True)
class Ranked:
    """Queries in the benchmark's order."""

    values: dict[str, Float64[np.ndarray, " query"]]  # metric to a value per query
    documents: Int64[np.ndarray, "query depth"]  # positions in the index's list, best first
    scores: Float32[np.ndarray, "query depth"]  # of these


def evaluate(
    folder: Path, model: str, root: Path, *, depth: int, concepts: bool, out: Path | None
) -> None:
    """Measure a model on a published benchmark, with the parameters and the registry of `root`.

    `depth`: ranks that count; `concepts`: whether the elements of a concept rank as one; `out`: a
    folder for metrics, run and qrels.
    """
    params = root / "params.yaml"
    if out is not None and out.exists() and not out.is_dir():
        raise BenchmarkError(f"{out} is no folder; name one that is to hold the results")
    benchmark = read_benchmark(folder, concepts=concepts)
    counts = {
        "queries": len(benchmark.queries),
        "queries_left_out": benchmark.left_out,
        "elements": len(benchmark.elements),
        "documents": len(benchmark.index.occupations),
    }
    line = [counted(counts["queries"], "query", "queries")]
    line += [counted(counts["elements"], "corpus element")]
    if counts["documents"] < counts["elements"]:
        line.append(f"which rank as {counted(counts['documents'], 'concept')}")
    print(*line, sep=", ")
    if left_out := benchmark.left_out:
        print(counted(left_out, "query", "queries"), "without a relevant element left out")
    name, embed = load_model(model, root)
    titles = benchmark.index.titles
    systems = {MODEL: cosine(embed, titles), **lexical_systems(titles, load(LexicalParams, params))}
    ranked = {one: rank(one, systems[one], benchmark, depth) for one in systems}
    seed = child_seed(load_run(params).seed, "benchmark")
    values = figures(ranked, load(EvaluateParams, params).bootstrap_draws, seed)
    print("", as_table(values, {**SYSTEMS, MODEL: name}), sep="\n")
    print("mean [95 % interval] over the queries, as ir-measures counts: 1 is best, 0 is worst")
    if out is not None:
        settings = {"benchmark": folder.resolve().name, "model": name, "depth": depth}
        of_systems = {one: {k: vars(v) for k, v in own.items()} for one, own in values.items()}
        write_trec(benchmark, ranked[MODEL], out)
        write_json(settings | counts | {"systems": of_systems}, out / "metrics.json")
        print(f"written: metrics.json, run.trec and qrels.trec in {out}")


def load_model(address: str, root: Path) -> tuple[str, Embed]:
    """Return a model's address, an alias by the version that it stands for, and its network.

    `address`: as `opened` takes it, or the model package in a folder that MLflow wrote.
    """
    if (Path(address) / PACKAGE).is_file():
        return address, read_normalizer(Path(address)).network
    with opened(address, root) as (version, normalizer):
        return version, normalizer.network


def cosine(embed: Embed, titles: Sequence[str]) -> Similarities:
    """Embed cleaned titles once, and compare cleaned queries with them; all have unit norm."""
    progress, blocks = Progress("model: titles embedded", len(titles)), []
    for start in range(0, len(titles), BLOCK):
        blocks.append(embed(titles[start : start + BLOCK]))
        progress(start + BLOCK)
    embeddings = np.concatenate(blocks)
    return lambda queries: embed(queries) @ embeddings.T


def rank(system: str, similarities: Similarities, benchmark: Benchmark, depth: int) -> Ranked:
    """Rank the documents for each query; ValueError if a similarity is NaN.

    `similarities`: cleaned titles to how close they are to the titles of the benchmark's index;
    `depth`: documents kept of each query; what stands below counts as not found.
    """
    titles, qrels = [*benchmark.queries.values()], [*benchmark.qrels.values()]
    gold = pad_gold(benchmark.index.codes(qrels))
    print(f"{system}: {len(titles)} queries against {len(benchmark.index.titles)} titles")
    progress = Progress(f"{system}: queries", len(titles))
    blocks = []
    for start in range(0, len(titles), TITLES_AT_ONCE):
        block = slice(start, start + TITLES_AT_ONCE)
        scores = best_scores(similarities(titles[block]), benchmark.index.memberships)
        order = ranked(scores)
        positions = RelevantPositions.of(order, gold[block], depth)
        values = {name: metric(positions) for name, (_, metric) in METRICS.items()}
        best = order[:, :depth]
        blocks.append((values, best, np.take_along_axis(scores, best, axis=1)))
        progress(start + TITLES_AT_ONCE)
    by_metric, documents, kept = zip(*blocks, strict=True)
    return Ranked(
        {name: np.concatenate([values[name] for values in by_metric]) for name in METRICS},
        np.concatenate(documents),
        np.concatenate(kept),
    )


def figures(systems: Mapping[str, Ranked], draws: int, seed: int) -> Figures:
    """Return the means; every system's intervals are of the same drawn queries."""
    return {
        system: {name: bootstrap_interval(own, draws, seed) for name, own in ranked.values.items()}
        for system, ranked in systems.items()
    }


def as_table(values: Figures, names: Mapping[str, str]) -> str:
    """Write a row a system: each mean with its interval in brackets."""
    rows = [
        [names.get(system, system), *map(_cell, own.values())] for system, own in values.items()
    ]
    return aligned(["system", *(head for head, _ in METRICS.values())], rows)


def _cell(mean: Interval) -> str:
    return f"{share(mean.value)} [{share(mean.low)}, {share(mean.high)}]"


def write_trec(benchmark: Benchmark, ranked: Ranked, folder: Path) -> None:
    """Write `run.trec`, and the relevant documents as `qrels.trec`, each whole or not at all."""
    documents = benchmark.index.occupations
    rows = zip(benchmark.queries, ranked.documents.tolist(), ranked.scores.tolist(), strict=True)
    run = (
        f"{query} Q0 {documents[position]} {rank} {score:.9g} rolecall\n"  # scores stay distinct
        for query, positions, scores in rows
        for rank, (position, score) in enumerate(zip(positions, scores, strict=True), 1)
    )
    qrels = (f"{query} 0 {one} 1\n" for query, own in benchmark.qrels.items() for one in own)
    for name, lines in (("run.trec", run), ("qrels.trec", qrels)):
        with atomic_write(folder / name) as partial, partial.open("w", encoding="utf-8") as file:
            file.writelines(lines)
