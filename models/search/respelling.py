"""Misspelt words of a title in the spelling that the taxonomy has.

A last word that begins and ends no title, or hardly any, is taken for the most frequent one an edit
away (Norvig 2007): a letter is missing, is too much, has changed places with its
neighbour, or is another one. People seldom mistake the first letter, so that one has to agree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from models.search.ood_score import PARTS, WORDS

LAST_WORDS = re.compile(rf"{WORDS.pattern}(?=\s*$|\s*(?:{PARTS.pattern}))")
SHORTEST = 5
"""Letters of a word that may be a misspelt one."""
FREQUENT = 5
"""Titles that end with the word that is meant."""
RARER = 100
"""Times that it is as frequent as a known word that is taken for it."""


@dataclass(frozen=True)
class Respelling:
    """The words that titles begin and end with.

    Attributes:
        endings: how many titles have a first part that ends with a word; of others none.
        beginnings: the same of beginnings.
    """

    endings: Mapping[str, int]
    beginnings: Mapping[str, int]

    def __call__(self, title: str) -> str:
        """Return a cleaned title with the misspelt last words of its parts corrected."""
        return LAST_WORDS.sub(lambda word: self._meant(word.group()), title)

    def _meant(self, word: str) -> str:
        known = self.endings.get(word, 0) + self.beginnings.get(word, 0)
        least = max(FREQUENT, RARER * known)
        if len(word) < SHORTEST or least > self._most or not word.isalpha():
            return word
        likely = {one: self.endings[one] for one in self._edits(word) if one in self.endings}
        best = max(likely, key=lambda one: likely[one], default=word)  # of equal ones the first
        return best if likely.get(best, 0) >= least else word

    def _edits(self, word: str) -> Iterator[str]:
        """Yield what one edit makes of a word, its first letter kept."""
        for place in range(1, len(word) + 1):
            start, end = word[:place], word[place:]
            yield start + end[1:2] + end[:1] + end[2:]
            yield start + end[1:]
            for letter in self._letters:
                yield start + letter + end
                yield start + letter + end[1:]

    @cached_property
    def _most(self) -> int:
        return max(self.endings.values(), default=0)

    @cached_property
    def _letters(self) -> str:
        """The letters of all words, but rare ones."""
        counts = Counter(letter for word in self.endings for letter in word)
        least = counts.total() / 1000
        return "".join(sorted(letter for letter, count in counts.items() if count >= least))
