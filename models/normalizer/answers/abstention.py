"""Raw titles validated: cleaned, or the reason why the model abstains."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from models.normalizer.answers.columns import UNCALIBRATED
from models.normalizer.loops.title_lot import TitleLot, cleaned_titles
from models.normalizer.qualifiers import FoundQualifiers
from models.normalizer.text_kernels import text_kernels_at_hand
from models.search.words.title_words import WORDS
from models.text.titles import LONGEST, shortened

if TYPE_CHECKING:
    from jaxtyping import Bool, Int

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
REASONS = (
    *(None, NULL, NOT_TEXT, EMPTY, NO_LETTERS, UNKNOWN_LETTERS, NOT_A_JOB_TITLE, UNKNOWN_WORDS),
    *(UNSURE, UNCALIBRATED),
)
"""All reasons, by which tables of answers number them; none of an answer."""
CODES = {reason: code for code, reason in enumerate(REASONS)}


class ValidatedTitles(NamedTuple):
    """Some titles, cleaned and respelled, or the reasons why nothing can be read.

    Attributes:
        titles: cleaned; empty where there is nothing to clean.
        reasons: places in `REASONS`; 0 where a title can be read.
        qualified: what else they hold.
    """

    titles: Sequence[str]
    reasons: Int[np.ndarray, " title"]
    qualified: FoundQualifiers

    @property
    def readable(self) -> Sequence[str]:
        """The titles that can be read."""
        own = [*compress(self.titles, (self.reasons == 0).tolist())]
        return TitleLot.of(own) if text_kernels_at_hand() else own


@dataclass(frozen=True)
class InputValidator:
    """Cleans and respells raw titles, or refuses those that a model cannot read.

    Attributes:
        alphabet: characters seen in training; a title needs a letter of it, or to be known.
        known: says of cleaned titles whether the index has them; these are answered whatever they
            are made of.
        are_none: says which cleaned titles people judged not to be job titles.
        qualifiers: say what raw titles hold beside an occupation.
        respelled: writes out abbreviations of cleaned titles and corrects their spelling.
    """

    alphabet: str
    known: Callable[[Sequence[str]], Bool[np.ndarray, " title"]]
    are_none: Callable[[Sequence[str]], Bool[np.ndarray, " title"]]
    qualifiers: Callable[[Sequence[str]], FoundQualifiers]
    respelled: Callable[[Sequence[str]], Sequence[str]]

    def __call__(self, raw_titles: Sequence[object]) -> ValidatedTitles:
        """Clean values of any type, or say why they get no answer."""
        texts = [
            raw if isinstance(raw, str) and len(raw) <= LONGEST else _text_of(raw)
            for raw in raw_titles
        ]
        titles, qualified = cleaned_titles(texts), self.qualifiers(texts)
        reasons, known = np.zeros(len(texts), np.int64), self.known(titles)
        reasons[~known & qualified.name_no_job] = CODES[NOT_A_JOB_TITLE]
        for row in np.flatnonzero(~known & ~self._have_letters(titles)).tolist():
            any_letter = any(map(_is_letter, titles[row]))
            reasons[row] = CODES[UNKNOWN_LETTERS if any_letter else NO_LETTERS]
        reasons[self.are_none(titles)] = CODES[NOT_A_JOB_TITLE]
        for row, raw_title in enumerate(raw_titles):
            if not titles[row]:
                reasons[row] = CODES[_no_text(raw_title)]
        unknown = np.flatnonzero(~known & (reasons == 0)).tolist()
        made = [*titles]
        for row, title in zip(unknown, self.respelled([made[row] for row in unknown]), strict=True):
            made[row] = title
        return ValidatedTitles(made, reasons, qualified)

    def _have_letters(self, titles: Sequence[str]) -> Bool[np.ndarray, " title"]:
        """Say which titles have a letter that was seen in training."""
        if isinstance(titles, TitleLot):
            return titles.have_any(self._seen)
        return np.array([not self._letters.isdisjoint(title) for title in titles], bool)

    @cached_property
    def _letters(self) -> frozenset[str]:
        return frozenset(filter(_is_letter, self.alphabet))

    @cached_property
    def _seen(self) -> Bool[np.ndarray, " point"]:
        seen = np.zeros(0x110000, bool)
        seen[[*map(ord, self._letters)]] = True
        return seen


def _text_of(value: object) -> str:
    return shortened(value) if isinstance(value, str) else ""


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
