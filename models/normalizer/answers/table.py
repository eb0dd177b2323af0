"""From numbers of occupations, titles and languages to the table of answers.

Text is taken by its number from columns of Arrow, so an answer makes no string of its own but the
words that set it apart from the second one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from models.normalizer.answers.abstention import REASONS
from models.normalizer.answers.arrays import arrow_listed, arrow_numbers, arrow_texts
from models.normalizer.answers.columns import schema
from models.normalizer.exact_match import DECIDED_BY
from models.normalizer.predict_params import PredictParams
from models.normalizer.qualifiers import KINDS, FoundQualifiers
from models.normalizer.taxonomy_labels import TaxonomyLabels

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int


class Found(NamedTuple):
    """The results of a search for some titles, and whether it is an answer.

    Attributes:
        occupations: codes, best first; two if there are so many.
        titles: the closest title of each.
        matched: the same in the language that is asked for.
        scores: of each.
        sure: confidence at each level, the occupation last; one of NaN without calibration.
        confident_code: place of the narrowest code that is sure enough; −1: none.
        reasons: why there is no answer, or no confidence, by the places of `REASONS`.
        answered: whether there is one.
        decided_by: what decided it, a place in `DECIDED_BY`.
        truncated: whether the title is longer than the network reads.
    """

    occupations: Int[np.ndarray, "title k"]
    titles: Int[np.ndarray, "title k"]
    matched: Int[np.ndarray, "title k"]
    scores: Float64[np.ndarray, "title k"]
    sure: Float64[np.ndarray, "title level"]
    confident_code: Int[np.ndarray, " title"]
    reasons: Int[np.ndarray, " title"]
    answered: Bool[np.ndarray, " title"]
    decided_by: Int[np.ndarray, " title"]
    truncated: Bool[np.ndarray, " title"]


def joined(blocks: Sequence[Found]) -> Found:
    """Return blocks as one; of none, nothing."""
    if blocks:
        return Found(*map(np.concatenate, zip(*blocks, strict=True)))
    numbers, flags = np.zeros((0, 1), np.int64), np.zeros(0, bool)
    scores, codes = np.zeros((0, 1)), numbers[:, 0]
    return Found(numbers, numbers, numbers, scores, scores, codes, codes, flags, codes, flags)


def answer_table(
    labels: TaxonomyLabels,
    reasons: Int[np.ndarray, " title"],
    qualified: FoundQualifiers,
    found: Found,
    params: PredictParams,
    near: float,
    versions: Mapping[str, str],
) -> pa.Table:
    """Return a row for each raw title.

    `reasons`: why a raw title was not searched, by the places of `REASONS`; 0 of those that
    `found` has, in their order. `qualified`: the qualifiers of all. Distinguishing words stand
    where the second occupation scores less by `near` at most.
    """
    count = len(reasons)
    searched = reasons == 0
    answered = searched.copy()
    answered[searched] = found.answered
    why = reasons.copy()
    why[searched] = found.reasons
    own = Found(*(column[found.answered] for column in found))
    place = np.where(answered, np.cumsum(answered) - 1, 0)
    rows = None if answered.all() else arrow_numbers(place, answered)

    def spread(values: pa.Array) -> pa.Array:
        """Give the values of answers to their rows, null to the others."""
        return values if rows is None else values.take(rows)

    def listed(values: pa.Array, lengths: Int[np.ndarray, " answer"] | int) -> pa.ListArray:
        """Give the lists of answers to their rows, of so many of the values each."""
        ends = np.zeros(count + 1, np.int32)
        ends[1:][answered] = lengths
        return arrow_listed(np.cumsum(ends, dtype=np.int32), values)

    best, first, spellings = own.occupations, own.occupations[:, 0], labels.spellings
    last = np.full(count, len(labels.occupations))  # an empty list
    last[answered] = first
    codes = labels.code_lists(params.code_depth).take(arrow_numbers(last))
    preferred = params.language or 0
    spoken = spellings.languages_of(spellings.places(first, own.titles[:, 0], preferred))
    language = spoken if params.language is None else np.full_like(spoken, params.language)
    depth = own.sure.shape[1] - 1
    lengths = np.minimum(labels.code_counts[first], min(depth, params.code_depth or depth))
    levels = np.arange(depth + 1) < lengths[:, None]
    top = best[:, : params.top_k]
    width = top.shape[1]
    places = spellings.places(best, own.matched, preferred)
    margins = (
        own.scores[:, 0] - own.scores[:, 1] if best.shape[1] > 1 else np.full(len(best), np.nan)
    )
    words, runner_up = _differences(labels, own, language, places, margins <= near)
    narrow, truncated = np.full(count, -1), np.zeros(count, bool)
    narrow[searched], truncated[answered] = found.confident_code, own.truncated
    made = {
        "occupation_id": spread(labels.ids.take(arrow_numbers(first))),
        "occupation_label": spread(labels.labels_in(language, first)),
        "codes": codes,
        "crosswalk_codes": labels.crosswalk_lists.take(arrow_numbers(last)),
        "matched_title": spread(spellings.texts(places[:, 0])),
        "matched_language": spread(spellings.language_names.take(arrow_numbers(spoken))),
        "score": spread(arrow_numbers(own.scores[:, 0])),
        "score_margin": spread(arrow_numbers(margins, ~np.isnan(margins))),
        "confidence": spread(arrow_numbers(own.sure[:, -1], ~np.isnan(own.sure[:, -1]))),
        "code_confidences": listed(arrow_numbers(own.sure[levels]), levels.sum(axis=1)),
        "best_confident_code": labels.code_names.take(arrow_numbers(narrow, narrow >= 0)),
        "answered_by": spread(_named(DECIDED_BY, own.decided_by)),
        "abstained": arrow_numbers(~answered),
        "reason": _named(REASONS, why),
        "truncated": arrow_numbers(truncated),
        "distinguishing_words": listed(*words),
        "runner_up_words": listed(*runner_up),
        "top_occupation_ids": listed(labels.ids.take(arrow_numbers(top.reshape(-1))), width),
        "top_titles": listed(spellings.texts(places[:, :width].reshape(-1)), width),
        "top_scores": listed(arrow_numbers(own.scores[:, :width].reshape(-1)), width),
    }
    for number, kind in enumerate(KINDS):
        own_kind = (qualified.kinds == number) & searched[qualified.rows]
        ends = np.cumsum(np.bincount(qualified.rows[own_kind] + 1, minlength=count + 1))
        texts = arrow_texts(qualified.texts[own_kind].tolist())
        made[kind] = arrow_listed(ends.astype(np.int32), texts)
    first_name = np.zeros(count, np.int64)
    made |= {name: _named([version], first_name) for name, version in versions.items()}
    columns = [
        made[field.name]
        if made[field.name].type == field.type
        else made[field.name].cast(field.type)
        for field in schema()
    ]
    return pa.Table.from_arrays(columns, schema=schema())


def _differences(
    labels: TaxonomyLabels,
    own: Found,
    languages: Int[np.ndarray, " answer"],
    places: Int[np.ndarray, "answer k"],
    close: Bool[np.ndarray, " answer"],
) -> list[tuple[pa.Array, Int[np.ndarray, " answer"]]]:
    """Return the distinguishing words of the first occupation and of the second, and their counts.

    They are of the closest aliases, or of the labels where both have the same alias; answers that
    are not `close` have none.
    """
    rows = np.flatnonzero(close)
    if not len(rows):
        return [(arrow_texts([]), np.zeros(len(close), np.int64))] * 2
    same = own.matched[rows, 0] == own.matched[rows, 1]
    texts = [
        np.where(
            same,
            labels.label_text(languages[rows], own.occupations[rows, rank]),
            labels.spellings.rows[places[rows, rank]],
        )
        for rank in (0, 1)
    ]
    made: list[tuple[pa.Array, Int[np.ndarray, " answer"]]] = []
    for one, other in (texts, texts[::-1]):
        counts = np.zeros(len(close), np.int64)
        words, own_counts = labels.differences(one, other)
        counts[rows] = own_counts
        made.append((words, counts))
    return made


def _named(names: Sequence[str | None], codes: Int[np.ndarray, " row"]) -> pa.StringArray:
    return arrow_texts(names).take(arrow_numbers(codes))
