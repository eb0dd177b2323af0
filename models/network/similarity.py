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
    """Return the cosine of two embeddings, in [-1, 1]; 0 with a vector of zeros."""
    return (unit(left) * unit(right)).sum(-1)


def cosine_matrix(embeddings: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch batch"]:
    """Return `cosine` of every embedding with every other."""
    directions = unit(embeddings)
    return directions @ directions.T


def exp_manhattan(
    left: Float[Tensor, "*pair dim"], right: Float[Tensor, "*pair dim"]
) -> Float[Tensor, "*pair"]:
    """Return g = exp(-‖a - b‖₁), in [0, 1]; its gradient by a is -g·sign(a - b)."""
    return (left - right).abs().sum(-1).neg().exp()
