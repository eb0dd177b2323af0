"""The sentence encoder tuned on the pairs of the mix `extra_words`, with the network's own loss.

AdamW (Loshchilov and Hutter 2019) at a rate that rises over the first steps and falls to 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from models.network.kinds import kind_of, loss_parts
from models.network.loss import LossSettings
from models.reproducibility.progress import Progress
from models.training.batches import Pairs, TitleBatches
from models.training.strings import Strings
from tasks.pipeline.teacher.params import TuningParams
from tasks.pipeline.teacher.sentence_encoder import SentenceEncoder

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

RISING = 20  # steps on which the learning rate rises
CLIP_NORM, WEIGHT_DECAY = 1.0, 0.01
AT_ONCE = 64
"""Titles of like length that are embedded at once, so that a batch holds little padding."""


def tune(
    encoder: SentenceEncoder,
    strings: Strings,
    pairs: Pairs,
    loss: LossSettings,
    params: TuningParams,
    seed: int,
) -> None:
    """Change the encoder's weights.

    `params`: section `teacher.tuning`.

    Raises:
        ValueError: the loss trains into the space of a reference model.
    """
    if loss.needs_targets:
        raise ValueError(
            f"the loss {kind_of(loss)} trains into the space of a reference model, where no "
            "sentence encoder can be tuned to: set teacher.tuning.steps to 0"
        )
    parameters = [*encoder.model.parameters()]
    optimizer = torch.optim.AdamW(parameters, params.learning_rate, weight_decay=WEIGHT_DECAY)
    batches = TitleBatches(
        strings,
        pairs,
        params.pairs,
        seed,
        torch.device("cpu"),
        reads_dissimilar=loss.reads_dissimilar,
    )
    function = loss_parts(kind_of(loss))[1]
    progress = Progress("teacher: steps of tuning", params.steps)
    for step in range(params.steps):
        rate = min(1, (step + 1) / RISING) * (1 - step / params.steps)
        for group in optimizer.param_groups:
            group["lr"] = params.learning_rate * rate
        rows, batch = batches(step)
        titles = [strings.titles[row] for row in rows.tolist()]
        value = function(_embedded(encoder, titles), batch, loss)
        optimizer.zero_grad()
        value.total.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, CLIP_NORM)
        optimizer.step()
        progress(step + 1)


def _embedded(encoder: SentenceEncoder, titles: list[str]) -> Float[Tensor, "title dim"]:
    """Embed titles block by block, sorted by length; rows in the order of the titles."""
    order = torch.tensor([len(title) for title in titles]).argsort(stable=True)
    blocks = [
        encoder.embed([titles[row] for row in block]) for block in torch.split(order, AT_ONCE)
    ]
    return torch.cat(blocks)[order.argsort()]
