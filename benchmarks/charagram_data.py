"""What the study `charagram` trains on and is judged by, from the publishers' files.

PPDB-XL's links are word pairs; 1,000 drawn ones are held out to choose by. SimLex-999, the test
parts of 18 STS sets and that of SICK choose nothing. Some pairs of SimLex are links, as they are in
the paper's PPDB-XXL; they are not left out, but the others are judged by themselves as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchmarks.scored_sets import StringPairs, kept, string_pairs
from models.seeding import generator
from models.titles import clean_title
from tasks.readers import semeval, sick
from tasks.readers.ppdb import read_ppdb
from tasks.readers.rejected import Ledger
from tasks.readers.simlex import read_simlex

HELD_OUT = 1000


@dataclass(frozen=True)
class Material:
    """Pairs to train on, to choose by, and to judge by.

    Attributes:
        train: links.
        valid: held-out links.
        simlex: with scores in [0, 1].
        unlinked: which pairs of `simlex` are no link, of training or validation.
        sentences: by test, the STS sets (`sts2012/MSRpar`) and `sick`, with scores in [0, 1].
        left_out: links of two words that read alike once cleaned, or that stood before.
    """

    train: StringPairs
    valid: StringPairs
    simlex: StringPairs
    unlinked: list[bool]
    sentences: dict[str, StringPairs]
    left_out: int

    @property
    def sts(self) -> list[str]:
        """The STS sets among `sentences`."""
        return [name for name in self.sentences if name.startswith("sts")]


def read(data: Path, held_out: int = HELD_OUT) -> Material:
    """Read all of it.

    Raises:
        IngestError: a file is missing or is not the publisher's.
    """
    frame = read_ppdb(data / "ppdb/ppdb-xl.txt", Ledger()).frame
    published = StringPairs(frame["head"].to_list(), frame["paraphrase"].to_list())
    links = distinct(published)
    drawn = generator(0, "charagram", "valid").permutation(len(links.left)) < held_out
    simlex = string_pairs(read_simlex(data / "word_similarity/SimLex-999.txt", Ledger()))
    known = set(_cleaned(links))
    return Material(
        kept(links, (~drawn).tolist()),
        kept(links, drawn.tolist()),
        simlex,
        [key not in known for key in _cleaned(simlex)],
        _sentences(data / "sts"),
        len(published.left) - len(links.left),
    )


def distinct(pairs: StringPairs) -> StringPairs:
    """Each pair of two words once, whichever way round, at its first place; none of equal words.

    Words are told apart as encoders see them, cleaned: `1,800` is not `1800`, `The` is `the`.
    """
    first: dict[frozenset[str], int] = {}
    for place, key in enumerate(_cleaned(pairs)):
        if len(key) == 2:
            first.setdefault(key, place)
    places = set(first.values())
    return kept(pairs, [place in places for place in range(len(pairs.left))])


def _cleaned(pairs: StringPairs) -> list[frozenset[str]]:
    both = zip(map(clean_title, pairs.left), map(clean_title, pairs.right), strict=True)
    return [frozenset(pair) for pair in both]


def _sentences(folder: Path) -> dict[str, StringPairs]:
    files = {
        name: folder / "semeval" / path
        for name, path in semeval.FILES.items()
        if name.endswith(".test")
    }
    related = {"test": folder / "sick2014" / sick.FILES["test"]}
    frame = pl.concat([semeval.read_semeval(files, Ledger()), sick.read_sick(related, Ledger())])
    sets = frame.partition_by("dataset", as_dict=True, maintain_order=True)
    return {str(name): string_pairs(part) for (name,), part in sets.items()}
