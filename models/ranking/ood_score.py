"""How much a string reads like a job title, from what the titles of an index have in common.

What is no job title may still be near to one: "horse" is to "horse trainer". But titles end with
the word that says what a person is, and few other words do. So with the cosine c of the closest
title or exemplar, and h(w) = log(1 + titles whose first part ends with the word w),

    ood_scores = c + 0.05 · min(log 20, max h of the parts' last words) + 0.1 · mean h of all words
                  − 0.2 if it is a single word;

a title of the index is familiar whatever it is made of. All of it is ours (`docs/LOG.md`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float, Float64

PARTS = re.compile(r"[,(/|:;)\[\]–]|-\s|\s-")
"""What parts of a title stand between: commas, brackets, dashes beside a space."""
WORDS = re.compile(r"[^\W_]+(?:[+#'&]+[^\W_]*)*")
ENDING, STRONG, MEAN, SINGLE = 0.05, log(20), 0.1, 0.2
KNOWN = 10.0
"""Of a title of the index: more than anything else can have."""


@dataclass(frozen=True)
class OodScore:
    """What titles of an index are made of.

    Attributes:
        titles: cleaned.
        strengths: h of each word that some title's first part ends with; others have 0.
    """

    titles: frozenset[str]
    strengths: Mapping[str, float]

    @classmethod
    def of(cls, titles: Iterable[str]) -> OodScore:
        """Learn from distinct cleaned titles."""
        known = frozenset(titles)
        ends = Counter(parts[0][-1] for parts in map(_parts, known) if parts)
        return cls(known, {word: log1p(count) for word, count in ends.items()})

    def __call__(
        self, titles: Sequence[str], closest: Float[np.ndarray, " title"]
    ) -> Float64[np.ndarray, " title"]:
        """Return how familiar cleaned strings are.

        Args:
            titles: any strings.
            closest: cosine of each to the closest title or exemplar.
        """
        return np.array(closest, np.float64) + [self._beyond(title) for title in titles]

    def _beyond(self, title: str) -> float:
        """Return what the words of a string add to its closeness."""
        if title in self.titles:
            return KNOWN
        parts = _parts(title)
        words = [self.strengths.get(word, 0.0) for part in parts for word in part]
        if not words:
            return 0.0
        ending = max(self.strengths.get(part[-1], 0.0) for part in parts)
        alone = SINGLE if len(words) == 1 else 0.0
        return ENDING * min(STRONG, ending) + MEAN * sum(words) / len(words) - alone


def _parts(title: str) -> list[list[str]]:
    """Return the words of each part that has any."""
    return [words for part in PARTS.split(title) if (words := WORDS.findall(part))]
