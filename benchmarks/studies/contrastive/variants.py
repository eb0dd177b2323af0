"""The networks of this study: how each differs, and what each is trained on.

Pairs are made anew from `data/split` of a workspace by the pure functions of the stages `typos`
and `pairs`; at the workspace's own parameters they are those of its mix 1, the base taxonomy and
typos. Nothing is trained here.

A step of `pairs` at 1 : r encodes 2·(1 + r) strings to a similar pair, one of hard mining 2. So it
takes `batch_pairs` / (1 + r) similar pairs, and the strings of a step are about as many. That gives
a smaller ratio more similar pairs (``equal_strings``); the ratios are therefore also trained with
the similar pairs of 1 : 4 in each step (``equal_similar``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import polars as pl
import pyarrow as pa

from benchmarks.workspace import Workspace
from models.losses.contrastive import ContrastiveSettings
from models.network.kinds import kind_of
from models.repeatable.seeding import generator
from models.training.run import TrainSettings
from tasks.files.frames import read_frame, write_frame
from tasks.files.schemas import QUERIES, STRINGS, TITLES
from tasks.pairing.drawn_pairs import base_pairs, new_pairs, variant_pairs
from tasks.pairing.pair_blocks import write_blocks
from tasks.pairing.strings_table import append, base_strings, variant_strings
from tasks.pairs import counting
from tasks.params.network import training_settings
from tasks.params.whole import AllParams
from tasks.typos import typos

PENALTIES: tuple[Literal["printed", "flipped", "hinge"], ...] = ("printed", "flipped", "hinge")
MARGINS = (0.2, 0.4, 0.6, 0.8, 0.9999)  # a margin of 1 is none, and refused
PAPER_RATIO, RATIOS = 4, (1, 4, 9)
PAPER_RATES = (0.2, 0.05)  # substituted and deleted, section 4.2
RATES = ((0.05, 0.0125), (0.1, 0.025), PAPER_RATES, (0.4, 0.1))


class Variant(NamedTuple):
    """What a network has of its own: its loss, similar pairs a step, ratio, and typo rates."""

    system: str
    loss: ContrastiveSettings
    batch_pairs: int
    ratio: int = PAPER_RATIO
    rates: tuple[float, float] = PAPER_RATES
    trained: bool = True


@dataclass(frozen=True)
class Material:
    """Parameters, titles (`TITLES`) and queries (`QUERIES`) of a workspace."""

    params: AllParams
    titles: pl.DataFrame
    queries: pl.DataFrame

    @property
    def settings(self) -> TrainSettings:
        """Section `train` with the first of the seeds."""
        return training_settings(self.params.network, self.params.seeds[0])


def own_loss(settings: TrainSettings) -> ContrastiveSettings:
    """Return the loss that this study is about."""
    if not isinstance(settings.loss, ContrastiveSettings):
        raise TypeError(f"train.loss.kind is {kind_of(settings.loss)}: set it to contrastive")
    return settings.loss


def penalties(settings: TrainSettings) -> Iterator[Variant]:
    """Yield every penalty at every margin, in the paper's way and with hard mining.

    First the network as training finds it: the share of pairs that `printed` moves at a margin
    says whether that reading can begin to learn.
    """
    few = similar_pairs(settings.batch_pairs, PAPER_RATIO)
    for margin in MARGINS:
        loss = as_in_paper(
            replace(own_loss(settings), penalty="printed", margin=margin), PAPER_RATIO
        )
        yield Variant(f"untrained/printed/margin:{margin:g}", loss, few, trained=False)
    for penalty in PENALTIES:
        for margin in MARGINS:
            loss = replace(own_loss(settings), penalty=penalty, margin=margin)
            name = f"{penalty}/margin:{margin:g}"
            yield Variant(f"pairs/{name}", as_in_paper(loss, PAPER_RATIO), few)
            mined = replace(loss, negatives="hardest", weight_similar=0.25, weight_dissimilar=1.0)
            yield Variant(f"hardest/{name}", mined, settings.batch_pairs)


def ratios(settings: TrainSettings) -> Iterator[Variant]:
    """Yield each ratio with equal strings and with equal similar pairs a step; 1 : 4 is both."""
    few = similar_pairs(settings.batch_pairs, PAPER_RATIO)
    for ratio in RATIOS:
        loss, name = as_in_paper(own_loss(settings), ratio), f"pairs/ratio:{ratio}"
        many = similar_pairs(settings.batch_pairs, ratio)
        if ratio == PAPER_RATIO:
            yield Variant(name, loss, few, ratio)
        else:
            yield Variant(f"{name}/equal_strings", loss, many, ratio)
            yield Variant(f"{name}/equal_similar", loss, few, ratio)


def typo_rates(settings: TrainSettings) -> Iterator[Variant]:
    """Yield the paper's typo rates, a quarter, half, and twice of them; the loss of `train`."""
    for substituted, deleted in RATES:
        name = f"substituted:{substituted:g}/deleted:{deleted:g}"
        yield Variant(name, own_loss(settings), settings.batch_pairs, rates=(substituted, deleted))


PARTS: dict[str, Callable[[TrainSettings], Iterator[Variant]]] = {
    "penalties": penalties,
    "ratios": ratios,
    "typos": typo_rates,
}


def similar_pairs(batch_pairs: int, ratio: int) -> int:
    """Return similar pairs a step whose strings at 1 : `ratio` are those of `batch_pairs`."""
    return max(2, round(batch_pairs / (1 + ratio)))


def as_in_paper(loss: ContrastiveSettings, ratio: int) -> ContrastiveSettings:
    """Return the loss on pairs of the file, its means weighted as in the paper's sum over pairs.

    (1/4·Σ similar + Σ dissimilar) / number of similar = 1/4·mean similar + ratio·mean dissimilar.
    """
    return replace(loss, negatives="pairs", weight_similar=0.25, weight_dissimilar=float(ratio))


def read_material(workspace: Workspace) -> Material:
    """Read `data/split/{titles,queries}.parquet`."""
    return Material(
        workspace.params,
        read_frame(workspace.data / "split/titles.parquet", TITLES),
        read_frame(workspace.data / "split/queries.parquet", QUERIES),
    )


def write_pairs(
    material: Material, ratio: int, rates: tuple[float, float], folder: Path
) -> pl.DataFrame:
    """Write mix 1's `strings.parquet` and `pairs.parquet`; return all queries of part `valid`.

    The queries, `QUERIES`, are held-out aliases, labelled inputs and typos; none depends on
    `ratio` or `rates`.
    """
    params = material.params
    noise = params.typos.model_copy(update={"substituted": rates[0], "deleted": rates[1]})
    pairs = params.pairs.model_copy(update={"dissimilar_per_similar": ratio})
    made = typos(material.titles, material.queries, noise, params.seed)
    base = base_strings(material.titles, material.queries)
    strings = append(base, variant_strings(made.variants, base, "typo"))
    first, second = (generator(params.seed, "pairs", mix) for mix in ("0", "1"))

    def misspelt(similar: int) -> Iterator[pa.Table]:
        count = new_pairs(similar, pairs.shares["typo"])
        return variant_pairs(strings, made.variants, "typo", count, pairs, second)

    write_frame(strings, folder / "strings.parquet", STRINGS)
    write_blocks(counting(base_pairs(base, pairs, first), misspelt), folder / "pairs.parquet")
    return pl.concat([material.queries, made.queries]).filter(pl.col("part") == "valid")
