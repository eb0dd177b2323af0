"""Queries to candidates: the registered model's answers, and which of them is a match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from models.normalizer.answers.columns import Answer
from tasks.apps.reconciliation.bodies import Condition, Query
from tasks.apps.reconciliation.taxonomy_service import TYPE, TaxonomyService

LOOKED_THROUGH = 100  # occupations searched if a query names properties
MOST = 1000  # candidates of a query at most: the model's limit
CANDIDATES = 10_000  # of all queries of a batch


def candidates(
    occupations: TaxonomyService, queries: Mapping[str, Query], threshold: float
) -> dict[str, Any]:
    """Answer a batch, all titles at once; an abstention has no candidates.

    A large batch gets fewer candidates for each query, `CANDIDATES` in all at most.

    `threshold`: of the calibrated confidence, from which on the best candidate is a match.
    """
    normalizer = occupations.normalizer
    titled = [query for query in queries.values() if query.query not in occupations.place]
    most = min(MOST, CANDIDATES // max(1, len(queries)))
    limits = {name: _limit(query, normalizer.top_k, most) for name, query in queries.items()}
    depth = max([1, *limits.values()])
    if any(query.properties for query in titled):
        depth = max(depth, LOOKED_THROUGH)
    titles = [query.query or None for query in titled]
    answers = dict(zip(map(id, titled), normalizer.predict(titles, top_k=depth), strict=True))
    return {
        name: {
            "result": (
                _listed(occupations, query, answers[id(query)], threshold)
                if id(query) in answers
                else [_candidate(occupations, query.query, 100.0, match=True)]
            )[: limits[name]]
        }
        for name, query in queries.items()
    }


def _listed(
    occupations: TaxonomyService, query: Query, answer: Answer, threshold: float
) -> list[dict[str, Any]]:
    sure = answer.confidence is not None and answer.confidence >= threshold
    listed = []
    rows = zip(answer.top_occupation_ids, answer.top_scores, answer.top_titles, strict=True)
    for rank, (name, score, title) in enumerate(rows):
        if not _fits(occupations, name, query.properties):
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


def _fits(occupations: TaxonomyService, name: str, conditions: Sequence[Condition]) -> bool:
    """Tell whether an occupation meets the conditions; those on unknown properties are skipped."""
    return all(
        condition.values.intersection(occupations.values(name, condition.pid))
        for condition in conditions
        if condition.pid in occupations.properties
    )


def _limit(query: Query, default: int, most: int) -> int:
    return max(0, min(default if query.limit is None else int(query.limit), most))
