"""Systems to be judged: an index, and similarities of cleaned titles to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from models.search.index import AliasIndex
from models.search.search import Similarities
from tasks.io.frames import read_frame
from tasks.io.schemas import TITLES

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from models.network.encoder import Encoder
    from models.text.featurizer import Featurizer


def read_index(data: Path = Path("data")) -> AliasIndex:
    """Read the index that every system searches: the titles of the split `train`."""
    return index_of(read_frame(data / "split/titles.parquet", TITLES))


def index_of(titles: pl.DataFrame) -> AliasIndex:
    """Index the split `train` of schema `TITLES`."""
    owned = titles.filter(pl.col("split") == "train").explode("occupation_ids")
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
