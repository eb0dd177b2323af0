"""Learning curves: the terms of the loss, and validation success@1 with the kept step."""

from __future__ import annotations

import polars as pl
from matplotlib.axes import Axes

from tasks.pipeline.report.drawing import BLUE, GREY, INK, ORANGE, figure
from tasks.pipeline.report.markup import Html, lines, paragraph, tag
from tasks.pipeline.report.names import count, share
from tasks.pipeline.report.report_data import ReportData

TERMS = (
    ("loss_similar", "similar pairs", BLUE, "--"),
    ("loss_dissimilar", "dissimilar pairs", ORANGE, ":"),
)
WHOLE = (("loss", "loss", INK, "-"),)
TERMS_MEANING = (
    "Its two weighted terms, whose sum it is. In losses over a whole batch the term of similar "
    "pairs falls below zero as their similarity grows, and that of dissimilar pairs rises with it."
)
Curves = tuple[tuple[str, str, str, str], ...]  # column, label, colour and style of each
UNLEARNED = (
    "This network did not learn: at no look was it better than before training, so its first "
    "weights were kept."
)
ADVICE = (
    "The loss should fall and flatten. Validation success@1 decides when to stop and which weights "
    "are kept: if the kept step is the last one, longer training may help; if it lies far "
    "before the end, the steps after it did not help."
)


def learning(report_data: ReportData) -> Html:
    """Make the content of section `learning`."""
    followed = pl.col("valid_score").is_nan()
    history, steps = report_data.history.filter(~followed), report_data.history["step"]
    trained = history.filter(pl.col("loss").is_finite())
    kept = best_look(history)
    if kept is None or trained.is_empty():
        return paragraph(
            "The network was not trained (no step was made), so there is no curve to draw."
        )
    step, success = kept
    return lines(
        paragraph(tag("strong", UNLEARNED)) if step == 0 else "",
        paragraph(
            f"The weights of step {count(step)} of {count(history['step'][-1])} were kept: "
            f"validation success@1 {share(success)}. {ADVICE}"
        ),
        paragraph(
            f"{count(steps[-1] - history['step'][-1])} steps on people's verdicts followed from "
            "there, which no validation query judges: the served weights are those of the last."
        )
        if steps[-1] > history["step"][-1]
        else "",
        tag(
            "div",
            _validation(history, kept),
            _drawing(trained, "loss", "loss", WHOLE, "The loss, on training pairs."),
            _drawing(trained, "terms", "the two terms of the loss", TERMS, TERMS_MEANING),
            class_="grid",
        ),
    )


def best_look(history: pl.DataFrame) -> tuple[int, float] | None:
    """Find step and validation success@1 of the weights that were kept: the first best look."""
    looks = history.filter(pl.col("valid_score").is_not_nan())
    if looks.is_empty():
        return None
    row = looks.filter(pl.col("valid_score") == pl.max("valid_score")).row(0, named=True)
    return row["step"], row["valid_score"]


def _drawing(history: pl.DataFrame, name: str, meaning: str, curves: Curves, caption: str) -> Html:
    """Draw columns of the history by step, the axis from 0 where no value lies below."""

    def plot(axes: Axes) -> None:
        for column, label, colour, line in curves:
            axes.plot(history["step"], history[column], line, color=colour, label=label)
        axes.set_xlabel("step")
        axes.set_ylabel("mean since the look before")
        if axes.dataLim.ymin >= 0:
            axes.set_ylim(bottom=0)
        axes.legend()

    return figure(f"learning-{name}", f"{meaning} by step", caption, plot, width=3.6)


def _validation(history: pl.DataFrame, kept: tuple[int, float]) -> Html:
    def plot(axes: Axes) -> None:
        axes.plot(history["step"], history["valid_score"], "o-", color=BLUE, markersize=3)
        axes.axvline(kept[0], color=GREY, linestyle="--", linewidth=1)
        axes.plot([kept[0]], [kept[1]], "D", color=ORANGE, markersize=7, label="kept")
        axes.set_xlabel("step")
        axes.set_ylabel("validation success@1")
        axes.set_ylim(bottom=0)
        axes.legend()

    caption = "Success@1 of the validation queries; the kept step is marked."
    return figure("learning-validation", "validation success@1 by step", caption, plot, width=3.6)
