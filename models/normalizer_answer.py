"""What a normalizer says to one raw title."""

from __future__ import annotations

from typing import NamedTuple

UNCALIBRATED = "uncalibrated"


class Answer(NamedTuple):
    """One raw title's row; the names are the columns of the registered model.

    An abstention has nulls, empty lists and its reason. The lists hold `top_k` answers, best first,
    equal scores in the order of their occupation_ids; the first one is the answer.
    """

    occupation_id: str | None
    occupation_label: str | None
    codes: list[str]
    """The hierarchy above the occupation, broad to narrow."""
    matched_title: str | None
    """The occupation's closest alias, as the taxonomy writes it."""
    score: float | None
    confidence: float | None
    reason: str | None
    """Why there is no answer, or no confidence."""
    cut: bool
    """Whether only the first `max_length` characters were read."""
    top_occupation_ids: list[str]
    top_titles: list[str]
    top_scores: list[float]

    @classmethod
    def abstain(cls, reason: str) -> Answer:
        """No answer, for this reason."""
        return cls(None, None, [], None, None, None, reason, False, [], [], [])
