"""What this study trains on and is judged by, from the publishers' files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import polars as pl

from benchmarks.pair_networks import strings
from models.repeatable.seeding import generator
from models.text.titles import clean_title
from models.training.scored_pairs import ScoredPairs
from tasks.readers.rejected import RejectedRows
from tasks.scored.pair_files import scaled
from tasks.scored.readers import msrp, semeval, sick
from tasks.scored.readers.ppdb import read_ppdb
from tasks.scored.readers.simlex import read_simlex

HELD_OUT = 1000
ALIKE = 0.75
"""Score in [0, 1] from which on two sentences mean the same: 4 of SICK's 1 to 5."""
JUDGING = 5
"""One paraphrase in so many is held out."""
NEGATED = ("capable", "able", "possible", "sufficient", "easy")
"""What stands behind "not" in Table 8."""
Links = list[tuple[str, str]]


@dataclass(frozen=True)
class Material:
    """Pairs to train on, to choose by, and to judge by.

    Attributes:
        train: links, none of which `simlex` asks.
        valid: held-out links, as these.
        overlapping: `train` and the links that `simlex` asks.
        simlex: with scores in [0, 1].
        unlinked: which pairs of `simlex` are no link at all.
        sentences: by test, the STS sets (`sts2012/MSRpar`) and `sick`, with scores in [0, 1].
        left_out: links of two words that read alike once cleaned, or that stood before.
        paraphrases: sentences that mean the same, to train on; no pair of `sentences`.
        held_out_paraphrases: as these, to choose by.
        negations: by test, a bigram with "not" beside every word of the links.
    """

    train: ScoredPairs
    valid: ScoredPairs
    overlapping: ScoredPairs
    simlex: ScoredPairs
    unlinked: list[bool]
    sentences: dict[str, ScoredPairs]
    left_out: int
    paraphrases: ScoredPairs
    held_out_paraphrases: ScoredPairs
    negations: dict[str, ScoredPairs]

    @property
    def sts(self) -> list[str]:
        """The STS sets among `sentences`."""
        return [name for name in self.sentences if name.startswith("sts")]


def read(data: Path, held_out: int = HELD_OUT) -> Material:
    """Read all of it."""
    published = read_ppdb(data / "ppdb/ppdb-xl.txt", RejectedRows()).frame
    links = distinct(published.select("head", "paraphrase").rows())
    simlex = judged(read_simlex(data / "word_similarity/SimLex-999.txt", RejectedRows()))
    asked, known = (
        list(map(frozenset, zip(*strings(simlex), strict=True))),
        set(map(frozenset, links)),
    )
    fresh = [link for link in links if frozenset(link) not in asked]
    drawn = generator(0, "charagram", "valid").permutation(len(fresh)) < held_out
    train = list(compress(fresh, ~drawn))
    sentences = by_set(asked_sentences(data / "sts"))
    alike, alike_held_out = _paraphrases(data / "sts", sentences)
    return Material(
        _linked(train),
        _linked(list(compress(fresh, drawn))),
        _linked(train + [link for link in links if frozenset(link) in asked]),
        simlex,
        [pair not in known for pair in asked],
        sentences,
        len(published) - len(links),
        _linked(alike),
        _linked(alike_held_out),
        _negations(links),
    )


def distinct(pairs: Sequence[tuple[str, str]]) -> Links:
    """Return each pair of two words once, whichever way round; none of equal words.

    Words are told apart as encoders see them, cleaned: `1,800` is not `1800`, `The` is `the`.
    """
    first: dict[frozenset[str], tuple[str, str]] = {}
    for left, right in pairs:
        pair = clean_title(left), clean_title(right)
        if pair[0] != pair[1]:
            first.setdefault(frozenset(pair), pair)
    return list(first.values())


def _linked(links: Links) -> ScoredPairs:
    return ScoredPairs.of([left for left, _ in links], [right for _, right in links])


def asked_sentences(folder: Path) -> pl.DataFrame:
    """Read the test pairs of the STS sets, and of SICK behind them: schema `SCORED_PAIRS`."""
    files = {
        name: folder / "semeval" / path
        for name, path in semeval.FILES.items()
        if name.endswith(".test")
    }
    related = {"test": folder / "sick2014" / sick.FILES["test"]}
    return pl.concat(
        [semeval.read_semeval(files, RejectedRows()), sick.read_sick(related, RejectedRows())]
    )


def by_set(pairs: pl.DataFrame) -> dict[str, ScoredPairs]:
    """Return the pairs of each data set, with scores in [0, 1]."""
    sets = pairs.partition_by("dataset", as_dict=True, maintain_order=True)
    return {str(name): judged(part) for (name,), part in sets.items()}


def judged(pairs: pl.DataFrame) -> ScoredPairs:
    """Return scored pairs, brought to [0, 1]."""
    columns = scaled(pairs).select("left", "right", "score").to_dict(as_series=False)
    return ScoredPairs.of(columns["left"], columns["right"], columns["score"])


def _paraphrases(folder: Path, asked: Mapping[str, ScoredPairs]) -> tuple[Links, Links]:
    """Return the pairs of sentences of all training parts that mean the same, less what is asked.

    Those of SICK, MSRP and STS 2012; the second list is held out.
    """
    trained = {
        name: folder / "semeval" / path
        for name, path in semeval.FILES.items()
        if name.endswith(".train")
    }
    pairs = pl.concat(
        [
            sick.read_sick({"train": folder / "sick2014" / sick.FILES["train"]}, RejectedRows()),
            msrp.read_msrp({"train": folder / "msrp" / msrp.FILES["train"]}, RejectedRows()),
            semeval.read_semeval(trained, RejectedRows()),
        ]
    )
    alike = scaled(pairs).filter(pl.col("score") >= ALIKE).select("left", "right").rows()
    tests = {
        frozenset(map(clean_title, pair))
        for several in asked.values()
        for pair in zip(*strings(several), strict=True)
    }
    known = [pair for pair in distinct(alike) if frozenset(pair) not in tests]
    order = generator(0, "charagram", "paraphrases").permutation(len(known))
    held_out = order < len(known) // JUDGING
    return list(compress(known, ~held_out)), list(compress(known, held_out))


def _negations(links: Links) -> dict[str, ScoredPairs]:
    words = sorted({word for link in links for word in link})
    return {f"not/{word}": _linked([(f"not {word}", other) for other in words]) for word in NEGATED}
