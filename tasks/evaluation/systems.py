"""Systems to be judged: section `evaluate`, the index, and similarities of cleaned titles to it.

A network's similarities are cosines of embeddings, TF-IDF's of character n-grams inside words with
sublinear frequencies, which are counted on the titles of the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from models.serving.index import AliasIndex
from models.serving.scores import ScoreRule
from models.serving.search import Similarities
from tasks.io.frames import read_frame
from tasks.io.schemas import TITLES
from tasks.io.section import Count, Section

if TYPE_CHECKING:
    from jaxtyping import Float, Float32
    from torch import Tensor

    from models.network.encoder import Encoder
    from models.text.featurizer import Featurizer


class EvaluateParams(Section):
    """Section `evaluate`: how occupations score, for every system, and what is kept."""

    NAME: ClassVar[str] = "evaluate"
    occupation_score: Literal["best", "soft"]
    soft_temperature: Annotated[float, Field(gt=0)]
    language_weights: dict[str, Annotated[float, Field(gt=0)]]
    run_depth: Count
    bootstrap_draws: Count

    @property
    def rule(self) -> ScoreRule:
        """As the systems take it."""
        return ScoreRule(self.occupation_score, self.soft_temperature, self.language_weights)


def read_index(data: Path = Path("data")) -> AliasIndex:
    """Read the index that every system searches: the titles of the split `train`."""
    return index_of(read_frame(data / "split/titles.parquet", TITLES))


def index_of(titles: pl.DataFrame) -> AliasIndex:
    """Index the split `train` of schema `TITLES`."""
    owned = titles.filter(split="train").explode("occupation_ids")
    columns = (owned[name].to_list() for name in ("title", "occupation_ids", "language"))
    return AliasIndex.of(*columns)


def network(featurizer: Featurizer, encoder: Encoder, titles: Sequence[str]) -> Similarities:
    """Compare a network's embeddings with those of titles."""
    from models.network.embedding import embed_titles  # torch takes seconds

    return compared(featurizer, encoder, embed_titles(encoder, featurizer, titles))


def compared(
    featurizer: Featurizer, encoder: Encoder, embeddings: Float[Tensor, "title dim"]
) -> Similarities:
    """Compare by cosine; `embeddings`: of the titles compared with, of unit norm.

    Numpy multiplies: torch takes four times as long if all processors are to give the same bits.
    """
    from models.network.embedding import embed_titles

    index = embeddings.numpy().T
    return lambda queries: embed_titles(encoder, featurizer, list(queries)).numpy() @ index


class TfidfMatcher:
    """TF-IDF vectors of the index's titles, compared with blocks of queries."""

    def __init__(self, titles: Sequence[str], smallest: int, largest: int) -> None:
        """Fit n-grams of `smallest` to `largest` characters; ValueError if there can be none."""
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
        """Return the cosine of every cleaned query and title, 0 to 1 (closest); dense."""
        if not len(queries):
            return np.zeros((0, self._postings.shape[1]), dtype=np.float32)
        return np.asarray((self._vectorizer.transform(queries) @ self._postings).toarray())
