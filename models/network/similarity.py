"""How alike two embeddings are, as one number; higher is closer in all of them.

`cosine` in [-1, 1] looks at directions alone. `exp_manhattan` in [0, 1] is the g of Mueller &
Thyagarajan 2016 and of Bao et al. 2018 (section III.A), and looks at lengths too. `rescaled` and
`unscaled` go between [0, 1] and the range in which people gave their scores, such as SICK's [1, 5].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.network.loss import unit

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


def cosine(
    left: Float[Tensor, "*pair dim"], right: Float[Tensor, "*pair dim"]
) -> Float[Tensor, "*pair"]:
    """Return the cosine of the angle between two embeddings, in [-1, 1]; 1: the same direction.

    With a vector of zeros it is 0. Where the two directions are equal it is at its maximum, so its
    gradient is zero there.
    """
    return (unit(left) * unit(right)).sum(-1)


def cosine_matrix(embeddings: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch batch"]:
    """Return `cosine` of every embedding with every other."""
    directions = unit(embeddings)
    return directions @ directions.T


def exp_manhattan(
    left: Float[Tensor, "*pair dim"], right: Float[Tensor, "*pair dim"]
) -> Float[Tensor, "*pair"]:
    """Return g = exp(-‖a - b‖₁), in [0, 1]; 1: equal embeddings; 0: far apart.

    Its gradient by a is -g·sign(a - b): it vanishes far apart, where g does, has its full size
    close by, and is zero again where a = b, as sign(0) = 0.
    """
    return (left - right).abs().sum(-1).neg().exp()


def rescaled(similarity: Float[Tensor, "*pair"], low: float, high: float) -> Float[Tensor, "*pair"]:
    """Bring a similarity in [0, 1] to [low, high]: low + (high - low)·g; 1 becomes `high`.

    Bao et al. 2018, section III.A, for the range [1, 5].
    """
    return low + _width(low, high) * similarity


def unscaled(score: Float[Tensor, "*pair"], low: float, high: float) -> Float[Tensor, "*pair"]:
    """Bring a score in [low, high] to a similarity in [0, 1]: the inverse of `rescaled`.

    Raises:
        ValueError: a score is outside of [low, high], or no number.
    """
    width = _width(low, high)
    outside = ~((score >= low) & (score <= high))
    if outside.any():
        raise ValueError(
            f"score {score[outside][0].item()} is outside of [{low}, {high}]; "
            "correct it, or state the range in which the scores were given"
        )
    return (score - low) / width


def _width(low: float, high: float) -> float:
    if not low < high:
        raise ValueError(f"scores from {low} to {high}; the first number has to be the lower one")
    return high - low
