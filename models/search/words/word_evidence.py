"""The words of a title for and against its answer, beside the scores.

An n-gram network may match by letters what has other words ("product manager" and "production
manager"), or a lone head word with a longer title ("driver" and "hearse driver"). So a title is
compared word by word with the closest alias of its answer, and with the answer's label: "shift
manager" says nothing of the refinery whose shift manager has it as an alias. Two words are the same
if one begins with all but the last letters of the other, or if one edit makes one the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p
from typing import TYPE_CHECKING

import numpy as np

from models.search.words.title_words import WORDS, TitleWords, forms_of

if TYPE_CHECKING:
    from jaxtyping import Float, Float64

EVIDENCE = (
    *("unmatched", "unsaid", "label_unsaid"),
    *("lone", "letters", "head", "topic", "short", "distance"),
)
"""Share of the title's letters in words that the alias lacks; share of the alias's letters in words
that the title lacks; the same of the label, in its form for the gender that lacks least; whether
the title is one word; of such a one the first share again (the alias is like it by letters alone),
log(1 + titles that it ends), and whether a longer alias begins with it, as with a topic ("football
coach"); whether no word of the title has more than `SHORT` letters; 1 − similarity of the closest
title or exemplar."""
SHORT = 3
STEM = 4
"""Letters that two forms of a word have in common at least."""


@dataclass(frozen=True)
class WordEvidence:
    """Compares titles with aliases and labels.

    Attributes:
        words: of the titles of the index.
    """

    words: TitleWords

    def __call__(
        self,
        titles: Sequence[str],
        aliases: Sequence[str],
        labels: Sequence[str],
        closest: Float[np.ndarray, " query"],
    ) -> Float64[np.ndarray, "query feature"]:
        """Return `EVIDENCE` of cleaned titles.

        Each comes with the closest alias of its answer, cleaned, with the answer's label in the
        language of this alias, as written, and with its similarity to the closest title of all.
        """
        rows = [
            [*self._compared(title, alias, label), 1.0 - float(near)]
            for title, alias, label, near in zip(titles, aliases, labels, closest, strict=True)
        ]
        return np.array(rows, np.float64).reshape(len(titles), len(EVIDENCE))

    def _compared(self, title: str, alias: str, label: str) -> tuple[float, ...]:
        words, others = WORDS.findall(title), WORDS.findall(alias)
        if not words:
            return 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0
        forms = map(WORDS.findall, forms_of(label))
        label_unsaid = min((_lacking(form, words) for form in forms), default=0.0)
        short = float(max(map(len, words)) <= SHORT)
        unmatched, unsaid = _lacking(words, others), _lacking(others, words)
        lone, head, topic = float(len(words) == 1), 0.0, 0.0
        if lone:
            head = log1p(self.words.endings.get(words[0], 0))
            topic = float(unsaid > 0 and bool(others) and same_word(words[0], others[0]))
        return unmatched, unsaid, label_unsaid, lone, lone * unmatched, head, topic, short


def _lacking(words: Sequence[str], others: Sequence[str]) -> float:
    """Return the share of the letters of words that have no like among others."""
    letters = sum(map(len, words))
    lacking = sum(len(word) for word in words if not any(same_word(word, one) for one in others))
    return lacking / max(letters, 1)


def same_word(one: str, other: str) -> bool:
    """Say whether two words are forms or spellings of one."""
    if one == other:
        return True
    if one[0] != other[0] and one[-1] != other[-1]:  # most
        return False
    shorter, longer = (one, other) if len(one) <= len(other) else (other, one)
    if len(shorter) < STEM or len(longer) - len(shorter) > STEM:
        return False
    return _common(shorter, longer) >= max(STEM, len(longer) - 2) or is_an_edit(shorter, longer)


def is_an_edit(shorter: str, longer: str) -> bool:
    """Say whether one letter more, or another, or two swapped make a word of the other."""
    common = _common(shorter, longer)
    rest = _common(shorter[common:][::-1], longer[common:][::-1])
    edited = len(longer) - common - rest  # letters between what is common at both ends
    return edited <= 1 or (edited == 2 and sorted(shorter) == sorted(longer))


def _common(one: str, other: str) -> int:
    """Return how many letters two words have in common from their beginning."""
    for place, (letter, opposite) in enumerate(zip(one, other, strict=False)):
        if letter != opposite:
            return place
    return min(len(one), len(other))
