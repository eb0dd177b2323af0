"""Stage `simulate_feedback`: labels judge the predictions on labelled inputs, as people would.

In: `data/train/LAST/SEED/model/` of the last mix without feedback, all queries, and
`data/split/{titles,inputs}.parquet`. Out: `data/simulate_feedback/feedback.csv` (columns of
`FEEDBACK`) and counts. So the loop predict, judge, learn runs without people (Neculoiu et al. 2016,
section 4.2, point 4). The inputs are of the split `train`, and none is a query.
"""

from __future__ import annotations

import argparse
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

import polars as pl
from pydantic import Field

from models.network.kinds import load_model
from models.reproducibility import atomic_write
from models.serving.search import Search
from tasks.evaluation.systems import EvaluateParams, network, read_index
from tasks.io.command import run
from tasks.io.files import sha256, write_json
from tasks.io.frames import check, read_frame
from tasks.io.mixes import LAST, queried_strings
from tasks.io.schemas import FEEDBACK, SPLIT_INPUTS
from tasks.io.section import Section, load
from tasks.io.title_readings import without

FOLDER = Path("data/simulate_feedback")


class SimulateFeedbackParams(Section):
    """Section `simulate_feedback`: reviewer and date of the labels."""

    NAME: ClassVar[str] = "simulate_feedback"
    reviewer_id: str
    judged_at: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]


def choose(inputs: pl.DataFrame, queries: Container[str]) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the inputs (`SPLIT_INPUTS`) to judge, in their order, and how many were left out.

    They are of the split train, no (normalized) query, and one for each normalized title and label.
    """
    rows = inputs.filter(split="train").drop_nulls("occupation_id")
    named = rows.filter(pl.col("normalized") != "")
    unseen = without(named, queries)
    distinct = unseen.unique(["normalized", "occupation_id"], keep="first", maintain_order=True)
    left_out = {
        "no_letters": len(rows) - len(named),
        "query": len(named) - len(unseen),
        "duplicate": len(unseen) - len(distinct),
    }
    return distinct, left_out


def predict(titles: Sequence[str], search: Search) -> list[tuple[str, str]]:
    """Return the best occupation, by id if equal, of each cleaned title, and its alias."""
    return [
        (search.index.occupations[occupation], search.index.titles[title])
        for _, hits in search.blocks(titles, 1)
        for occupation, title in zip(hits.occupations[:, 0], hits.titles[:, 0], strict=True)
    ]


def judge(
    inputs: pl.DataFrame,
    predictions: Sequence[tuple[str, str]],
    occupations: Container[str],
    model_version: str,
    params: SimulateFeedbackParams,
) -> pl.DataFrame:
    """Return schema `FEEDBACK`: `correct` if the label is predicted, else `incorrect`.

    All `inputs` have a label, which is the correction if it is one of `occupations`.
    """
    rows, labelled = [], inputs.select("raw_title", "occupation_id").iter_rows()
    for (raw_title, label), (predicted, title) in zip(labelled, predictions, strict=True):
        correction = label if label != predicted and label in occupations else None
        verdict = ("correct" if predicted == label else "incorrect", correction)
        who_and_when = (params.reviewer_id, params.judged_at)
        rows.append((raw_title, predicted, title, model_version, *verdict, *who_and_when))
    return pl.DataFrame(rows, schema=dict(FEEDBACK), orient="row")


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="that the model was trained with")
    model = Path(f"data/train/{LAST}/{parser.parse_args().seed}/model")
    labelled = read_frame(Path("data/split/inputs.parquet"), SPLIT_INPUTS)
    inputs, left_out = choose(labelled, queried_strings())
    index = read_index()
    predictions = []
    if len(inputs):  # else the titles of the index need no embedding
        similarities = network(*load_model(model), index.titles)
        search = Search(index, similarities, load(EvaluateParams).rule)
        predictions = predict(inputs["cleaned"].to_list(), search)
    version = f"train@{LAST} {sha256(model / 'weights.safetensors')[:12]}"
    params, occupations = load(SimulateFeedbackParams), set(index.occupations)
    verdicts = judge(inputs, predictions, occupations, version, params)
    with atomic_write(FOLDER / "feedback.csv") as partial:
        check(verdicts, FEEDBACK, "data/simulate_feedback/feedback.csv").write_csv(partial)
    correct = int((verdicts["verdict"] == "correct").sum())
    counts = {"judged": len(verdicts), "correct": correct, "incorrect": len(verdicts) - correct}
    write_json({**counts, "left_out": left_out}, FOLDER / "metrics.json")
    skipped = ", ".join(f"{count} × {reason}" for reason, count in left_out.items())
    print(f"{len(verdicts)} predictions judged: {correct} correct, {counts['incorrect']} incorrect")
    print(f"inputs left out: {skipped}")


if __name__ == "__main__":
    run(main)
