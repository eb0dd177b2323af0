"""The variants of stage 4 that the experiment `feedback` compares.

A variant says where it differs from stage 4c of the pipeline; whatever it does not name is as
`params.yaml` has it. Variants `3`, `4` and `4c` are those stages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Variant:
    """How a model's pairs and training differ from those of stage 4c.

    Attributes:
        verdicts: which are known.
        corrections: whether corrected occupations are learned from.
        rejections: whether pairs called wrong are learned from.
        share: of feedback in the similar pairs; None as in `pairs.shares`.
        outranked: mined pairs that a verdict calls wrong; None as in `pairs.outranked`.
        noise: share of the verdicts that are flipped, and of the corrections that are random.
        repeated_base: whether base pairs, repeated, stand where feedback would.
        in_class: whether judged inputs of one right occupation are paired with each other.
        only_feedback: whether all other pairs are left out.
        steps: share of `train.max_steps`; below 1 the weights of model 3 are trained on, with the
            learning rate times this share, as in the last part of a linear schedule.
        weight_of_3: of model 3's weights in the mean with those trained on from it, which are the
            network then (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models", eq. 1).
    """

    verdicts: Literal["all", "right", "wrong", "none"] = "all"
    corrections: bool = True
    rejections: bool = True
    share: float | None = None
    outranked: Literal["dropped", "kept"] | None = None
    noise: float = 0.0
    repeated_base: bool = False
    in_class: bool = False
    only_feedback: bool = False
    steps: float = 1.0
    weight_of_3: float = 0.0


VARIANTS = {
    "3": Variant(verdicts="none"),
    "4": Variant(corrections=False),
    "4c": Variant(),
    "right_only": Variant(verdicts="right", corrections=False),
    "wrong_only": Variant(verdicts="wrong", corrections=False),
    "corrections_only": Variant(verdicts="wrong", rejections=False),
    "no_rejections": Variant(rejections=False),
    "share_05": Variant(share=0.05),
    "share_50": Variant(share=0.5),
    "outranked_kept": Variant(outranked="kept"),
    "diluted": Variant(verdicts="none", repeated_base=True),
    "noisy_10": Variant(noise=0.1),
    "noisy_30": Variant(noise=0.3),
    "continued": Variant(verdicts="none", steps=1 / 3),
    "fine_tuned": Variant(steps=1 / 3),
    "averaged": Variant(steps=1 / 3, weight_of_3=0.5),
    "fine_tuned_kept": Variant(outranked="kept", steps=1 / 3),
    "averaged_kept": Variant(outranked="kept", steps=1 / 3, weight_of_3=0.5),
    "fine_tuned_4": Variant(corrections=False, steps=1 / 3),
    "averaged_4": Variant(corrections=False, steps=1 / 3, weight_of_3=0.5),
    "fine_tuned_feedback_only": Variant(steps=1 / 3, only_feedback=True),
    "union": Variant(in_class=True),
}
CONTROL = "3"
