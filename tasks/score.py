"""The predictions of stage 3 on labelled inputs, judged by their labels, as feedback.

In: `data/train/3/SEED/model/`, `data/split/{aliases,inputs}.parquet` and all queries. Out:
`data/score/feedback.csv` (columns of `FEEDBACK`), written as people would give it, and counts. So
the loop predict, judge, learn runs without people (Neculoiu et al. 2016, section 4.2, point 4).
Judged are inputs of the split `train`, never a string that some test asks for.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Container, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from models.model_files import load_model
from models.occupation_scores import best_titles
from models.titles import normalize_title
from models.whole_file import whole_file
from tasks.alias_index import AliasIndex, Similarities
from tasks.command import run
from tasks.frames import check, read_frame, write_json
from tasks.params import load_params
from tasks.queries import queried_strings
from tasks.ranking import BLOCK, occupation_scores
from tasks.schemas import FEEDBACK, SPLIT_ALIASES, SPLIT_INPUTS
from tasks.sections import EvaluateParams, ScoreParams
from tasks.systems import network

FOLDER = Path("data/score")
STAGE = "3"


class Chosen(NamedTuple):
    """Columns of `SPLIT_INPUTS` in the order of the inputs, and how many were left out and why."""

    inputs: pl.DataFrame
    left_out: dict[str, int]


class Prediction(NamedTuple):
    """An occupation and the alias that it was found by, as encoders see it."""

    occupation_id: str
    matched_title: str


def choose(inputs: pl.DataFrame, queries: Container[str]) -> Chosen:
    """The inputs to judge: split `train`, no query, one for each normalized title and label.

    Args:
        inputs: schema `SPLIT_INPUTS`.
        queries: normalized strings of all queries.
    """
    rows = inputs.filter((pl.col("split") == "train") & pl.col("occupation_id").is_not_null())
    names = [normalize_title(title) for title in rows["raw_title"]]
    rows = rows.with_columns(pl.Series("name", names, pl.String))
    named = rows.filter(pl.col("name") != "")
    unseen = named.filter(pl.Series([n not in queries for n in named["name"]], dtype=pl.Boolean))
    distinct = unseen.unique(["name", "occupation_id"], keep="first", maintain_order=True)
    left_out = {
        "no_letters": len(rows) - len(named),
        "query": len(named) - len(unseen),
        "duplicate": len(unseen) - len(distinct),
    }
    return Chosen(distinct.drop("name"), left_out)


def predict(
    raw_titles: Sequence[str], similarities: Similarities, index: AliasIndex, params: EvaluateParams
) -> list[Prediction]:
    """The best occupation of each title, the first by id of equal ones, with its best alias."""
    found: list[Prediction] = []
    for start in range(0, len(raw_titles), BLOCK):
        block = similarities(raw_titles[start : start + BLOCK])
        occupation = occupation_scores(block, index, params).argmax(axis=1)
        title = best_titles(block, index.memberships, np.arange(len(block)), occupation)
        found += [
            Prediction(index.occupations[one], index.titles[other])
            for one, other in zip(occupation, title, strict=True)
        ]
    return found


def judge(
    inputs: pl.DataFrame,
    predictions: Sequence[Prediction],
    occupations: Container[str],
    model_version: str,
    params: ScoreParams,
) -> pl.DataFrame:
    """Schema `FEEDBACK`: right where the label is predicted, else wrong, with it as correction.

    Args:
        inputs: schema `SPLIT_INPUTS`, all labelled.
        predictions: one an input.
        occupations: those of the index; another label gives no correction.
        model_version: goes into every row.
        params: section `score`.
    """
    rows = []
    for (raw_title, label), one in zip(
        inputs.select("raw_title", "occupation_id").iter_rows(), predictions, strict=True
    ):
        right = one.occupation_id == label
        correction = None if right or label not in occupations else label
        verdict = "right" if right else "wrong"
        who_and_when = (params.reviewer_id, params.judged_at)
        rows.append((raw_title, *one, model_version, verdict, correction, *who_and_when))
    return pl.DataFrame(rows, schema=dict(FEEDBACK), orient="row")


def version_of(model: Path) -> str:
    """The stage and the beginning of the weights' hash: equal weights, equal version."""
    weights = (model / "weights.safetensors").read_bytes()
    return f"train@{STAGE} {hashlib.sha256(weights).hexdigest()[:12]}"


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="that the model was trained with")
    model = Path(f"data/train/{STAGE}/{parser.parse_args().seed}/model")
    params = load_params()
    aliases = read_frame(Path("data/split/aliases.parquet"), SPLIT_ALIASES)
    queries = queried_strings()
    chosen = choose(read_frame(Path("data/split/inputs.parquet"), SPLIT_INPUTS), queries)
    index = AliasIndex.of(aliases.filter(pl.col("split") == "train"))
    predictions = []
    if len(chosen.inputs):  # else the titles of the index need no embedding
        similarities = network(*load_model(model), index.titles)
        raw_titles = chosen.inputs["raw_title"].to_list()
        predictions = predict(raw_titles, similarities, index, params.evaluate)
    judged = judge(
        chosen.inputs, predictions, set(index.occupations), version_of(model), params.score
    )
    with whole_file(FOLDER / "feedback.csv") as partial:
        check(judged, FEEDBACK, "data/score/feedback.csv").write_csv(partial)
    right = int((judged["verdict"] == "right").sum())
    counts = {"judged": len(judged), "right": right, "wrong": len(judged) - right}
    write_json({**counts, "left_out": chosen.left_out}, FOLDER / "metrics.json")
    print(counts, "left out:", chosen.left_out)


if __name__ == "__main__":
    run(main)
