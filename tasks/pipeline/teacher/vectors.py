"""A teacher's vectors: made block by block, compared with one another, and written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import torch

from models.reproducibility.progress import Progress
from tasks.io.frames import Schema, write_frame

if TYPE_CHECKING:
    from jaxtyping import Float16, Int64

    Embed = Callable[[Sequence[str]], np.ndarray]

BLOCK = 4096  # texts between two lines of progress
COMPARED = 512  # texts that are compared with all candidates at once
NO_VECTORS, NO_ROWS = np.empty((0, 1), np.float16), np.empty((0, 1), np.int64)


def vectors(texts: Sequence[str], embed: Embed, what: str) -> Float16[np.ndarray, "text dim"]:
    """Embed one text or more block by block, with progress; `what` names them."""
    progress, blocks = Progress(f"teacher: {what}", len(texts)), []
    for start in range(0, len(texts), BLOCK):
        blocks.append(embed(texts[start : start + BLOCK]).astype(np.float16))
        progress(min(start + BLOCK, len(texts)))
    return np.concatenate(blocks)


def nearest_rows(
    table: Float16[np.ndarray, "text dim"], candidates: Int64[np.ndarray, " row"], count: int
) -> Int64[np.ndarray, "text near"]:
    """Return of the candidate rows those with the highest cosine to each row, the highest first.

    `table`: vectors of unit norm.
    """
    rows, of = torch.from_numpy(table), torch.from_numpy(table[candidates]).float().T
    progress, near = Progress("teacher: titles compared with all aliases", len(rows)), []
    for block in torch.split(rows, COMPARED):
        near.append((block.float() @ of).topk(min(count, len(candidates))).indices)
        progress(min(COMPARED * len(near), len(rows)))
    places: Int64[np.ndarray, "text near"] = candidates[torch.cat(near).numpy()]
    return places


def write_vectors(
    texts: Sequence[str],
    table: Float16[np.ndarray, "text dim"],
    column: str,
    folder: Path,
    nearest: Int64[np.ndarray, "text near"] | None = None,
) -> None:
    """Write `COLUMNs.parquet`: a text and its vector a row, and its nearest rows where given."""
    values: dict[str, Any] = {column: texts, "vector": table}
    schema: Schema = {column: pl.String, "vector": pl.Array(pl.Float16, table.shape[1])}
    if nearest is not None:
        values["nearest"] = nearest
        schema = {**schema, "nearest": pl.Array(pl.UInt32, nearest.shape[1])}
    write_frame(pl.DataFrame(values, schema=dict(schema)), folder / f"{column}s.parquet", schema)
