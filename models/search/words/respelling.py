"""Misspelt words of a title in the spelling that the taxonomy has.

An edit makes a misspelt word: a letter is missing, is too much, has changed places with its
neighbour, or is another one (Norvig 2007). First the last word of a part is corrected if it begins
and ends no title, or hardly any: the most frequent one an edit away is meant. People seldom mistake
the first letter, so that one has to agree. Then the words that no title has are corrected, but only
if the whole becomes a title of the taxonomy by that: "costing" is no misspelt "casting".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import cached_property, lru_cache

from models.search.words.near_words import NearWords
from models.search.words.title_words import PARTS, WORDS, TitleWords

LAST_WORDS = re.compile(rf"{WORDS.pattern}(?=\s*$|\s*(?:{PARTS.pattern}))")
SHORTEST = 5
"""Letters of a last word that may be misspelt."""
FREQUENT = 5
"""Titles that end with the word that is meant."""
RARER = 100
"""Times that it is as frequent as a known word that is taken for it."""
SHORTEST_OF_TITLE, MOST_UNKNOWN = 4, 2
"""Letters of a misspelt word of a title of the taxonomy, and such words of it at most."""

REMEMBERED_WORDS = 1 << 12


@dataclass(frozen=True)
class Respelling:
    """Corrects titles.

    Attributes:
        words: of the titles of the taxonomy.
        titles: of the taxonomy, cleaned.
    """

    words: TitleWords
    titles: Container[str]

    def __call__(self, title: str) -> str:
        """Return a cleaned title with its misspelt words corrected."""
        title = LAST_WORDS.sub(lambda word: self._meant(word.group()), title)
        unknown = [word for word in WORDS.findall(title) if word not in self.words.counts]
        if not unknown or len(unknown) > MOST_UNKNOWN or min(map(len, unknown)) < SHORTEST_OF_TITLE:
            return title
        whole = WORDS.sub(lambda word: self._nearest(word.group()), title)
        return whole if whole in self.titles else title

    def least(self, word: str) -> int:
        """Return how many titles have to end with a word that a last word is taken for."""
        known = self.words.endings.get(word, 0) + self.words.beginnings.get(word, 0)
        return max(FREQUENT, RARER * known)

    @cached_property
    def _meant(self) -> Callable[[str], str]:
        """Looks up what is meant by the last word of a part; many titles have the same."""

        def meant(word: str) -> str:
            least = self.least(word)
            if len(word) < SHORTEST or least > self.most or not word.isalpha():
                return word
            return self.endings.best({word: least}).get(word, word)

        return lru_cache(REMEMBERED_WORDS)(meant)

    def _nearest(self, word: str) -> str:
        """Return the most frequent word an edit away of one that no title has."""
        return word if word in self.words.counts else self.known.best({word: 0}).get(word, word)

    @cached_property
    def known(self) -> NearWords:
        """All words of the titles."""
        return NearWords.of(self.words.counts)

    @cached_property
    def endings(self) -> NearWords:
        """Those that end titles, as far as they are frequent."""
        counts = self.words.endings.items()
        return NearWords.of({word: count for word, count in counts if count >= FREQUENT})

    @cached_property
    def most(self) -> int:
        """How many titles end with the most frequent of these."""
        return int(self.endings.counts.max(initial=0))
