"""The words that set one text apart from another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from models.normalizer.answers.arrays import arrow_numbers, arrow_texts
from models.normalizer.loops.characters import characters_of
from models.normalizer.text_kernels import text_kernels, text_kernels_at_hand, words_in
from models.search.words.title_words import WORDS

if TYPE_CHECKING:
    from jaxtyping import Int, Int32, Int64


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
        counts = np.empty(len(ones), np.int64)
        if text_kernels_at_hand():
            numbers, firsts, words = self._words
            found = np.empty(int((firsts[ones + 1] - firsts[ones]).sum()), np.int32)
            numbered = (one.astype(np.int64) for one in (ones, others))
            list_differences = text_kernels().list_differences
            count = list_differences(numbers, firsts, *numbered, counts, found)
            return words.take(arrow_numbers(found[:count])), counts
        pairs = [*zip(ones.tolist(), others.tolist(), strict=True)]
        own = {
            number: dict.fromkeys(WORDS.findall(self._text(number).lower()))
            for number in {number for pair in pairs for number in pair}
        }
        made = [[word for word in own[one] if word not in own[other]] for one, other in pairs]
        counts[:] = [*map(len, made)]
        return arrow_texts([*chain(*made)]), counts

    def _text(self, number: int) -> str:
        for part in self.parts:
            if number < len(part):
                return part[number]
            number -= len(part)
        raise IndexError(number)

    @cached_property
    def _words(
        self,
    ) -> tuple[Int32[np.ndarray, " word"], Int64[np.ndarray, " text+1"], pa.StringArray]:
        """The words of all texts by their numbers, where those of each begin, and these words."""
        characters = characters_of([text.lower() for part in self.parts for text in part])
        found = words_in(characters)
        _, firsts, numbers = np.unique(found.hashes, return_index=True, return_inverse=True)
        text = characters.points.tobytes().decode("utf-32-le", "surrogatepass")
        spans = zip(found.begins[firsts].tolist(), found.stops[firsts].tolist(), strict=True)
        words = arrow_texts([text[begin:stop] for begin, stop in spans])
        return numbers.astype(np.int32), found.firsts, words
