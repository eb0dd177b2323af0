"""The contrastive loss: by loop and by finite differences."""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shapes import checked

from models.losses.contrastive import (
    ContrastiveSettings,
    contrastive,
    contrastive_loss,
    hardest,
)
from models.network.loss import PairBatch

PENALTIES = ("printed", "flipped", "hinge")


def by_loop(
    similarity: list[float], similar: list[bool], dissimilar: list[bool], s: ContrastiveSettings
) -> float:
    def cost(e: float) -> float:
        if s.penalty == "hinge":
            return max(0.0, e - s.margin) ** 2
        return e * e if (e < s.margin if s.penalty == "printed" else e > s.margin) else 0.0

    alike = [(1 - e) ** 2 for e, counts in zip(similarity, similar, strict=True) if counts]
    apart = [cost(e) for e, counts in zip(similarity, dissimilar, strict=True) if counts]
    pull, push = (sum(costs) / max(1, len(costs)) for costs in (alike, apart))
    return s.weight_similar * pull + s.weight_dissimilar * push


ROW = st.tuples(st.floats(-1, 1), st.sampled_from([(1, 0), (0, 1), (0, 0)]))


@pytest.mark.thorough
@given(st.lists(ROW, min_size=1, max_size=12), st.sampled_from(PENALTIES), st.floats(-0.9, 0.9))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_equals_the_loop(loss_settings, rows, penalty, margin) -> None:
    settings = loss_settings(penalty=penalty, margin=margin)
    similarity = [e for e, _ in rows]
    similar, dissimilar = ([bool(m[i]) for _, m in rows] for i in (0, 1))
    loss = checked(contrastive_loss)(
        torch.tensor(similarity, dtype=torch.float64),
        torch.tensor(similar),
        torch.tensor(dissimilar),
        settings,
    )
    expected = by_loop(similarity, similar, dissimilar, settings)
    assert loss.total.item() == pytest.approx(expected, abs=1e-12)
    assert loss.total.item() >= 0


def batch_of_two_occupations() -> tuple[torch.Tensor, PairBatch]:
    """Put 0, 1 into one occupation, 2, 3 into another, 4 into an unknown one; 0 and 4 rejected."""
    torch.manual_seed(5)
    negative_mask = torch.zeros(5, 5, dtype=torch.bool)
    negative_mask[:2, 2:4] = negative_mask[2:4, :2] = True
    negative_mask[0, 4] = negative_mask[4, 0] = True
    pairs = torch.tensor([[0, 1], [2, 3]])
    return torch.randn(5, 6, dtype=torch.float64), PairBatch(
        pairs[:, 0], pairs[:, 1], negative_mask, torch.tensor([[0, 4]])
    )


@pytest.mark.parametrize("negatives", ["pairs", "batch", "hardest"])
def test_the_batch_against_a_loop(negatives: str) -> None:
    """Count the rejected pair in each; of the others the closest one of each row, if mined."""
    embeddings, batch = batch_of_two_occupations()
    settings = ContrastiveSettings("hinge", -0.9, 0.25, 2.0, negatives, 1)  # type: ignore[arg-type]
    rows = embeddings / embeddings.norm(dim=1, keepdim=True)
    cosine = (rows @ rows.T).tolist()
    alike = [(1 - cosine[0][1]) ** 2, (1 - cosine[2][3]) ** 2]
    named = {(i, j) for i in range(5) for j in range(5) if batch.negative_mask[i, j]}
    rejected = {(0, 4), (4, 0)}
    if negatives == "pairs":
        wanted = [(0, 4)]
    elif negatives == "batch":
        wanted = sorted(named)
    else:
        others = {i: [j for _, j in sorted(named - rejected) if _ == i] for i in range(4)}
        wanted = sorted(
            rejected | {(i, max(js, key=lambda j: cosine[i][j])) for i, js in others.items()}
        )
    negative_mask = [max(0.0, cosine[i][j] + 0.9) ** 2 for i, j in wanted]
    expected = 0.25 * sum(alike) / len(alike) + 2.0 * sum(negative_mask) / len(negative_mask)
    assert contrastive(embeddings, batch, settings).total.item() == pytest.approx(expected)


@pytest.mark.parametrize("negatives", ["pairs", "batch", "hardest"])
def test_length_says_nothing_and_gradients_are_right(negatives: str) -> None:
    embeddings, batch = batch_of_two_occupations()
    settings = ContrastiveSettings("hinge", -0.9, 0.25, 2.0, negatives, 1)  # type: ignore[arg-type]

    def total(rows: torch.Tensor) -> torch.Tensor:
        return contrastive(rows, batch, settings).total

    torch.testing.assert_close(total(embeddings), total(embeddings * torch.rand(5, 1) * 9))
    assert torch.autograd.gradcheck(total, embeddings.requires_grad_())


@given(st.integers(1, 7), st.integers(1, 9), st.integers(0, 10**6))
def test_hardest_equals_a_sort_of_each_row(size: int, count: int, seed: int) -> None:
    """Rows with fewer than `count` keep all; the choice has no gradient."""
    generator = torch.Generator().manual_seed(seed)
    similarity = (torch.rand(size, size, generator=generator) * 2 - 1).requires_grad_()
    dissimilar = torch.rand(size, size, generator=generator) < 0.5
    kept = checked(hardest)(similarity, dissimilar, count)
    assert not kept.requires_grad
    for row in range(size):
        candidates = [c for c in range(size) if dissimilar[row, c]]
        closest = sorted(candidates, key=lambda c: -similarity[row, c].item())[:count]
        assert kept[row].nonzero().flatten().tolist() == sorted(closest)


def test_of_equal_similarities_as_many_as_asked() -> None:
    dissimilar = ~torch.eye(6, dtype=torch.bool)
    kept = hardest(torch.zeros(6, 6), dissimilar, 2)
    assert (kept.sum(1) == 2).all() and (kept <= dissimilar).all()
