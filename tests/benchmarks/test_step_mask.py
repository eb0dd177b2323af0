"""The per-step mask: without dropout it is PyTorch's LSTM, with it neither that nor itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from benchmarks.step_mask import StepMaskEncoder, backwards
from models.encoders.recurrent import RecurrentEncoder, RecurrentSettings

SETTINGS = RecurrentSettings("fast", 12, 5, 3, 4, 6, 0.0, 0.0)
LENGTHS = torch.tensor([3, 9, 1, 9, 5])


def pair(settings: RecurrentSettings) -> tuple[RecurrentEncoder, StepMaskEncoder, torch.Tensor]:
    """Both encoders with the same weights, in training, and a padded batch."""
    torch.manual_seed(1)
    fused, loop = RecurrentEncoder(settings, [20]), StepMaskEncoder(settings, [20])
    loop.load_state_dict(fused.state_dict())
    ids = torch.randint(1, 20, (5, 9)) * (torch.arange(9) < LENGTHS[:, None])
    return fused.train(), loop.train(), ids


@pytest.mark.parametrize("mode", ["fast", "paper"])
def test_without_dropout_embeddings_and_gradients_are_the_same(mode: str) -> None:
    fused, loop, ids = pair(replace(SETTINGS, mode=mode))  # type: ignore[arg-type]
    embeddings = []
    for encoder in (fused, loop):
        torch.manual_seed(2)  # places in the window are drawn
        embeddings.append(encoder(ids, LENGTHS))
        embeddings[-1][:, 0].sum().backward()
    torch.testing.assert_close(embeddings[1], embeddings[0], rtol=0, atol=1e-5)
    for one, other in zip(loop.parameters(), fused.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=0, atol=1e-5)


def test_the_mask_is_drawn_in_training_only() -> None:
    fused, loop, ids = pair(replace(SETTINGS, dropout_recurrent=0.5))
    assert not torch.allclose(loop(ids, LENGTHS), loop(ids, LENGTHS))
    torch.testing.assert_close(loop.eval()(ids, LENGTHS), fused.eval()(ids, LENGTHS))


def test_a_single_step_has_no_state_to_mask() -> None:
    """h(0) is zero, so strings of one character are the same whatever the dropout."""
    _, loop, ids = pair(replace(SETTINGS, dropout_recurrent=0.5))
    ones = torch.ones_like(LENGTHS)
    torch.testing.assert_close(loop(ids[:, :1], ones), loop(ids[:, :1], ones))


def test_backwards() -> None:
    """Lengths 2 and 3 of 3: steps 1, 0 and the padding; steps 2, 1, 0."""
    assert backwards(torch.tensor([2, 3]), 3).tolist() == [[1, 0, 2], [2, 1, 0]]
