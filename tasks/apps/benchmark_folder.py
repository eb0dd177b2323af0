"""A benchmark folder as its publisher gives it: queries, corpus elements, annotations.

In: `queries.tsv` and `corpus_elements.tsv` (id, tab, title), `annotations.tsv` (TREC's qrels:
query, iteration, element, relevance; 1 and above is relevant) and, where there is one,
`concept_mapping.tsv` (element, tab, concept). None has a header. Out: a `Benchmark`. These are the
names and the format of MELO (Retyk et al. 2024). Anything that does not fit ends the reading: a
benchmark with rows left out would be another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from models.serving.index import AliasIndex
from models.text.titles import clean_title
from tasks.tables.rejected import BAD_CHARACTERS, RejectedRows
from tasks.tables.text import line_rows

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


def read_benchmark(folder: Path, *, concepts: bool = True) -> Benchmark:
    """Read a folder.

    `concepts`: let the elements of a concept rank as one, if the folder has a map.

    Raises:
        BenchmarkError: a line that does not fit, or no query with a relevant element.
        IngestError: a file is missing or no text.
    """
    titles, elements = _titles(folder / QUERIES), _titles(folder / ELEMENTS)
    mapped = concepts and (folder / CONCEPTS).is_file()
    same = {one: one for one in elements}
    document_of = read_concepts(folder / CONCEPTS, elements) if mapped else same
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
    for place, (element, concept) in _lines(path, "element, concept"):
        _require_new(place, element, concepts)
        _require_known(place, element, elements, ELEMENTS)
        _require_one_word(place, concept)
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
    for place, (name, title) in _lines(path, "id, title"):
        _require_new(place, name, titles)
        titles[name] = clean_title(title)
        if not titles[name]:
            raise BenchmarkError(f"{place}: {name} has an empty title; complete or remove it")
    if not titles:
        raise BenchmarkError(f"{path} is empty. {ORIGIN}")
    return titles


def _relevant(
    path: Path, queries: Mapping[str, str], document_of: Mapping[str, str]
) -> dict[str, set[str]]:
    """Read the relevant documents of each query that has some."""
    relevant, judged = dict[str, set[str]](), set[tuple[str, str]]()
    names = "query, iteration, element, relevance"
    for place, (query, _, element, relevance) in _lines(path, names):
        _require_known(place, query, queries, QUERIES)
        _require_known(place, element, document_of, ELEMENTS)
        if (query, element) in judged:
            raise BenchmarkError(f"{place}: {query} and {element} once more; keep one annotation")
        judged.add((query, element))
        try:
            is_relevant = int(relevance) > 0
        except ValueError:
            raise BenchmarkError(
                f"{place}: relevance {relevance!r} is no whole number (1: relevant, 0: not)"
            ) from None
        if is_relevant:
            relevant.setdefault(query, set()).add(document_of[element])
    return relevant


def _lines(path: Path, names: str) -> Iterator[tuple[str, list[str]]]:
    """Yield place and fields of each line; blank ones are none.

    TREC puts any white space between the four fields of an annotation, which hold none themselves.
    """
    rejected_rows, width = RejectedRows(), names.count(",") + 1
    for row in line_rows(path, "line", ORIGIN, rejected_rows):
        place = f"{path}, line {row.line}"
        fields = row.text.split() if path.name == ANNOTATIONS else row.text.split("\t")
        if len(fields) != width:
            raise BenchmarkError(
                f"{place}: {len(fields)} fields where {width} are expected ({names}): "
                f"{row.text!r}. {ORIGIN}"
            )
        yield place, [field.strip() for field in fields]
    for _, line, reason, text in rejected_rows.refused:
        if reason == BAD_CHARACTERS:
            raise BenchmarkError(f"{path}, line {line}: {reason}: {text!r}; save it as UTF-8")


def _require_new(place: str, name: str, earlier: dict[str, str]) -> None:
    _require_one_word(place, name)
    if name in earlier:
        raise BenchmarkError(f"{place}: the id {name} stands twice; give each line its own")


def _require_one_word(place: str, name: str) -> None:
    if len(name.split()) != 1:
        raise BenchmarkError(
            f"{place}: the id {name!r} is empty or holds white space; TREC has none"
        )


def _require_known(place: str, name: str, ids: Mapping[str, str], file: str) -> None:
    if name not in ids:
        raise BenchmarkError(f"{place}: {name} does not stand in {file}; add it, or repair the id")
