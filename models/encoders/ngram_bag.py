"""A title as the sum of its n-grams' vectors: CHARAGRAM (Wieting et al. 2016, equation 1).

g(x) = h(b + Σ W^n over the n-grams of x that are in the vocabulary V, each as often as it occurs).
There is no unknown word: a misspelt title still holds most of its n-grams. The second dense layer,
which hurt the paper's sentence similarity (footnote 3), is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.network.encoder import Encoder, EncoderSettings
from models.text.featurizer import PADDING
from models.text.units import UnitSettings

if TYPE_CHECKING:
    from jaxtyping import Float, Int

START = 0.05  # rows and bias start uniform in ±START: see `NgramBagEncoder`


@dataclass(frozen=True)
class NgramBagSettings(EncoderSettings):
    """Which n-grams have a vector, and the use of their sum; the paper's values in brackets."""

    may_be_zero: ClassVar[tuple[str, ...]] = ("most", "buckets")

    orders: tuple[int, ...]  # lengths n in characters (2, 3, 4; also (2) to (2 … 6))
    max_length: int  # characters read of a title, or words; the spaces before and after come on top
    min_count: int  # C, occurrences in the training titles from which on an n-gram is in V (1 or 2)
    most: int  # k, most frequent n-grams of each order that are in V (100, 1000, 50000); 0: all
    buckets: int  # 0: a vocabulary. Above 0 n-grams share this many vectors, by their hash
    activation: Literal["tanh", "linear"]  # h; rectified units did badly (footnote 2)
    bias: bool  # whether there is a b (there is)
    dim: int  # d, of a row of W and of the embedding (300)
    within: Literal["title", "word"] = "title"
    """Where an n-gram ends; words and pairs of them are units besides (Bojanowski et al. 2017)."""

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
        self.ngrams = nn.Embedding(sizes[0], settings.dim, padding_idx=PADDING)
        nn.init.uniform_(self.ngrams.weight, -START, START)
        with torch.no_grad():
            self.ngrams.weight[PADDING] = 0
        bias = torch.empty(settings.dim).uniform_(-START, START)
        self.bias = nn.Parameter(bias) if settings.bias else None

    @staticmethod
    def units(settings: NgramBagSettings) -> tuple[UnitSettings, ...]:
        """Return the only unit: n-grams, or parts of words."""
        s = settings
        values = (s.max_length, s.orders, s.min_count, s.most, s.buckets)
        return (UnitSettings("ngram" if s.within == "title" else "subword", *values),)

    @staticmethod
    def check_sparse(settings: NgramBagSettings) -> None:
        """Refuse a bias, which every batch reads; ValueError as `Encoder.check_sparse`."""
        if settings.bias:
            Encoder.check_sparse(settings)

    def forward(  # type: ignore[override]  # one unit
        self, ids: Int[Tensor, "batch length"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch dim"]:
        """Return h(b + Σ W); padding, and a title without a known n-gram, add nothing."""
        total: Tensor
        if torch.jit.is_tracing():  # type: ignore[attr-defined,no-untyped-call]
            # ONNX has no bag; and an input that nothing reads, such as lengths, would be left out
            inside = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
            total = (self.ngrams(ids) * inside[:, :, None]).sum(1)
        else:
            # a bag never holds [batch length dim] numbers; without padding it is twice as fast
            known = ids != PADDING
            bag = RowSums.apply if self.sparse and torch.is_grad_enabled() else _bag
            total = bag(self.ngrams.weight, ids[known], known.sum(1))
        if self.bias is not None:
            total = total + self.bias
        return total.tanh() if self.settings.activation == "tanh" else total


class RowSums(torch.autograd.Function):
    """`embedding_bag` in mode `sum`, with a coalesced gradient.

    `ids [unit]` are of the first string, then of the next; `counts [string]` say how many. The
    gradient of a row is the sum over the strings that read it, a bag of strings. The sparse
    gradient of `embedding_bag` itself is a copy for each unit of each string, to be coalesced.
    """

    @staticmethod
    def forward(ctx: Any, table: Tensor, ids: Tensor, counts: Tensor) -> Tensor:  # noqa: ANN401
        """Return one sum a string."""
        ctx.save_for_backward(ids, counts)
        ctx.shape = table.shape
        return _bag(table, ids, counts)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:  # noqa: ANN401
        """Return the gradient of the table, sparse over its rows."""
        ids, counts = ctx.saved_tensors
        string = torch.repeat_interleave(counts)
        ordered, order = ids.sort(stable=True)
        rows, sizes = torch.unique_consecutive(ordered, return_counts=True)
        summed = _bag(gradient, string[order], sizes)
        checks: Any = {"is_coalesced": True, "check_invariants": False}
        return torch.sparse_coo_tensor(rows[None], summed, ctx.shape, **checks), None, None


def _bag(table: Tensor, ids: Tensor, counts: Tensor) -> Tensor:
    return functional.embedding_bag(ids, table, counts.cumsum(0) - counts, mode="sum")


ENCODER = NgramBagEncoder
