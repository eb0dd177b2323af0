"""The convolution against loops over windows and filters."""

from dataclasses import replace

import hypothesis
import numpy as np
import pytest
import torch
from encoder_checks import CONVOLUTION, padded
from hypothesis import given
from hypothesis import strategies as st
from shapes import checked

from models.encoders.convolution import ConvolutionEncoder


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
@hypothesis.settings(max_examples=60)
def test_equals_the_loop(rows: list[list[int]], activation: str, fully_connected: str) -> None:
    torch.manual_seed(3)
    settings = replace(CONVOLUTION, activation=activation, fully_connected=fully_connected)
    encoder = ConvolutionEncoder(settings, [9]).eval()
    embeddings = checked(ConvolutionEncoder.forward)(encoder, *padded(rows)).detach().numpy()
    np.testing.assert_allclose(embeddings, [by_loop(encoder, row) for row in rows], atol=1e-6)
