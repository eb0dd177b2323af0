"""Stage `extra_words`: titles between superfluous words, and the Extra Words test.

In: `data/split/{titles,inputs,queries}.parquet`, and queries and variants of the earlier sources.
Out: `data/extra_words/{variants,queries}.parquet`. Mined from the inputs of the splits `train` and
`unlabelled` (`mined_inputs.py`), those with a label held out by shares. Besides, training titles
are padded with the words around the titles in the mined training inputs, and with the phrases of
`params.yaml`; or, with `phrases_by_language`, with our own ones (`superfluous.py`). Neculoiu et al.
2016, section 4.2, point 3. Ours: labelled training inputs are variants of the titles of their
occupation.

A mined input without a label trains and is no query: it may not be a job title ("500 Internal
Server Error", of the waiters), and no label would contradict it. A string that normalizes to a
title of the taxonomy, or to a query or variant of an earlier stage, is left out and counted; of
padded titles also one that equals a mined input.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import polars as pl
from pydantic import AfterValidator

from models.reproducibility import generator
from models.text.titles import clean_title
from tasks.io.command import print_counts, run
from tasks.io.files import write_json
from tasks.io.frames import read_frame, write_frame
from tasks.io.mixes import earlier_queries, earlier_variants
from tasks.io.schemas import EXTRA_WORDS_VARIANTS, QUERIES, SPLIT_INPUTS, SPLITS, TITLES
from tasks.io.section import Number, Params, Section, Share, load, load_run
from tasks.io.title_readings import with_readings, without
from tasks.pipeline.extra_words.mined_inputs import (
    contained_titles,
    mined_inputs,
    without_taken,
)
from tasks.pipeline.extra_words.superfluous import (
    Superfluous,
    distinct,
    known,
    learn,
    pad,
    phrases_by_language,
)

FOLDER = Path("data/extra_words")


def checked_phrase(text: str) -> str:
    """Refuse a phrase in which nothing is left after cleaning."""
    if not clean_title(text):
        raise ValueError(f"{text!r} has no character to put beside a title; leave it out")
    return text


Phrase = Annotated[str, AfterValidator(checked_phrase)]


class Phrases(Params):
    """Superfluous words that are known beforehand."""

    before: list[Phrase]
    after: list[Phrase]


class ExtraWordsParams(Section):
    """Section `extra_words`: shares of the labelled mined inputs, and titles that we pad."""

    NAME: ClassVar[str] = "extra_words"
    PARTS = ("test_share", "valid_share", "gate_share")
    test_share: Share
    valid_share: Share
    gate_share: Share
    padded: Number
    labelled: Number
    """Titles that a labelled training input is a variant of."""
    phrases: Phrases
    phrases_by_language: bool


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
    mined, mined_counts = mined_inputs(minable, searched, taken)
    mined = mined.with_columns(
        kind=pl.lit("mined"),
        split=_splits(mined["label_agrees"].is_not_null(), params, seed),
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
        "mined": {**mined_counts, **_counted(mined)},
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


def labelled_inputs(
    inputs: pl.DataFrame,
    titles: pl.DataFrame,
    taken: Collection[str],
    copies: int,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """Return schema `VARIANTS`: each labelled input beside `copies` titles of its occupation.

    Titles are drawn with replacement, and none that another occupation has as well. No input may
    equal a normalized string of `taken`.

    `inputs`: schema `SPLIT_INPUTS`; `titles`: schema `TITLES`.
    """
    own = titles.filter(pl.col("occupation_ids").list.len() == 1).group_by(
        pl.col("occupation_ids").list.first().alias("occupation_id"), maintain_order=True
    )
    labelled = without(inputs.filter(pl.col("cleaned") != ""), taken).unique(
        "normalized", maintain_order=True
    )
    drawn = labelled.join(own.agg("title"), on="occupation_id", how="inner", maintain_order="left")
    chosen = [rng.choice(names, copies).tolist() for names in drawn["title"].to_list()]
    rows = drawn.select(
        pl.Series("title", chosen, pl.List(pl.String)), variant="cleaned", normalized="normalized"
    )
    return rows.explode("title").unique(maintain_order=True)


def padded_titles(
    titles: pl.DataFrame,
    words: Callable[[str], Superfluous],
    taken: Mapping[str, Collection[str]],
    copies: int,
    rng: np.random.Generator,
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Pad every title (schema `TITLES`) `copies` times, with the `words` of its language if any.

    Titles of punctuation alone are passed over. No padded title may equal a normalized string of
    `taken`, whose keys name the reasons. Also left out: a string that its title has already, and
    one that holds a longer title than its own ("nurse" between "the" and "manager of the ward", if
    "nurse manager" is a title), because it may stand for that one.

    Returns:
        Schema `VARIANTS`, and how many titles were drawn and left out by each rule.
    """
    sound = titles.filter(pl.col("normalized") != "")
    named = dict(sound.select("title", "normalized").iter_rows())
    drawn = [pl.DataFrame(schema={"title": pl.String, "variant": pl.String})]
    for (language,), own in sound.group_by("language", maintain_order=True):
        if copies and (around := words(str(language))):
            copied = own["title"].to_list() * copies
            drawn.append(pl.DataFrame({"title": copied, "variant": pad(copied, around, rng)}))
    read = with_readings(pl.concat(drawn), "variant")
    frame, counts = without_taken(
        read.select("title", variant="cleaned", normalized="normalized"), taken
    )
    held = contained_titles(frame["normalized"].to_list(), set(named.values()))
    lengths = [len(named[title]) for title in frame["title"]]
    longer = [max(map(len, names), default=0) > n for names, n in zip(held, lengths, strict=True)]
    frame = frame.filter(~pl.Series(longer, dtype=pl.Boolean))
    kept = frame.unique(maintain_order=True)
    counts |= {"holds_a_longer_title": sum(longer), "repeated": len(frame) - len(kept)}
    return kept, {"drawn": len(read), **counts}


def _splits(labelled: pl.Series, params: ExtraWordsParams, seed: int) -> pl.Series:
    """Share the labelled rows out at random, to within one row a split; others are trained on."""
    shares = np.cumsum([params.test_share, params.valid_share, params.gate_share])
    count = int(labelled.sum())
    ends = np.rint(shares * count).astype(np.int64)
    rank = generator(seed, "extra_words", "parts").permutation(count)
    splits = np.full(len(labelled), "train", object)
    splits[labelled.to_numpy()] = np.array([*SPLITS, "train"], object)[
        np.searchsorted(ends, rank, side="right")
    ]
    return pl.Series("split", splits, pl.String)


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
