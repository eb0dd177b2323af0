"""Dropout, padding, titles without a known unit, the units that a kind reads, refused settings."""

from dataclasses import replace

import pytest
import torch
from encoder_checks import ATTENTIVE, BAG, CONVOLUTION, ROWS, SMALL_RECURRENT, padded
from torch.nn import functional

from models.encoders.word_average import WordAverageSettings
from models.network.encoder import Encoder, EncoderSettings
from models.network.kinds import encoder_class, kind_of
from models.text.units import UnitSettings

LINEAR_BAG, AVERAGE = replace(BAG, bias=False), WordAverageSettings(20, 2, 4)
RECURRENT = replace(SMALL_RECURRENT, dropout_recurrent=0.0)


def encoder_of(settings: EncoderSettings) -> Encoder:
    torch.manual_seed(3)
    return encoder_class(kind_of(settings))(settings, [9])


@pytest.mark.parametrize(
    ("settings", "changes", "drops"),
    [
        *((s, {"dropout": p}, p > 0) for s in (ATTENTIVE, CONVOLUTION) for p in (0.0, 0.5)),
        (RECURRENT, {"dropout_recurrent": 0.5}, True),
        # between layers where there is a between
        *((RECURRENT, {"layers": n, "dropout_between": 0.5}, n > 1) for n in (1, 2)),
    ],
)
def test_dropout_in_training_only(settings, changes, drops) -> None:
    """In training two calls differ if it drops, in evaluation they never do; weights stay."""
    encoder = encoder_of(replace(settings, **changes))
    batch, before = padded(ROWS), {k: v.clone() for k, v in encoder.state_dict().items()}
    quiet = encoder.eval()(*batch)
    assert torch.equal(encoder(*batch), quiet)
    encoder.train()
    assert torch.equal(encoder(*batch), encoder(*batch)) != drops
    assert all(torch.equal(v, before[k]) for k, v in encoder.state_dict().items())
    assert torch.equal(encoder.eval()(*batch), quiet)


@pytest.mark.parametrize(
    ("settings", "table"), [(CONVOLUTION, "characters"), (BAG, "ngrams"), (AVERAGE, "words")]
)
def test_the_vector_of_padding_stays_zero(settings: EncoderSettings, table: str) -> None:
    """Give short strings, which look at it: no step of training moves it, and each moves others."""
    encoder = encoder_of(settings).train()
    rows = getattr(encoder, table).weight
    before = rows.detach().clone()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.1, weight_decay=0.1)
    for _ in range(3):
        encoder(*padded([*ROWS, [1], [2, 3], [0]])).square().sum().backward()
        optimizer.step()
    assert not rows[0].any()
    assert (rows != before).any(1).tolist() == [False] + [True] * 8


@pytest.mark.parametrize("settings", [BAG, LINEAR_BAG, AVERAGE])
def test_a_title_without_a_known_unit(settings: EncoderSettings) -> None:
    """Expect tanh(b), which is no vector of zeros, and without b one of zeros.

    The gradient of the unit norm is 1e12 at zeros; there is nothing there that it could move.
    """
    encoder = encoder_of(settings)
    embeddings = encoder(*padded([[0], [2, 3]]))
    bias = getattr(encoder, "bias", None)
    torch.testing.assert_close(embeddings[0], torch.zeros(4) if bias is None else bias.tanh())
    assert (embeddings[0].norm() > 0) == (settings is BAG)
    functional.normalize(embeddings, dim=1).sum().backward()
    assert all(parameter.grad.abs().max() < 1e3 for parameter in encoder.parameters())


@pytest.mark.parametrize(
    ("settings", "units"),
    [
        (ATTENTIVE, UnitSettings("word", 8, min_count=2)),
        (replace(ATTENTIVE, unit="character", max_length=50), UnitSettings("character", 50)),
        (
            replace(BAG, orders=(3, 5), max_length=30, min_count=2, most=1000),
            UnitSettings("ngram", 30, orders=(3, 5), min_count=2, most=1000, buckets=0),
        ),
        (RECURRENT, UnitSettings("character", 24)),
        (AVERAGE, UnitSettings("word", 20, min_count=2)),
    ],
)
def test_the_units_that_a_kind_reads(settings: EncoderSettings, units: UnitSettings) -> None:
    assert encoder_class(kind_of(settings)).units(settings) == (units,)


@pytest.mark.parametrize(
    ("settings", "changes", "message"),
    [
        (ATTENTIVE, {"unit": "ngram"}, "unit = 'ngram'; choose character or word"),
        (ATTENTIVE, {"max_length": 0}, "max_length = 0 words; choose 1 to 1000"),
        (ATTENTIVE, {"unit": "character", "max_length": 3}, "3 characters; choose 4 to 1000"),
        (ATTENTIVE, {"pooling": "sum"}, "pooling = 'sum'; choose attention, last, mean or max"),
        (ATTENTIVE, {"min_count": 0}, "min_count = 0; choose 1 or more"),
        (ATTENTIVE, {"dropout": 1.0}, "dropout = 1.0; choose 0 or more, below 1"),
        (CONVOLUTION, {"widths": (), "filters": ()}, "give a count of filters for each width"),
        (CONVOLUTION, {"widths": (2, 2, 4)}, "choose different widths, and all 1 or more"),
        (CONVOLUTION, {"widths": (0, 2, 4)}, "choose different widths, and all 1 or more"),
        (CONVOLUTION, {"widths": (1, 2, 9)}, "choose widths up to max_length = 8"),
        (CONVOLUTION, {"fully_connected": "none", "dropout": 0.2}, "set dropout to 0"),
        (BAG, {"orders": ()}, r"orders = \(\)"),
        (BAG, {"orders": (2, 2)}, "each length once"),
        (BAG, {"orders": (0, 2)}, "choose from 1 to max_length"),
        (BAG, {"orders": (2, 8), "max_length": 5}, r"max_length \+ 2 = 7"),
        (BAG, {"most": -1}, "most = -1; choose 0 or more"),
        (BAG, {"buckets": 100, "min_count": 2}, r"min_count to 1 \(is 2\)"),
        (BAG, {"buckets": 100, "most": 5}, r"most to 0 \(is 5\)"),
        *(
            (RECURRENT, {"max_length": n}, f"max_length = {n}; choose 4 to 1000 characters")
            for n in (3, 1001)
        ),
    ],
)
def test_impossible_settings(settings, changes, message) -> None:
    with pytest.raises(ValueError, match=message):
        replace(settings, **changes)
