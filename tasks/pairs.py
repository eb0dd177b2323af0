"""Training pairs of mix K: those of the mix before it and those of its own source.

In, K = 0: `data/split/{titles,queries}.parquet` and `data/companion/titles.parquet`; 1 to 3:
`data/pairs/K-1/` and the source's `variants.parquet`; 4 and 4c: `data/pairs/3/` and
`data/feedback/`. Out: `data/pairs/K/{strings,pairs}.parquet`, and `judged.parquet`, what people
judged, which only 4 and 4c know. A source's share of the similar pairs stands in `pairs.shares`;
similar to dissimilar is 1 : 4 in every mix (Neculoiu et al. 2016, section 4.2), and a dissimilar
pair of source `base` never shares an occupation.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
import pyarrow as pa
from pydantic import Field, model_validator

from models.repeatable.seeding import generator
from tasks.files.command import run
from tasks.files.counts import say
from tasks.files.frames import read_frame, write_frame, write_json
from tasks.files.schemas import COMPANION, JUDGED, QUERIES, STRINGS, TITLES, VERDICTS
from tasks.files.sources import (
    BASE,
    CORRECTIONS,
    MIXES,
    PAIR_SOURCES,
    SOURCES,
    mix_before,
    reads_feedback,
    training_variants,
)
from tasks.pairing.feedback_pairs import feedback_pairs, without_outranked
from tasks.pairing.memberships import Memberships
from tasks.pairing.pair_blocks import block, block_size, count, read_blocks, write_blocks
from tasks.pairing.strings_table import (
    ALIAS,
    BESIDE,
    append,
    base_strings,
    feedback_strings,
    ids_by_title,
    variant_strings,
)
from tasks.params.section import Count, Number, Section, load, load_run


class PairsParams(Section):
    """Section `pairs`: how many, in which ratio, and which share each source has."""

    NAME: ClassVar[str] = "pairs"
    rounds: Count
    verdict_rounds: Count
    dissimilar_per_similar: Number
    shares: dict[str, Annotated[float, Field(ge=0, lt=1)]]
    """Of the similar pairs of the mix that adds the source; `feedback` is the most that 4 and 4c
    have: each verdict stands in `verdict_rounds` pairs, so few have a smaller share."""
    variants_meet: Literal["title", "occupation"]
    """What a variant is similar to: the title that it is made of, or any of its occupation."""
    outranked: Literal["dropped", "kept"]
    row_group: Annotated[int, Field(ge=1024)]

    @model_validator(mode="after")
    def _every_source_has_a_share(self) -> Self:
        wanted = set(PAIR_SOURCES) - {"base"}
        if wrong := sorted(wanted.symmetric_difference(self.shares)):
            raise ValueError(f"shares are those of {sorted(wanted)}; check {wrong}")
        return self


def base_pairs(
    strings: pl.DataFrame, params: PairsParams, rng: np.random.Generator
) -> Iterator[pa.Table]:
    """Yield each title `rounds` times an anchor, its positive drawn from its occupation's others.

    The aliases come first, then the companion's titles, each with those of its own taxonomy.

    Args:
        strings: schema `STRINGS`.
        params: section `pairs`.
        rng: consumed in order; equal generators give equal pairs.

    Raises:
        ValueError: no occupation has two titles, or all titles share one occupation.
    """
    yield from _base_pairs(members_of(strings), params, rng)
    if BESIDE in strings["role"]:
        yield from _base_pairs(members_of(strings, BESIDE), params, rng)


def _base_pairs(
    members: Memberships, params: PairsParams, rng: np.random.Generator
) -> Iterator[pa.Table]:
    rows = np.flatnonzero(members.size > 1)
    if not rows.size:
        raise ValueError("no similar pair can be made: every occupation has a single title")
    size, total = block_size(params), rows.size * params.rounds
    for start in range(0, total, size):
        entry = rows[np.arange(start, min(start + size, total)) % rows.size]
        drawn = rng.integers(0, members.size[entry] - 1)
        drawn += drawn >= members.place[entry]
        anchors, others = members.string[entry], members.string[members.start[entry] + drawn]
        repeated = np.repeat(anchors, params.dissimilar_per_similar)
        yield block((anchors, others), repeated, "base", members, rng)


def variant_pairs(
    strings: pl.DataFrame,
    variants: pl.DataFrame,
    source: str,
    similar: int,
    params: PairsParams,
    rng: np.random.Generator,
) -> Iterator[pa.Table]:
    """`similar` pairs of a title and a variant of it or its like, with their dissimilar ones.

    Args:
        strings: schema `STRINGS`, with the rows of role `source`.
        variants: schema `VARIANTS`; none give no pairs.
        source: of the pairs.
        similar: how many.
        params: section `pairs`.
        rng: consumed in order.
    """
    members = members_of(strings)
    ids = {role: ids_by_title(strings, role) for role in ("alias", source)}
    anchors = np.array([ids["alias"][title] for title in variants["title"]], np.int64)
    others = np.array([ids[source][variant] for variant in variants["variant"]], np.int64)
    left = similar if anchors.size else 0
    while left:
        size = min(left, block_size(params))
        drawn = rng.integers(0, anchors.size, size)
        titles = anchors[drawn]
        if params.variants_meet == "occupation":
            titles = members.drawn_beside(titles, rng)
        repeated = np.repeat(titles, params.dissimilar_per_similar)
        yield block((titles, others[drawn]), repeated, source, members, rng)
        left -= size


def new_pairs(similar_before: int, share: float) -> int:
    """Tell how many similar pairs make `share` of all similar ones, these counted.

    n = p · (before + n), so n = p · before / (1 - p).
    """
    return round(share * similar_before / (1 - share))


def members_of(strings: pl.DataFrame, role: str = ALIAS) -> Memberships:
    """Of the strings of a role of mix 0, which stand together in the table."""
    rows = strings.filter(pl.col("role") == role)
    return Memberships(rows["occupation_ids"], rows.item(0, "string_id"))


def counting(
    blocks: Iterator[pa.Table], then: Callable[[int], Iterator[pa.Table]]
) -> Iterator[pa.Table]:
    """`blocks`, and then those of a source that must know how many similar pairs these hold."""
    similar = 0
    for table in blocks:
        similar += sum(n for (_, alike), n in count(table).items() if alike)
        yield table
    yield from then(similar)


def _mixed(mix: str, params: PairsParams, seed: int) -> tuple[pl.DataFrame, Iterator[pa.Table]]:
    """Return the strings table of a mix and its blocks, from the files of the mix before."""
    rng = generator(seed, "pairs", mix)
    if mix == BASE:
        strings = base_strings(
            read_frame(Path("data/split/titles.parquet"), TITLES),
            read_frame(Path("data/split/queries.parquet"), QUERIES),
            read_frame(Path("data/companion/titles.parquet"), COMPANION),
        )
        return strings, base_pairs(strings, params, rng)
    before = Path(f"data/pairs/{mix_before(mix)}")
    strings = read_frame(before / "strings.parquet", STRINGS)
    blocks = read_blocks(before / "pairs.parquet")
    source = next((source for source in SOURCES if source.mix == mix), None)
    if source is not None:
        name, variants = source.name, training_variants(source)
        strings = append(strings, variant_strings(variants, strings, name))
        share = params.shares[name]
        return strings, counting(
            blocks,
            lambda similar: variant_pairs(
                strings, variants, name, new_pairs(similar, share), params, rng
            ),
        )
    verdicts = read_frame(Path("data/feedback/verdicts.parquet"), VERDICTS)
    corrections = mix == CORRECTIONS
    if params.outranked == "dropped":
        blocks = without_outranked(blocks, strings, verdicts, corrections=corrections)
    strings = append(strings, feedback_strings(verdicts, corrections=corrections))
    return strings, counting(
        blocks,
        lambda similar: feedback_pairs(
            strings,
            verdicts,
            members_of(strings),
            new_pairs(similar, params.shares["feedback"]),
            params,
            rng,
            corrections=corrections,
        ),
    )


def _judged(mix: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return what people judged, and the counts of the stage `feedback`; nothing for mixes 0 to 3.

    They go on from here, so that what reads this mix needs no stage that the mix does not.
    """
    if not reads_feedback(mix):
        return pl.DataFrame(schema=dict(JUDGED)), {}
    counts = json.loads(Path("data/feedback/metrics.json").read_text(encoding="utf-8"))
    return read_frame(Path("data/feedback/judged.parquet"), JUDGED), {"feedback": counts}


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
    judged, told = _judged(mix)
    write_frame(judged, folder / "judged.parquet", JUDGED)
    counts = _counts(rows, strings)
    write_json(counts | told, folder / "metrics.json")
    say(counts)


if __name__ == "__main__":
    run(main)
