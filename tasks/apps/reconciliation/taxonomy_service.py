"""A model as a reconciliation service: checked requests in, plain values out.

Queries and extensions of the Reconciliation Service API 0.2 come as JSON in a form field or in the
address (https://reconciliation-api.github.io/specs/0.2/). Whatever its schemas allow is read, and
unknown members are skipped; the bounds are ours, and a bad request is refused with a reason. Out,
for `routes.py` to send: the registered model's answers and which of them is a match, names,
properties, suggestions, a preview.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from os.path import commonprefix
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qs

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from models.serving.answer import MOST, Answer
from models.serving.model import Normalizer
from tasks.apps.web.responses import BadRequest, faults_of

FORM = "application/x-www-form-urlencoded"
BATCH = 1000  # queries, or occupations to extend, in one request
PROPERTIES = 100  # to fetch in one request, or conditions of a query
CONDITIONS = 10_000  # of all queries of a batch
TYPE = {"id": "occupation", "name": "Occupation"}
PAGE = 20  # suggestions at once
LOOKED_THROUGH = 100  # occupations searched if a query names properties
CANDIDATES = 10_000  # of all queries of a batch
SEPARATOR = ": "  # between standard and code of an occupation's other codes
Kind = TypeVar("Kind")


class Body(BaseModel):
    """A part of a request: its values are of their types, unknown members are skipped."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class Entity(Body):
    """A property's value that is an entity."""

    id: str
    name: str | None = None


Value = str | bool | float | Entity


class Condition(Body):
    """A property that candidates should have."""

    pid: str
    v: Value | list[Value]

    @cached_property
    def values(self) -> set[str]:
        """Any of these will do."""
        values = self.v if isinstance(self.v, list) else [self.v]
        return {value.id if isinstance(value, Entity) else _as_text(value) for value in values}


class Query(Body):
    """A title to be reconciled; types are taken and do not matter, as there is one."""

    query: str = ""
    type: str | list[str] | None = None
    limit: Annotated[float, Field(allow_inf_nan=False)] | None = None
    properties: Annotated[list[Condition], Field(max_length=PROPERTIES)] = []
    type_strict: Literal["any", "should", "all"] | None = None


class PropertyRequest(Body):
    """A property to be fetched."""

    id: str
    settings: dict[str, Any] = Field(default_factory=dict)


def _each_once(properties: list[PropertyRequest]) -> list[PropertyRequest]:
    counts = Counter(one.id for one in properties)
    if twice := sorted(name for name, count in counts.items() if count > 1):
        raise ValueError(f"{twice[0]!r} stands twice")
    return properties


class Extension(Body):
    """Occupations, and the properties to fetch of them."""

    ids: Annotated[list[str], Field(max_length=BATCH)]
    properties: Annotated[
        list[PropertyRequest], Field(max_length=PROPERTIES), AfterValidator(_each_once)
    ]


QUERIES = TypeAdapter(dict[str, Query])
EXTENSION = TypeAdapter(Extension)


def read_form(body: bytes, content_type: str) -> dict[str, str]:
    """Return a form's fields, the last of each name; BadRequest if it is no form."""
    if content_type.partition(";")[0].strip().lower() != FORM:
        raise BadRequest(f"content type {content_type!r}; post a form: {FORM}", 415)
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=9)
    except ValueError as error:
        raise BadRequest(f"no form in UTF-8: {error}") from None
    return {name: values[-1] for name, values in fields.items()}


def read_queries(text: str) -> dict[str, Query]:
    """Read a batch of queries; BadRequest if it is none, or a large one."""
    queries = parsed(QUERIES, "queries", text)
    if len(queries) > BATCH:
        raise BadRequest(f"{len(queries):,} queries; {BATCH:,} at most", 413)
    count = sum(len(query.properties) for query in queries.values())
    if count > CONDITIONS:
        raise BadRequest(f"{count:,} properties in all queries; {CONDITIONS:,} at most", 413)
    return queries


