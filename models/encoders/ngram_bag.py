"""A title as the sum of its n-grams' vectors: CHARAGRAM (Wieting et al. 2016, equation 1).

g(x) = h(b + Σ W^n over the n-grams of x that are in the vocabulary V, each as often as it occurs).
There is no unknown word: a misspelt title still holds most of its n-grams. N-grams that span two
words carry what little is known of word order. The second dense layer, which hurt the paper's
sentence similarity (section 4.2, footnote 3), is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from torch import nn
from torch.nn import functional

from models.encoders.shared.row_sums import RowSums
from models.network.encoder import Encoder, EncoderSettings
from models.text.featurizer import PADDING
from models.text.units import UnitSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Float, Int
    from torch import Tensor

START = 0.05
"""Rows and bias start uniform in ±START: see `NgramBagEncoder`."""


@dataclass(frozen=True)
class NgramBagSettings(EncoderSettings):
    """Which n-grams have a vector, and the use of their sum; the paper's values in brackets."""

    may_be_zero: ClassVar[tuple[str, ...]] = ("most", "buckets")

    orders: tuple[int, ...]
    """Lengths n of the n-grams, in characters (2, 3, 4); section 4.4 tries (2) to (2 … 6)."""
    max_length: int
    """Characters read of a title, or words; the spaces before and after come on top."""
    min_count: int
    """C, occurrences in the training titles from which on an n-gram is in V (1 or 2)."""
    most: int
    """k, most frequent n-grams of each order that are in V (100, 1000, 50000); 0: all."""
    buckets: int
    """0: a vocabulary. Above 0 n-grams share this many vectors, by their hash."""
    activation: Literal["tanh", "linear"]
    """h; rectified units gave poor cosine similarities (footnote 2)."""
    bias: bool
    """Whether there is a b (there is)."""
    dim: int
    """d, of a row of W and of the embedding (300)."""
    within: Literal["title", "word"] = "title"
    """Where an n-gram ends: with the title, its spaces being characters as others, or with the
    word, whole words and pairs of neighbouring ones being units besides (Bojanowski et al. 2017).
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.orders or len(set(self.orders)) < len(self.orders):
            raise ValueError(f"orders = {self.orders}; name each length once, and one at least")
        longest = self.max_length + 2
        if min(self.orders) < 1 or (self.within == "title" and max(self.orders) > longest):
            raise ValueError(f"orders = {self.orders}; choose from 1 to max_length + 2 = {longest}")
        if self.buckets and (self.min_count > 1 or self.most):
            raise ValueError(
                f"buckets = {self.buckets} leaves no vocabulary to choose from: set min_count to 1 "
                f"(is {self.min_count}) and most to 0 (is {self.most}), or buckets to 0"
            )


class NgramBagEncoder(Encoder):
    """n-gram ids to the activated sum of their rows.

    A title has some 60 n-grams. Rows of N(0, 1) would sum to a standard deviation of √60 ≈ 8, where
    tanh is flat; uniform rows in ±0.05 sum to 0.05 · √(60 / 3) ≈ 0.2, where it is nearly straight.
    The bias starts at random too: a title without a known n-gram then has a direction.
    """

    Settings: ClassVar[type] = NgramBagSettings
    settings: NgramBagSettings

    def __init__(self, settings: NgramBagSettings, sizes: Sequence[int]) -> None:
        super().__init__(settings, sizes)
        (size,) = sizes
        self.ngrams = nn.Embedding(size, settings.dim, padding_idx=PADDING)
        nn.init.uniform_(self.ngrams.weight, -START, START)
        with torch.no_grad():
            self.ngrams.weight[PADDING] = 0
        bias = torch.empty(settings.dim).uniform_(-START, START)
        self.bias = nn.Parameter(bias) if settings.bias else None

    @staticmethod
    def units(settings: NgramBagSettings) -> tuple[UnitSettings, ...]:
        """Return the only unit: n-grams, or parts of words."""
        return (
            UnitSettings(
                "ngram" if settings.within == "title" else "subword",
                settings.max_length,
                settings.orders,
                settings.min_count,
                settings.most,
                settings.buckets,
            ),
        )

    @staticmethod
    def check_sparse(settings: NgramBagSettings) -> None:
        """Refuse a bias, which every batch reads; ValueError as `Encoder.check_sparse`."""
        if settings.bias:
            Encoder.check_sparse(settings)

    def forward(  # type: ignore[override]  # one unit
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch dim"]:
        """Return h(b + Σ W); padding, and a title without a known n-gram, add nothing."""
        total = self._sum(ids, lengths)
        if self.bias is not None:
            total = total + self.bias
        return total.tanh() if self.settings.activation == "tanh" else total

    def _sum(
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch dim"]:
        """Add up the rows of each string's ids."""
        if torch.jit.is_tracing():  # type: ignore[attr-defined,no-untyped-call]
            # ONNX has no bag; and an input that nothing reads, such as lengths, would be left out
            inside = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
            rows: Tensor = self.ngrams(ids) * inside[:, :, None]
            return rows.sum(1)
        # a bag never holds [batch length dim] numbers; without padding it is nearly twice as fast
        known = ids != PADDING
        counts = known.sum(1)
        if self.sparse and torch.is_grad_enabled():
            sums: Tensor = RowSums.apply(  # type: ignore[no-untyped-call]
                self.ngrams.weight, ids[known], counts
            )
            return sums
        starts = counts.cumsum(0) - counts
        return functional.embedding_bag(ids[known], self.ngrams.weight, starts, mode="sum")


ENCODER = NgramBagEncoder
