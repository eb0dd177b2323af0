"""The character LSTM against a loop, with its output gate and without."""

import numpy as np
import torch
from encoder_checks import ROWS, layers_by_loop, padded
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked

from models.encoders.char_lstm import OPEN, CharLstmEncoder, CharLstmSettings


def encoder_of(output_gate: bool) -> CharLstmEncoder:
    torch.manual_seed(3)
    shape = CharLstmSettings(max_length=8, dim_character=5, dim=4, output_gate=output_gate)
    return CharLstmEncoder(shape, [9]).eval()


@given(
    rows=st.lists(st.lists(st.integers(0, 8), min_size=1, max_size=8), min_size=1, max_size=5),
    output_gate=st.booleans(),
)
@settings(max_examples=40)
def test_equals_the_loop(rows: list[list[int]], output_gate: bool) -> None:
    """Take the last state over exactly the characters of each row; without the gate, o(t) is 1."""
    encoder = encoder_of(output_gate)
    embeddings = checked(CharLstmEncoder.forward)(encoder, *padded(rows)).detach().numpy()
    vectors = encoder.characters.weight.detach().double().numpy()
    expected = [layers_by_loop(encoder.lstm, vectors[row], output_gate)[-1] for row in rows]
    np.testing.assert_allclose(embeddings, expected, atol=1e-6)


def test_without_the_gate_its_weights_do_not_matter() -> None:
    """Keep them in the files; no gradient moves them. The open gate is 1 to the last bit."""
    assert torch.tensor(OPEN).sigmoid().item() == 1
    encoder = encoder_of(False)
    before = encoder(*padded(ROWS))
    before.sum().backward()
    for parameter in encoder.lstm.parameters():
        assert not parameter.grad.chunk(4)[3].any()
        with torch.no_grad():
            parameter.chunk(4)[3].fill_(7.0)
    assert torch.equal(encoder(*padded(ROWS)), before)
