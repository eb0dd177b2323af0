"""Raw titles validated: cleaned, or the reason why the model abstains."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from models.normalizer.qualifiers import NOTHING, Qualified
from models.search.words.title_words import WORDS
from models.text.titles import clean_title, shortened

if TYPE_CHECKING:
    from jaxtyping import Bool

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


class ValidatedTitles(NamedTuple):
    """Some titles, cleaned and respelled, or the reasons why nothing can be read.

    Attributes:
        titles: cleaned; empty where there is nothing to clean.
        reasons: None where a title can be read.
        qualified: what else it holds; nothing where it cannot be read.
    """

    titles: list[str]
    reasons: list[str | None]
    qualified: list[Qualified]


@dataclass(frozen=True)
class InputValidator:
    """Cleans and respells raw titles, or refuses those that a model cannot read.

    Attributes:
        letters: seen in training.
        known: says of cleaned titles whether the index has them; these are answered whatever they
            are made of.
        is_none: says whether people judged a cleaned title not to be a job title.
        qualifiers: say what raw titles hold beside an occupation.
        respelled: writes out abbreviations of cleaned titles and corrects their spelling.
    """

    letters: frozenset[str]
    known: Callable[[Sequence[str]], Bool[np.ndarray, " title"]]
    is_none: Callable[[str], bool]
    qualifiers: Callable[[Sequence[str]], list[Qualified]]
    respelled: Callable[[Sequence[str]], list[str]]

    @classmethod
    def of(
        cls,
        alphabet: Iterable[str],
        known: Callable[[Sequence[str]], Bool[np.ndarray, " title"]],
        is_none: Callable[[str], bool],
        qualifiers: Callable[[Sequence[str]], list[Qualified]],
        respelled: Callable[[Sequence[str]], list[str]],
    ) -> Self:
        """Read what holds a letter of the featurizer's characters, or is one of the titles."""
        letters = frozenset(filter(_is_letter, alphabet))
        return cls(letters, known, is_none, qualifiers, respelled)

    def __call__(self, raw_titles: Sequence[object]) -> ValidatedTitles:
        """Clean values of any type, or say why they get no answer."""
        texts = [shortened(raw) if isinstance(raw, str) else "" for raw in raw_titles]
        titles = [_cleaned(text) for text in texts]
        known, qualified = self.known(titles).tolist(), self.qualifiers(texts)
        reasons, unknown = list[str | None]([None] * len(texts)), list[int]()
        for row, title in enumerate(titles):
            if not title:
                reasons[row] = _no_text(raw_titles[row])
            elif self.is_none(title):
                reasons[row] = NOT_A_JOB_TITLE
            elif not known[row] and self.letters.isdisjoint(title):
                reasons[row] = UNKNOWN_LETTERS if any(map(_is_letter, title)) else NO_LETTERS
            elif not known[row] and qualified[row].names_no_job:
                reasons[row] = NOT_A_JOB_TITLE
            elif not known[row]:
                unknown.append(row)
            if reasons[row] is not None:
                qualified[row] = NOTHING
        respelled = self.respelled([titles[row] for row in unknown])
        for row, title in zip(unknown, respelled, strict=True):
            titles[row] = title
        return ValidatedTitles(titles, reasons, qualified)


def _cleaned(text: str) -> str:
    """Clean a shortened title; most are plain, which takes a tenth of the time."""
    if text.isascii() and "." not in text:
        return " ".join(text.lower().split())
    return clean_title(text)


def _no_text(value: object) -> str:
    """Return the reason for a value without a character that is read."""
    if isinstance(value, str):
        return EMPTY
    return NULL if is_null(value) else NOT_TEXT


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
