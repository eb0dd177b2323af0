"""The words that set one text apart from another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from models.normalizer.answers.arrays import arrow_texts
from models.search.words.title_words import WORDS

if TYPE_CHECKING:
    from jaxtyping import Int, Int64

REMEMBERED_TEXTS = 1 << 14


@dataclass(frozen=True, eq=False)
class Differences:
    """Compares texts, which are named by their numbers.

    Attributes:
        parts: sequences of texts, numbered one behind the other.
    """

    parts: Sequence[Sequence[str]]

    def __call__(
        self, ones: Int[np.ndarray, " pair"], others: Int[np.ndarray, " pair"]
    ) -> tuple[pa.StringArray, Int64[np.ndarray, " pair"]]:
        """Return the words of each text that its other has not, and how many.

        They are in lower case, each once, in the order of the text.
        """
        words = ([*map(self._words, own.tolist())] for own in (ones, others))
        made = [
            [word for word in one if word not in other] for one, other in zip(*words, strict=True)
        ]
        return arrow_texts([*chain(*made)]), np.array([*map(len, made)], np.int64)

    @cached_property
    def _words(self) -> Callable[[int], dict[str, None]]:
        """Looks up the words of a text; many titles have the same answer."""

        def words(number: int) -> dict[str, None]:
            for part in self.parts:
                if number < len(part):
                    return dict.fromkeys(WORDS.findall(part[number].lower()))
                number -= len(part)
            raise IndexError(number)

        return lru_cache(REMEMBERED_TEXTS)(words)
