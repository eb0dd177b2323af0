"""A model as a reconciliation service: candidates for titles, and what is known of occupations.

In: checked requests (`bodies.py`). Out: plain values, which `routes.py` sends: the registered
model's answers and which of them is a match, names, properties, suggestions, a preview.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from os.path import commonprefix
from typing import Any

from models.serving.answer import MOST, Answer
from models.serving.model import Normalizer
from tasks.apps.reconciliation.bodies import Extension, Query
from tasks.apps.web.responses import BadRequest

TYPE = {"id": "occupation", "name": "Occupation"}
PAGE = 20  # suggestions at once
LOOKED_THROUGH = 100  # occupations searched if a query names properties
CANDIDATES = 10_000  # of all queries of a batch
SEPARATOR = ": "  # between standard and code of an occupation's other codes


@dataclass(frozen=True)
class TaxonomyService:
    """The occupations of a registered model."""

    normalizer: Normalizer

    @cached_property
    def place(self) -> dict[str, int]:
        """Code of each occupation_id."""
        return {name: code for code, name in enumerate(self.normalizer.index.occupations)}

    def label(self, name: str) -> str:
        """Return an occupation's preferred title."""
        return str(self.normalizer.labels.labels[self.place[name]])

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
        if name not in self.place:
            return []
        taxonomy_labels, code = self.normalizer.labels, self.place[name]
        kind, _, which = property_id.partition("_")
        if kind == "label":
            return [self.label(name)]
        if kind == "aliases":
            return self.aliases[name]
        if kind == "level":
            return list(taxonomy_labels.codes[code][int(which) - 1 : int(which)])
        pairs = (other.partition(SEPARATOR) for other in taxonomy_labels.crosswalk_codes[code])
        return [code_in for standard, _, code_in in pairs if standard == which]

    @cached_property
    def aliases(self) -> dict[str, list[str]]:
        """Titles of each occupation, as the taxonomy writes them and in its order."""
        titles: dict[str, dict[str, None]] = {name: {} for name in self.place}
        columns = (self.normalizer.aliases[name] for name in ("occupation_id", "written"))
        for name, written in zip(*columns, strict=True):
            titles[name][written] = None
        return {name: [*written] for name, written in titles.items()}

    def extended(self, extension: Extension) -> dict[str, Any]:
        """Answer a data extension query; BadRequest if a property is unknown."""
        names = [one.id for one in extension.properties]
        unknown = [name for name in names if name not in self.properties]
        if unknown:
            raise BadRequest(
                f"unknown properties {unknown}; there are {', '.join(self.properties)}"
            )
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
        matches = [*dict.fromkeys(self._suggested(prefix.casefold().strip()))]
        return [
            {
                "id": name,
                "name": self.label(name),
                "description": ", ".join(self.normalizer.labels.codes[self.place[name]]),
                "notable": [TYPE],
            }
            for name in matches[cursor : cursor + PAGE]
        ]

    def _suggested(self, prefix: str) -> Iterator[str]:
        if not prefix:
            return
        yield from (name for name in self.place if name.casefold() == prefix)
        for ranked in (self._labels, self._titles):
            yield from (name for title, name in ranked if title.startswith(prefix))
        yield from (name for title, name in self._titles if f" {prefix}" in title)

    @cached_property
    def _labels(self) -> list[tuple[str, str]]:
        return sorted((self.label(name).casefold(), name) for name in self.place)

    @cached_property
    def _titles(self) -> list[tuple[str, str]]:
        rows = ((title, name) for name, titles in self.aliases.items() for title in titles)
        return sorted((title.casefold(), name) for title, name in rows)

    def preview(self, name: str) -> str:
        """Return a small page of an occupation; BadRequest if there is none of that id."""
        if name not in self.place:
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
    titled = [query for query in queries.values() if query.query not in occupations.place]
    most = min(MOST, CANDIDATES // max(1, len(queries)))
    limits = {
        name: max(0, min(normalizer.top_k if query.limit is None else int(query.limit), most))
        for name, query in queries.items()
    }
    depth = max([1, *limits.values()])
    if any(query.properties for query in titled):
        depth = max(depth, LOOKED_THROUGH)
    titles = [query.query or None for query in titled]
    answers = dict(zip(map(id, titled), normalizer.predict(titles, top_k=depth), strict=True))
    results = {}
    for name, query in queries.items():
        if id(query) in answers:
            result = _listed(occupations, query, answers[id(query)], threshold)
        else:  # the query is an id
            result = [_candidate(occupations, query.query, 100.0, match=True)]
        results[name] = {"result": result[: limits[name]]}
    return results


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
