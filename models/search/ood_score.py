"""An out-of-domain score of strings: the higher, the less a string reads like a job title.

A string that is not a job title may still be near to one: "horse" to "horse trainer". But titles
end with the word that says what a person is, and few other words do. So with the cosine c of the
closest title or exemplar, and h(w) = log(1 + titles whose first part ends with the word w),

    ood_score = −(c + 0.05 · min(log 20, max h of the parts' last words) + 0.1 · mean h of all words
                  − 0.2 if it is a single word);

a title of the index is in the domain whatever it is made of. The formula is ours (`docs/LOG.md`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p
from typing import TYPE_CHECKING

import numpy as np

from models.search.words.title_words import TitleWords, parts_of

if TYPE_CHECKING:
    from jaxtyping import Float, Float64

ENDING, STRONG, MEAN, SINGLE = 0.05, log(20), 0.1, 0.2
"""Of the formula above; no title's score is higher than `SINGLE` − c, of several words than −c."""
KNOWN = 10.0
"""Taken off the score of a title of the index: more than anything else can be."""


@dataclass(frozen=True)
class OodScore:
    """The words that the titles of an index are made of.

    Attributes:
        titles: cleaned.
        endings: how many titles have a first part that ends with a word; of others none.
    """

    titles: Container[str]
    endings: Mapping[str, int]

    @classmethod
    def of(cls, titles: Iterable[str]) -> OodScore:
        """Learn from distinct cleaned titles."""
        known = frozenset(titles)
        return cls(known, TitleWords.of(known).endings)

    def __call__(
        self, titles: Sequence[str], closest: Float[np.ndarray, " title"]
    ) -> Float64[np.ndarray, " title"]:
        """Return the scores of strings; `closest` is the cosine of each to a title or exemplar."""
        return -(np.array(closest, np.float64) + [self._bonus(title) for title in titles])

    def _bonus(self, title: str) -> float:
        """Return how much the words of a string count beside its closeness."""
        if title in self.titles:
            return KNOWN
        parts = parts_of(title)
        words = [log1p(self.endings.get(word, 0)) for part in parts for word in part]
        if not words:
            return 0.0
        last_word = max(log1p(self.endings.get(part[-1], 0)) for part in parts)
        alone = SINGLE if len(words) == 1 else 0.0
        return ENDING * min(STRONG, last_word) + MEAN * sum(words) / len(words) - alone
