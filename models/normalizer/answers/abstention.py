"""Raw titles validated: cleaned, or the reason why the model abstains."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from models.search.words.title_words import WORDS
from models.text.titles import clean_title, shortened

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
NOT_A_JOB_TITLE = "not a job title"
"""Its out-of-domain score (`OodScore`) is above the threshold, people said so, or all its words say
no more than a status, a contract or a place (`models/normalizer/qualifiers.py`)."""
UNKNOWN_WORDS = "unknown words"
"""Its out-of-domain score is above the threshold, and no title of the taxonomy has one of its words
of three letters or more: it is in another language, or no words at all."""
UNSURE = "low confidence"
"""Its confidence is below `min_confidence`."""


class ValidatedTitle(NamedTuple):
    """A cleaned title, or the reason why nothing can be read."""

    title: str
    reason: str | None


@dataclass(frozen=True)
class InputValidator:
    """Cleans and respells raw titles, or refuses those that a model cannot read.

    Attributes:
        letters: seen in training.
        titles: the cleaned titles of the index; these are answered whatever they are made of.
        is_none: says whether people judged a cleaned title not to be a job title.
        say_no_job: says whether the words of a raw title name no occupation.
        respelled: writes out abbreviations of a cleaned title and corrects its spelling.
    """

    letters: frozenset[str]
    titles: Container[str]
    is_none: Callable[[str], bool]
    say_no_job: Callable[[str], bool]
    respelled: Callable[[str], str]

    @classmethod
    def of(
        cls,
        alphabet: Iterable[str],
        titles: Container[str],
        is_none: Callable[[str], bool] = lambda title: False,
        say_no_job: Callable[[str], bool] = lambda title: False,
        respelled: Callable[[str], str] = lambda title: title,
    ) -> Self:
        """Read what holds a letter of the featurizer's characters, or is one of the titles."""
        letters = frozenset(filter(_is_letter, alphabet))
        return cls(letters, titles, is_none, say_no_job, respelled)

    def __call__(self, raw_title: object) -> ValidatedTitle:
        """Clean a value of any type, or say why it gets no answer."""
        if not isinstance(raw_title, str):
            return ValidatedTitle("", NULL if is_null(raw_title) else NOT_TEXT)
        title = clean_title(raw_title)
        if not title:
            return ValidatedTitle(title, EMPTY)
        if self.is_none(title):
            return ValidatedTitle(title, NOT_A_JOB_TITLE)
        if title in self.titles:
            return ValidatedTitle(title, None)
        if self.letters.isdisjoint(title):
            reason = UNKNOWN_LETTERS if any(map(_is_letter, title)) else NO_LETTERS
            return ValidatedTitle(title, reason)
        if self.say_no_job(shortened(raw_title)):
            return ValidatedTitle(title, NOT_A_JOB_TITLE)
        return ValidatedTitle(self.respelled(title), None)


def why_rejected(title: str, known_words: Container[str]) -> str:
    """Return the reason for a cleaned title whose out-of-domain score is too high."""
    words = [word for word in WORDS.findall(title) if len(word) > 2 and not word.isdigit()]
    is_known = any(word in known_words for word in words)
    return UNKNOWN_WORDS if words and not is_known else NOT_A_JOB_TITLE


def _is_letter(character: str) -> bool:
    return unicodedata.category(character).startswith("L")


def is_null(value: object) -> bool:
    """Tell whether a value is None, NaN, NaT or pandas' NA."""
    # pandas' NA and NaT are known by their names: this package does not know pandas
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and math.isnan(value)
