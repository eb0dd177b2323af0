"""What a normalizer says to one raw title; the columns of the registered model are declared here.

Name, type and meaning of a column stand in `Answer` alone: the served frame, MLflow's signature and
the README's table follow from it (`columns`).
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

UNCALIBRATED = "uncalibrated"
"""The reason of an answer without confidence."""


class Answer(NamedTuple):
    """One raw title's row. An abstention has nulls, empty lists and its reason.

    The lists hold `top_k` answers, best first, equal scores in the order of their occupation_ids;
    the first one is the answer.
    """

    occupation_id: Annotated[str | None, "the occupation; null in an abstention"]
    occupation_label: Annotated[str | None, "its preferred title"]
    codes: Annotated[list[str], "the hierarchy above it, broad to narrow"]
    matched_title: Annotated[str | None, "its closest alias, as the taxonomy writes it"]
    score: Annotated[float | None, "how close: a cosine similarity, or a soft maximum of several"]
    confidence: Annotated[float | None, "the chance that it is right; null without calibration"]
    code_confidences: Annotated[list[float], "the same of each of `codes`"]
    reason: Annotated[str | None, "why there is no answer, or no confidence"]
    cut: Annotated[bool, "whether the title was longer than the network reads"]
    top_occupation_ids: Annotated[list[str], "the best `top_k` occupations"]
    top_titles: Annotated[list[str], "the closest alias of each"]
    top_scores: Annotated[list[float], "the score of each"]

    @classmethod
    def abstain(cls, reason: str) -> Answer:
        """Give no answer, for this reason."""
        empty: dict[str, Any] = {
            name: [] if column.is_list else False if column.type is bool else None
            for name, column in columns().items()
        }
        return cls(**empty | {"reason": reason})


class Column(NamedTuple):
    """A column of the answer: `type` of its values, or of the members of its lists."""

    type: type
    is_list: bool
    meaning: str


def columns() -> dict[str, Column]:
    """Return every column of an answer by its name, in their order."""
    declared = get_type_hints(Answer, globals(), include_extras=True)
    return {name: _column(*get_args(hint)) for name, hint in declared.items()}


def _column(hint: Any, meaning: str) -> Column:  # noqa: ANN401
    inner = get_args(hint)  # of `list[str]` and `str | None`: str first
    is_list = getattr(hint, "__origin__", None) is list
    return Column(inner[0] if inner else hint, is_list, meaning)
