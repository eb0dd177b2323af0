"""Verdicts as they would be, had another system been judged, or somebody else been the judge.

`pipeline` are the verdicts that mixes 4 and 4c learn from: the answers of the network of mix 3,
judged by the inputs' labels. `matcher` are the n-gram matcher's answers, judged by the same labels.
`titles` are the network's answers, judged by somebody who reads: where the matcher finds a title
within the input, its occupation is right, whatever the label says (in the paper people saw titles,
and the inputs of its Extra Words test were mined by the matcher without labels).
"""

from __future__ import annotations

import polars as pl

from benchmarks.workspace import Workspace
from models.answer.search import Search
from models.text.ngram_matcher import NgramMatcher
from tasks.evaluation.systems import read_index
from tasks.files.frames import read_frame
from tasks.files.queries import queried_strings
from tasks.files.schemas import (
    EXTRA_WORDS_VARIANTS,
    FEEDBACK,
    SPLIT_ALIASES,
    SPLIT_INPUTS,
    TITLES,
    VERDICTS,
)
from tasks.pairing.reserve import reserved
from tasks.pairing.verdicts import resolve
from tasks.score import Prediction, choose, judge, predict

PIPELINE, MATCHER = "pipeline", "matcher"


def opinions(kind: str, workspace: Workspace, trained: set[str]) -> pl.DataFrame:
    """Return the verdicts to train on: schema `VERDICTS`.

    Args:
        kind: `pipeline`, `matcher` or `titles`.
        workspace: in which the pipeline has run.
        trained: normalized strings that mix 3 learns from.

    Raises:
        FileNotFoundError: the pipeline has no verdicts.
    """
    path = workspace.data / "feedback/verdicts.parquet"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: run `make reproduce`")
    if kind == PIPELINE:
        return read_frame(path, VERDICTS)
    data, params = workspace.data, workspace.params
    aliases = read_frame(data / "split/aliases.parquet", SPLIT_ALIASES)
    queries = queried_strings(data)
    inputs = choose(read_frame(data / "split/inputs.parquet", SPLIT_INPUTS), queries).inputs
    index = read_index(data)
    if kind == MATCHER:
        search = Search(index, NgramMatcher(index.titles).similarities, params.evaluate.rule)
        predictions = predict(inputs["cleaned"].to_list(), search)
    else:
        predictions = _own_predictions(inputs, workspace)
        inputs = _labelled_by_titles(inputs, workspace)
    said = judge(inputs, predictions, set(index.occupations), kind, params.score)
    resolved = resolve(said.with_columns(own=pl.lit(value=True)), aliases, queries)
    kept = reserved(resolved.verdicts, params.feedback.gate_share, trained)
    return resolved.verdicts.filter(~kept)


def _own_predictions(inputs: pl.DataFrame, workspace: Workspace) -> list[Prediction]:
    """Return what the stage `score` wrote of the same inputs in the same order."""
    path = workspace.data / "score/feedback.csv"
    scored = pl.read_csv(path, schema=dict(FEEDBACK))
    if scored["raw_title"].to_list() != inputs["raw_title"].to_list():
        raise ValueError(f"{path} is not of these inputs: run `make reproduce`")
    rows = scored.select("predicted_occupation_id", "matched_title").rows()
    return [Prediction(*row) for row in rows]


def _labelled_by_titles(inputs: pl.DataFrame, workspace: Workspace) -> pl.DataFrame:
    """Put the first occupation of the mined title, where there is one, in the label's place."""
    data = workspace.data
    mined = read_frame(data / "extra_words/variants.parquet", EXTRA_WORDS_VARIANTS)
    titles = read_frame(data / "split/titles.parquet", TITLES)
    read = (
        mined.filter(pl.col("kind") == "mined")
        .join(titles.select("title", "occupation_ids"), on="title")
        .select("normalized", read=pl.col("occupation_ids").list.first())
        .unique("normalized", keep="first", maintain_order=True)
    )
    both = inputs.join(read, on="normalized", how="left", maintain_order="left")
    return both.with_columns(occupation_id=pl.coalesce("read", "occupation_id")).drop("read")
