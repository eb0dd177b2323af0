"""The convolution against loops over windows and filters, and its dropout."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from encoder_checks import check_dropout, padded
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked

from models.encoders.convolution import ConvolutionEncoder, ConvolutionSettings

SETTINGS = ConvolutionSettings(
    max_length=8,
    dim_character=5,
    widths=(1, 2, 4),
    filters=(3, 4, 2),
    activation="tanh",
    fully_connected="linear",
    dim=6,
    dropout=0.0,
)


def encoder_of(**changes: object) -> ConvolutionEncoder:
    torch.manual_seed(3)
    return ConvolutionEncoder(replace(SETTINGS, **changes), [9]).eval()


def by_loop(encoder: ConvolutionEncoder, row: list[int]) -> np.ndarray:
    """Move every filter over every window that lies in `row`; zeros fill up a short row."""
    weights = {k: v.double().numpy() for k, v in encoder.state_dict().items()}
    relu = encoder.settings.activation == "relu"
    responses = []
    for bank, width in enumerate(encoder.settings.widths):
        kernels, biases = weights[f"banks.{bank}.weight"], weights[f"banks.{bank}.bias"]
        vectors = weights["characters.weight"][row + [0] * (width - len(row))]
        for kernel, bias in zip(kernels, biases, strict=True):  # kernel [dim_character, width]
            sums = []
            for first in range(len(vectors) - width + 1):
                window = vectors[first : first + width]
                sums.append(sum(kernel[:, k] @ window[k] for k in range(width)) + bias)
            activated = np.maximum(sums, 0) if relu else np.tanh(sums)
            responses.append(max(activated))
    if encoder.settings.fully_connected == "none":
        return np.array(responses)
    dense = weights["dense.weight"] @ responses + weights["dense.bias"]
    return np.tanh(dense) if encoder.settings.fully_connected == "tanh" else dense


@pytest.mark.thorough
@given(
    rows=st.lists(st.lists(st.integers(0, 8), min_size=1, max_size=8), min_size=1, max_size=5),
    activation=st.sampled_from(["relu", "tanh"]),
    fully_connected=st.sampled_from(["tanh", "linear", "none"]),
)
@settings(max_examples=60)
def test_equals_the_loop(rows: list[list[int]], activation: str, fully_connected: str) -> None:
    encoder = encoder_of(activation=activation, fully_connected=fully_connected)
    embeddings = checked(ConvolutionEncoder.forward)(encoder, *padded(rows)).detach().numpy()
    np.testing.assert_allclose(embeddings, [by_loop(encoder, row) for row in rows], atol=1e-6)


@pytest.mark.thorough
def test_the_vector_of_padding_stays_zero() -> None:
    """Give short strings, which look at it: no step of training moves it."""
    encoder = encoder_of().train()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.1, weight_decay=0.1)
    for _ in range(3):
        encoder(*padded([[1], [2, 3], [0]])).sum().backward()
        optimizer.step()
    assert not encoder.characters.weight[0].any()


def test_dropout_on_the_input_of_the_last_layer_in_training_only() -> None:
    check_dropout(encoder_of(dropout=0.5))
    check_dropout(encoder_of(), drops=False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"widths": (), "filters": ()}, "give a count of filters for each width"),
        ({"widths": (2, 2, 4)}, "choose different widths, and all 1 or more"),
        ({"widths": (0, 2, 4)}, "choose different widths, and all 1 or more"),
        ({"widths": (1, 2, 9)}, "choose widths up to max_length = 8"),
        ({"fully_connected": "none", "dropout": 0.2}, "set dropout to 0"),
    ],
)
def test_refuses_what_cannot_work(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SETTINGS, **changes)
