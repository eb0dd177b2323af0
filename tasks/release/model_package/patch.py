"""An artefact folder patched with later feedback; its network stays as it is.

`overrides.parquet` is replaced. Judged titles that may be learned from become exemplars and replace
earlier exemplars of judged titles; `index.npy` holds the embeddings that the folder's own network
gives to all exemplars.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from models.reproducibility.atomic_write import atomic_write
from tasks.io.frames import read_frame, write_frame
from tasks.io.mixes import CORRECTIONS
from tasks.io.schemas import EXEMPLARS, OVERRIDES, SPLIT_INPUTS
from tasks.pipeline.calibrate.fit_prior import known_inputs
from tasks.release.model_package.checksums import write_checksums


def replace_overrides(folder: Path, overrides: pl.DataFrame) -> bool:
    """Replace an artefact's overrides (schema `OVERRIDES`); return whether they are new."""
    file = folder / "overrides.parquet"
    if overrides.equals(read_frame(file, OVERRIDES)):
        return False
    write_frame(overrides, file, OVERRIDES)
    write_checksums(folder)
    return True


def learned(judged: pl.DataFrame, weight: float) -> pl.DataFrame:
    """Return the exemplars, of this weight, in what people judged (`JUDGED`): `EXEMPLARS`."""
    nothing = pl.DataFrame(schema=dict(SPLIT_INPUTS))
    labelled = known_inputs(CORRECTIONS, nothing, judged, ()).labelled
    return labelled.select(
        "title", "occupation_id", weight=(pl.col("count") * weight).cast(pl.Float32)
    )


def exemplify(folder: Path, judged: pl.Series, learned: pl.DataFrame) -> None:
    """Replace the exemplars of judged, cleaned titles by those `learned` (schema `EXEMPLARS`)."""
    from tasks.release.model_package.reading import read_normalizer  # onnxruntime takes seconds

    model = read_normalizer(folder)
    before = read_frame(folder / "exemplars.parquet", EXEMPLARS)
    kept = before.filter(~pl.col("title").is_in(judged.to_list()))
    after = pl.concat([learned.filter(pl.col("weight") > 0), kept])
    aliases = len(model.index.titles)
    index = np.load(folder / "index.npy", allow_pickle=False)
    rows = dict(zip(sorted(set(before["title"])), index[aliases:], strict=True))
    titles = sorted(set(after["title"]))
    new = [title for title in titles if title not in rows]
    rows |= dict(zip(new, _as_indexed(model.embed(new), index.dtype), strict=True))
    table = np.stack([*index[:aliases], *(rows[title] for title in titles)])
    with atomic_write(folder / "index.npy") as partial, partial.open("wb") as file:
        np.save(file, table, allow_pickle=False)
    write_frame(after, folder / "exemplars.parquet", EXEMPLARS)
    write_checksums(folder)


def _as_indexed(embeddings: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Bring embeddings [title, dim] to the numbers of an index, bytes or floats."""
    import torch

    from models.network.quantization import quantized

    if kind != np.int8:
        return embeddings.astype(kind)
    whole: np.ndarray = quantized(torch.from_numpy(embeddings), "byte")[0].numpy()
    return whole
