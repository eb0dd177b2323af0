"""Stage `pairs`: the training pairs of mix K, those of the mix before and those of its own source.

In: `data/split/titles.parquet`; for `base`: the queries and the auxiliary titles; for the sources:
`data/pairs/` of the mix before and the source's `variants.parquet`; with feedback:
`data/pairs/extra_words/` and `data/feedback/resolutions.parquet`. Out, in `data/pairs/K/`:
`strings.parquet`, `pairs.parquet` and counts (Neculoiu et al. 2016, section 4.2).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from models.reproducibility import generator
from tasks.io import mixes
from tasks.io.command import print_counts, run
from tasks.io.files import content_hash, write_json
from tasks.io.frames import read_frame, write_frame
from tasks.io.schemas import AUXILIARY_TITLES, QUERIES, RESOLUTIONS, STRINGS, TITLES
from tasks.io.section import load, load_run
from tasks.io.title_readings import normalized
from tasks.pipeline.pairs import drawn_pairs
from tasks.pipeline.pairs.strings import (
    IS_CORRECT,
    base_strings,
    known_occupation,
    with_feedback_strings,
    with_variants,
)

FEEDBACK = Path("data/feedback")
LEARNED = ("verdicts.parquet", "resolutions.parquet", "overrides.parquet", "metrics.json")
"""Files of the stage `feedback` that a mix with feedback and the readers of its model depend on."""


def _mixed(
    mix: str, params: drawn_pairs.PairsParams, seed: int
) -> tuple[pl.DataFrame, Iterator[pa.Table]]:
    """Return the strings table of a mix and its blocks, from the files of the mix before."""
    rng = generator(seed, "pairs", mixes.PAPER_NUMBERS.get(mix, mix))
    titles = read_frame(Path("data/split/titles.parquet"), TITLES)
    if mix == mixes.BASE:
        queries = read_frame(Path("data/split/queries.parquet"), QUERIES)
        auxiliary = Path("data/auxiliary_taxonomy/titles.parquet")
        strings = base_strings(titles, queries, read_frame(auxiliary, AUXILIARY_TITLES))
        return strings, drawn_pairs.base_pairs(strings, params, rng, titles)
    before = Path(f"data/pairs/{mixes.mix_before(mix)}")
    if mixes.reads_feedback(mix):
        resolutions = read_frame(FEEDBACK / "resolutions.parquet", RESOLUTIONS)
        return with_feedback(before, resolutions, params, rng, corrections=mix == mixes.CORRECTIONS)
    source = next(source for source in mixes.SOURCES if source.stage == mix)
    variants, name = mixes.training_variants(source), source.name
    strings = with_variants(read_frame(before / "strings.parquet", STRINGS), variants, name)
    kept = drawn_pairs.read_blocks(before / "pairs.parquet")
    return strings, _continued(
        kept,
        params.shares[name],
        lambda new: drawn_pairs.variant_pairs(strings, variants, name, new, params, rng, titles),
    )


def with_feedback(
    before: Path,
    resolutions: pl.DataFrame,
    params: drawn_pairs.PairsParams,
    rng: np.random.Generator,
    *,
    corrections: bool,
) -> tuple[pl.DataFrame, Iterator[pa.Table]]:
    """Return the strings and blocks of another mix's folder, and those of people's verdicts."""
    learned = resolutions.drop_nulls("matched_title")
    strings_before = read_frame(before / "strings.parquet", STRINGS)
    strings = with_feedback_strings(strings_before, learned, corrections=corrections)
    kept = drawn_pairs.read_blocks(before / "pairs.parquet")
    if params.contradicted_pairs == "dropped":
        kept = without_contradicted(kept, strings_before, learned, corrections=corrections)
    pairs = partial(drawn_pairs.feedback_pairs, corrections=corrections)
    make = partial(pairs, strings, learned, params=params, rng=rng)
    return strings, _continued(kept, params.shares["feedback"], make)


def _continued(
    blocks: Iterator[pa.Table], share: float, make: Callable[[int], Iterator[pa.Table]]
) -> Iterator[pa.Table]:
    """Yield blocks, then what `make` yields of as many similar pairs as are `share` of all."""
    similar = 0
    for table in blocks:
        similar += int(table["similar"].to_numpy().sum())
        yield table
    yield from make(drawn_pairs.new_pairs(similar, share))


def without_contradicted(
    blocks: Iterator[pa.Table],
    strings: pl.DataFrame,
    resolutions: pl.DataFrame,
    *,
    corrections: bool,
) -> Iterator[pa.Table]:
    """Yield `blocks` less the mined pairs that a resolution of the same string contradicts.

    A pair of source `extra_words` goes if people gave its string an occupation that its title does
    not have or, where they gave none, called an occupation of its title incorrect. Its dissimilar
    pairs go too, so that the ratio stays. `strings` and `blocks` are of the mix before.
    """
    by_title = resolutions.group_by("normalized").agg(
        correct=known_occupation(corrections=corrections).drop_nulls().last(),
        incorrect=pl.col("predicted_occupation_id").filter(~IS_CORRECT),
    )
    of_mined = strings.filter(role="extra_words")
    named = of_mined.select(normalized(of_mined["title"]), other_id="string_id")
    views = named.join(by_title, on="normalized")
    held = strings.select(anchor_id="string_id", held="occupation_ids")
    contradicted = (
        pl.when(pl.col("correct").is_not_null())
        .then(~pl.col("correct").is_in("held"))
        .otherwise(pl.col("incorrect").list.set_intersection("held").list.len() > 0)
    )
    for table in blocks:
        similar = pl.DataFrame(table).filter("similar")  # a block begins with its similar pairs
        mined = similar.with_row_index("row").filter(source="extra_words")
        viewed = mined.join(views, on="other_id").join(held, on="anchor_id")
        goes = np.zeros(len(similar), bool)
        goes[viewed.filter(contradicted)["row"].to_numpy()] = True
        if goes.any():
            # each has as many dissimilar pairs as any other, and these stand in the same order
            theirs = np.repeat(goes, (len(table) - goes.size) // goes.size)
            table = table.filter(pa.array(~np.concatenate([goes, theirs])))
        yield table


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mix", required=True, choices=mixes.MIXES)
    mix = parser.parse_args().mix
    folder = Path(f"data/pairs/{mix}")
    strings, blocks = _mixed(mix, load(drawn_pairs.PairsParams), load_run().seed)
    rows = drawn_pairs.write_blocks(blocks, folder / "pairs.parquet")
    write_frame(strings, folder / "strings.parquet", STRINGS)
    counts = {
        "pairs": rows.total(),
        "strings": len(strings),
        "similar": {source: n for (source, similar), n in sorted(rows.items()) if similar},
        "dissimilar": {source: n for (source, similar), n in sorted(rows.items()) if not similar},
    }
    print_counts(counts)
    if mixes.reads_feedback(mix):
        # readers of `data/feedback` depend on this file, because a mix without feedback needs none
        counts["feedback"] = content_hash([FEEDBACK / name for name in LEARNED], "")
    write_json(counts, folder / "metrics.json")


if __name__ == "__main__":
    run(main)
