"""Learning curves: the terms of the loss, and validation success@1 with the kept step."""

from __future__ import annotations

import polars as pl

from tasks.reporting.drawing import BLUE, GREY, INK, ORANGE, Drawing
from tasks.reporting.markup import Html, figure, paragraph, section, tag
from tasks.reporting.material import Material
from tasks.reporting.names import count, share

TERMS = (
    ("loss", "loss", INK, "-"),
    ("loss_similar", "similar pairs", BLUE, "--"),
    ("loss_dissimilar", "dissimilar pairs", ORANGE, ":"),
)


def learning(material: Material) -> Html:
    """Section `learning`."""
    history = material.history
    trained = history.filter(pl.col("loss").is_finite())
    if trained.is_empty():
        drawings: list[Html] = []
        note = "The network was not trained (no step was made), so there is no curve to draw."
    else:
        drawings = [_losses(trained), _validation(history)]
        note = (
            "The loss should fall and flatten. Validation success@1 decides when to stop and which "
            "weights are kept: if the kept step is the last one, longer training would likely help; "
            "if it lies far before the end, the network had learned what it could."
        )
    grid = [tag("div", *drawings, class_="grid")] if drawings else []
    return section(
        "learning", "Learning curves", paragraph(kept_sentence(history), " ", note), *grid
    )


def best_look(history: pl.DataFrame) -> tuple[int, float] | None:
    """Step and validation success@1 of the weights that were kept: the first of the best looks."""
    looks = history.drop_nans("valid_success_at_1").drop_nulls("valid_success_at_1")
    if looks.is_empty():
        return None
    row = looks.row(int(looks["valid_success_at_1"].arg_max() or 0), named=True)
    return row["step"], row["valid_success_at_1"]


def kept_sentence(history: pl.DataFrame) -> str:
    """Which weights the page is about."""
    found = best_look(history)
    if found is None:
        return "No look at the validation queries was noted."
    step, success = found
    return f"The weights of step {count(step)} were kept: validation success@1 {share(success)}."


def _losses(history: pl.DataFrame) -> Html:
    with Drawing("learning-loss", "loss and its two terms by step") as (drawing, axes):
        for column, name, colour, line in TERMS:
            axes.plot(history["step"], history[column], line, color=colour, label=name)
        axes.set_xlabel("step")
        axes.set_ylabel("mean since the look before")
        axes.set_ylim(bottom=0)
        axes.legend()
    return figure(drawing.svg, "The loss and its two weighted terms, on training pairs.")


def _validation(history: pl.DataFrame) -> Html:
    found = best_look(history)
    with Drawing("learning-validation", "validation success@1 by step") as (drawing, axes):
        axes.plot(
            history["step"],
            history["valid_success_at_1"],
            "-",
            color=BLUE,
            marker="o",
            markersize=3,
        )
        if found:
            step, success = found
            axes.axvline(step, color=GREY, linestyle="--", linewidth=1)
            axes.plot([step], [success], "D", color=ORANGE, markersize=7, label="kept")
            axes.legend(loc="lower right")
        axes.set_xlabel("step")
        axes.set_ylabel("validation success@1")
        axes.set_ylim(bottom=0)
    return figure(drawing.svg, "Success@1 of the validation queries; the kept step is marked.")
