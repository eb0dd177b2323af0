"""Learning curves of the penalties at two margins."""

from __future__ import annotations

from benchmarks.pages.plots import curves, svg
from benchmarks.pages.tables import distinct, where
from benchmarks.results import Lines

PLOTTED = ("0.4", "0.9999")
WAYS = {"pairs": "dissimilar pairs of the file", "hardest": "hard mining"}


def plot(rows: Lines) -> str:
    """Draw success@1 of validation queries over the steps, for every penalty at two margins."""
    rows = where(rows, metric="valid_success_at_1", seed="1")
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
