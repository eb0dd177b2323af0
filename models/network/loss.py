"""The base of losses: functions of embeddings and of the ids that say who belongs to whom.

A loss is one file of `models/losses/`, whose name is its kind, with a subclass of `LossSettings`
bound to the name `SETTINGS`, and a function `LOSS(embeddings, batch, settings) -> Loss`. Embeddings
come as the encoder gives them (`unit` brings them to unit norm). `highest`, `most_informative` and
`drawn` choose the negative of each row among the candidates that a mask allows, one at least; of
equal scores any may be chosen. They return positions, without gradient.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
    from torch import Tensor


@dataclass(frozen=True)
class LossSettings:
    """Base of every loss's settings; what a loss needs of the data stands in class variables."""

    # whether it trains into the frozen space of a reference model (`PairBatch.targets`)
    needs_targets: ClassVar[bool] = False
    # whether it learns from scored pairs (`PairBatch.scores`)
    reads_scores: ClassVar[bool] = False
    # how two embeddings are compared when they are used: "cosine" or "exp_manhattan"
    similarity: ClassVar[str] = "cosine"

    def __post_init__(self) -> None:
        for name, hint in typing.get_type_hints(type(self)).items():
            value = getattr(self, name)
            if typing.get_origin(hint) is Literal and value not in typing.get_args(hint):
                raise ValueError(f"{name} = {value!r}; choose {', '.join(typing.get_args(hint))}")

    @property
    def reads_dissimilar(self) -> bool:
        """Whether it takes its dissimilar pairs from the file; else only people's rejections."""
        return False


class Targets(NamedTuple):
    """A frozen space: unit-norm embeddings of a reference model, without gradient."""

    table: Float[Tensor, "target dim"]  # one embedding a target
    # the target that `PairBatch.left` is to meet, for each similar pair; -1: none
    rows: Int[Tensor, " pair"]
    # which targets are known to share no occupation with `left`, and so may be negatives; made
    # when it is called, since some losses do without
    negative_mask: Callable[[], Bool[Tensor, "pair target"]]


@dataclass(frozen=True)
class PairBatch:
    """Who belongs to whom among the `batch` distinct strings that were embedded."""

    left: Int[Tensor, " pair"]  # positions of the anchors of similar pairs
    right: Int[Tensor, " pair"]  # positions of the anchors' partners
    # pairs that may be negatives; symmetric: strings known to have no occupation in common and
    # those of `dissimilar`; only the latter for a loss that reads them from the file
    negative_mask: Bool[Tensor, "batch batch"]
    # positions of the dissimilar pairs of the file: all of the step if the loss reads them
    # (`LossSettings.reads_dissimilar`), else those that people rejected
    dissimilar: Int[Tensor, "dissimilar 2"]
    # how similar each pair is, in [0, 1], where that is known; then `left` and `right` hold every
    # scored pair, similar or not
    scores: Float[Tensor, " pair"] | None = None
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


def highest(
    scores: Float[Tensor, "row candidate"], allowed: Bool[Tensor, "row candidate"]
) -> Int[Tensor, " row"]:
    """Choose the allowed candidate with the highest score; MAX of Wieting et al. 2016 (A.1)."""
    return scores.masked_fill(~allowed, -torch.inf).argmax(1)


def most_informative(
    predicted: Float[Tensor, "row dim"],
    target: Float[Tensor, "row dim"],
    candidates: Float[Tensor, "candidate dim"],
    allowed: Bool[Tensor, "row candidate"],
) -> Int[Tensor, " row"]:
    """Choose the candidate of the highest cosine with û - u (Lazaridou et al. 2015).

    All vectors are of unit norm (Bhat et al. 2019, section 3). Where û = u any is chosen.
    """
    return highest(unit(predicted - target) @ candidates.T, allowed)


def drawn(allowed: Bool[Tensor, "row candidate"], count: int) -> Int[Tensor, "row count"]:
    """Draw `count` of each row, uniform with replacement, by torch's global generator."""
    return torch.multinomial(allowed.float(), count, replacement=True)
