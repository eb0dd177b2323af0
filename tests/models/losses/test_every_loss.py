"""Every loss in the collapse, the batches that a loss cannot read, and refused settings."""

import math
from typing import get_args

import pytest
import torch
from loss_cases import NONE, check_pulled_apart, pair_batch, target_batch

from models.losses import contrastive, frozen_margin, info_nce, margin, regression
from models.losses import von_mises_fisher as vmf
from models.network.kinds import kind_of, loss_parts
from models.network.loss import LossSettings, PairBatch

Contrastive, InfoNce = contrastive.ContrastiveSettings, info_nce.InfoNceSettings
Margin, Frozen = margin.MarginSettings, frozen_margin.FrozenMarginSettings
Regression, VonMisesFisher = regression.RegressionSettings, vmf.VonMisesFisherSettings
INTO_A_SPACE = [Frozen(0.5, negatives, 5) for negatives in get_args(frozen_margin.Negatives)]
INTO_A_SPACE += [VonMisesFisher(0.0)]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        *(
            (Contrastive("printed", 0.2, 0.25, 4.0, "batch", 1), 0.0),
            (InfoNce(0.1, True), 1.609438),
        ),
        (Contrastive("flipped", 0.2, 0.25, 4.0, "batch", 1), 4.0),
        (Contrastive("hinge", 0.2, 0.25, 4.0, "hardest", 1), 2.56),
        *((Margin(0.4, negatives), 0.4) for negatives in get_args(margin.Negatives)),
        *((Regression("exp_manhattan"), 0.5), (Regression("cosine"), 0.5)),
    ],
    ids=str,
)
def test_the_exact_collapse_is_a_stationary_point(settings: LossSettings, expected: float) -> None:
    """Make all embeddings equal: similarities are 1, at their maximum, so the gradient is zero.

    Contrastive: E² = 1 flipped, (E - 0.2)² = 0.64 hinge, each times 4; `printed` costs nothing.
    InfoNCE: log(1 + 4) for four negatives a string. Margin: δ - 1 + 1 = δ. Regression: the
    similar pair costs nothing, the dissimilar one 1, of 2.
    """
    apart = torch.zeros(6, 6, dtype=torch.bool)
    apart[:2, 2:] = True
    embeddings = torch.tensor([[3.0, 4.0, 0.0]] * 6, dtype=torch.float64, requires_grad=True)
    batch = pair_batch([(0, 1)], apart, [(0, 2)])
    total = loss_parts(kind_of(settings))[1](embeddings, batch, settings).total
    assert total.item() == pytest.approx(expected)
    total.backward()
    assert embeddings.grad is not None and embeddings.grad.abs().max() < 1e-12


@pytest.mark.parametrize("settings", INTO_A_SPACE, ids=str)
def test_targets_pull_a_collapsed_network_apart(settings: LossSettings) -> None:
    """Make all embeddings equal, targets on three axes, which do not move.

    A step against the gradient brings each embedding closer to its own target, and the embeddings
    away from each other.
    """
    torch.manual_seed(0)
    table = torch.eye(4, dtype=torch.float64)[:3]
    embeddings = torch.tensor([[1.0, 2.0, 1.5, 3.0]] * 3, dtype=torch.float64, requires_grad=True)
    batch = target_batch([0, 1, 2], table, [0, 1, 2], ~torch.eye(3).bool())
    loss_parts(kind_of(settings))[1](embeddings, batch, settings).total.backward()
    check_pulled_apart(embeddings, table)


SCORED = PairBatch(*torch.tensor([[0], [1]]), torch.ones(2, 2).bool(), NONE, torch.tensor([0.1]))


@pytest.mark.parametrize(
    ("settings", "batch", "message"),
    [
        (
            INTO_A_SPACE[0],
            pair_batch([(0, 1)], torch.eye(2).bool()),
            "frozen_margin needs `targets`",
        ),
        (INTO_A_SPACE[-1], SCORED, "von_mises_fisher needs `targets`"),
        (InfoNce(0.1, False), SCORED, "scored pairs may not be similar; choose a loss"),
        (INTO_A_SPACE[-1], target_batch([0], torch.ones(1, 1), [0]), "order = -0.5: choose 0 or"),
    ],
    ids=["frozen margin", "von Mises-Fisher", "InfoNCE", "one dimension"],
)
def test_a_batch_that_a_loss_cannot_read(settings, batch, message) -> None:
    with pytest.raises(ValueError, match=message):
        loss_parts(kind_of(settings))[1](torch.ones(2, 1), batch, settings)


@pytest.mark.parametrize(
    ("settings", "values", "message"),
    [
        (
            Contrastive,
            ("soft", 0.2, 1.0, 1.0, "pairs", 1),
            "'soft'; choose printed, flipped, hinge",
        ),
        (Frozen, (0.0, "random", 5), r"margin = 0.0: choose above 0"),
        (Frozen, (0.5, "max", 5), "'max'; choose projection, difference, random, most_informative"),
        (Frozen, (0.5, "random", 0), "draws = 0: choose 1 or more"),
        *((InfoNce, (t, True), f"temperature is {t}; it has to be") for t in (0.0, -1.0, math.nan)),
        (Margin, (0, "max"), r"margin = 0: choose above 0"),
        (Margin, (0.4, "hard"), "'hard'; choose random, max, mix, semihard"),
        (Regression, ("dot",), "'dot'; choose exp_manhattan, cosine"),
        *((VonMisesFisher, (p,), rf"norm_penalty = {p}: 0 or more") for p in (-0.1, 1.0)),
    ],
)
def test_impossible_settings(settings: type, values: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        settings(*values)
