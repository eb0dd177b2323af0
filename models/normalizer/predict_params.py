"""The parameters of a call to `predict`, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

MOST = 1000
"""Answers to one title: more than anybody reads, and no caller's slip fills the memory."""


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
    language: int | None
    """Its place among the taxonomy's languages."""

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
        return cls(answers, least, level, _place(language, languages))

    @property
    def confident_from(self) -> float:
        """From which confidence on a code is sure; an even chance if nothing is asked for."""
        return self.min_confidence or 0.5


PARAMS = tuple(field.name for field in fields(PredictParams))
"""Their names, wherever they are passed on."""


def _place(language: str | None, languages: Sequence[str]) -> int | None:
    """Return the place of a language, None if none is named."""
    if not language:
        return None
    by_name = {name.casefold(): place for place, name in enumerate(languages)}
    place = by_name.get(str(language).casefold())
    if place is None:
        known = ", ".join(sorted(filter(None, languages)))
        there = f"the titles of this model are in {known}" if known else "this model knows none"
        raise ValueError(f"language = {language!r}; {there}; leave it out for the closest title's")
    return place


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
