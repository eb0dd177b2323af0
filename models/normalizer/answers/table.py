"""From numbers of occupations, titles and languages to the table of answers.

Text is taken by its number from columns of Arrow, so an answer makes no string of its own but the
words that set it apart from the second one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from models.normalizer.answers.abstention import REASONS
from models.normalizer.answers.arrays import arrow_listed, arrow_numbers, arrow_texts, ends_of
from models.normalizer.answers.columns import columns, schema
from models.normalizer.exact_match import DECIDED_BY
from models.normalizer.predict_params import PredictParams
from models.normalizer.qualifiers import KINDS, FoundQualifiers
from models.normalizer.taxonomy_labels import TaxonomyLabels

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int, Int64, Num


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


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """Makes the table of answers.

    Attributes:
        labels: of the taxonomy.
        versions: columns that say one thing in every row.
    """

    labels: TaxonomyLabels
    versions: Mapping[str, str]

    def __call__(
        self,
        reasons: Int[np.ndarray, " title"],
        qualified: FoundQualifiers,
        found: Found,
        params: PredictParams,
        near: float,
    ) -> pa.Table:
        """Return a row for each raw title.

        `reasons`: why a raw title was not searched, by the places of `REASONS`; 0 of those that
        `found` has, in their order. `qualified`: the qualifiers of all. Distinguishing words stand
        where the second occupation scores less by `near` at most.
        """
        labels, spellings = self.labels, self.labels.spellings
        count, searched = len(reasons), reasons == 0
        answered, why, narrow = searched.copy(), reasons.copy(), np.full(count, -1)
        answered[searched], why[searched] = found.answered, found.reasons
        narrow[searched] = found.confident_code
        are_all = bool(answered.all())
        own = found if are_all else Found(*(column[found.answered] for column in found))

        def spread(values: Num[np.ndarray, " answer"], other: float) -> Num[np.ndarray, " title"]:
            """Give the values of answers to their rows, another one to the others."""
            if are_all:
                return values
            made = np.full(count, other, values.dtype)
            made[answered] = values
            return made

        def measured(values: Float64[np.ndarray, " answer"]) -> pa.Array:
            made = spread(values, np.nan)
            return arrow_numbers(made, ~np.isnan(made))

        def listed(values: pa.Array, lengths: Int[np.ndarray, " answer"]) -> pa.ListArray:
            """Give the lists of answers to their rows, of so many of the values each."""
            return arrow_listed(ends_of(spread(lengths, 0)), values)

        best, first = own.occupations, own.occupations[:, 0]
        last = arrow_numbers(spread(first, len(labels.occupations)))  # an empty list
        preferred = params.language or 0
        places = spellings.places(best, own.matched, preferred)
        language = spoken = spellings.languages_of(places[:, 0])
        if params.language is not None:
            spoken = spellings.languages_of(
                spellings.places(first, own.titles[:, 0], params.language)
            )
            language = np.full_like(spoken, params.language)
        depth = own.sure.shape[1] - 1
        lengths = np.minimum(labels.code_counts[first], min(depth, params.code_depth or depth))
        levels = np.arange(depth + 1) < lengths[:, None]
        width = min(params.top_k, best.shape[1])
        widths = np.full(len(first), width)
        tops = ends_of(spread(widths, 0))
        margins = own.scores[:, 0] - own.scores[:, 1] if best.shape[1] > 1 else widths * np.nan
        words, counts = _differences(labels, own, language, places, margins <= near)
        of_first = int(counts[0].sum())
        titles = spellings.texts(
            np.append(spread(places[:, 0], 0), places[:, :width]),
            None if are_all else np.append(answered, np.ones(len(first) * width, bool)),
        )
        made = self._named(
            reason=("reason", why),
            answered_by=("answered_by", spread(own.decided_by, -1)),
            matched_language=("matched_language", spread(spoken, -1)),
            occupation_id=("occupation_id", spread(first, -1)),
            occupation_label=(
                "occupation_label",
                spread(spellings.label_places(language, first), -1),
            ),
            best_confident_code=("best_confident_code", narrow),
            top_occupation_ids=("occupation_id", best[:, :width].reshape(-1)),
            **{name: (name, np.zeros(count, np.int64)) for name in self.versions},
        )
        made |= {
            "codes": labels.code_lists(params.code_depth).take(last),
            "crosswalk_codes": labels.crosswalk_lists.take(last),
            "matched_title": titles[:count],
            "score": measured(own.scores[:, 0]),
            "score_margin": measured(margins),
            "confidence": measured(own.sure[:, -1]),
            "code_confidences": listed(arrow_numbers(own.sure[levels]), lengths),
            "abstained": arrow_numbers(~answered),
            "truncated": arrow_numbers(spread(own.truncated, 0)),
            "distinguishing_words": listed(words[:of_first], counts[0]),
            "runner_up_words": listed(words[of_first:], counts[1]),
            "top_occupation_ids": arrow_listed(tops, made["top_occupation_ids"]),
            "top_titles": arrow_listed(tops, titles[count:]),
            "top_scores": arrow_listed(tops, arrow_numbers(own.scores[:, :width].reshape(-1))),
        }
        made |= _of_kinds(qualified, searched)
        return pa.Table.from_arrays([made[name] for name in columns()], schema=schema())

    def _named(self, **numbers: tuple[str, Int[np.ndarray, " row"]]) -> dict[str, pa.StringArray]:
        """Return columns of names by their numbers in the list that is named; null below 0."""
        names, begins = self._names
        lists, columns = zip(*numbers.values(), strict=True)
        sizes = [len(column) for column in columns]
        places = np.concatenate(columns)
        places = np.where(
            places < 0, 0, places + np.repeat([begins[name] for name in lists], sizes)
        )
        taken, starts = names.take(arrow_numbers(places)), accumulate(sizes, initial=0)
        return {
            name: taken.slice(start, size)
            for name, start, size in zip(numbers, starts, sizes, strict=False)
        }

    @cached_property
    def _names(self) -> tuple[pa.StringArray, dict[str, int]]:
        """Names one behind the other, a null first, and where those of each column begin."""
        labels = self.labels
        names: dict[str, Sequence[str | None]] = {
            "reason": REASONS,
            "answered_by": DECIDED_BY,
            "matched_language": [name or None for name in labels.spellings.languages],
            "occupation_id": labels.occupations.tolist(),
            "occupation_label": labels.spellings.labels.reshape(-1).tolist(),
            "best_confident_code": labels.code_names,
            **{name: [version] for name, version in self.versions.items()},
        }
        begins = accumulate(map(len, names.values()), initial=0)
        return arrow_texts([*chain(*names.values())]), dict(zip(names, begins, strict=False))


def _of_kinds(
    qualified: FoundQualifiers, searched: Bool[np.ndarray, " title"]
) -> dict[str, pa.ListArray]:
    """Return the qualifiers of each kind of the titles that are searched."""
    if not len(qualified.rows):
        nothing = arrow_listed(np.zeros(len(searched) + 1, np.int32), arrow_texts([]))
        return dict.fromkeys(KINDS, nothing)
    made = {}
    for number, kind in enumerate(KINDS):
        own = (qualified.kinds == number) & searched[qualified.rows]
        ends = ends_of(np.bincount(qualified.rows[own], minlength=len(searched)))
        made[kind] = arrow_listed(ends, arrow_texts(qualified.texts[own].tolist()))
    return made


def _differences(
    labels: TaxonomyLabels,
    own: Found,
    languages: Int[np.ndarray, " answer"],
    places: Int[np.ndarray, "answer k"],
    close: Bool[np.ndarray, " answer"],
) -> tuple[pa.StringArray, Int64[np.ndarray, "side answer"]]:
    """Return the distinguishing words of all first occupations, then of the second; and how many.

    They are of the closest aliases, or of the labels where both have the same alias; answers that
    are not `close` have none.
    """
    rows, counts = np.flatnonzero(close), np.zeros((2, len(close)), np.int64)
    if not len(rows):
        return arrow_texts([]), counts
    ones, others = own.matched[rows, 0], own.matched[rows, 1]
    spellings, best = labels.spellings, own.occupations[rows, :2].T
    texts = np.where(
        ones == others,
        len(spellings.written) + spellings.label_places(languages[rows], best),
        spellings.rows[places[rows, :2].T],
    )
    words, found = labels.differences(texts.reshape(-1), texts[::-1].reshape(-1))
    counts[:, rows] = found.reshape(2, -1)
    return words, counts
