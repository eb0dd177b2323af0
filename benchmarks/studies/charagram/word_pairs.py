"""Pairs of words and sentences of this study, from the publishers' files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import polars as pl

from benchmarks.networks.pair_networks import scaled_pairs, strings
from models.reproducibility.seeding import generator
from models.text.titles import clean_title
from models.training.scored_pairs import ScoredPairs
from tasks.papers.similarity.readers import semeval
from tasks.papers.similarity.readers.ppdb import read_ppdb
from tasks.papers.similarity.readers.tab_separated import SICK, SIMLEX, read_pairs
from tasks.tables.rejected import RejectedRows

HELD_OUT = 1000
WordPairs = list[tuple[str, str]]


@dataclass(frozen=True)
class StudyPairs:
    """Pairs to train on, to choose by, and to judge by.

    Attributes:
        train: links, none of which is in `simlex`.
        valid: held-out links, also outside `simlex`.
        simlex: with scores in [0, 1].
        sentences: by test, the STS sets (`sts2012/MSRpar`) and `sick`, with scores in [0, 1].
    """

    train: ScoredPairs
    valid: ScoredPairs
    simlex: ScoredPairs
    sentences: dict[str, ScoredPairs]


def read(data: Path, held_out: int = HELD_OUT) -> StudyPairs:
    """Read all of it."""
    published = read_ppdb(data / "ppdb/ppdb-xl.txt", RejectedRows()).frame
    links = distinct(published.select("head", "paraphrase").rows())
    words = {"test": data / "word_similarity/SimLex-999.txt"}
    simlex = scaled_pairs(read_pairs(SIMLEX, words, RejectedRows()))
    tested = set(map(frozenset, zip(*strings(simlex), strict=True)))
    fresh = [link for link in links if frozenset(link) not in tested]
    drawn = generator(0, "charagram", "valid").permutation(len(fresh)) < held_out
    return StudyPairs(
        _linked(list(compress(fresh, ~drawn))),
        _linked(list(compress(fresh, drawn))),
        simlex,
        test_sentences(data / "sts"),
    )


def distinct(pairs: Sequence[tuple[str, str]]) -> WordPairs:
    """Return each pair of two words once, whichever way round; none of equal words.

    Words are compared as encoders see them, cleaned: `1,800` is not `1800`, `The` is `the`.
    """
    first: dict[frozenset[str], tuple[str, str]] = {}
    for left, right in pairs:
        pair = clean_title(left), clean_title(right)
        if pair[0] != pair[1]:
            first.setdefault(frozenset(pair), pair)
    return list(first.values())


def _linked(links: WordPairs) -> ScoredPairs:
    return ScoredPairs.of([left for left, _ in links], [right for _, right in links])


def test_sentences(folder: Path) -> dict[str, ScoredPairs]:
    """Read the test pairs of the STS sets and of SICK, by set."""
    files = {
        name: folder / "semeval" / path
        for name, path in semeval.FILES.items()
        if name.endswith(".test")
    }
    related = {"test": folder / "sick2014" / SICK.files["test"]}
    pairs = [
        semeval.read_semeval(files, RejectedRows()),
        read_pairs(SICK, related, RejectedRows()),
    ]
    sets = pl.concat(pairs).partition_by("dataset", as_dict=True, maintain_order=True)
    return {str(name): scaled_pairs(split) for (name,), split in sets.items()}
