"""A teacher of a folder of pairs: the encoder, tuned on them, embeds their strings."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from models.network.loss import LossSettings
from models.reproducibility.seeding import child_seed
from models.training.batches import read_pairs
from models.training.strings import read_strings
from tasks.io.frames import read_frame
from tasks.io.schemas import STRINGS
from tasks.pipeline.teacher.params import TeacherParams
from tasks.pipeline.teacher.sentence_encoder import sentence_encoder
from tasks.pipeline.teacher.tuning import tune
from tasks.pipeline.teacher.vectors import (
    nearest_rows,
    taught_titles,
    vectors,
    whole_words,
    write_vectors,
)


def teach(
    pairs: Path, params: TeacherParams, loss: LossSettings, seed: int, out: Path
) -> dict[str, int]:
    """Write the vectors of the titles of a folder of pairs, and of their words; count them.

    `pairs`: folder with `strings.parquet` and `pairs.parquet`; `params`: section `teacher`; `out`:
    where `titles.parquet`, with the aliases nearest to a title, and `words.parquet` are written.
    """
    encoder, file = sentence_encoder(), pairs / "strings.parquet"
    if params.tuning.steps:
        similar = read_pairs(pairs / "pairs.parquet", with_dissimilar=loss.reads_dissimilar)
        tune(encoder, read_strings(file), similar, loss, params.tuning, child_seed(seed, "teacher"))
    strings = read_frame(file, STRINGS)
    titles = taught_titles(strings)
    words, embedded = whole_words(titles), vectors(titles, encoder, "titles")
    aliases = pl.Series(titles).is_in(strings.filter(role="alias")["title"].implode())
    nearest = nearest_rows(embedded, aliases.arg_true().to_numpy(), params.nearest)
    write_vectors(titles, embedded, "title", out, nearest)
    write_vectors(words, vectors(words, encoder, "words"), "word", out)
    return {"titles": len(titles), "words": len(words)}
