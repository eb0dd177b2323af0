"""Tables in bytes: what they lose, what is packed, and how it is read again."""

from __future__ import annotations

import torch
from tiny_run import network

from tasks.artefact.byte_tables import SCALE, in_bytes, packed, unpacked


def test_a_number_is_off_by_half_a_step_at_most() -> None:
    table = torch.randn(200, 16, generator=torch.Generator().manual_seed(1))
    table[3] = 0
    whole, scales = in_bytes(table)
    assert (whole.dtype, whole.abs().max().item()) == (torch.int8, 127)
    assert ((whole * scales - table).abs() <= scales / 2 + 1e-7).all()
    assert not whole[3].any() and not scales[3].any()


def test_bytes_that_are_packed_again_stay_as_they_are() -> None:
    """So a model that was trained into the space of such a one meets its very embeddings."""
    table = torch.randn(50, 8, generator=torch.Generator().manual_seed(2))
    whole, scales = in_bytes(table)
    again, _ = in_bytes(whole * scales)
    assert again.equal(whole)


def test_tables_alone_are_packed() -> None:
    _, encoder = network(1)
    weights, whole = encoder.state_dict(), packed(encoder)
    tables = {name.removesuffix(SCALE) for name in whole if name.endswith(SCALE)}
    assert tables and all(whole[name].dtype == torch.int8 for name in tables)
    read = unpacked(whole)
    assert read.keys() == weights.keys()
    for name, weight in weights.items():
        assert weight.equal(read[name]) == (name not in tables)
    assert unpacked(weights) == weights