def parsed(kind: TypeAdapter[Kind], name: str, text: str) -> Kind:
    """Read the JSON of a form's field; BadRequest, which names the fields, if it is none."""
    try:
        return kind.validate_json(text.encode("utf-8", "replace"))
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        raise BadRequest(faults_of(errors, name)) from None


def _as_text(value: str | bool | float) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


@dataclass(frozen=True)
class TaxonomyService:
    """The occupations of a registered model."""

    normalizer: Normalizer

    @cached_property
    def position(self) -> dict[str, int]:
        """Position of each occupation_id in the index."""
        return {name: row for row, name in enumerate(self.normalizer.index.occupations)}

    def label(self, name: str) -> str:
        """Return an occupation's preferred title."""
        return str(self.normalizer.labels.labels[self.position[name]])

    @cached_property
    def space(self) -> str:
        """The beginning that all ids have in common as addresses; empty where they are none."""
        shared = commonprefix(self.normalizer.index.occupations)  # noqa: RUF071  # cut at a / below
        return shared[: shared.rfind("/") + 1] if shared.startswith("http") else ""

    @cached_property
    def properties(self) -> dict[str, str]:
        """Ids and names: label, aliases, a code for each level and one for each standard."""
        crosswalk = self.normalizer.labels.crosswalk_codes
        standards = {code.partition(SEPARATOR)[0] for codes in crosswalk for code in codes}
        levels = range(1, len(self.normalizer.hierarchy))
        return {
            "label": "preferred title",
            "aliases": "all titles",
            **{f"level_{level}": f"code of level {level}" for level in levels},
            **{f"standard_{name}": f"code in {name}" for name in sorted(standards)},
        }

    def values(self, name: str, property_id: str) -> list[str]:
        """Return what an occupation has of a property; nothing of an unknown one."""
        if name not in self.position:
            return []
        labels, row = self.normalizer.labels, self.position[name]
        kind, _, which = property_id.partition("_")
        if kind == "label":
            return [self.label(name)]
        if kind == "aliases":
            return self.aliases[name]
        if kind == "level":
            return list(labels.codes[row][int(which) - 1 : int(which)])
        pairs = (other.partition(SEPARATOR) for other in labels.crosswalk_codes[row])
        return [code for standard, _, code in pairs if standard == which]

    @cached_property
    def aliases(self) -> dict[str, list[str]]:
        """Titles of each occupation, as the taxonomy writes them and in its order."""
        titles: dict[str, dict[str, None]] = {name: {} for name in self.position}
        columns = (self.normalizer.aliases[name] for name in ("occupation_id", "written"))
        for name, written in zip(*columns, strict=True):
            titles[name][written] = None
        return {name: [*written] for name, written in titles.items()}

    def extended(self, extension: Extension) -> dict[str, Any]:
        """Answer a data extension query; BadRequest if a property is unknown."""
        names = [one.id for one in extension.properties]
        if unknown := [name for name in names if name not in self.properties]:
            known = ", ".join(self.properties)
            raise BadRequest(f"unknown properties {unknown}; there are {known}")
        return {
            "meta": [{"id": name, "name": self.properties[name]} for name in names],
            "rows": {
                name: {one: [{"str": text} for text in self.values(name, one)] for one in names}
                for name in dict.fromkeys(extension.ids)
            },
        }

    def suggested(self, prefix: str, cursor: int) -> list[dict[str, Any]]:
        """Return occupations with this id, or a title that begins so or has such a word.

        Labels come first, beginnings before words.
        """
        matches = dict.fromkeys(self._suggested(prefix.casefold().strip()))
        return [
            {
                "id": name,
                "name": self.label(name),
                "description": ", ".join(self.normalizer.labels.codes[self.position[name]]),
                "notable": [TYPE],
            }
            for name in islice(matches, cursor, cursor + PAGE)
        ]

    def _suggested(self, prefix: str) -> Iterator[str]:
        if not prefix:
            return
        labels, titles = self._ranked
        yield from (name for name in self.position if name.casefold() == prefix)
        for ranked in (labels, titles):
            yield from (name for title, name in ranked if title.startswith(prefix))
        yield from (name for title, name in titles if f" {prefix}" in title)

    @cached_property
    def _ranked(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """All labels, and all titles, in lower case and sorted, with their occupations."""
        titles = ((title, name) for name, own in self.aliases.items() for title in own)
        labels = ((self.label(name), name) for name in self.position)
        both = [sorted((text.casefold(), name) for text, name in some) for some in (labels, titles)]
        return both[0], both[1]

    def preview(self, name: str) -> str:
        """Return a small page of an occupation; BadRequest if there is none of that id."""
        if name not in self.position:
            raise BadRequest(f"no occupation {name!r}", 404)
        details = "".join(
            f"<dt>{html.escape(title)}</dt><dd>{html.escape(', '.join(values))}</dd>"
            for property_id, title in self.properties.items()
            if property_id != "label" and (values := self.values(name, property_id))
        )
        title = html.escape(self.label(name))
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
            "<style>body{font:14px sans-serif;margin:8px}dt{color:#555}dd{margin:0 0 6px}</style>"
            f"<h1 style='font-size:16px'>{title}</h1><dl>{details}</dl></html>"
        )


