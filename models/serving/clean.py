"""Raw titles cleaned, looked up in the index and respelled, or refused with a reason."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from models.serving.exact_match import Batch, ExactMatch
from models.serving.qualifiers import FoundQualifiers, Qualifiers
from models.text.titles import clean_title, shortened
from models.text.words import WORDS

if TYPE_CHECKING:
    from jaxtyping import Int

NULL = "null"  # none, NaN, NaT or pandas' NA
NOT_TEXT = "not text"  # a number, bytes, or any other value that is no string
EMPTY = "empty"  # nothing but white space
NO_LETTERS = "no letters"  # digits, punctuation or emoji only (Unicode category L is missing)
UNKNOWN_LETTERS = "unknown letters"
"""No letter of it was seen in training, for example another script."""
NOT_A_JOB_TITLE = "not a job title"
"""Its out-of-domain score (`OodScore`) is above the threshold, people said so, or all its words say
no more than a status, a contract or a place (`models/serving/qualifiers.py`)."""
UNKNOWN_WORDS = "unknown words"
"""Its out-of-domain score is above the threshold, and no title of the taxonomy has one of its words
of three letters or more: it is in another language, or no words at all."""
UNSURE = "low confidence"  # its confidence is below `min_confidence`
UNCALIBRATED = "uncalibrated"  # the reason of an answer without confidence
REASONS = (
    *(None, NULL, NOT_TEXT, EMPTY, NO_LETTERS, UNKNOWN_LETTERS, NOT_A_JOB_TITLE, UNKNOWN_WORDS),
    *(UNSURE, UNCALIBRATED),
)
"""All reasons: inside of the model a reason is its position here, 0 where there is none."""
CODES = {reason: code for code, reason in enumerate(REASONS)}


class ReadTitles(NamedTuple):
    """Raw titles as they were read.

    Attributes:
        refusals: positions in `REASONS`; 0 where a title can be read.
        qualified: what else the titles hold.
        batch: the titles that can be read, in their order.
    """

    refusals: Int[np.ndarray, " title"]
    qualified: FoundQualifiers
    batch: Batch


@dataclass(frozen=True)
class TitleReader:
    """Cleans and respells raw titles, or refuses those that a model cannot read.

    Attributes:
        alphabet: characters seen in training; a title needs a letter of it, or to be known.
        exact_match: says which titles are known; these are answered whatever they are made of.
        qualifiers: say what raw titles hold beside an occupation.
        respelled: writes out abbreviations of cleaned titles and corrects their spelling.
    """

    alphabet: str
    exact_match: ExactMatch
    qualifiers: Qualifiers
    respelled: Callable[[Sequence[str]], list[str]]

    def __call__(self, raw_titles: Sequence[object]) -> ReadTitles:
        """Read values of any type, or say why they get no answer."""
        texts = [shortened(raw) if isinstance(raw, str) else "" for raw in raw_titles]
        qualified = self.qualifiers(texts)
        batch = self.exact_match.resolve([*map(clean_title, texts)])
        refusals, known = np.zeros(len(texts), np.int64), self.exact_match.known(batch)
        refusals[~known & qualified.name_no_job] = CODES[NOT_A_JOB_TITLE]
        for row in (~known).nonzero()[0].tolist():
            if self._letters.isdisjoint(batch.titles[row]):
                any_letter = any(map(_is_letter, batch.titles[row]))
                refusals[row] = CODES[UNKNOWN_LETTERS if any_letter else NO_LETTERS]
        refusals[self.exact_match.are_none(batch)] = CODES[NOT_A_JOB_TITLE]
        for row, title in enumerate(batch.titles):
            if not title:
                refusals[row] = CODES[_no_text(raw_titles[row])]
        readable = (refusals == 0).nonzero()[0]
        batch, unknown = batch.take(readable), (~known[readable]).nonzero()[0].tolist()
        before = [batch.titles[row] for row in unknown]
        respelled = zip(unknown, before, self.respelled(before), strict=True)
        changed = {row: title for row, old, title in respelled if title != old}
        return ReadTitles(refusals, qualified, self.exact_match.replaced(batch, changed))

    @cached_property
    def _letters(self) -> frozenset[str]:
        return frozenset(filter(_is_letter, self.alphabet))


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
