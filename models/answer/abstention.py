"""Reasons of an abstention, and those that the raw title shows by itself."""

from __future__ import annotations

import math
import unicodedata

import numpy as np

from models.text.titles import clean_title

NULL = "null"
"""None, NaN, NaT or pandas' NA."""
NOT_TEXT = "not text"
"""A number, bytes, or any other value that is no string."""
EMPTY = "empty"
"""Nothing but white space."""
NO_LETTERS = "no letters"
"""Digits, punctuation or emoji only (Unicode category L is missing)."""
UNKNOWN_LETTERS = "unknown letters"
"""No letter of it was seen in training, for example another script."""
NO_JOB_TITLE = "no job title"
"""Reads less like a job title than nearly all inputs do (`models/answer/familiarity.py`)."""
UNSURE = "low confidence"
"""Below the confidence that was asked for."""


def abstention(raw_title: object, alphabet: frozenset[str], titles: frozenset[str]) -> str | None:
    """Tell why `raw_title` gets no answer, or None if it gets one.

    Args:
        raw_title: as received, of any type.
        alphabet: the featurizer's characters.
        titles: the cleaned titles of the index; these are answered whatever they are made of.
    """
    if not isinstance(raw_title, str):
        return NULL if _is_null(raw_title) else NOT_TEXT
    title = clean_title(raw_title)
    if not title:
        return EMPTY
    if title in titles:
        return None
    letters = {c for c in title if unicodedata.category(c).startswith("L")}
    if not letters:
        return NO_LETTERS
    return None if letters & alphabet else UNKNOWN_LETTERS


def _is_null(value: object) -> bool:
    # pandas' NA and NaT are known by their names: this package does not know pandas
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and math.isnan(value)