def named_like(names: Mapping[str, str], prefix: str, cursor: int) -> list[dict[str, str]]:
    """Return ids and names of which one begins so, for a suggest service."""
    start = prefix.casefold()
    matches = [
        {"id": key, "name": name}
        for key, name in names.items()
        if key.startswith(start) or name.casefold().startswith(start)
    ]
    return matches[cursor : cursor + PAGE]


def candidates(
    occupations: TaxonomyService, queries: Mapping[str, Query], threshold: float
) -> dict[str, Any]:
    """Answer a batch, all titles at once; an abstention has no candidates.

    A large batch gets fewer candidates for each query, `CANDIDATES` in all at most. `threshold`:
    of the calibrated confidence, from which on the best candidate is a match.
    """
    normalizer = occupations.normalizer
    titled = [query for query in queries.values() if query.query not in occupations.position]
    most = min(MOST, CANDIDATES // max(1, len(queries)))
    limits = {
        name: max(0, min(normalizer.top_k if query.limit is None else int(query.limit), most))
        for name, query in queries.items()
    }
    depth = max([1, *limits.values()])
    if any(query.properties for query in titled):
        depth = max(depth, LOOKED_THROUGH)
    titles = [query.query or None for query in titled]
    answers = iter(normalizer.predict(titles, top_k=depth))
    results = {
        name: [_candidate(occupations, query.query, 100.0, match=True)]  # the query is an id
        if query.query in occupations.position
        else _listed(occupations, query, next(answers), threshold)
        for name, query in queries.items()
    }
    return {name: {"result": result[: limits[name]]} for name, result in results.items()}


def _listed(
    occupations: TaxonomyService, query: Query, answer: Answer, threshold: float
) -> list[dict[str, Any]]:
    """Return the occupations of an answer that meet all conditions on known properties."""
    sure = answer.confidence is not None and answer.confidence >= threshold
    conditions = [one for one in query.properties if one.pid in occupations.properties]
    listed = []
    rows = zip(answer.top_occupation_ids, answer.top_scores, answer.top_titles, strict=True)
    for rank, (name, score, title) in enumerate(rows):
        if not all(one.values & {*occupations.values(name, one.pid)} for one in conditions):
            continue
        one = _candidate(occupations, name, 100 * score, match=sure and rank == 0)
        one["description"] = title
        if rank == 0 and answer.confidence is not None:
            one["features"].append({"id": "confidence", "value": answer.confidence})
        listed.append(one)
    return listed


def _candidate(
    occupations: TaxonomyService, name: str, score: float, *, match: bool
) -> dict[str, Any]:
    return {
        "id": name,
        "name": occupations.label(name),
        "type": [TYPE],
        "score": round(score, 3),
        "features": [{"id": "score", "value": score / 100}],
        "match": match,
    }
