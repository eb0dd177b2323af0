"""The answers of a normalizer: their columns, and the table that holds many of them.

Name, type and meaning of a column stand in `Answer` alone: the served frame, MLflow's signature and
the reference page follow from it (`columns`). Text is taken by its number from columns of Arrow, so
an answer makes no string of its own but the words that set it apart from the second one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Annotated, NamedTuple, Self, get_args, get_type_hints

import numpy as np
import pyarrow as pa

from models.serving.clean import REASONS
from models.serving.exact_match import DECIDED_BY
from models.serving.labels import (
    TaxonomyLabels,
    arrow_listed,
    arrow_numbers,
    arrow_texts,
    offsets_of,
)
from models.serving.qualifiers import KINDS, FoundQualifiers

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int, Int64, Num

MOST = 1000  # answers to one title: more than anybody reads, and no caller's slip fills the memory


class Answer(NamedTuple):
    """One raw title's row.

    An abstention has its reason, nulls and empty lists; but it has qualifiers if the title was
    searched, and `best_confident_code` if the occupation alone is not sure enough. The lists hold
    `top_k` answers, best first, equal scores in the order of their occupation_ids; the first one
    is the answer.
    """

    occupation_id: Annotated[str | None, "the occupation; null in an abstention"]
    occupation_label: Annotated[str | None, "its preferred title, in the language asked for"]
    codes: Annotated[list[str], "the hierarchy above it, broad to narrow"]
    crosswalk_codes: Annotated[list[str], "its codes in other standards, as `standard: code`"]
    matched_title: Annotated[
        str | None,
        "its closest alias in the language asked for, or of all, as the taxonomy writes it",
    ]
    matched_language: Annotated[
        str | None, "language of its closest alias of all; null where the taxonomy says none"
    ]
    score: Annotated[float | None, "how close: a cosine similarity, or a soft maximum of several"]
    score_margin: Annotated[float | None, "by how much the second occupation scores less"]
    confidence: Annotated[float | None, "the chance that it is right; null without calibration"]
    code_confidences: Annotated[list[float], "the same of each of `codes`"]
    best_confident_code: Annotated[
        str | None,
        "the narrowest of `codes` and `occupation_id` whose confidence reaches `min_confidence` "
        "(0.5 unless it is given), even if the occupation's does not",
    ]
    answered_by: Annotated[
        str | None,
        "what decided: `review` (people said so), `label` (the data came with it), `taxonomy` (the "
        "title is one of its own) or `model`",
    ]
    abstained: Annotated[bool, "whether there is no answer"]
    reason: Annotated[str | None, "why there is no answer, or no confidence"]
    seniority: Annotated[list[str], "words of the title that say seniority, as written"]
    contract: Annotated[list[str], "... contract and hours"]
    location: Annotated[list[str], "... place"]
    truncated: Annotated[bool, "whether the title was longer than the network reads"]
    distinguishing_words: Annotated[
        list[str],
        "where the second occupation is at least half as likely: the words of the answer's closest "
        "alias that the second's has not, or of its label where both have one alias",
    ]
    runner_up_words: Annotated[list[str], "and the other way round"]
    top_occupation_ids: Annotated[list[str], "the best `top_k` occupations"]
    top_titles: Annotated[list[str], "the closest alias of each"]
    top_scores: Annotated[list[float], "the score of each"]
    model_version: Annotated[str, "hash of what answers: the tag `artifact_hash` begins with it"]
    taxonomy_version: Annotated[str, "hash of the taxonomy: the tag `taxonomy_hash` does"]


class AnswerColumn(NamedTuple):
    """A column of the answer: `type` of its values, or of the members of its lists."""

    type: type
    is_list: bool
    meaning: str


@dataclass(frozen=True)
class Answers:
    """A row for each raw title, in their order.

    Attributes:
        table: of `schema()`.
    """

    table: pa.Table

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, row: int) -> Answer:
        """Return one row; nulls are None."""
        return Answer(*(column[row].as_py() for column in self.table.columns))

    def __iter__(self) -> Iterator[Answer]:
        return map(Answer._make, zip(*(c.to_pylist() for c in self.table.columns), strict=True))


@cache
def columns() -> Mapping[str, AnswerColumn]:
    """Return every column of an answer by its name, in their order."""
    by_name = {}
    for name, hint in get_type_hints(Answer, globals(), include_extras=True).items():
        kind, meaning = get_args(hint)
        inner = get_args(kind)  # of `list[str]` and `str | None`: str first
        is_list = getattr(kind, "__origin__", None) is list
        by_name[name] = AnswerColumn(inner[0] if inner else kind, is_list, meaning)
    return by_name


@cache
def schema() -> pa.Schema:
    """Return the columns with Arrow's types."""
    types = {str: pa.string(), float: pa.float64(), bool: pa.bool_()}
    return pa.schema(
        (name, pa.list_(types[column.type]) if column.is_list else types[column.type])
        for name, column in columns().items()
    )


