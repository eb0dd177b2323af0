"""A benchmark of five elements in a folder, its files to be changed, and the lexical systems."""

from pathlib import Path

from tasks.apps.benchmark import Benchmark, Ranked, rank
from tasks.pipeline.lexical import LexicalParams, lexical_systems

FILES = {
    "queries.tsv": "Q1\tSoftwareentwickler\nQ2\tBäckerin\nQ3\tPilot\n",
    "corpus_elements.tsv": "C1_de_000\tSoftware-Entwickler\nC1_de_001\tProgrammierer\n"
    "C2_de_000\tBäcker\nC2_de_001\tBrotbäckerin\nC3_de_000\tProgrammierer\n",
    "annotations.tsv": "Q1\t0\tC1_de_000\t1\nQ1\t0\tC1_de_001\t1\nQ2\t0\tC2_de_001\t1\n"
    "Q2\t0\tC1_de_000\t0\n",
}
CONCEPTS = "C1_de_000\tit\nC1_de_001\tit\nC2_de_000\tfood\nC2_de_001\tfood\nC3_de_000\tit2\n"


def write(folder: Path, **changes: str) -> Path:
    """Write the files; a keyword is the beginning of a name, its value what the file holds."""
    for name, text in FILES.items():
        text = next((new for start, new in changes.items() if name.startswith(start)), text)
        (folder / name).write_text(text, encoding="utf-8")
    if "concept" in changes:
        (folder / "concept_mapping.tsv").write_text(changes["concept"], encoding="utf-8")
    return folder


def lexical(benchmark: Benchmark) -> dict[str, Ranked]:
    systems = lexical_systems(benchmark.index.titles, LexicalParams(tfidf_orders=[2, 5]))
    return {name: rank(name, systems[name], benchmark, 1000) for name in systems}
