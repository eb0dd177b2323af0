"""Embedding in bulk: the order is kept, blocks do not show, nothing gives nothing."""

import pytest
import torch
from shapes import checked

from models.network import embedding
from models.network.embedding import FeaturizedStrings, embed_titles
from models.network.kinds import fit_featurizer, make_encoder
from models.text.featurizer import Featurizer
from models.text.units import UnitSettings

CPU = torch.device("cpu")
TITLES = ["java developer", "b", "", "baker", "b", "nurse (night) " * 9]


@pytest.mark.parametrize("mode", ["fast", "paper"])
def test_equals_one_title_at_a_time(monkeypatch, encoder_settings, mode) -> None:
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


def test_batches_are_cut_to_their_longest() -> None:
    """Each stream to its own: characters (at most 4 are read) and words."""
    titles = ["a", "abc", "abcde", ""]
    featurizer = Featurizer.fit(titles, [UnitSettings("character", 4), UnitSettings("word", 4)])
    strings = FeaturizedStrings(titles, featurizer, CPU)
    assert {flat.dtype for flat, _, _ in strings.streams} == {torch.uint8}
    ids, lengths, words, counts = strings.batch(torch.tensor([1, 0]))
    assert ids.tolist() == [[2, 3, 4], [2, 0, 0]]
    assert ids.dtype == torch.int64
    assert lengths.tolist() == [3, 1]
    assert words.tolist() == [[3], [2]]
    assert counts.tolist() == [1, 1]
    assert strings.lengths.tolist() == [1, 3, 4, 1]
    ids, lengths, *_ = strings.batch(torch.tensor([], dtype=torch.long))
    assert (ids.shape, lengths.shape) == ((0, 1), (0,))


def test_an_alphabet_past_one_byte_keeps_its_ids() -> None:
    letters = "".join(chr(0x4E00 + i) for i in range(300))
    featurizer = Featurizer.fit([letters], [UnitSettings("character", 400)])
    flat, _, _ = FeaturizedStrings([letters], featurizer, CPU).streams[0]
    assert flat.dtype == torch.int32
    assert flat.tolist() == list(range(2, 302))
