"""What raw titles and corrections add to the scores of a network; numpy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float, Int

NEVER = 1e-6
"""Added to a prior, so that an occupation that nobody names is unlikely and no more."""


def softmax(logits: Float[np.ndarray, "query occupation"]) -> Float[np.ndarray, "query occupation"]:
    """Return probabilities over the occupations."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances: Float[np.ndarray, "query occupation"] = powers / powers.sum(axis=1, keepdims=True)
    return chances


def expected_prior(
    scores: Float[np.ndarray, "title occupation"], temperature: float
) -> Float[np.ndarray, " occupation"]:
    """Return how likely each occupation is, from titles without labels.

    One step of expectation maximization from equal chances (Dempster et al. 1977): the mean over
    the titles of softmax(s/t). Further steps sharpen it too much (`docs/LOG.md`).
    """
    prior: Float[np.ndarray, " occupation"] = softmax(scores / temperature).mean(axis=0)
    return prior + NEVER


def counted_prior(
    labels: Int[np.ndarray, " title"], occupations: int
) -> Float[np.ndarray, " occupation"]:
    """Return the shares of labels, each occupation counted a fifth of a label more."""
    counts = np.bincount(labels, minlength=occupations) + 0.2
    shares: Float[np.ndarray, " occupation"] = counts / counts.sum()
    return shares


def votes(
    similarities: Float[np.ndarray, "query exemplar"],
    labels: Int[np.ndarray, " exemplar"],
    occupations: int,
    nearest: int,
    temperature: float,
) -> Float[np.ndarray, "query occupation"]:
    """Return the share of each occupation in the votes of the nearest labelled titles.

    A vote weighs exp(s/t), s being the cosine; ties at the last place go to the first exemplar.
    """
    close = np.argsort(-similarities, axis=1, kind="stable")[:, :nearest]
    weights = softmax(np.take_along_axis(similarities, close, axis=1) / temperature)
    shares = np.zeros((len(similarities), occupations))
    np.add.at(shares, (np.arange(len(close))[:, None], labels[close]), weights)
    return shares
