"""Teachers for tests, their folders as the stage `teacher` writes them, and a bag with words."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from models.encoders.ngram_bag import NgramBagSettings
from models.training.teacher import Teacher, TeacherSettings, Vectors
from tasks.pipeline.teacher.vectors import NO_VECTORS, nearest_rows, write_vectors

TAUGHT = TeacherSettings(
    scale=2.0,
    spread=0.01,
    weight=1.0,
    strings=12,
    teacher_temperature=0.1,
    temperature=0.1,
)
BAG = NgramBagSettings(
    orders=(2, 3),
    max_length=9,
    min_count=1,
    most=0,
    buckets=0,
    activation="linear",
    bias=False,
    dim=5,
    within="word",
)


def write_teacher(
    folder: Path, titles: Mapping[str, Sequence[float]], words: Mapping[str, Sequence[float]]
) -> None:
    """Write `titles.parquet`, each its own nearest, and `words.parquet`; no text: an empty file."""
    for column, vectors in (("title", titles), ("word", words)):
        table = np.array([*vectors.values()], np.float16) if vectors else NO_VECTORS
        nearest = np.arange(len(vectors))[:, None] if column == "title" else None
        write_vectors([*vectors], table, column, folder, nearest)


def vectors_of(texts: Sequence[str], dim: int = 6) -> Vectors:
    """Give each text a random direction, and those of one last word directions close together."""
    draw = torch.Generator().manual_seed(5)
    own = {text.split()[-1]: torch.randn(dim, generator=draw) for text in texts}
    table = [own[text.split()[-1]] + 0.4 * torch.randn(dim, generator=draw) for text in texts]
    return Vectors([*texts], torch.nn.functional.normalize(torch.stack(table)).half())


def teacher_of(titles: Sequence[str], aliases: Container[str], nearest: int = 3) -> Teacher:
    """Know these titles, of which some are aliases, and their words, sorted."""
    titles = sorted(titles)
    known = vectors_of(titles)
    own = np.array([row for row, title in enumerate(titles) if title in aliases])
    near = torch.from_numpy(nearest_rows(known.table.numpy(), own, nearest))
    return Teacher(known, near, vectors_of(sorted({w for t in titles for w in t.split()})))
