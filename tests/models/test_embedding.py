"""Embedding in bulk: the order is kept, blocks do not show, nothing gives nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from shapes import checked

from models import embedding
from models.embedding import embed_titles
from models.featurizer import CharacterFeaturizer
from models.recurrent import RecurrentEncoder, RecurrentSettings

TITLES = ["java developer", "b", "", "baker", "b", "nurse (night) " * 9]


@pytest.mark.parametrize("mode", ["fast", "paper"])
def test_equals_one_title_at_a_time(
    monkeypatch: pytest.MonkeyPatch, encoder_settings: Callable[..., RecurrentSettings], mode: str
) -> None:
    featurizer = CharacterFeaturizer.fit(TITLES[:4], 24)
    torch.manual_seed(0)
    encoder = RecurrentEncoder(encoder_settings(mode=mode), featurizer.vocabulary_size).train()
    monkeypatch.setattr(embedding, "BATCH", 4)
    found = checked(embed_titles)(encoder, featurizer, TITLES)
    assert not encoder.training
    for row, title in zip(found, TITLES, strict=True):
        characters = featurizer([title])
        alone = encoder(torch.from_numpy(characters.ids), torch.from_numpy(characters.lengths))
        torch.testing.assert_close(row, alone[0].detach(), atol=1e-5, rtol=0)
    assert embed_titles(encoder, featurizer, []).shape == (0, 12)
