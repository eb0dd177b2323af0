"""Characters to integers: titles in, a padded id matrix and lengths out.

Ids: 0 is padding, 1 a character outside the alphabet, 2 and up the alphabet's characters in
code-point order. Strings past `max_length` are cut and flagged. No Python loop over characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from models.titles import clean_title

if TYPE_CHECKING:
    from jaxtyping import Bool, Int

PADDING, UNKNOWN, FIRST = 0, 1, 2


class Characters(NamedTuple):
    """A featurized block of titles."""

    ids: Int[np.ndarray, "title length"]
    """int64; rows padded with 0 to the longest title of the block, one column at least."""
    lengths: Int[np.ndarray, " title"]
    """int64, at least 1: an empty title counts as one padding character."""
    cut: Bool[np.ndarray, " title"]
    """True where the title was longer than `max_length`."""


@dataclass(frozen=True)
class CharacterFeaturizer:
    """The alphabet, fixed when the model is trained, and the longest string that it reads."""

    alphabet: str
    max_length: int

    @classmethod
    def fit(cls, titles: Sequence[str], max_length: int) -> CharacterFeaturizer:
        """Alphabet of all characters in the cleaned titles."""
        seen = set().union(*(clean_title(title) for title in titles)) if titles else set()
        return cls("".join(sorted(seen)), max_length)

    @property
    def vocabulary_size(self) -> int:
        """Number of distinct ids, padding and unknown included."""
        return FIRST + len(self.alphabet)

    def __call__(self, raw_titles: Sequence[str]) -> Characters:
        """Featurize a block of titles as received."""
        whole = [clean_title(title) for title in raw_titles]
        kept = [title[: self.max_length] for title in whole]
        lengths = np.fromiter(map(len, kept), np.int64, len(kept))
        cut = np.fromiter(map(len, whole), np.int64, len(whole)) > self.max_length
        ids = np.zeros((len(kept), max(1, int(lengths.max(initial=0)))), np.int64)
        ids[np.arange(ids.shape[1]) < lengths[:, None]] = self._look_up("".join(kept))
        return Characters(ids, np.maximum(lengths, 1), cut)

    def _look_up(self, text: str) -> Int[np.ndarray, " character"]:
        points = _code_points(text)
        alphabet = _code_points(self.alphabet)
        if not alphabet.size:
            return np.full(points.shape, UNKNOWN, np.int64)
        place = np.minimum(np.searchsorted(alphabet, points), alphabet.size - 1)
        return np.where(alphabet[place] == points, place + FIRST, UNKNOWN)


def _code_points(text: str) -> Int[np.ndarray, " character"]:
    # surrogatepass: a lone surrogate in scraped text is an unknown character, not an error
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
