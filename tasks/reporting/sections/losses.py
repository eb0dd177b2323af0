"""The loss as a function of cosine similarity, as Figure 2 of Neculoiu et al. 2016 draws it.

Any loss is drawn through its protocol: a batch of one similar pair and a third string apart from
both gives the cost of a similar pair, or of a dissimilar one, at every angle. Where a setting of
the loss is a choice between names, each of them is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from math import sqrt
from typing import TYPE_CHECKING, get_args, get_type_hints

import torch
from matplotlib.axes import Axes

from models.network.kinds import kind_of, loss_parts
from models.network.loss import LossSettings, PairBatch, Targets
from tasks.params.network import training_settings
from tasks.reporting.drawing import BLUE, ORANGE, draw
from tasks.reporting.markup import Html, figure, join, paragraph, section, tag
from tasks.reporting.material import Material

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

POINTS = 161


def losses(material: Material) -> Html:
    """Make section `losses`."""
    used = training_settings(material.params.network, material.params.train_seed).loss
    drawn = list(choices(used))
    others = "; drawn beside it is what another choice would ask for" if len(drawn) > 1 else ""
    mark = " (used)" if len(drawn) > 1 else ""
    return section(
        "losses",
        "What the loss asks for",
        paragraph(
            "The cost of a batch of one similar pair and one dissimilar string (the paper's "
            "Figure 2): by the cosine similarity of the similar pair while the other string is at "
            "a right angle (solid), and by that of the dissimilar string while the pair is one "
            "point (dashed). The model of this page was trained with ",
            tag("strong", kind_of(used)),
            f"{others}.",
        ),
        tag(
            "div",
            *(_drawing(name, choice, mark if choice == used else "") for name, choice in drawn),
            class_="grid three",
        ),
    )


def choices(used: LossSettings) -> Iterator[tuple[str, LossSettings]]:
    """Yield the settings with each value of their first choice between names, or as they are."""
    hints = get_type_hints(type(used))
    for field in fields(used):
        values = [value for value in get_args(hints[field.name]) if isinstance(value, str)]
        if values:
            for value in values:
                yield value, replace(used, **{field.name: value})
            return
    yield kind_of(used), used


def curves(settings: LossSettings) -> tuple[Tensor, Tensor, Tensor]:
    """Return similarity from −1 to 1, and the loss of a similar and of a dissimilar pair there."""
    similarity = torch.linspace(-1, 1, POINTS)
    similar = torch.stack([_cost(angle, 0.0, settings) for angle in similarity.tolist()])
    dissimilar = torch.stack([_cost(1.0, angle, settings) for angle in similarity.tolist()])
    return similarity, similar, dissimilar


def _cost(pair: float, third: float, settings: LossSettings) -> Float[Tensor, ""]:
    """Return the loss at cosine `pair` of the pair and `third` of anchor and third string."""
    embeddings = torch.tensor(
        [[1.0, 0, 0], [pair, sqrt(1 - pair**2), 0], [third, 0, sqrt(1 - third**2)]]
    )
    apart = torch.tensor([[False, False, True], [False, False, True], [True, True, False]])
    first = torch.tensor([0])
    targets = None
    if settings.needs_targets:
        targets = Targets(embeddings[1:], first, lambda: torch.tensor([[False, True]]))
    batch = PairBatch(first, first + 1, apart, torch.tensor([[0, 2]]), targets=targets)
    torch.manual_seed(0)
    return loss_parts(kind_of(settings))[1](embeddings, batch, settings).total


def _drawing(name: str, settings: LossSettings, mark: str) -> Html:
    similarity, similar, dissimilar = (curve.numpy() for curve in curves(settings))

    def plot(axes: Axes) -> None:
        axes.plot(similarity, similar, "-", color=BLUE, label="similar")
        axes.plot(similarity, dissimilar, "--", color=ORANGE, label="dissimilar")
        axes.set_xlabel("cosine similarity E")
        axes.set_ylabel("loss of the batch")
        axes.legend(loc="upper center")

    meaning = f"loss by the similarity of a similar and of a dissimilar pair, {name}"
    drawing = draw(f"loss-{name}", meaning, plot, width=3.6, height=2.7)
    return figure(drawing, join([tag("strong", name + mark)]))
