"""A benchmark's answers in the form of TREC, which trec_eval, ir-measures and others read.

`run.trec` has a line `query Q0 document rank score tag` for each document that was kept, and
`qrels.trec` a line `query 0 document 1` for each relevant document. Asked about both files,
ir-measures gives the figures of the table.
"""

from __future__ import annotations

from pathlib import Path

from models.reproducibility.atomic_write import atomic_write
from tasks.apps.benchmark.folder import Benchmark
from tasks.apps.benchmark.ranking import Ranked

RUN, QRELS, TAG = "run.trec", "qrels.trec", "rolecall"


def write_run(benchmark: Benchmark, ranked: Ranked, folder: Path) -> None:
    """Write `run.trec`, whole or not at all; nine digits tell any two scores apart."""
    documents = benchmark.index.occupations
    with atomic_write(folder / RUN) as partial, partial.open("w", encoding="utf-8") as file:
        for query, places, scores in zip(
            benchmark.queries, ranked.documents.tolist(), ranked.scores.tolist(), strict=True
        ):
            file.writelines(
                f"{query} Q0 {documents[place]} {rank} {score:.9g} {TAG}\n"
                for rank, (place, score) in enumerate(zip(places, scores, strict=True), start=1)
            )


def write_qrels(benchmark: Benchmark, folder: Path) -> None:
    """Write `qrels.trec`: what counted as relevant, concepts where these were ranked."""
    with atomic_write(folder / QRELS) as partial, partial.open("w", encoding="utf-8") as file:
        for query, documents in benchmark.qrels.items():
            file.writelines(f"{query} 0 {document} 1\n" for document in documents)
