"""Stage `scored_pairs`: source files to scored pairs and paraphrases, and the refused rows.

In: the files that `scored_pairs.files` names. Out, in `data/scored_pairs/`: `pairs.parquet` (schema
`SCORED_PAIRS`; as published), `paraphrases.parquet`, `rejected.parquet` and counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import polars as pl
from pydantic import model_validator

from models.reproducibility import generator
from tasks.io.command import run
from tasks.io.files import write_json
from tasks.io.frames import write_frame
from tasks.io.schemas import REJECTED
from tasks.io.section import Number, Params, Section, Share, load, load_run, require_below
from tasks.papers.similarity import pair_files, readers
from tasks.tables.rejected import RejectedRows, require_few_refused
from tasks.tables.source_files import IngestError


class PairFilesParams(Params):
    """`scored_pairs.files`, in the folder: files, or a folder where the publishers have several."""

    sentences: str
    words: str
    paraphrases: str


class ScoredPairsParams(Section):
    """Section `scored_pairs`: all source files of the similarity track lie in one folder."""

    NAME: ClassVar[str] = "scored_pairs"
    folder: str
    reader: Literal["sample", "published"]
    files: PairFilesParams
    valid_paraphrases: Number
    max_rejected_share: Share

    @model_validator(mode="after")
    def _files_are_in_the_folder(self) -> Self:
        require_below(self.folder, self.files.model_dump().values(), self.NAME)
        return self


def scored_pairs(
    params: ScoredPairsParams, seed: int, rejected: RejectedRows
) -> tuple[pl.DataFrame, readers.Paraphrases]:
    """Read `SCORED_PAIRS`, and paraphrases (`PARAPHRASE_PARTS`), of which `seed` draws valid ones.

    IngestError if a file or a column is missing, or holds no pair, or too few paraphrases.
    """
    folder, files = Path(params.folder), params.files
    if params.reader == "sample":
        both = dict.fromkeys((files.sentences, files.words))  # mostly one file for both
        pairs = pl.concat(readers.read_sample_pairs(folder / file, rejected) for file in both)
        links = readers.read_sample_paraphrases(folder / files.paraphrases, rejected)
    else:
        pairs = _published_pairs(folder / files.sentences, folder / files.words, rejected)
        links = readers.read_ppdb(folder / files.paraphrases, rejected)
    return pairs, links._replace(frame=in_parts(links.frame, params.valid_paraphrases, seed))


def _published_pairs(sentences: Path, words: Path, rejected: RejectedRows) -> pl.DataFrame:
    frames = []
    for folder, publisher in (("sick2014", readers.SICK), ("msrp", readers.MSRP)):
        files = {split: sentences / folder / file for split, file in publisher.files.items()}
        frames.append(readers.read_pairs(publisher, files, rejected))
    sts = {name: sentences / "semeval" / file for name, file in readers.STS_FILES.items()}
    frames += [
        readers.read_sts(sts, rejected),
        readers.read_pairs(readers.SIMLEX, {"test": words}, rejected),
    ]
    return pl.concat(frames)


def in_parts(links: pl.DataFrame, valid: int, seed: int) -> pl.DataFrame:
    """Add the column `split` to paraphrases, `valid` of them drawn; IngestError if none is left."""
    if valid >= links.height:
        raise IngestError(
            f"scored_pairs.valid_paraphrases = {valid} leaves none of {links.height} to train on"
        )
    drawn = generator(seed, "scored_pairs").choice(links.height, valid, replace=False)
    split = pl.when(pl.int_range(pl.len()).is_in(drawn)).then(pl.lit("valid"))
    return links.select(split.otherwise(pl.lit("train")).alias("split"), *links.columns)


def counts(
    pairs: pl.DataFrame, paraphrases: readers.Paraphrases, rejected: RejectedRows
) -> dict[str, Any]:
    """Return what `metrics.json` holds."""
    kept: dict[str, dict[str, int]] = {}
    for dataset, split, size in pairs.group_by("dataset", "split").len().iter_rows():
        kept.setdefault(dataset, {})[split] = size
    parts = dict(paraphrases.frame.group_by("split").len().iter_rows())
    links = {name: getattr(paraphrases, name) for name in ("links", "self_links", "repeated")}
    return {
        "pairs": kept,
        "paraphrases": {**parts, **links},
        "rows_read": dict(rejected.rows),
        "rejected": rejected.reasons(),
        "rejected_errors": rejected.errors,
    }


def main() -> None:
    """Run the stage in the working directory; rejected rows are written even if it fails."""
    params, rejected = load(ScoredPairsParams), RejectedRows()
    pairs, paraphrases = scored_pairs(params, load_run().seed, rejected)
    write_frame(rejected.frame(), pair_files.FOLDER / "rejected.parquet", REJECTED)
    require_few_refused(rejected, params.max_rejected_share, params.NAME)
    write_frame(pairs, pair_files.PAIRS, pair_files.SCORED_PAIRS)
    write_frame(paraphrases.frame, pair_files.PARAPHRASES, pair_files.PARAPHRASE_PARTS)
    write_json(counts(pairs, paraphrases, rejected), pair_files.FOLDER / "metrics.json")


if __name__ == "__main__":
    run(main)
