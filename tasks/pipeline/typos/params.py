"""Section `typos` of `params.yaml`: how many characters change, in how many titles."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import model_validator

from tasks.io.section import Count, Number, Section, Share, require_sum_of_one


class TyposParams(Section):
    """Section `typos`: shares of characters for training and test, and how many are drawn."""

    NAME: ClassVar[str] = "typos"
    substituted: Share
    deleted: Share
    variants: Count
    test_share: Share
    max_draws: Count
    test_titles: Number
    """Of the test; 0: every title (the paper)."""
    valid_titles: Number
    gate_titles: Number

    @model_validator(mode="after")
    def _something_is_left(self) -> Self:
        require_sum_of_one(substituted=self.substituted, deleted=self.deleted)
        return self
