"""Stage `scored_pairs`: outside files to scored pairs and paraphrases, and what was refused.

In: the files that `scored_pairs.files` names. Out, in `data/scored_pairs/`: `pairs.parquet` (schema
`SCORED_PAIRS`; scores as published), `paraphrases.parquet` (`PARAPHRASE_PARTS`), `rejected.parquet`
and counts. No pair is left out for being a test pair elsewhere: that is the matter of the training.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from models.seeding import generator
from tasks.command import run
from tasks.frames import write_frame, write_json
from tasks.pair_files import FOLDER, PAIRS, PARAPHRASE_PARTS, PARAPHRASES
from tasks.params import load_params
from tasks.readers.outside import IngestError
from tasks.readers.ppdb import Paraphrases, read_ppdb
from tasks.readers.published_pairs import read_published_pairs
from tasks.readers.rejected import Ledger
from tasks.readers.sample_pairs import read_sample_pairs, read_sample_paraphrases
from tasks.readers.scored_pairs import NOTICES, SCORED_PAIRS
from tasks.schemas import REJECTED
from tasks.sections import PairFilesParams, ScoredPairsParams


@dataclass(frozen=True)
class Found:
    """The frames and how many rows each file gave."""

    pairs: pl.DataFrame
    paraphrases: pl.DataFrame
    links: Paraphrases
    rejected: pl.DataFrame
    rows_read: dict[str, int]
    reasons: dict[str, int]

    @property
    def errors(self) -> int:
        """Rows refused for a fault; notices (duplicates, empty rows, unscored pairs) are none."""
        return sum(count for reason, count in self.reasons.items() if reason not in NOTICES)

    def counts(self) -> dict[str, Any]:
        """What `metrics.json` holds."""
        kept: dict[str, dict[str, int]] = {}
        sizes = self.pairs.group_by("dataset", "part", maintain_order=True).len()
        for dataset, part, size in sizes.iter_rows():
            kept.setdefault(dataset, {})[part] = size
        parts = dict(self.paraphrases.group_by("part").len().iter_rows())
        return {
            "pairs": kept,
            "paraphrases": {
                **parts,
                "links": self.links.links,
                "self_links": self.links.self_links,
                "repeated": self.links.repeated,
            },
            "rows_read": self.rows_read,
            "rejected": self.reasons,
            "rejected_errors": self.errors,
        }


def scored_pairs(params: ScoredPairsParams, seed: int) -> Found:
    """Read everything; rows that cannot be used are in `rejected`, with file, line and reason.

    Args:
        params: the section.
        seed: the pipeline's; it draws the validation paraphrases.

    Raises:
        IngestError: a file or a column is missing, or holds no pair, or there are not more
            paraphrases than `valid_paraphrases`.
    """
    ledger = Ledger()
    pairs, links = READERS[params.reader](params.files, ledger)
    return Found(
        pairs,
        in_parts(links.frame, params.valid_paraphrases, seed),
        links,
        ledger.frame(),
        dict(sorted(ledger.rows.items())),
        ledger.reasons(),
    )


def in_parts(links: pl.DataFrame, valid: int, seed: int) -> pl.DataFrame:
    """The paraphrases with a column `part`: `valid` of them drawn, the rest to train.

    Raises:
        IngestError: nothing would be left to train on.
    """
    if valid >= links.height:
        raise IngestError(
            f"scored_pairs.valid_paraphrases = {valid} leaves none of {links.height} to train on"
        )
    drawn = generator(seed, "scored_pairs").choice(links.height, valid, replace=False)
    part = pl.when(pl.int_range(pl.len()).is_in(drawn)).then(pl.lit("valid"))
    return links.select(part.otherwise(pl.lit("train")).alias("part"), *links.columns)


def require_usable(found: Found, max_rejected_share: float) -> None:
    """Refuse files with too many faults.

    Raises:
        IngestError: more faulty rows than `max_rejected_share` of all rows read.
    """
    read = sum(found.rows_read.values())
    if found.errors > max_rejected_share * read:
        raise IngestError(
            f"{found.errors} of {read} rows were rejected, more than "
            f"scored_pairs.max_rejected_share = {max_rejected_share:g}: {found.reasons}. Look at "
            f"{FOLDER}/rejected.parquet; mend the files or raise the parameter."
        )


def _sample(files: PairFilesParams, ledger: Ledger) -> tuple[pl.DataFrame, Paraphrases]:
    both = dict.fromkeys((files.sentences, files.words))  # mostly one file for both
    pairs = pl.concat(read_sample_pairs(Path(file), ledger) for file in both)
    return pairs, read_sample_paraphrases(Path(files.paraphrases), ledger)


def _published(files: PairFilesParams, ledger: Ledger) -> tuple[pl.DataFrame, Paraphrases]:
    pairs = read_published_pairs(Path(files.sentences), Path(files.words), ledger)
    return pairs, read_ppdb(Path(files.paraphrases), ledger)


READERS = {"sample": _sample, "published": _published}


def main() -> None:
    """Run the stage in the working directory; rejected rows are written even if it fails."""
    params = load_params()
    found = scored_pairs(params.scored_pairs, params.seed)
    write_frame(found.rejected, FOLDER / "rejected.parquet", REJECTED)
    require_usable(found, params.scored_pairs.max_rejected_share)
    write_frame(found.pairs, PAIRS, SCORED_PAIRS)
    write_frame(found.paraphrases, PARAPHRASES, PARAPHRASE_PARTS)
    write_json(found.counts(), FOLDER / "metrics.json")


if __name__ == "__main__":
    run(main)
