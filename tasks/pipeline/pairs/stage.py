"""Stage `pairs`: the training pairs of mix K, those of the mix before and those of its own source.

In: `data/split/titles.parquet`; for `base`: the queries and the auxiliary titles; for the sources:
`data/pairs/` of the mix before and the source's `variants.parquet`; for the mixes with feedback:
`data/pairs/extra_words/` and `data/feedback/`. Out: `data/pairs/K/{strings,pairs}.parquet`, and
`judged`, `reviews` and `overrides.parquet`, which are empty without feedback. `pairs.shares` holds
each source's share of the similar pairs; similar to dissimilar is 1 : 4 in every mix (Neculoiu et
al. 2016, section 4.2), and a dissimilar pair of source `base` never shares an occupation.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from models.reproducibility.seeding import generator
from tasks.io.command import print_counts, run
from tasks.io.frames import read_frame, read_json, write_frame, write_json
from tasks.io.mixes import (
    BASE,
    CORRECTIONS,
    MIXES,
    PAPER_NUMBERS,
    SOURCES,
    mix_before,
    reads_feedback,
    training_variants,
)
from tasks.io.schemas import (
    AUXILIARY_TITLES,
    JUDGED,
    OVERRIDES,
    QUERIES,
    REVIEWS,
    STRINGS,
    TITLES,
    VERDICTS,
)
from tasks.io.section import load, load_run
from tasks.pipeline.pairs.drawn_pairs import base_pairs, new_pairs, variant_pairs
from tasks.pipeline.pairs.feedback_pairs import feedback_pairs, without_contradicted
from tasks.pipeline.pairs.pair_blocks import count, read_blocks, write_blocks
from tasks.pipeline.pairs.params import PairsParams
from tasks.pipeline.pairs.strings_table import (
    append,
    base_strings,
    feedback_strings,
    variant_strings,
)


def _mixed(mix: str, params: PairsParams, seed: int) -> tuple[pl.DataFrame, Iterator[pa.Table]]:
    """Return the strings table of a mix and its blocks, from the files of the mix before."""
    rng = generator(seed, "pairs", PAPER_NUMBERS[mix])
    titles = read_frame(Path("data/split/titles.parquet"), TITLES)
    if mix == BASE:
        strings = base_strings(
            titles,
            read_frame(Path("data/split/queries.parquet"), QUERIES),
            read_frame(Path("data/auxiliary_taxonomy/titles.parquet"), AUXILIARY_TITLES),
        )
        return strings, base_pairs(strings, params, rng, titles)
    before = Path(f"data/pairs/{mix_before(mix)}")
    source = next((source for source in SOURCES if source.mix == mix), None)
    if source is None:
        verdicts = read_frame(Path("data/feedback/verdicts.parquet"), VERDICTS)
        return with_feedback(before, verdicts, params, rng, corrections=mix == CORRECTIONS)
    strings = read_frame(before / "strings.parquet", STRINGS)
    name, variants = source.name, training_variants(source)
    strings = append(strings, variant_strings(variants, strings, name))
    share = params.shares[name]
    return strings, _counting(
        read_blocks(before / "pairs.parquet"),
        lambda similar: variant_pairs(
            strings, variants, name, new_pairs(similar, share), params, rng, titles
        ),
    )


def with_feedback(
    before: Path,
    verdicts: pl.DataFrame,
    params: PairsParams,
    rng: np.random.Generator,
    *,
    corrections: bool,
) -> tuple[pl.DataFrame, Iterator[pa.Table]]:
    """Return the strings and blocks of the folder of another mix, and those of people's verdicts.

    `verdicts` has schema `VERDICTS`; `corrections`: whether their corrections are learned too.
    """
    strings = read_frame(before / "strings.parquet", STRINGS)
    blocks = read_blocks(before / "pairs.parquet")
    if params.contradicted_pairs == "dropped":
        blocks = without_contradicted(blocks, strings, verdicts, corrections=corrections)
    strings = append(strings, feedback_strings(verdicts, corrections=corrections))
    share = params.shares["feedback"]
    return strings, _counting(
        blocks,
        lambda similar: feedback_pairs(
            strings, verdicts, new_pairs(similar, share), params, rng, corrections=corrections
        ),
    )


def _counting(
    blocks: Iterator[pa.Table], then: Callable[[int], Iterator[pa.Table]]
) -> Iterator[pa.Table]:
    """`blocks`, and then those of a source that must know how many similar pairs these hold."""
    similar = 0
    for table in blocks:
        similar += sum(n for (_, alike), n in count(table).items() if alike)
        yield table
    yield from then(similar)


def _copy_feedback(mix: str, folder: Path) -> dict[str, Any]:
    """Copy the feedback, or write empty frames; return the counts of the stage `feedback`.

    Readers of this mix then need no stage that the mix does not.
    """
    source = Path("data/feedback")
    for name, schema in (("judged", JUDGED), ("reviews", REVIEWS), ("overrides", OVERRIDES)):
        nothing = pl.DataFrame(schema=dict(schema))
        file = f"{name}.parquet"
        frame = read_frame(source / file, schema) if reads_feedback(mix) else nothing
        write_frame(frame, folder / file, schema)
    return {"feedback": read_json(source / "metrics.json")} if reads_feedback(mix) else {}


def _counts(rows: Counter[tuple[str, bool]], strings: pl.DataFrame) -> dict[str, Any]:
    return {
        "pairs": rows.total(),
        "strings": len(strings),
        "similar": {source: n for (source, similar), n in sorted(rows.items()) if similar},
        "dissimilar": {source: n for (source, similar), n in sorted(rows.items()) if not similar},
    }


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mix", required=True, choices=MIXES)
    mix = parser.parse_args().mix
    folder = Path(f"data/pairs/{mix}")
    strings, blocks = _mixed(mix, load(PairsParams), load_run().seed)
    rows = write_blocks(blocks, folder / "pairs.parquet")
    write_frame(strings, folder / "strings.parquet", STRINGS)
    counts = _counts(rows, strings)
    write_json(counts | _copy_feedback(mix, folder), folder / "metrics.json")
    print_counts(counts)


if __name__ == "__main__":
    run(main)
