"""The variants of mixes 4 and 4c that this study compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Variant:
    """How a network's pairs and training differ from those of mix 4c.

    Attributes:
        verdicts: which are known.
        most: how many are, drawn by the seed of training; None for all.
        opinions: what is judged, by whom (`opinions.py`).
        noise: share of the verdicts that say the opposite.
        corrections: whether corrected occupations are learned from.
        rejections: whether pairs called wrong are learned from.
        share: of the similar pairs that are feedback's; None as in `pairs`, where it is bounded by
            the number of verdicts.
        outranked: mined pairs that a verdict calls wrong; None as in `pairs.outranked`.
        union: whether judged inputs of one right occupation are pairs as well.
        others: pairs beside feedback's: those of mix 3, none, or those of mix 3 and in the place of
            feedback's as many of its base pairs once more.
        steps: share of `train.max_steps`; below 1 the weights of model 3 are trained on, with the
            learning rate times this share, as in the last part of a linear schedule.
        weight_of_3: of model 3's weights in the mean with those trained on from it, which are the
            network then (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models", eq. 1).
    """

    verdicts: Literal["all", "right", "wrong", "none"] = "all"
    most: int | None = None
    opinions: Literal["pipeline", "matcher", "titles"] = "pipeline"
    noise: float = 0.0
    corrections: bool = True
    rejections: bool = True
    share: float | None = None
    outranked: Literal["dropped", "kept"] | None = None
    union: bool = False
    others: Literal["mix 3", "none", "repeated"] = "mix 3"
    steps: float = 1.0
    weight_of_3: float = 0.0


THIRD = 1 / 3
VARIANTS = {
    "3": Variant(verdicts="none"),
    "4": Variant(corrections=False),
    "4c": Variant(),
    # which verdicts: of the mixes with verdicts alone, as in the paper
    "right_only": Variant(verdicts="right", corrections=False),
    "wrong_only": Variant(verdicts="wrong", corrections=False),
    "corrections_only": Variant(verdicts="wrong", rejections=False),
    "no_rejections": Variant(rejections=False),
    # how much they weigh
    "share_05": Variant(corrections=False, share=0.05),
    "share_50": Variant(corrections=False, share=0.5),
    "diluted": Variant(corrections=False, others="repeated"),
    "outranked_kept": Variant(corrections=False, outranked="kept"),
    # how good they are, and who gave them of what
    "noisy_10": Variant(corrections=False, noise=0.1),
    "noisy_30": Variant(corrections=False, noise=0.3),
    "of_matcher": Variant(corrections=False, opinions="matcher"),
    "by_titles": Variant(corrections=False, opinions="titles"),
    "union": Variant(corrections=False, union=True),
    # how they are learned
    "continued": Variant(verdicts="none", steps=THIRD),
    "fine_tuned": Variant(steps=THIRD),
    "averaged": Variant(steps=THIRD, weight_of_3=0.5),
    "fine_tuned_kept": Variant(outranked="kept", steps=THIRD),
    "averaged_kept": Variant(outranked="kept", steps=THIRD, weight_of_3=0.5),
    "fine_tuned_4": Variant(corrections=False, steps=THIRD),
    "averaged_4": Variant(corrections=False, steps=THIRD, weight_of_3=0.5),
    "feedback_alone": Variant(others="none", steps=THIRD),
}
CONTROL = "3"
COUNTED = "verdicts_"


def variant(name: str) -> Variant:
    """Return the variant of a name; `verdicts_30` is 4c with so many verdicts, or all there are.

    Raises:
        ValueError: there is none of that name.
    """
    number = name.removeprefix(COUNTED)
    if name.startswith(COUNTED) and number.isdecimal():
        return Variant(most=int(number))
    if name not in VARIANTS:
        raise ValueError(f"no variant {name!r}; choose {', '.join(VARIANTS)}, {COUNTED}NUMBER")
    return VARIANTS[name]