@dataclass(frozen=True)
class PredictParams:
    """Checked parameters of a call.

    Attributes:
        top_k: answers to a title.
        min_confidence: below it there is none.
        code_depth: how many codes of the hierarchy; 0 is all, and the occupation.
        language: of `occupation_label`, `matched_title` and `top_titles`, where the taxonomy has
            them in it; empty is that of the closest alias.
    """

    top_k: int
    min_confidence: float
    code_depth: int
    language: int | None  # its position among the taxonomy's languages

    @classmethod
    def of(
        cls,
        top_k: int,
        min_confidence: float | None,
        code_depth: int | None,
        language: str | None,
        *,
        depth: int,
        languages: Sequence[str],
        calibrated: bool,
    ) -> Self:
        """Check the parameters of a call to a model.

        `depth`: levels of its hierarchy; `languages`: of its titles, an empty one unknown.

        Raises:
            ValueError: with the value, what it may be, and what to do.
        """
        answers, least = _whole("top_k", top_k), _chance(min_confidence)
        level = 0 if code_depth is None else _whole("code_depth", code_depth)
        if not 1 <= answers <= MOST:
            raise ValueError(f"top_k = {answers}; it must be from 1 to {MOST}")
        if least and not calibrated:
            raise ValueError(
                f"min_confidence = {least:g}: this model is not calibrated, so it has no "
                "confidence to compare; leave it out, or compare `score` yourself"
            )
        if not 0 <= level <= depth:
            raise ValueError(
                f"code_depth = {level}; this taxonomy has {depth} levels above its occupations: "
                f"from 0 (all) to {depth}"
            )
        return cls(answers, least, level, _position(language, languages))

    @property
    def confident_from(self) -> float:
        """From which confidence on a code is sure; an even chance if nothing is asked for."""
        return self.min_confidence or 0.5


PARAMS = tuple(field.name for field in fields(PredictParams))
"""Their names, wherever they are passed on."""


def _position(language: str | None, languages: Sequence[str]) -> int | None:
    """Return the position of a language, None if none is named."""
    if not language:
        return None
    by_name = {name.casefold(): position for position, name in enumerate(languages)}
    position = by_name.get(str(language).casefold())
    if position is None:
        known = ", ".join(sorted(filter(None, languages)))
        there = f"the titles of this model are in {known}" if known else "this model knows none"
        raise ValueError(f"language = {language!r}; {there}; leave it out for the closest title's")
    return position


def _whole(name: str, value: object) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        raise ValueError(f"{name} = {value!r}; it must be a whole number")
    return int(value)  # type: ignore[call-overload, no-any-return]  # it is whole


def _chance(value: float | None) -> float:
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"min_confidence = {value!r}; it must be a number")
    if math.isnan(value) or not 0 <= value <= 1:
        raise ValueError(f"min_confidence = {value:g}; it is a chance, from 0 to 1")
    return float(value)


