"""Stage `simulate_feedback`: labels judge the predictions on labelled inputs, as people would.

In: `data/train/extra_words/SEED/model/`, `data/split/{titles,inputs}.parquet` and all queries. Out:
`data/simulate_feedback/feedback.csv` (columns of `FEEDBACK`) and counts. So the loop predict,
judge, learn runs without people (Neculoiu et al. 2016, section 4.2, point 4). The inputs are of the
split `train`, and none is a query.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Container, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from models.network.model_files import load_model
from models.reproducibility.atomic_write import atomic_write
from models.search.search import Search
from tasks.evaluation.params import EvaluateParams
from tasks.evaluation.systems import network, read_index
from tasks.io.command import run
from tasks.io.frames import check, read_frame, write_json
from tasks.io.mixes import LAST
from tasks.io.queries import queried_strings
from tasks.io.schemas import FEEDBACK, SPLIT_INPUTS
from tasks.io.section import load
from tasks.io.title_readings import without
from tasks.pipeline.simulate_feedback.params import SimulateFeedbackParams

FOLDER = Path("data/simulate_feedback")


class Chosen(NamedTuple):
    """Columns of `SPLIT_INPUTS` in the order of the inputs, and how many were left out and why."""

    inputs: pl.DataFrame
    left_out: dict[str, int]


class Prediction(NamedTuple):
    """An occupation and the alias that it was found by, as encoders see it."""

    occupation_id: str
    matched_title: str


def choose(inputs: pl.DataFrame, queries: Container[str]) -> Chosen:
    """Return the inputs to judge: split `train`, no query, one for each normalized title and label.

    `inputs` has schema `SPLIT_INPUTS`, `queries` the normalized strings of all queries.
    """
    rows = inputs.filter((pl.col("split") == "train") & pl.col("occupation_id").is_not_null())
    named = rows.filter(pl.col("normalized") != "")
    unseen = without(named, queries)
    distinct = unseen.unique(["normalized", "occupation_id"], keep="first", maintain_order=True)
    left_out = {
        "no_letters": len(rows) - len(named),
        "query": len(named) - len(unseen),
        "duplicate": len(unseen) - len(distinct),
    }
    return Chosen(distinct, left_out)


def predict(titles: Sequence[str], search: Search) -> list[Prediction]:
    """Return the best occupation of each cleaned title, the first by id of equal ones."""
    return [
        Prediction(search.index.occupations[occupation], search.index.titles[title])
        for _, hits in search.blocks(titles, 1)
        for occupation, title in zip(hits.occupations[:, 0], hits.titles[:, 0], strict=True)
    ]


def judge(
    inputs: pl.DataFrame,
    predictions: Sequence[Prediction],
    occupations: Container[str],
    model_version: str,
    params: SimulateFeedbackParams,
) -> pl.DataFrame:
    """Return schema `FEEDBACK`: `correct` if the label is predicted, else `incorrect`.

    `inputs` (schema `SPLIT_INPUTS`) all have a label, which is the correction if it is one of
    `occupations`, those of the index; `predictions` has one an input.
    """
    rows = []
    for (raw_title, label), one in zip(
        inputs.select("raw_title", "occupation_id").iter_rows(), predictions, strict=True
    ):
        is_correct = one.occupation_id == label
        correction = None if is_correct or label not in occupations else label
        verdict = "correct" if is_correct else "incorrect"
        who_and_when = (params.reviewer_id, params.judged_at)
        rows.append((raw_title, *one, model_version, verdict, correction, *who_and_when))
    return pl.DataFrame(rows, schema=dict(FEEDBACK), orient="row")


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="that the model was trained with")
    model = Path(f"data/train/{LAST}/{parser.parse_args().seed}/model")
    chosen = choose(read_frame(Path("data/split/inputs.parquet"), SPLIT_INPUTS), queried_strings())
    index = read_index()
    predictions = []
    if len(chosen.inputs):  # else the titles of the index need no embedding
        similarities = network(*load_model(model), index.titles)
        search = Search(index, similarities, load(EvaluateParams).rule)
        predictions = predict(chosen.inputs["cleaned"].to_list(), search)
    weights = hashlib.sha256((model / "weights.safetensors").read_bytes()).hexdigest()
    version = f"train@{LAST} {weights[:12]}"  # equal weights, equal version
    params, occupations = load(SimulateFeedbackParams), set(index.occupations)
    judged = judge(chosen.inputs, predictions, occupations, version, params)
    with atomic_write(FOLDER / "feedback.csv") as partial:
        check(judged, FEEDBACK, "data/simulate_feedback/feedback.csv").write_csv(partial)
    correct = int((judged["verdict"] == "correct").sum())
    counts = {"judged": len(judged), "correct": correct, "incorrect": len(judged) - correct}
    write_json({**counts, "left_out": chosen.left_out}, FOLDER / "metrics.json")
    skipped = ", ".join(f"{count} × {reason}" for reason, count in chosen.left_out.items())
    print(f"{len(judged)} predictions judged: {correct} correct, {counts['incorrect']} incorrect")
    print(f"inputs left out: {skipped}")


if __name__ == "__main__":
    run(main)
