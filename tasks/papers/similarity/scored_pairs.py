"""Stage `scored_pairs`: source files to scored pairs and paraphrases, and the refused rows.

In: the files that `scored_pairs.files` names. Out, in `data/scored_pairs/`: `pairs.parquet` (schema
`SCORED_PAIRS`; scores as published), `paraphrases.parquet` (`PARAPHRASE_PARTS`), `rejected.parquet`
and counts. Training leaves out pairs that are a test pair elsewhere, this stage does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from models.reproducibility.seeding import generator
from tasks.io.command import run
from tasks.io.frames import write_frame, write_json
from tasks.io.schemas import REJECTED
from tasks.io.section import load, load_run
from tasks.papers.similarity.pair_files import FOLDER, PAIRS, PARAPHRASE_PARTS, PARAPHRASES
from tasks.papers.similarity.readers import semeval
from tasks.papers.similarity.readers.ppdb import Paraphrases, read_ppdb
from tasks.papers.similarity.readers.sample_pairs import read_sample_pairs, read_sample_paraphrases
from tasks.papers.similarity.readers.scored_pairs import SCORED_PAIRS
from tasks.papers.similarity.readers.tab_separated import MSRP, SICK, SIMLEX, read_pairs
from tasks.papers.similarity.scored_pairs_params import PairFilesParams, ScoredPairsParams
from tasks.tables.rejected import RejectedRows, require_few_refused
from tasks.tables.source_files import IngestError

Read = Callable[[Mapping[str, Path], RejectedRows], pl.DataFrame]
SENTENCES: dict[str, tuple[Read, dict[str, str]]] = {
    "sick2014": (partial(read_pairs, SICK), SICK.files),
    "msrp": (partial(read_pairs, MSRP), MSRP.files),
    "semeval": (semeval.read_semeval, semeval.FILES),
}
"""Folder of a publisher's files below `scored_pairs.files.sentences`, and their reader."""


@dataclass(frozen=True)
class ReadPairs:
    """The frames, and the rows of each file."""

    pairs: pl.DataFrame
    paraphrases: pl.DataFrame
    links: Paraphrases
    rejected: RejectedRows

    def counts(self) -> dict[str, Any]:
        """Return what `metrics.json` holds."""
        kept: dict[str, dict[str, int]] = {}
        sizes = self.pairs.group_by("dataset", "split", maintain_order=True).len()
        for dataset, split, size in sizes.iter_rows():
            kept.setdefault(dataset, {})[split] = size
        parts = dict(self.paraphrases.group_by("split").len().iter_rows())
        links = {name: value for name, value in self.links._asdict().items() if name != "frame"}
        return {
            "pairs": kept,
            "paraphrases": {**parts, **links},
            "rows_read": dict(self.rejected.rows),
            "rejected": self.rejected.reasons(),
            "rejected_errors": self.rejected.errors,
        }


def scored_pairs(params: ScoredPairsParams, seed: int) -> ReadPairs:
    """Read everything; rows that cannot be used are in `rejected`, with file, line and reason.

    `seed`: the pipeline's; it draws the validation paraphrases.

    Raises:
        IngestError: a file or a column is missing, or holds no pair, or there are not more
            paraphrases than `valid_paraphrases`.
    """
    rejected = RejectedRows()
    pairs, links = READERS[params.reader](Path(params.folder), params.files, rejected)
    paraphrases = in_parts(links.frame, params.valid_paraphrases, seed)
    return ReadPairs(pairs, paraphrases, links, rejected)


def in_parts(links: pl.DataFrame, valid: int, seed: int) -> pl.DataFrame:
    """Return the paraphrases with a column `split`: `valid` of them drawn, the rest to train.

    Raises:
        IngestError: nothing would be left to train on.
    """
    if valid >= links.height:
        raise IngestError(
            f"scored_pairs.valid_paraphrases = {valid} leaves none of {links.height} to train on"
        )
    drawn = generator(seed, "scored_pairs").choice(links.height, valid, replace=False)
    split = pl.when(pl.int_range(pl.len()).is_in(drawn)).then(pl.lit("valid"))
    return links.select(split.otherwise(pl.lit("train")).alias("split"), *links.columns)


def _sample(
    folder: Path, files: PairFilesParams, rejected: RejectedRows
) -> tuple[pl.DataFrame, Paraphrases]:
    both = dict.fromkeys((files.sentences, files.words))  # mostly one file for both
    pairs = pl.concat(read_sample_pairs(folder / file, rejected) for file in both)
    return pairs, read_sample_paraphrases(folder / files.paraphrases, rejected)


def _published(
    folder: Path, files: PairFilesParams, rejected: RejectedRows
) -> tuple[pl.DataFrame, Paraphrases]:
    frames = [
        read(
            {split: folder / files.sentences / name / file for split, file in parts.items()},
            rejected,
        )
        for name, (read, parts) in SENTENCES.items()
    ]
    pairs = pl.concat([*frames, read_pairs(SIMLEX, {"test": folder / files.words}, rejected)])
    return pairs, read_ppdb(folder / files.paraphrases, rejected)


READERS = {"sample": _sample, "published": _published}


def main() -> None:
    """Run the stage in the working directory; rejected rows are written even if it fails."""
    params = load(ScoredPairsParams)
    read = scored_pairs(params, load_run().seed)
    write_frame(read.rejected.frame(), FOLDER / "rejected.parquet", REJECTED)
    require_few_refused(read.rejected, params.max_rejected_share, params.NAME)
    write_frame(read.pairs, PAIRS, SCORED_PAIRS)
    write_frame(read.paraphrases, PARAPHRASES, PARAPHRASE_PARTS)
    write_json(read.counts(), FOLDER / "metrics.json")


if __name__ == "__main__":
    run(main)
