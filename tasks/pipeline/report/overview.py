"""The sections on how the network was made: the data, the learning curves, and confidence."""

from __future__ import annotations

import polars as pl
from markupsafe import Markup
from matplotlib.axes import Axes

from tasks.pipeline.report.names import count, test_name
from tasks.pipeline.report.page import BLUE, GREY, INK, ORANGE, drawing, section
from tasks.pipeline.report.report_data import ReportData

SPLITS = {
    "train": "in training and in the index",
    "heldout_alias": "kept out for the test Held-out alias",
    "valid": "kept out to choose when to stop",
    "gate": "kept out for the gate between challenger and champion",
}
TERMS = [
    ("loss_similar", "similar pairs", BLUE, "--"),
    ("loss_dissimilar", "dissimilar pairs", ORANGE, ":"),
]
CURVES = {  # figures of the loss: meaning, and column, label, colour and style of each curve
    "loss": ("the loss", [("loss", "loss", INK, "-")]),
    "terms": ("the two terms of the loss", TERMS),
}


def data(report_data: ReportData) -> Markup:
    """Make the section of the rows that were read, and of the split."""
    counts = report_data.counts
    splits = dict(report_data.aliases["split"].value_counts().iter_rows())
    why = "; ".join(f"{reason}: {count(n)}" for reason, n in sorted(counts["rejected"].items()))
    rows = [
        ("Occupations", counts["occupations"], "the classes to find"),
        ("Aliases", counts["aliases"], "titles of occupations, the labels among them"),
        *((f"– {name}", splits.get(name, 0), meaning) for name, meaning in SPLITS.items()),
        ("Inputs", counts["inputs"], "raw titles as they come in"),
        ("– labelled", counts["inputs_labelled"], "with their occupation"),
        ("Rows read", sum(counts["rows_read"].values()), "from all files of the data set"),
        ("– left out", sum(counts["rejected"].values()), why or "nothing was left out"),
        ("– of them rejected", counts["rejected_errors"], "for a fault in the row"),
    ]
    return section("data", rows=[(name, count(value), meaning) for name, value, meaning in rows])


def learning(report_data: ReportData) -> Markup:
    """Make the section of the learning curves, with the step whose weights were kept."""
    followed = pl.col("valid_score").is_nan()
    history, steps = report_data.history.filter(~followed), report_data.history["step"]
    trained, kept = history.filter(pl.col("loss").is_finite()), best_look(history)
    if kept is None or trained.is_empty():
        return section("learning", drawings=[])
    return section(
        "learning",
        kept=kept,
        steps=history["step"][-1],
        followed=steps[-1] - history["step"][-1],
        drawings=[_validation(history, kept), *(_loss(trained, name) for name in CURVES)],
    )


def best_look(history: pl.DataFrame) -> tuple[int, float] | None:
    """Find step and validation success@1 of the weights that were kept: the first best look."""
    looks = history.select("step", "valid_score").filter(pl.col("valid_score").is_not_nan())
    best = looks.filter(pl.col("valid_score") == pl.max("valid_score"))
    return best.row(0) if len(best) else None


def _loss(history: pl.DataFrame, name: str) -> Markup:
    """Draw columns of the history by step, the axis from 0 where no value lies below."""
    meaning, curves = CURVES[name]

    def plot(axes: Axes) -> None:
        for column, label, colour, line in curves:
            axes.plot(history["step"], history[column], line, color=colour, label=label)
        axes.set(xlabel="step", ylabel="mean since the look before")
        if axes.dataLim.ymin >= 0:
            axes.set_ylim(bottom=0)
        axes.legend()

    return drawing(f"learning-{name}", f"{meaning} by step", plot, width=3.6)


def _validation(history: pl.DataFrame, kept: tuple[int, float]) -> Markup:
    def plot(axes: Axes) -> None:
        axes.plot(history["step"], history["valid_score"], "o-", color=BLUE, markersize=3)
        axes.axvline(kept[0], color=GREY, linestyle="--", linewidth=1)
        axes.plot([kept[0]], [kept[1]], "D", color=ORANGE, markersize=7, label="kept")
        axes.set(xlabel="step", ylabel="validation success@1")
        axes.set_ylim(bottom=0)
        axes.legend()

    return drawing("learning-validation", "validation success@1 by step", plot, width=3.6)


def confidence(report_data: ReportData) -> Markup:
    """Make the section of the labels behind confidence, or those missing."""
    counts = report_data.calibration
    missing = counts.get("missing") or ""
    return section(
        "confidence",
        test=test_name(counts["calibrated_on"]),
        queries=counts["calibration_queries"],
        missing=missing[:1].upper() + missing[1:],
    )
