"""Tables in bytes and half bytes: what they lose, what is packed, and how it is read again."""

import pytest
import torch
from tiny_run import network

from models.network.quantization import SCALE, Precision, pack, packed, unpacked, widened


@pytest.mark.parametrize(("precision", "largest"), [("byte", 127), ("half_byte", 7)])
def test_a_number_is_off_by_half_a_step_at_most(precision: Precision, largest: int) -> None:
    table = torch.randn(200, 16, generator=torch.Generator().manual_seed(1))
    table[3] = 0
    packed_table, scales = pack(table, precision)
    whole = widened(packed_table)
    assert (whole.dtype, whole.abs().max().item()) == (torch.int8, largest)
    assert ((whole * scales - table).abs() <= scales / 2 + 1e-7).all()
    assert not whole[3].any() and not scales[3].any()


@pytest.mark.parametrize("precision", ["byte", "half_byte"])
def test_what_is_packed_again_stays_as_it_is(precision: Precision) -> None:
    """So a model that was trained into the space of such a one meets its very embeddings."""
    table = torch.randn(50, 8, generator=torch.Generator().manual_seed(2))
    kept, scales = pack(table, precision)
    again, _ = pack(widened(kept) * scales, precision)
    assert again.equal(kept)


def test_two_numbers_a_byte() -> None:
    """The first half of a row below, the second above; no pair is like another."""
    low, high = torch.meshgrid(torch.arange(-7, 8), torch.arange(-7, 8), indexing="ij")
    pairs = torch.stack([low.flatten(), high.flatten()], dim=1)
    row = torch.cat([pairs[:, 0], pairs[:, 1]])[None].float()  # its largest is 7: the scale is 1
    kept, scales = pack(row, "half_byte")
    assert (kept.dtype, kept.shape, len(kept.unique())) == (torch.uint8, (1, 225), 225)
    assert scales.item() == 1 and widened(kept).equal(row.to(torch.int8))
    assert pack(torch.tensor([[-7.0, 0, 1, 7]]), "half_byte")[0].tolist() == [[145, 248]]
    with pytest.raises(ValueError, match="rows of 3 numbers cannot be halved"):
        pack(torch.zeros(2, 3), "half_byte")


@pytest.mark.parametrize(("precision", "dtype"), [("byte", torch.int8), ("half_byte", torch.uint8)])
def test_tables_alone_are_packed(precision: Precision, dtype: torch.dtype) -> None:
    _, encoder = network(1)
    weights, whole = encoder.state_dict(), packed(encoder, precision)
    tables = {name.removesuffix(SCALE) for name in whole if name.endswith(SCALE)}
    assert tables and all(whole[name].dtype == dtype for name in tables)
    read = unpacked(whole)
    assert read.keys() == weights.keys()
    for name, weight in weights.items():
        assert weight.equal(read[name]) == (name not in tables)
    assert unpacked(weights) == weights
