"""How alike two embeddings are, as one number; higher is closer in all of them.

`cosine` in [-1, 1] looks at directions alone. `exp_manhattan` in [0, 1] is the g of Mueller &
Thyagarajan 2016 and of Bao et al. 2018 (section III.A), and looks at lengths too.
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
