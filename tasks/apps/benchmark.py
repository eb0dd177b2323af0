"""A registered model on a published benchmark, beside lexical baselines.

In: a model, whose network gives embeddings (index, score rule and abstentions of its own taxonomy
play no part), and a folder in the format of MELO (Retyk et al. 2024), without headers:
`queries.tsv` and `corpus_elements.tsv` (id, tab, title), `annotations.tsv` (TREC's qrels: query,
iteration, element, relevance; 1 and above is relevant) and, where there is one,
`concept_mapping.tsv` (element, tab, concept). Anything that does not fit ends the reading: a
benchmark with rows left out would be another one. A document scores as its closest element; ties
stand in trec_eval's order (`models/metrics/retrieval.py`). Out: a table on the terminal, and
`metrics.json`, `run.trec` and `qrels.trec`, from which ir-measures gives the table's figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from models.metrics.intervals import Interval, bootstrap_interval
from models.metrics.retrieval import RelevantPositions, pad_gold, ranked
from models.reproducibility import Progress, atomic_write, child_seed
from models.serving.embed import Embed
from models.serving.index import AliasIndex
from models.serving.package import read_normalizer
from models.serving.scores import best_scores
from models.serving.search import TITLES_AT_ONCE, Similarities
from models.text.titles import clean_title
from tasks.evaluation.systems import EvaluateParams
from tasks.io.files import write_json
from tasks.io.section import load, load_run
from tasks.pipeline.lexical import LexicalParams, lexical_systems
from tasks.pipeline.report.names import SYSTEMS, aligned, counted, share
from tasks.release.registry.opening import opened
from tasks.tables.rejected import BAD_CHARACTERS, RejectedRows
from tasks.tables.text import line_rows

if TYPE_CHECKING:
    from jaxtyping import Float32, Float64, Int64

MODEL = "model"
PACKAGE = "settings.json"
BLOCK = 1024  # titles embedded between two looks at the clock
# name of the mean -> its column in the table, and the value per query
METRICS: dict[str, tuple[str, Callable[[RelevantPositions], np.ndarray]]] = {
    "mean_average_precision": ("MAP", RelevantPositions.average_precision),
    "mrr": ("MRR", RelevantPositions.reciprocal_rank),
    "success_at_1": ("success@1", lambda positions: positions.success_at_k(1)),
    "success_at_5": ("success@5", lambda positions: positions.success_at_k(5)),
    "success_at_10": ("success@10", lambda positions: positions.success_at_k(10)),
}
Figures = Mapping[str, Mapping[str, Interval]]  # system -> metric -> mean with 95 % interval
QUERIES, ELEMENTS = "queries.tsv", "corpus_elements.tsv"
ANNOTATIONS, CONCEPTS = "annotations.tsv", "concept_mapping.tsv"
ORIGIN = (
    f"A benchmark is a folder with {QUERIES}, {ELEMENTS} and {ANNOTATIONS}, tabs between fields "
    "and no header."
)


class BenchmarkError(ValueError):
    """A benchmark that cannot be read; the message names file and line, and what to do."""


@dataclass(frozen=True)
class Benchmark:
    """Queries, corpus elements, and the relevant documents."""

    queries: dict[str, str]  # query_id to cleaned title; only those with a relevant document
    elements: dict[str, str]  # element_id to cleaned title
    document_of: dict[str, str]  # element_id to what ranks: the element itself, or its concept
    qrels: dict[str, list[str]]  # query_id to its relevant documents, sorted
    left_out: int  # queries of the folder without a relevant document

    @cached_property
    def index(self) -> AliasIndex:
        """Titles of the elements; the index's occupations are the documents, sorted by id."""
        return AliasIndex.of([*self.elements.values()], [*self.document_of.values()])


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
    elements = counted(counts["elements"], "corpus element")
    line = [counted(counts["queries"], "query", "queries"), elements]
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
    gold = pad_gold(benchmark.index.gold_positions(qrels))
    print(f"{system}: {len(titles)} queries against {len(benchmark.index.titles)} titles")
    progress, blocks = Progress(f"{system}: queries", len(titles)), []
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
    rows = [[names.get(one, one), *map(_cell, own.values())] for one, own in values.items()]
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


