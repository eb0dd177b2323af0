"""The n-gram matcher of Neculoiu et al. 2016, section 4.1: the papers' lexical baseline.

sim(Q, C) = M − (|T_Q ⊖ T_C| − |T_Q ∩ T_C|), where T are the *sets* of character trigrams, ⊖ is the
symmetric difference and M the query's length in characters. As |T_Q ⊖ T_C| = |T_Q| + |T_C| − 2·|T_Q
∩ T_C|, one sparse product gives every similarity. Strings are not padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from jaxtyping import Float32, Int64

BITS = 21  # of a code point (at most 0x10FFFF), so that three of them fit one int64


class NgramMatcher:
    """Trigram sets of the index's titles, asked with blocks of queries."""

    def __init__(self, titles: Sequence[str]) -> None:
        """Read the cleaned titles once."""
        title, trigram = trigram_sets(titles)
        self._vocabulary, column = np.unique(trigram, return_inverse=True)
        self._sizes = np.bincount(title, minlength=len(titles)).astype(np.float32)
        # The rows are the trigrams' postings: scipy's product then reads only those of a query.
        self._postings = _incidence(column, title, (len(self._vocabulary), len(titles)))

    def similarities(self, queries: Sequence[str]) -> Float32[np.ndarray, "query title"]:
        """Return sim(Q, C) of every cleaned query and title, whole numbers; higher is closer.

        Range: an exact match of M characters without a repeated trigram scores 2M − 2; with no
        trigram in common it is M − |T_Q| − |T_C|. The result is dense: pass queries in blocks.
        """
        query, trigram = trigram_sets(queries)
        lengths = np.array([*map(len, queries)], dtype=np.float32)
        own = lengths - np.bincount(query, minlength=len(queries)).astype(np.float32)
        known = np.isin(trigram, self._vocabulary)  # trigrams that no title has drop out
        column = np.searchsorted(self._vocabulary, trigram[known])
        incidence = _incidence(query[known], column, (len(queries), len(self._vocabulary)))
        similarity: Float32[np.ndarray, "query title"] = (incidence @ self._postings).toarray()
        similarity *= 3
        similarity += own[:, None]
        similarity -= self._sizes
        return similarity


def trigram_sets(strings: Sequence[str]) -> Int64[np.ndarray, "2 pair"]:
    """Return the distinct (string, trigram) pairs, sorted; three code points fit one int64."""
    buffer = "".join(strings).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(buffer, dtype="<u4").astype(np.int64)
    lengths = np.array([len(string) for string in strings], dtype=np.int64)
    string = np.repeat(np.arange(len(strings)), lengths)
    trigram = (points[:-2] << 2 * BITS) | (points[1:-1] << BITS) | points[2:]
    inside = string[:-2] == string[2:]  # the others reach over the border of two strings
    string, trigram = string[:-2][inside], trigram[inside]
    pairs = np.stack([string, trigram])[:, np.lexsort((trigram, string))]
    return pairs[:, np.diff(pairs, prepend=-1).any(axis=0)]


def _incidence(
    row: Int64[np.ndarray, " pair"], column: Int64[np.ndarray, " pair"], shape: tuple[int, int]
) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(row), dtype=np.float32), (row, column)), shape=shape)
