"""Stage `extra_words`: titles between superfluous words, and the Extra Words test.

In: `data/split/{titles,inputs,queries}.parquet`, and queries and variants of typos and synonyms.
Out: `data/extra_words/{variants,queries}.parquet`. Mined from the inputs of the splits `train` and
`unlabelled` (`mined_inputs.py`), those with a label held out by shares. Besides, training titles
are padded with the words around the titles in the mined training inputs, and with the phrases of
`params.yaml`; or, with `phrases_by_language`, with our own ones (`superfluous.py`). Neculoiu et al.
2016, section 4.2, point 3. Ours: labelled training inputs are variants of the titles of their
occupation (`labelled_inputs.py`).

A mined input without a label trains and is no query: it may not be a job title ("500 Internal
Server Error", of the waiters), and no label would contradict it. A string that normalizes to a
title of the taxonomy, or to a query or variant of an earlier stage, is left out and counted; of
padded titles also one that equals a mined input.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from models.reproducibility.seeding import generator
from tasks.io.command import print_counts, run
from tasks.io.frames import read_frame, write_frame, write_json
from tasks.io.mixes import earlier_queries, earlier_variants
from tasks.io.schemas import EXTRA_WORDS_VARIANTS, QUERIES, SPLIT_INPUTS, SPLITS, TITLES
from tasks.io.section import load, load_run
from tasks.pipeline.augmentation.superfluous import distinct, known, learn, phrases_by_language
from tasks.pipeline.extra_words.labelled_inputs import labelled_inputs
from tasks.pipeline.extra_words.mined_inputs import mined_inputs
from tasks.pipeline.extra_words.padded_titles import padded_titles
from tasks.pipeline.extra_words.params import ExtraWordsParams

FOLDER = Path("data/extra_words")


class ExtraWords(NamedTuple):
    """Schemas `EXTRA_WORDS_VARIANTS` and `QUERIES`, and the figures of the stage."""

    variants: pl.DataFrame
    queries: pl.DataFrame
    metrics: dict[str, dict[str, object]]


def extra_words(
    titles: pl.DataFrame,
    inputs: pl.DataFrame,
    queries: pl.DataFrame,
    variants: pl.DataFrame,
    params: ExtraWordsParams,
    seed: int,
) -> ExtraWords:
    """Mine the inputs, draw their splits, and pad the training titles.

    `titles` has schema `TITLES`, `inputs` `SPLIT_INPUTS`; `queries` (`QUERIES`) and `variants`
    (`VARIANTS`) are those of all earlier stages.
    """
    taken = {
        "is_a_title": set(titles["normalized"]),
        "is_an_earlier_query": set(queries["normalized"]),
        "is_an_earlier_variant": set(variants["normalized"]),
    }
    searched = titles.filter(pl.col("split") == "train")
    minable = inputs.filter(pl.col("split").is_in(["train", "unlabelled"]))
    mining = mined_inputs(minable, searched, taken)
    mined = mining.inputs.with_columns(
        kind=pl.lit("mined"),
        split=_parts(mining.inputs["label_agrees"].is_not_null(), params, seed),
        source=pl.col("label_agrees").replace_strict(
            {True: "label_agrees", False: "label_differs"},
            default="unlabelled",
            return_dtype=pl.String,
        ),
    )
    training = mined.filter(pl.col("split") == "train")
    learned = learn(training["title"].to_list(), training["variant"].to_list())
    in_any = learned + known(params.phrases.before, params.phrases.after)
    in_own = phrases_by_language() if params.phrases_by_language else {}
    padded, padded_counts = padded_titles(
        searched,
        lambda language: in_own.get(language, in_any),
        taken | {"is_a_mined_input": set(mined["normalized"])},
        params.padded,
        generator(seed, "extra_words", "padded"),
    )
    labelled = labelled_inputs(
        inputs.filter(pl.col("split") == "train"),
        searched,
        set().union(*taken.values(), mined.filter(pl.col("split") != "train")["normalized"]),
        params.labelled,
        generator(seed, "extra_words", "labelled"),
    )
    metrics: dict[str, dict[str, object]] = {
        "mined": {**mining.counts, **_counted(mined)},
        "learned": {"inputs": len(learned), **distinct(learned)},
        "padded": {**padded_counts, "kept": len(padded)},
        "labelled": {"inputs": labelled["variant"].n_unique(), "kept": len(labelled)},
    }
    made = [
        rows.with_columns(
            kind=pl.lit(kind), label_agrees=pl.lit(None, pl.Boolean), split=pl.lit("train")
        )
        for kind, rows in (("padded", padded), ("labelled", labelled))
    ]
    return ExtraWords(
        pl.concat([mined.select(list(EXTRA_WORDS_VARIANTS)), *made]), _queries(mined), metrics
    )


def _parts(labelled: pl.Series, params: ExtraWordsParams, seed: int) -> pl.Series:
    """Share the labelled rows out at random, to within one row a split; others are trained on."""
    shares = np.cumsum([params.test_share, params.valid_share, params.gate_share])
    count = int(labelled.sum())
    ends = np.rint(shares * count).astype(np.int64)
    place = generator(seed, "extra_words", "parts").permutation(count)
    parts = np.full(len(labelled), "train", object)
    parts[labelled.to_numpy()] = np.array([*SPLITS, "train"], object)[
        np.searchsorted(ends, place, side="right")
    ]
    return pl.Series("split", parts, pl.String)


def _queries(mined: pl.DataFrame) -> pl.DataFrame:
    number = pl.int_range(pl.len()).over("split")
    return (
        mined.filter(pl.col("split") != "train")
        .with_columns(
            cleaned="variant",
            query_id=pl.format("extra_words-{}-{}", "split", number),
            test=pl.lit("extra_words"),
        )
        .select(list(QUERIES))
    )


def _counted(mined: pl.DataFrame) -> dict[str, object]:
    """Count mined inputs by split and slice, and by slice alone."""
    by_part = {
        split: dict(rows["source"].value_counts().sort("source").iter_rows())
        for (split,), rows in mined.sort("split").group_by("split", maintain_order=True)
    }
    by_slice = mined["source"].value_counts().sort("source").iter_rows()
    return {"by_part": by_part, "by_slice": dict(by_slice)}


def main() -> None:
    """Run the stage on its files."""
    result = extra_words(
        read_frame(Path("data/split/titles.parquet"), TITLES),
        read_frame(Path("data/split/inputs.parquet"), SPLIT_INPUTS),
        earlier_queries("extra_words"),
        earlier_variants("extra_words"),
        load(ExtraWordsParams),
        load_run().seed,
    )
    write_frame(result.variants, FOLDER / "variants.parquet", EXTRA_WORDS_VARIANTS)
    write_frame(result.queries, FOLDER / "queries.parquet", QUERIES)
    write_json(result.metrics, FOLDER / "metrics.json")
    print_counts(result.metrics)


if __name__ == "__main__":
    run(main)
