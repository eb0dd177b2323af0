"""The loss as a function of cosine similarity, the paper's Figure 2, with its three penalties."""

from __future__ import annotations

import torch
from matplotlib.axes import Axes

from models.contrastive import dissimilar_penalty
from tasks.reporting.drawing import BLUE, GREY, ORANGE, draw
from tasks.reporting.markup import Html, figure, join, paragraph, section, tag
from tasks.reporting.material import Material
from tasks.sections import LossParams

PENALTIES = {
    "printed": "E² below the margin, as equation 13 is printed: pairs that look most alike, the "
    "ones to push apart, cost nothing.",
    "flipped": "E² above the margin: the usual reading, with a jump at the margin.",
    "hinge": "(E − m)² above the margin: the same without the jump.",
}
POINTS = 401


def losses(material: Material) -> Html:
    """Section `losses`."""
    loss = material.params.train.loss
    return section(
        "losses",
        "What the loss asks for",
        paragraph(
            "The cost of one pair by its cosine similarity E (the paper's Figure 2). Similar pairs "
            f"(solid) are pulled towards 1, with the weight {loss.weight_similar:g}; dissimilar "
            f"ones (dashed) are pushed down, with the weight {loss.weight_dissimilar:g} and the "
            f"margin m = {loss.margin:g}. The model of this page was trained with ",
            tag("strong", loss.penalty),
            "; the others are its alternatives.",
        ),
        tag("div", *(_drawing(penalty, loss) for penalty in PENALTIES), class_="grid three"),
    )


def curves(penalty: str, loss: LossParams) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Similarity from −1 to 1 and the weighted cost of a similar and a dissimilar pair there."""
    similarity = torch.linspace(-1, 1, POINTS)
    similar = loss.weight_similar * (1 - similarity).square()
    dissimilar = loss.weight_dissimilar * dissimilar_penalty(similarity, penalty, loss.margin)
    return similarity, similar, dissimilar


def _drawing(penalty: str, loss: LossParams) -> Html:
    similarity, similar, dissimilar = (curve.numpy() for curve in curves(penalty, loss))
    highest = max(4 * loss.weight_similar, loss.weight_dissimilar, 1e-3)

    def plot(axes: Axes) -> None:
        axes.axvline(loss.margin, ymax=0.78, color=GREY, linestyle=":", linewidth=1)
        axes.plot(similarity, similar, "-", color=BLUE, label="similar")
        axes.plot(similarity, dissimilar, "--", color=ORANGE, label="dissimilar")
        axes.set_xlabel("cosine similarity E")
        axes.set_ylabel("weighted cost")
        axes.set_ylim(-0.03 * highest, 1.05 * highest)  # one scale for all three
        axes.legend(loc="upper center")

    meaning = f"cost of a similar and of a dissimilar pair by similarity, penalty {penalty}"
    drawing = draw(f"loss-{penalty}", meaning, plot, width=3.6, height=2.7)
    used = " (used)" if penalty == loss.penalty else ""
    return figure(drawing, join([tag("strong", penalty + used), f": {PENALTIES[penalty]}"]))
