"""The base of losses: functions of embeddings and of the ids that say who belongs to whom.

A loss is one file of `models/losses/`, whose name is its kind, with a frozen dataclass of its
settings, a subclass of `LossSettings`, bound to the name `SETTINGS`, and a function bound to
`LOSS`: `LOSS(embeddings, batch, settings) -> Loss`. Embeddings come as the encoder gives them; a
loss that speaks of cosine similarity brings them to unit norm itself (`unit`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from torch.nn import functional

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
    from torch import Tensor


@dataclass(frozen=True)
class LossSettings:
    """Base of every loss's settings; what a loss needs of the data stands in class variables."""

    needs_targets: ClassVar[bool] = False
    """Whether it trains into the frozen space of a reference model (`PairBatch.targets`)."""
    reads_scores: ClassVar[bool] = False
    """Whether it learns from scored pairs (`PairBatch.scores`)."""
    similarity: ClassVar[str] = "cosine"
    """How two embeddings are compared when they are used: ``cosine`` or ``exp_manhattan``."""

    @property
    def reads_dissimilar(self) -> bool:
        """Whether it takes its dissimilar pairs from the file; else only people's rejections."""
        return False


class Targets(NamedTuple):
    """A frozen space: unit-norm embeddings of a reference model, without gradient."""

    table: Float[Tensor, "target dim"]
    """One embedding a target."""
    rows: Int[Tensor, " pair"]
    """The target that `PairBatch.left` is to meet, for each similar pair; -1: none."""
    negative_mask: Callable[[], Bool[Tensor, "pair target"]]
    """Mark which targets are known to share no occupation with `left`, and so may be negatives;
    made when it is called, since some losses do without."""


@dataclass(frozen=True)
class PairBatch:
    """Who belongs to whom among the `batch` distinct strings that were embedded."""

    left: Int[Tensor, " pair"]
    right: Int[Tensor, " pair"]
    """Places of the two strings of each similar pair; left is the anchor."""
    negative_mask: Bool[Tensor, "batch batch"]
    """Pairs that may be negatives; symmetric. Strings known to have no occupation in common and
    those of `dissimilar`; only the latter for a loss that reads them from the file."""
    dissimilar: Int[Tensor, "dissimilar 2"]
    """Places of the dissimilar pairs of the file: all of the step if the loss reads them
    (`LossSettings.reads_dissimilar`), else those that people rejected."""
    scores: Float[Tensor, " pair"] | None = None
    """How similar each pair is, in [0, 1], where that is known; then `left`, `right` hold every
    scored pair, similar or not."""
    targets: Targets | None = None


class Loss(NamedTuple):
    """The loss and its two terms, pulling and pushing, each a scalar; 0 where a term has none."""

    total: Float[Tensor, ""]
    similar: Float[Tensor, ""]
    dissimilar: Float[Tensor, ""]


LossFunction = Callable[["Float[Tensor, 'batch dim']", PairBatch, Any], Loss]


def unit(embeddings: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch dim"]:
    """Scale to unit norm; a vector of zeros stays one."""
    return functional.normalize(embeddings, dim=-1)


def cosine(
    left: Float[Tensor, "*pair dim"], right: Float[Tensor, "*pair dim"]
) -> Float[Tensor, "*pair"]:
    """Return the cosine of two embeddings, in [-1, 1]; 0 with a vector of zeros."""
    return (unit(left) * unit(right)).sum(-1)


def exp_manhattan(
    left: Float[Tensor, "*pair dim"], right: Float[Tensor, "*pair dim"]
) -> Float[Tensor, "*pair"]:
    """Return g = exp(-‖a - b‖₁), in [0, 1], which looks at lengths too.

    It is of Mueller & Thyagarajan 2016 and Bao et al. 2018; its gradient by a is -g·sign(a - b).
    """
    return (left - right).abs().sum(-1).neg().exp()


def nothing(embeddings: Float[Tensor, "batch dim"]) -> Loss:
    """Return zeros that keep a gradient path: the loss of a batch without a valid pair."""
    zero = embeddings.sum() * 0
    return Loss(zero, zero, zero)


def hinge(near: Float[Tensor, "*pair"], far: Float[Tensor, "*pair"], margin: float) -> Loss:
    """Return the mean of max(0, margin - near + far); of the terms above 0, margin - near pulls."""
    active = margin - near + far > 0
    similar, dissimilar = (active * (margin - near)).mean(), (active * far).mean()
    return Loss(similar + dissimilar, similar, dissimilar)
