"""The variants of mixes 4 and 4c that this study compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Variant:
    """How a network's pairs and training differ from those of mix 4c.

    Attributes:
        verdicts: whether any is known.
        most: how many are, drawn by the seed of training; None for all.
        corrections: whether corrected occupations are learned from.
        rejections: whether pairs called wrong are learned from.
        outranked: mined pairs that a verdict calls wrong; None as in `pairs.outranked`.
        steps: share of `train.max_steps`; below 1 the weights of model 3 are trained on, with the
            learning rate times this share, as in the last part of a linear schedule.
        weight_of_3: of model 3's weights in the mean with those trained on from it, which are the
            network then (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models", eq. 1).
    """

    verdicts: bool = True
    most: int | None = None
    corrections: bool = True
    rejections: bool = True
    outranked: Literal["dropped", "kept"] | None = None
    steps: float = 1.0
    weight_of_3: float = 0.0


THIRD = 1 / 3
VARIANTS = {
    "3": Variant(verdicts=False),
    "4": Variant(corrections=False),
    "4c": Variant(),
    "no_rejections": Variant(rejections=False),
    "continued": Variant(verdicts=False, steps=THIRD),
    "fine_tuned": Variant(steps=THIRD),
    "averaged": Variant(steps=THIRD, weight_of_3=0.5),
    "fine_tuned_kept": Variant(outranked="kept", steps=THIRD),
    "averaged_kept": Variant(outranked="kept", steps=THIRD, weight_of_3=0.5),
    "fine_tuned_4": Variant(corrections=False, steps=THIRD),
    "averaged_4": Variant(corrections=False, steps=THIRD, weight_of_3=0.5),
}
CONTROL = "3"
COUNTED = "verdicts_"


def counted(most: int) -> str:
    """Name mix 4c with so many verdicts, or all if there are fewer."""
    return f"{COUNTED}{most}"


def variant(name: str) -> Variant:
    """Return the variant of a name."""
    if name.startswith(COUNTED):
        return Variant(most=int(name.removeprefix(COUNTED)))
    return VARIANTS[name]
