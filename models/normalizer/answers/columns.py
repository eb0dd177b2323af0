"""The answers of a normalizer; the columns of the registered model are declared here.

Name, type and meaning of a column stand in `Answer` alone: the served frame, MLflow's signature and
the reference page follow from it (`columns`). `Answers` holds many of them as a table of Arrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, NamedTuple, get_args, get_type_hints

import pyarrow as pa

UNCALIBRATED = "uncalibrated"
"""The reason of an answer without confidence."""


class Answer(NamedTuple):
    """One raw title's row. An abstention has nulls, empty lists and its reason.

    The lists hold `top_k` answers, best first, equal scores in the order of their occupation_ids;
    the first one is the answer.
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
        "the narrowest of `codes` and `occupation_id` as sure as `min_confidence` or, unless it is "
        "asked for, an even chance; also where the occupation is not",
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
    model_version: Annotated[str, "hash of what answers: the tag `artefact_hash` begins with it"]
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
