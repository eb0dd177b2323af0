"""Stage `extra_words`: titles between superfluous words, and the Extra Words test.

In: `data/split/{titles,inputs,queries}.parquet`, and queries and variants of the earlier sources.
Out: `data/extra_words/{variants,queries}.parquet`. Mined from the inputs of the splits `train` and
`unlabelled`, those with a label held out by shares. Besides, training titles are padded with the
words around the titles in the mined training inputs, and with phrases (Neculoiu et al. 2016,
section 4.2, point 3). Ours: labelled training inputs are variants of titles of their occupation. A
mined input without a label trains and is no query: it may name no job. A string that normalizes
to a title, or to an earlier query or variant, is left out and counted.
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
from tasks.pipeline.extra_words import superfluous
from tasks.pipeline.extra_words.mined_inputs import contained_titles, mined_inputs, without_taken

FOLDER = Path("data/extra_words")


def _checked_phrase(text: str) -> str:
    if not clean_title(text):
        raise ValueError(f"{text!r} has no character to put beside a title; leave it out")
    return text


Phrase = Annotated[str, AfterValidator(_checked_phrase)]


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
    labelled: Number  # titles that a labelled training input is a variant of
    phrases: Phrases
    phrases_by_language: bool


class ExtraWords(NamedTuple):
    """The files that the stage writes."""

    variants: pl.DataFrame  # schema `EXTRA_WORDS_VARIANTS`
    queries: pl.DataFrame  # schema `QUERIES`
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

    `queries` (`QUERIES`) and `variants` (`VARIANTS`) are those of all earlier stages.
    """
    taken = {
        "is_a_title": set(titles["normalized"]),
        "is_an_earlier_query": set(queries["normalized"]),
        "is_an_earlier_variant": set(variants["normalized"]),
    }
    searched = titles.filter(split="train")
    minable = inputs.filter(pl.col("split").is_in(["train", "unlabelled"]))
    mined, mined_counts = mined_inputs(minable, searched, taken)
    agrees = pl.when("label_agrees").then(pl.lit("label_agrees"))
    differs = pl.when(~pl.col("label_agrees")).then(pl.lit("label_differs"))
    mined = mined.with_columns(
        kind=pl.lit("mined"),
        split=_splits(mined["label_agrees"].is_not_null(), params, seed),
        source=pl.coalesce(agrees, differs, pl.lit("unlabelled")),
    )
    training = mined.filter(split="train")
    learned = superfluous.learn(training["title"].to_list(), training["variant"].to_list())
    in_any = learned + superfluous.known(params.phrases.before, params.phrases.after)
    in_own = superfluous.phrases_by_language() if params.phrases_by_language else {}
    padded, padded_counts = padded_titles(
        searched,
        lambda language: in_own.get(language, in_any),
        taken | {"is_a_mined_input": set(mined["normalized"])},
        params.padded,
        generator(seed, "extra_words", "padded"),
    )
    queried = mined.filter(pl.col("split") != "train")["normalized"]
    labelled = labelled_inputs(
        inputs.filter(split="train"),
        searched,
        set().union(*taken.values(), queried),
        params.labelled,
        generator(seed, "extra_words", "labelled"),
    )
    metrics: dict[str, dict[str, object]] = {
        "mined": {**mined_counts, **_counted(mined)},
        "learned": {"inputs": len(learned), **superfluous.distinct(learned)},
        "padded": {**padded_counts, "kept": len(padded)},
        "labelled": {"inputs": labelled["variant"].n_unique(), "kept": len(labelled)},
    }
    shared = {"label_agrees": pl.lit(None, pl.Boolean), "split": pl.lit("train")}
    made = [
        rows.with_columns(kind=pl.lit(kind), **shared)
        for kind, rows in (("padded", padded), ("labelled", labelled))
    ]
    made_variants = pl.concat([mined.select(list(EXTRA_WORDS_VARIANTS)), *made])
    return ExtraWords(made_variants, _queries(mined), metrics)


def labelled_inputs(
    inputs: pl.DataFrame,
    titles: pl.DataFrame,
    taken: Collection[str],
    copies: int,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """Return schema `VARIANTS`: each labelled input beside `copies` titles of its occupation.

    Titles are drawn with replacement, none that another occupation has; no input is in `taken`.
    """
    alone = titles.filter(pl.col("occupation_ids").list.len() == 1)
    occupation_id = pl.col("occupation_ids").list.first().alias("occupation_id")
    own = alone.group_by(occupation_id, maintain_order=True).agg("title")
    labelled = without(inputs.filter(pl.col("cleaned") != ""), taken)
    distinct = labelled.unique("normalized", maintain_order=True)
    drawn = distinct.join(own, on="occupation_id", how="inner", maintain_order="left")
    chosen = [rng.choice(names, copies).tolist() for names in drawn["title"].to_list()]
    drawn_titles = pl.Series("title", chosen, pl.List(pl.String))
    rows = drawn.select(drawn_titles, variant="cleaned", normalized="normalized")
    return rows.explode("title").unique(maintain_order=True)


def padded_titles(
    titles: pl.DataFrame,
    words: Callable[[str], superfluous.Superfluous],
    taken: Mapping[str, Collection[str]],
    copies: int,
    rng: np.random.Generator,
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Pad every title (schema `TITLES`) `copies` times, with the `words` of its language if any.

    Left out are normalized strings of `taken`, by reason; a string that its title has already; and
    one that holds a longer title than its own ("nurse" between "the" and "manager of the ward"),
    which it may stand for. Out: schema `VARIANTS`, and counts of titles drawn and left out.
    """
    sound = titles.filter(pl.col("normalized") != "")
    named = dict(sound.select("title", "normalized").iter_rows())
    drawn: dict[str, list[str]] = {"title": [], "variant": []}
    for (language,), own in sound.group_by("language", maintain_order=True):
        if copies and (around := words(str(language))):
            copied = own["title"].to_list() * copies
            drawn["title"] += copied
            drawn["variant"] += superfluous.pad(copied, around, rng)
    read = with_readings(pl.DataFrame(drawn, schema=dict.fromkeys(drawn, pl.String)), "variant")
    variants = read.select("title", variant="cleaned", normalized="normalized")
    frame, counts = without_taken(variants, taken)
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
    splits, names = np.full(len(labelled), "train", object), np.array([*SPLITS, "train"], object)
    splits[labelled.to_numpy()] = names[np.searchsorted(ends, rank, side="right")]
    return pl.Series("split", splits, pl.String)


def _queries(mined: pl.DataFrame) -> pl.DataFrame:
    query_id = pl.format("extra_words-{}-{}", "split", pl.int_range(pl.len()).over("split"))
    queries = mined.filter(pl.col("split") != "train").with_columns(
        cleaned="variant", query_id=query_id, test=pl.lit("extra_words")
    )
    return queries.select(list(QUERIES))


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
