"""The TF-IDF row of the tables: character n-grams inside words, sublinear, cosine.

Same two calls as `models.text.ngram_matcher.NgramMatcher`; it stands here because it needs
scikit-learn. Document frequencies are counted on the titles of the index, never on queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float32


class TfidfMatcher:
    """TF-IDF vectors of the index's titles, compared with blocks of queries."""

    def __init__(self, titles: Sequence[str], smallest: int, largest: int) -> None:
        """Fit on cleaned titles.

        `smallest`: characters of the shortest n-grams; a word has one space on both sides.

        Raises:
            ValueError: no title has a character, or no n-gram is of these sizes.
        """
        if not 1 <= smallest <= largest:
            raise ValueError(f"n-grams of {smallest} to {largest} characters: smaller first, 1 up")
        if not any(titles):
            raise ValueError(f"{len(titles)} titles without a character: the index is empty")
        # takes a second, which a check of parameters need not
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._vectorizer = TfidfVectorizer(
            analyzer="char_wb",
            ngram_range=(smallest, largest),
            sublinear_tf=True,
            lowercase=False,  # cleaned titles are casefolded
            dtype=np.float32,
        )
        self._postings = self._vectorizer.fit_transform(titles).T.tocsr()

    def similarities(self, queries: Sequence[str]) -> Float32[np.ndarray, "query title"]:
        """Return the cosine of every cleaned query and title.

        Range: 0, with no n-gram in common, to 1; higher is closer. The result is dense: pass
        queries in blocks.
        """
        if not len(queries):
            return np.zeros((0, self._postings.shape[1]), dtype=np.float32)
        weights = self._vectorizer.transform(queries)
        cosines: Float32[np.ndarray, "query title"] = (weights @ self._postings).toarray()
        return cosines