def read_benchmark(folder: Path, *, concepts: bool = True) -> Benchmark:
    """Read a folder; with `concepts` and a map in it the elements of a concept rank as one.

    A BenchmarkError says that a line does not fit, or no query has a relevant element; an
    IngestError that a file is missing or no text.
    """
    titles, elements = _titles(folder / QUERIES), _titles(folder / ELEMENTS)
    mapped = concepts and (folder / CONCEPTS).is_file()
    own = {one: one for one in elements}
    document_of = read_concepts(folder / CONCEPTS, elements) if mapped else own
    relevant = _relevant(folder / ANNOTATIONS, titles, document_of)
    if not relevant:
        raise BenchmarkError(
            f"{folder / ANNOTATIONS}: no query has a relevant element (relevance 1 or more), so "
            "there is nothing to find"
        )
    queries = {query: title for query, title in titles.items() if query in relevant}
    qrels = {query: sorted(relevant[query]) for query in queries}
    return Benchmark(queries, elements, document_of, qrels, len(titles) - len(queries))


def read_concepts(path: Path, elements: Mapping[str, str]) -> dict[str, str]:
    """Read the concept of each of the elements, in their order; errors as `read_benchmark`."""
    concepts: dict[str, str] = {}
    for where, (element, concept) in _lines(path, "element, concept"):
        _require_new(where, element, concepts)
        _require_known(where, element, elements, ELEMENTS)
        _require_one_word(where, concept)
        concepts[element] = concept
    if missing := [element for element in elements if element not in concepts]:
        raise BenchmarkError(
            f"{path} names no concept of {len(missing)} elements, the first is {missing[0]}: add "
            "them, or rank elements instead (--no-concepts)"
        )
    return {element: concepts[element] for element in elements}


def _titles(path: Path) -> dict[str, str]:
    """Read ids and titles; the titles come cleaned."""
    titles: dict[str, str] = {}
    for where, (name, title) in _lines(path, "id, title"):
        _require_new(where, name, titles)
        titles[name] = clean_title(title)
        if not titles[name]:
            raise BenchmarkError(f"{where}: {name} has an empty title; complete or remove it")
    if not titles:
        raise BenchmarkError(f"{path} is empty. {ORIGIN}")
    return titles


def _relevant(
    path: Path, queries: Mapping[str, str], document_of: Mapping[str, str]
) -> dict[str, set[str]]:
    """Read the relevant documents of each query that has some."""
    relevant, judged = dict[str, set[str]](), set[tuple[str, str]]()
    names = "query, iteration, element, relevance"
    for where, (query, _, element, relevance) in _lines(path, names):
        _require_known(where, query, queries, QUERIES)
        _require_known(where, element, document_of, ELEMENTS)
        if (query, element) in judged:
            raise BenchmarkError(f"{where}: {query} and {element} once more; keep one annotation")
        judged.add((query, element))
        try:
            is_relevant = int(relevance) > 0
        except ValueError:
            raise BenchmarkError(
                f"{where}: relevance {relevance!r} is no whole number (1: relevant, 0: not)"
            ) from None
        if is_relevant:
            relevant.setdefault(query, set()).add(document_of[element])
    return relevant


def _lines(path: Path, names: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the position and the fields of each line; blank ones are none.

    TREC puts any white space between the four fields of an annotation, which hold none themselves.
    """
    rejected_rows, width = RejectedRows(), names.count(",") + 1
    for row in line_rows(path, "line", ORIGIN, rejected_rows):
        where = f"{path}, line {row.line}"
        fields = row.text.split() if path.name == ANNOTATIONS else row.text.split("\t")
        if len(fields) != width:
            raise BenchmarkError(
                f"{where}: {len(fields)} fields where {width} are expected ({names}): "
                f"{row.text!r}. {ORIGIN}"
            )
        yield where, [field.strip() for field in fields]
    for _, line, reason, text in rejected_rows.refused:
        if reason == BAD_CHARACTERS:
            raise BenchmarkError(f"{path}, line {line}: {reason}: {text!r}; save it as UTF-8")


def _require_new(where: str, name: str, earlier: dict[str, str]) -> None:
    _require_one_word(where, name)
    if name in earlier:
        raise BenchmarkError(f"{where}: the id {name} stands twice; give each line its own")


def _require_one_word(where: str, name: str) -> None:
    if len(name.split()) != 1:
        fault = "is empty or holds white space; TREC has none"
        raise BenchmarkError(f"{where}: the id {name!r} {fault}")


def _require_known(where: str, name: str, ids: Mapping[str, str], file: str) -> None:
    if name not in ids:
        raise BenchmarkError(f"{where}: {name} does not stand in {file}; add it, or repair the id")
