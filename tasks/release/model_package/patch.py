"""An artifact folder patched with later feedback; its network stays as it is.

`overrides.parquet` is replaced. Titles with verdicts that may be learned from become exemplars and
replace earlier exemplars of titles with verdicts; `index.npy` holds the embeddings that the
folder's own network gives to all exemplars. They count in the prior of their occupations, as in the
stage `calibrate`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from models.serving.index import EIGHTS, HALF_BYTES, StoredVectors
from models.serving.package import read_normalizer
from models.serving.scores import REVIEW
from tasks.io.frames import read_frame, write_frame
from tasks.io.mixes import CORRECTIONS
from tasks.io.schemas import EXEMPLARS, OVERRIDES, SPLIT_INPUTS
from tasks.pipeline.calibrate.prior import CalibrateParams, known_inputs, recounted
from tasks.release.model_package.folder import KNOWN, write_index
from tasks.release.model_package.prototypes import write_prototypes
from tasks.release.model_package.runtime import write_checksums


def replace_overrides(folder: Path, overrides: pl.DataFrame) -> bool:
    """Replace an artifact's overrides (schema `OVERRIDES`); return whether they are new."""
    file = folder / "overrides.parquet"
    if overrides.equals(read_frame(file, OVERRIDES)):
        return False
    write_frame(overrides, file, OVERRIDES)
    write_checksums(folder)
    return True


def learned(resolutions: pl.DataFrame, weight: float) -> pl.DataFrame:
    """Return the exemplars (schema `EXEMPLARS`), of this weight, of `RESOLUTIONS`."""
    nothing = pl.DataFrame(schema=dict(SPLIT_INPUTS))
    labelled = known_inputs(CORRECTIONS, nothing, resolutions, ()).labelled
    weights = (pl.col("count") * weight).cast(pl.Float32)
    return labelled.select("title", "occupation_id", weight=weights, source=pl.lit(REVIEW))


def exemplify(
    folder: Path, titles_with_verdicts: pl.Series, learned: pl.DataFrame, params: CalibrateParams
) -> None:
    """Replace the exemplars of cleaned titles with verdicts by those `learned` (`EXEMPLARS`)."""
    model = read_normalizer(folder)
    before = read_frame(folder / "exemplars.parquet", EXEMPLARS)
    kept = before.filter(~pl.col("title").is_in(titles_with_verdicts.to_list()))
    after = pl.concat([learned.filter(pl.col("weight") > 0), kept])
    aliases = len(model.index.titles)
    index = model.embeddings.rows
    rows = dict(zip(sorted(set(before["title"])), index[aliases:], strict=True))
    titles = sorted(set(after["title"]))
    new = [title for title in titles if title not in rows]
    rows |= dict(zip(new, as_indexed(model.network(new), index["numbers"].dtype), strict=True))
    learned_rows = np.array([rows[title] for title in titles], index.dtype)
    write_index(StoredVectors(np.concatenate([index[:aliases], learned_rows])), folder)
    write_frame(after, folder / "exemplars.parquet", EXEMPLARS)
    occupations = read_frame(folder / "occupations.parquet", KNOWN)
    bias = occupations["bias"].to_numpy()
    was, now = (_reviews(exemplars, occupations) for exemplars in (before, after))
    bias = recounted(bias, was, now, params, model.rule.temperature)
    write_frame(occupations.with_columns(bias=bias), folder / "occupations.parquet", KNOWN)
    write_prototypes(folder)
    write_checksums(folder)


def _reviews(exemplars: pl.DataFrame, occupations: pl.DataFrame) -> np.ndarray:
    """Count the exemplars (schema `EXEMPLARS`) of each occupation that people reviewed."""
    counts = exemplars.filter(source=REVIEW).group_by("occupation_id").len()
    joined = occupations.join(counts, on="occupation_id", how="left", maintain_order="left")
    return joined["len"].fill_null(0).to_numpy()


def as_indexed(embeddings: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Bring embeddings [title, dim] to the rows of an index of half bytes, bytes or floats.

    It does what `models/network/quantization.py` does, without torch, whose import takes seconds.
    """
    if kind == np.float32:
        return StoredVectors.of(embeddings).rows
    largest = np.float32(7 if kind == np.uint8 else 127)
    scales = np.abs(embeddings).max(axis=1, keepdims=True, initial=0) / largest
    numbers = np.round(embeddings / np.where(scales > 0, scales, 1)).astype(np.int8)
    if kind == np.uint8:
        lower, upper = np.split((numbers + EIGHTS).astype(np.uint8), 2, axis=1)
        numbers = lower | upper << HALF_BYTES
    return StoredVectors.of(numbers).rows
