"""Embeddings on a plane, by t-SNE (van der Maaten and Hinton 2008): neighbours stay neighbours.

Equal embeddings give equal bytes with any number of threads and any linear algebra: distances are
of embeddings rounded to multiples of 2⁻²⁰, whose products add up exactly in any order; the descent
starts at rounded principal components. It runs on one thread, because several wait for each other
and take three times the processor time on a busy machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from jaxtyping import Float, Float64, Int64

PERPLEXITY = 30.0  # about how many neighbours count; fewer titles have a third of their number
STEPS = 500
GRAIN = 2.0**20
NEAREST = 10


def places(embeddings: Float[np.ndarray, "title dim"], seed: int) -> Float64[np.ndarray, "title 2"]:
    """Find a place for each of three embeddings or more; the unit of the axes means nothing."""
    from sklearn.manifold import TSNE  # takes a second, which a check of parameters need not

    chart = TSNE(
        perplexity=min(PERPLEXITY, (len(embeddings) - 1) / 3),
        max_iter=STEPS,
        init=_start(embeddings),
        metric="precomputed",
        random_state=seed % 2**32,
    )
    with threadpool_limits(1):
        found = chart.fit_transform(np.sqrt(_squared_distances(embeddings)))
    return np.asarray(found, np.float64)


def kept_neighbours(
    embeddings: Float[np.ndarray, "title dim"], found: Float64[np.ndarray, "title 2"]
) -> float:
    """Return the share of titles whose nearest on the map is among their ten nearest embeddings."""
    nearest = _neighbours(_squared_distances(found / max(float(np.abs(found).max()), 1e-12)), 1)
    return float((nearest == _neighbours(_squared_distances(embeddings), NEAREST)).any(1).mean())


def _start(embeddings: Float[np.ndarray, "title dim"]) -> Float[np.ndarray, "title 2"]:
    """Return the first two principal components, small, the largest entry of each positive."""
    centred = np.asarray(embeddings, np.float64)
    centred = centred - centred.mean(axis=0)
    # the eigenvectors of dim × dim are the right singular vectors, at any number of titles
    axes = np.linalg.svd(centred.T @ centred)[2][:2]
    largest = np.abs(axes).argmax(axis=1)
    start = np.zeros((len(centred), 2))
    start[:, : len(axes)] = (
        centred @ (axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]).T
    )
    return (np.rint(start / max(float(np.abs(start).max()), 1e-12) * 1000) * 1e-5).astype(
        np.float32
    )


def _squared_distances(
    points: Float[np.ndarray, "title dim"],
) -> Float64[np.ndarray, "title title"]:
    """Return them for values from −1 to 1; exact for the rounded ones up to 8,192 dimensions."""
    whole = np.rint(np.asarray(points, np.float64) * GRAIN)
    products = whole @ whole.T
    own = np.diag(products)
    distances: Float64[np.ndarray, "title title"] = own[:, None] + own - 2 * products
    return distances / GRAIN**2


def _neighbours(
    distances: Float64[np.ndarray, "title title"], most: int
) -> Int64[np.ndarray, "title near"]:
    """Return the nearest others of each; at equal distances the first ones."""
    apart = distances + np.where(np.eye(len(distances), dtype=bool), np.inf, 0)
    return np.argsort(apart, axis=1, kind="stable")[:, :most]
