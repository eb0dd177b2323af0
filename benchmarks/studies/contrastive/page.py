"""Learning curves of the penalties, and what they cost: Figure 2 of Neculoiu et al. 2016."""

from __future__ import annotations

import torch

from benchmarks.pages.plots import curves, svg
from benchmarks.pages.tables import distinct, of, where
from benchmarks.results import Results
from models.losses.contrastive import dissimilar_penalty

PLOTTED = ("0.4", "0.9999")
MARGIN = 0.4
WAYS = {"pairs": "dissimilar pairs of the file", "hardest": "hard mining"}


def plot(results: Results) -> str:
    """Draw success@1 of validation queries over the steps, for every penalty at two margins."""
    rows = where(of(results["contrastive"], "valid_success_at_1"), seed="1")
    steps, panels = sorted(distinct(rows, "test")), {}
    for way, title in WAYS.items():
        panels[title] = [
            (f"{penalty}, m = {margin}", [float(row["value"]) for row in own])
            for penalty in ("hinge", "flipped", "printed")
            for margin in PLOTTED
            if (own := where(rows, system=f"{way}/{penalty}/margin:{margin}"))
        ]
    ticks, label = [float(step.removeprefix("step_")) for step in steps], "success@1, validation"
    return svg("contrastive", lambda whole: curves(whole, ticks, panels, "steps", label))


def penalties(results: Results) -> str:
    """Draw what a similar and a dissimilar pair cost by their similarity, in every reading."""
    similarity = torch.linspace(-1, 1, 41)
    similar = (0.25 * (1 - similarity) ** 2).tolist()
    panels = {
        f"{reading}, m = {MARGIN:g}": [
            ("similar pair, a quarter of (1 - E)²", similar),
            ("dissimilar pair", dissimilar_penalty(similarity, reading, MARGIN).tolist()),
        ]
        for reading in ("printed", "flipped", "hinge")
    }
    ticks = similarity.tolist()
    return svg(
        "penalties", lambda whole: curves(whole, ticks, panels, "cosine similarity E", "cost")
    )