class Found(NamedTuple):
    """The hits of the titles that were searched, after exact match and confidence.

    Attributes:
        occupations: positions in the index, best first; `top_k` or two, if there are so many.
        titles: the closest title of each.
        matched: the same in the language that is asked for.
        scores: of each.
        sure: confidence at each level, the occupation last; one of NaN without calibration.
        confident_code: position of the narrowest code that is sure enough; −1: none.
        reasons: why there is no answer, or no confidence, by the positions in `REASONS`.
        answered: whether there is one.
        decided_by: what decided it, a position in `DECIDED_BY`.
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
        refusals: Int[np.ndarray, " title"],
        qualified: FoundQualifiers,
        found: Found,
        params: PredictParams,
        near: float,
    ) -> pa.Table:
        """Return a row for each raw title.

        `refusals`: why a raw title was not searched, by the positions in `REASONS`; 0 of those that
        `found` has, in their order. `qualified`: the qualifiers of all. Distinguishing words stand
        where the second occupation scores less by `near` at most.
        """
        labels, spellings = self.labels, self.labels.spellings
        count, searched = len(refusals), refusals == 0
        answered, reasons, narrow = searched.copy(), refusals.copy(), np.full(count, -1)
        answered[searched], reasons[searched] = found.answered, found.reasons
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
            return arrow_listed(offsets_of(spread(lengths, 0)), values)

        best, first = own.occupations, own.occupations[:, 0]
        lists = arrow_numbers(spread(first, len(labels.occupations)))  # the last one is empty
        positions = spellings.positions(best, own.matched, params.language or 0)
        language = spoken = spellings.languages_of(positions[:, 0])
        if params.language is not None:
            spoken = spellings.languages_of(
                spellings.positions(first, own.titles[:, 0], params.language)
            )
            language = np.full_like(spoken, params.language)
        depth = own.sure.shape[1] - 1
        lengths = np.minimum(labels.code_counts[first], min(depth, params.code_depth or depth))
        levels = np.arange(depth + 1) < lengths[:, None]
        width = min(params.top_k, best.shape[1])
        widths = np.full(len(first), width)
        tops = offsets_of(spread(widths, 0))
        margins = own.scores[:, 0] - own.scores[:, 1] if best.shape[1] > 1 else widths * np.nan
        words, counts = _differences(labels, own, language, positions, margins <= near)
        of_first = int(counts[0].sum())
        titles = spellings.texts(
            np.append(spread(positions[:, 0], 0), positions[:, :width]),
            None if are_all else np.append(answered, np.ones(len(first) * width, bool)),
        )
        made = self._named(
            reason=("reason", reasons),
            answered_by=("answered_by", spread(own.decided_by, -1)),
            matched_language=("matched_language", spread(spoken, -1)),
            occupation_id=("occupation_id", spread(first, -1)),
            occupation_label=(
                "occupation_label",
                spread(spellings.label_positions(language, first), -1),
            ),
            best_confident_code=("best_confident_code", narrow),
            top_occupation_ids=("occupation_id", best[:, :width].reshape(-1)),
            **{name: (name, np.zeros(count, np.int64)) for name in self.versions},
        )
        made |= {
            "codes": labels.code_lists(params.code_depth).take(lists),
            "crosswalk_codes": labels.crosswalk_lists.take(lists),
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
        positions = np.concatenate(columns)
        positions = np.where(
            positions < 0, 0, positions + np.repeat([begins[name] for name in lists], sizes)
        )
        taken, starts = names.take(arrow_numbers(positions)), accumulate(sizes, initial=0)
        return {
            name: taken.slice(start, size)
            for name, start, size in zip(numbers, starts, sizes, strict=False)
        }

    @cached_property
    def _names(self) -> tuple[pa.StringArray, dict[str, int]]:
        """Names one behind the other, and where those of each column begin; the first is null."""
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
        ends = offsets_of(np.bincount(qualified.rows[own], minlength=len(searched)))
        made[kind] = arrow_listed(ends, arrow_texts(qualified.texts[own].tolist()))
    return made


def _differences(
    labels: TaxonomyLabels,
    own: Found,
    languages: Int[np.ndarray, " answer"],
    positions: Int[np.ndarray, "answer k"],
    close: Bool[np.ndarray, " answer"],
) -> tuple[pa.StringArray, Int64[np.ndarray, "side answer"]]:
    """Return the distinguishing words of all first occupations, then of the second; and how many.

    They are of the closest aliases, or of the labels where both have the same alias; answers that
    are not `close` have none.
    """
    rows, counts = close.nonzero()[0], np.zeros((2, len(close)), np.int64)
    if not len(rows):
        return arrow_texts([]), counts
    ones, others = own.matched[rows, 0], own.matched[rows, 1]
    spellings, best = labels.spellings, own.occupations[rows, :2].T
    texts = np.where(
        ones == others,
        len(spellings.written) + spellings.label_positions(languages[rows], best),
        spellings.rows[positions[rows, :2].T],
    )
    words, found = labels.differences(texts.reshape(-1), texts[::-1].reshape(-1))
    counts[:, rows] = found.reshape(2, -1)
    return words, counts
