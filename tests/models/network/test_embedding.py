"""Embedding in bulk: the order is kept, blocks do not show, nothing gives nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from shapes import checked

from models.encoders.recurrent import RecurrentSettings
from models.network import embedding
from models.network.embedding import embed_titles
from models.network.kinds import fit_featurizer, make_encoder

TITLES = ["java developer", "b", "", "baker", "b", "nurse (night) " * 9]


@pytest.mark.parametrize("mode", ["fast", "paper"])
def test_equals_one_title_at_a_time(
    monkeypatch: pytest.MonkeyPatch, encoder_settings: Callable[..., RecurrentSettings], mode: str
) -> None:
    featurizer = fit_featurizer(TITLES[:4], encoder_settings())
    torch.manual_seed(0)
    encoder = make_encoder(encoder_settings(mode=mode), featurizer).train()
    monkeypatch.setattr(embedding, "BATCH", 4)
    together = checked(embed_titles)(encoder, featurizer, TITLES)
    assert not encoder.training
    for row, title in zip(together, TITLES, strict=True):
        (ids,) = featurizer([title]).streams
        alone = encoder(torch.from_numpy(ids.padded()), torch.from_numpy(ids.lengths))[0].detach()
        torch.testing.assert_close(row, alone / alone.norm(), atol=1e-5, rtol=0)
    assert embed_titles(encoder, featurizer, []).shape == (0, 12)
