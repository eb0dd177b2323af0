"""The section `contrastive` of `docs/RESULTS.md`: a table a part of the study, and the curves."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.chosen_rows import as_shares, of
from benchmarks.markdown_tables import Rows, pivot

SHOWN = {
    ("valid", "success_at_1"): "success@1",
    ("typos/part:valid", "success_at_1"): "typos",
    ("heldout_alias/part:valid", "success_at_1"): "held-out alias",
    ("annotations/part:valid", "success_at_1"): "annotations",
    ("similar_pairs", "mean_similarity"): "similar: similarity",
    ("dissimilar_pairs", "mean_similarity"): "dissimilar: similarity",
    ("dissimilar_pairs", "share_with_gradient"): "with a gradient",
    ("hardest_pairs", "mean_similarity"): "hardest: similarity",
    ("hardest_pairs", "share_with_gradient"): "with a gradient, hardest",
    ("training", "titles_per_step"): "titles a step",
}
"""Columns of the tables of `contrastive`, by test and metric."""
PARTS = {"penalties": "margin:", "sampling ratios": "ratio:", "typo rates": "substituted:"}
CURVES = ("valid_success_at_1", "loss_similar", "loss_dissimilar")


def contrastive(rows: Rows) -> Iterator[str]:
    """A table for each part of the study, and the curves of the penalties."""
    yield (
        "The network of stage 1 trained anew, with one thing changed at a time, for equal steps "
        "of about as many strings; judged after the last step on validation queries, which no "
        "table above reports. `success@1` is of held-out aliases and labelled inputs together. "
        "Brackets are 95 % bootstrap intervals over queries. Similarities are means; the last "
        "columns say what share of dissimilar pairs, drawn at random or the hardest of a batch, "
        "the loss still moves."
    )
    wanted = list(SHOWN.values())
    for title, mark in PARTS.items():
        mine = [row for row in rows if mark in row["system"]]
        shown = [
            {**row, "column": SHOWN[before["test"], before["metric"]]}
            for before, row in zip(mine, as_shares(mine), strict=True)
            if (before["test"], before["metric"]) in SHOWN
        ]
        if shown:
            shown.sort(key=lambda row: wanted.index(row["column"]))
            yield f"### {title}"
            yield pivot(shown, ("dataset", "system", "seed"), "column")
    for metric in CURVES:
        looks = [row for row in of(rows, metric) if PARTS["penalties"] in row["system"]]
        if looks:
            yield f"### penalties: {metric} over the steps"
            yield pivot(as_shares(looks), ("dataset", "system", "seed"), "test")
