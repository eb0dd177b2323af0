"""Blocks of training pairs, drawn from titles, from their variants, and from people's verdicts.

A block is a table `anchor_id, other_id, similar, source` and a row group of the file, so memory
does not grow with the number of pairs. Similar to dissimilar is 1 : 4 in every block, and a
dissimilar pair of source `base` never shares an occupation. A resolution `correct` is a similar
pair of the input and its matched title; `incorrect` is a dissimilar pair of the two; a correction,
which only the mix `corrections` reads, is a similar pair with a title of the correct occupation
(Neculoiu et al. 2016, section 4.2; the paper has no corrections).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field, model_validator

from models.reproducibility import atomic_write
from tasks.io.mixes import PAIR_SOURCES
from tasks.io.section import Count, Number, Section, Share
from tasks.pipeline.pairs.strings import (
    ALIAS,
    AUXILIARY,
    FEEDBACK,
    IS_CORRECT,
    NOISY,
    StringOccupations,
    ids_of,
    known_occupation,
)

SOURCE = pa.dictionary(pa.int8(), pa.string())
IDS = {"anchor_id": pa.uint32(), "other_id": pa.uint32()}
PAIRS = pa.schema({**IDS, "similar": pa.bool_(), "source": SOURCE})
MAX_DRAWS = 1000
NONE = np.empty(0, np.int64)


class PairsParams(Section):
    """Section `pairs`: how many, in which ratio, and which share each source has."""

    NAME: ClassVar[str] = "pairs"
    positives_per_anchor: Count
    across_languages: Share  # of positives; the others are in the title's own language
    pairs_per_verdict: Count
    dissimilar_per_similar: Number
    shares: dict[str, Annotated[float, Field(ge=0, lt=1)]]
    """Of the similar pairs of the mix that adds the source; `feedback` is the most that it has."""
    variant_positive: Literal["title", "occupation"]
    """A variant is similar to the title that it is made of, or to any of its occupation. Inputs
    with verdicts are then paired with any title and any other input of their occupation, too."""
    contradicted_pairs: Literal["dropped", "kept"]
    row_group: Annotated[int, Field(ge=1024)]

    @model_validator(mode="after")
    def _every_source_has_a_share(self) -> Self:
        sources = set(PAIR_SOURCES) - {"base"}
        if bad := sorted(sources.symmetric_difference(self.shares)):
            raise ValueError(f"shares are those of {sorted(sources)}; check {bad}")
        return self

    @property
    def block_size(self) -> int:
        """Similar pairs of a block."""
        return max(1, self.row_group // (1 + self.dissimilar_per_similar))


def base_pairs(
    strings: pl.DataFrame,
    params: PairsParams,
    rng: np.random.Generator,
    languages: pl.DataFrame | None = None,
) -> Iterator[pa.Table]:
    """Yield each title `positives_per_anchor` times with another title of its occupation.

    Aliases come first, then the auxiliary titles and noisy copies, with each other. `languages`:
    `title, language` of the aliases. ValueError if no occupation has two titles, or all are of one.
    """
    groups = [(ALIAS,), (AUXILIARY, NOISY)] if AUXILIARY in strings["role"] else [(ALIAS,)]
    for roles in groups:
        members = StringOccupations.of(strings, *roles, languages=languages)
        rows = np.flatnonzero(members.size > 1)
        if not rows.size:
            raise ValueError("no similar pair can be made: every occupation has a single title")
        total = rows.size * params.positives_per_anchor
        for start in range(0, total, params.block_size):
            entry = rows[np.arange(start, min(start + params.block_size, total)) % rows.size]
            anchors, others = members.string[entry], members.others_of(entry, rng)
            if params.across_languages < 1:
                own = members.others_in_language(entry, rng)
                kept = (own < 0) | (rng.random(entry.size) < params.across_languages)
                others = np.where(kept, others, own)
            repeated = np.repeat(anchors, params.dissimilar_per_similar)
            yield block((anchors, others), repeated, "base", members, rng)


def variant_pairs(
    strings: pl.DataFrame,
    variants: pl.DataFrame,
    source: str,
    similar: int,
    params: PairsParams,
    rng: np.random.Generator,
    languages: pl.DataFrame | None = None,
) -> Iterator[pa.Table]:
    """Yield `similar` pairs of a title and a variant of it or its like, with dissimilar ones."""
    members = StringOccupations.of(strings, ALIAS, languages=languages)
    anchors = ids_of(variants["title"], strings, ALIAS)
    others = ids_of(variants["variant"], strings, source)
    left = similar if anchors.size else 0
    while left:
        size = min(left, params.block_size)
        drawn = rng.integers(0, anchors.size, size)
        titles = anchors[drawn]
        if params.variant_positive == "occupation":
            titles = members.drawn_beside(titles, rng, params.across_languages)
        repeated = np.repeat(titles, params.dissimilar_per_similar)
        yield block((titles, others[drawn]), repeated, source, members, rng)
        left -= size


def feedback_pairs(
    strings: pl.DataFrame,
    resolutions: pl.DataFrame,
    most: int,
    params: PairsParams,
    rng: np.random.Generator,
    *,
    corrections: bool,
) -> Iterator[pa.Table]:
    """Yield similar pairs of confirmed (and corrected) inputs, and rejections.

    Each stands in `params.pairs_per_verdict` pairs, so that few verdicts weigh little; of each kind
    there are `most` at most, shared equally. A rejection, of an incorrect prediction, replaces one
    of the `dissimilar_per_similar` pairs beside a similar one; the others are strangers of source
    `base`. Further rejections stand alone. `resolutions` (`RESOLUTIONS`) all have a matched title.
    """
    meet = params.variant_positive == "occupation"
    members = StringOccupations.of(strings, ALIAS, *([FEEDBACK] if meet else []))
    wrong_titles, wrong_inputs = _matched(resolutions.filter(~IS_CORRECT), strings)
    pool, start, sizes, inputs = _candidates(strings, resolutions, meet, corrections=corrections)
    similar, rejections = (
        np.resize(rng.permutation(size), min(most, params.pairs_per_verdict * size))
        for size in (inputs.size, wrong_inputs.size)
    )
    size = params.block_size
    for first in range(0, max(similar.size, rejections.size), size):
        chosen, rejected = (drawn[first : first + size] for drawn in (similar, rejections))
        anchors, others = pool[start[chosen] + rng.integers(0, sizes[chosen])], inputs[chosen]
        kept = anchors != others  # an input that draws itself gives no pair
        anchors, others = anchors[kept], others[kept]
        strangers = np.full(anchors.size, params.dissimilar_per_similar)
        strangers[: rejected.size] -= 1
        excluded = (wrong_titles[rejected], wrong_inputs[rejected])
        repeated = np.repeat(anchors, strangers.clip(0))
        yield block((anchors, others), repeated, FEEDBACK, members, rng, excluded)


def new_pairs(similar_before: int, share: float) -> int:
    """Return n = p · before / (1 - p), with which `share` p of all similar pairs is new."""
    return round(share * similar_before / (1 - share))


def block(
    similar: tuple[np.ndarray, np.ndarray],
    strangers_to: np.ndarray,
    source: str,
    members: StringOccupations,
    rng: np.random.Generator,
    rejected: tuple[np.ndarray, np.ndarray] = (NONE, NONE),
) -> pa.Table:
    """Return pairs of `source`, `similar` then `rejected`, and strangers of source `base`."""
    strangers = _strangers(strangers_to, members, rng)
    anchors = np.concatenate([similar[0], rejected[0], strangers_to])
    others = np.concatenate([similar[1], rejected[1], strangers])
    codes = np.full(anchors.size, PAIR_SOURCES.index("base"), np.int8)
    codes[: similar[0].size + rejected[0].size] = PAIR_SOURCES.index(source)
    ids = [pa.array(ids.astype(np.uint32)) for ids in (anchors, others)]
    is_similar = pa.array(np.arange(anchors.size) < similar[0].size)
    sources = pa.DictionaryArray.from_arrays(codes, pa.array(PAIR_SOURCES))
    return pa.Table.from_arrays([*ids, is_similar, sources], schema=PAIRS)


def write_blocks(blocks: Iterable[pa.Table], path: Path) -> Counter[tuple[str, bool]]:
    """Write blocks as they come, a row group each; return the rows by (source, similar)."""
    rows = Counter[tuple[str, bool]]()
    zstd: Any = {"compression": "zstd", "compression_level": 3}
    with atomic_write(path) as partial, pq.ParquetWriter(partial, PAIRS, **zstd) as writer:
        for table in blocks:
            writer.write_table(table, row_group_size=max(1, len(table)))
            counts = pl.DataFrame(table).group_by("source", "similar").len()
            rows.update({(source, similar): n for source, similar, n in counts.iter_rows()})
    return rows


def read_blocks(path: Path) -> Iterator[pa.Table]:
    """Yield the row groups of a pairs file, one at a time."""
    file = pq.ParquetFile(path)
    for group in range(file.num_row_groups):
        yield file.read_row_group(group).cast(PAIRS)


def _candidates(
    strings: pl.DataFrame, resolutions: pl.DataFrame, meet: bool, *, corrections: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a pool of anchors, start and size of each input's run in it, and the inputs.

    A confirmed input's run is the one title that it was matched with, a corrected input's all
    titles of the correct occupation. If they meet, both have all titles and all inputs of it.
    """
    is_pinned = IS_CORRECT & (not meet)
    pinned, free = resolutions.filter(is_pinned), resolutions.filter(~is_pinned)
    matched, confirmed = _matched(pinned, strings)
    owned = (
        strings.filter(pl.col("role").is_in([ALIAS, FEEDBACK] if meet else [ALIAS]))
        .explode("occupation_ids")
        .sort("occupation_ids", "string_id")
        .with_row_index("start")
    )
    runs = owned.group_by("occupation_ids").agg(pl.col("start").min(), size=pl.len())
    joined = (
        free.sort(~IS_CORRECT, maintain_order=True)
        .with_columns(occupation_ids=known_occupation(corrections=corrections))
        .drop_nulls("occupation_ids")
        .unique(["raw_title", "occupation_ids"], maintain_order=True)
        .join(runs, on="occupation_ids", maintain_order="left")
    )
    before = np.arange(matched.size)
    return (
        np.concatenate([matched, owned["string_id"].to_numpy()]).astype(np.int64),
        np.concatenate([before, joined["start"].to_numpy() + matched.size]).astype(np.int64),
        np.concatenate([np.ones_like(before), joined["size"].to_numpy()]).astype(np.int64),
        np.concatenate([confirmed, ids_of(joined["cleaned"], strings, FEEDBACK)]),
    )


def _matched(resolutions: pl.DataFrame, strings: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return string ids of the matched titles and of the inputs."""
    return (
        ids_of(resolutions["matched_title"], strings, ALIAS),
        ids_of(resolutions["cleaned"], strings, FEEDBACK),
    )


def _strangers(
    anchors: np.ndarray, members: StringOccupations, rng: np.random.Generator
) -> np.ndarray:
    """For each anchor a string of `members` that shares no occupation with it, drawn uniformly."""
    strangers = members.ids[rng.integers(0, members.ids.size, anchors.size)]
    for _ in range(MAX_DRAWS):
        wrong = np.flatnonzero(members.share_occupation(anchors, strangers))
        if not wrong.size:
            return strangers
        strangers[wrong] = members.ids[rng.integers(0, members.ids.size, wrong.size)]
    raise ValueError(
        "no dissimilar pair can be made: (nearly) all titles share an occupation with "
        f"{len(np.unique(anchors[wrong]))} of them; a taxonomy needs two occupations or more"
    )
