"""PPDB's lexical paraphrases as an adjacency list: a word and its paraphrases on each line.

Words are separated by spaces, and by nothing else: some of them hold other white space. The file
gives almost every link in both directions; a pair means both, so it is kept once, the way round
and at the place where it stands first: what the order of the file means is not documented. Wieting
et al. 2016 train word encoders on such pairs. Words are taken as published, scraps of markup among
them.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from tasks.io.frames import Schema
from tasks.tables.rejected import RejectedRows, empty
from tasks.tables.source_files import IngestError
from tasks.tables.text import line_rows

PARAPHRASES: Schema = {"head": pl.String, "paraphrase": pl.String}
ORIGIN = (
    "PPDB (Ganitkevitch, Van Durme and Callison-Burch 2013, CC BY 3.0) is published at "
    "paraphrase.org; the file must have one word a line, followed by its paraphrases."
)


class Paraphrases(NamedTuple):
    """Distinct pairs, and what the file's links came to.

    Attributes:
        frame: schema `PARAPHRASES`; no pair twice, whichever way round, none of equal words.
    """

    frame: pl.DataFrame
    links: int  # words that follow a head, all lines together: pairs + self_links + repeated
    self_links: int  # links of a word to itself, dropped
    repeated: int  # links of a pair that stood before, mostly the other way round; dropped


def read_ppdb(path: Path, rejected: RejectedRows) -> Paraphrases:
    """Read the adjacency list; a line without a paraphrase is refused.

    Raises:
        IngestError: the file is missing or holds no pair.
    """
    links = _links(path, rejected)
    others = links.filter(pl.col("head") != pl.col("paraphrase"))
    ends = (pl.min_horizontal(*PARAPHRASES), pl.max_horizontal(*PARAPHRASES))
    pairs = others.filter(pl.struct(low=ends[0], high=ends[1]).is_first_distinct())
    if pairs.is_empty():
        raise IngestError(f"{path} holds no pair of words. {ORIGIN}")
    return Paraphrases(
        pairs, links.height, links.height - others.height, others.height - pairs.height
    )


def _links(path: Path, rejected: RejectedRows) -> pl.DataFrame:
    """Read every head with every word behind it (schema `PARAPHRASES`), in the file's order."""
    heads: list[str] = []
    paraphrases: list[list[str]] = []
    for row in line_rows(path, "line", ORIGIN, rejected):
        head, *others = [word for word in row.values["line"].split(" ") if word]
        if others:
            heads.append(head)
            paraphrases.append(others)
        else:
            rejected.refuse(row, empty("paraphrase"))
    lists: Schema = {"head": pl.String, "paraphrase": pl.List(pl.String)}
    return pl.DataFrame([heads, paraphrases], schema=lists).explode("paraphrase")
