"""Points on a circle and batches of pairs, for the tests of several losses."""

import math

import torch

from models.network.loss import PairBatch, Targets

NONE = torch.zeros(0, 2, dtype=torch.long)


def circle(*degrees: float) -> torch.Tensor:
    """Place points on the unit circle: their cosine similarity is that of the angle between."""
    angles = torch.tensor(degrees, dtype=torch.float64) * math.pi / 180
    return torch.stack([angles.cos(), angles.sin()], 1)


def pair_batch(
    pairs: list[tuple[int, int]],
    negative_mask: torch.Tensor,
    dissimilar: list[tuple[int, int]] | None = None,
    scores: list[float] | None = None,
) -> PairBatch:
    """Make a batch; the mask is made symmetric."""
    left, right = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    return PairBatch(
        left,
        right,
        negative_mask | negative_mask.T,
        torch.tensor(dissimilar or [], dtype=torch.long).reshape(-1, 2),
        None if scores is None else torch.tensor(scores),
    )


def target_batch(
    left: list[int], table: torch.Tensor, rows: list[int], negative_mask: torch.Tensor | None = None
) -> PairBatch:
    """Make a batch into a frozen space; `right`, `dissimilar` and the batch's mask are not read."""
    positions = torch.tensor(left, dtype=torch.long)
    mask = torch.zeros(len(rows), len(table)).bool() if negative_mask is None else negative_mask
    targets = Targets(table, torch.tensor(rows, dtype=torch.long), lambda: mask)
    return PairBatch(positions, positions, torch.ones(9, 9).bool(), NONE, None, targets)


def check_zero(loss: tuple[torch.Tensor, ...], embeddings: torch.Tensor) -> None:
    """The loss and its terms are 0, and so is the gradient, which is there."""
    assert [term.item() for term in loss] == [0, 0, 0]
    loss[0].backward()
    assert embeddings.grad is not None and not embeddings.grad.any()


def check_pulled_apart(embeddings: torch.Tensor, table: torch.Tensor) -> None:
    """A step against the gradient brings collapsed embeddings closer to their own targets."""
    assert embeddings.grad is not None
    after = torch.nn.functional.normalize(embeddings - 5 * embeddings.grad)
    before = torch.nn.functional.normalize(embeddings)
    assert ((after * table).sum(1) > (before * table).sum(1)).all()
    assert (after @ after.T)[~torch.eye(len(table)).bool()].max() < 0.999
