"""A normalizer as one folder of safetensors, Parquet and JSON; no pickle.

`featurizer.json, encoder.json, weights.safetensors` are as in a model folder, so that
`load_model` reads them; `index.safetensors` holds the embeddings of the sorted distinct titles,
`aliases.parquet` and `occupations.parquet` the taxonomy, `settings.json` the score rule.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import load_file, save
from safetensors.torch import save as save_tensors

from models.model_files import load_model, save_shape
from models.normalizer import Normalizer, NormalizerSettings
from models.whole_file import whole_file, write_bytes

FORMAT = 2
ALIASES = pa.schema([(name, pa.string()) for name in ("occupation_id", "title", "split")])
OCCUPATIONS = pa.schema(
    [
        ("occupation_id", pa.string()),
        ("occupation_label", pa.string()),
        ("codes", pa.list_(pa.string())),
    ]
)


def save_normalizer(normalizer: Normalizer, folder: Path) -> None:
    """Write the folder; equal normalizers give equal bytes."""
    settings = asdict(normalizer.settings) | {"format": FORMAT, "calibration": None}
    save_shape(folder, normalizer.featurizer, normalizer.encoder.settings)
    _write_json(settings, folder / "settings.json")
    weights = {k: v.contiguous().cpu() for k, v in normalizer.encoder.state_dict().items()}
    write_bytes(save_tensors(weights), folder / "weights.safetensors")
    write_bytes(save({"embeddings": normalizer.embeddings}), folder / "index.safetensors")
    _write_table(normalizer.aliases.cast(ALIASES), folder / "aliases.parquet")
    _write_table(normalizer.occupations.cast(OCCUPATIONS), folder / "occupations.parquet")


def load_normalizer(folder: Path) -> Normalizer:
    """Read what `save_normalizer` wrote.

    Raises:
        ValueError: the folder is of another format, or its index does not fit its aliases.
    """
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    if settings.pop("format") != FORMAT or settings.pop("calibration") is not None:
        raise ValueError(f"{folder}: not of format {FORMAT} without calibration; register again")
    featurizer, encoder = load_model(folder)
    normalizer = Normalizer(
        featurizer,
        encoder,
        pq.read_table(folder / "aliases.parquet"),
        pq.read_table(folder / "occupations.parquet"),
        NormalizerSettings(**settings),
        load_file(folder / "index.safetensors")["embeddings"],
    )
    if len(normalizer.embeddings) != len(normalizer.index.titles):
        raise ValueError(
            f"{folder}: {len(normalizer.embeddings)} embeddings of "
            f"{len(normalizer.index.titles)} titles; register again"
        )
    return normalizer


def _write_json(value: dict[str, object], path: Path) -> None:
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_bytes(text.encode(), path)


def _write_table(table: pa.Table, path: Path) -> None:
    with whole_file(path) as partial:
        # without pyarrow's own schema, which names a list's field otherwise once it was read
        pq.write_table(
            table, partial, compression="zstd", row_group_size=131_072, store_schema=False
        )
