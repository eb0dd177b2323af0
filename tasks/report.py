"""Stage `report`: everything that is worth looking at, as one self-contained HTML page.

In: `data/ingest/{occupations.parquet,metrics.json}`, `data/split/{aliases,queries}.parquet`,
`data/typos/queries.parquet`, `data/train/K/{history.csv,model/}`,
`data/evaluate/K/{run,scores}.parquet`, `data/evaluate/K/table.csv`; K is `stage` of `params.yaml`.
Out: `data/report/report.html`. The page holds no date, duration or path: equal inputs give equal
bytes. It measures nothing new but paired differences of what `evaluate` wrote.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from models.embedding import embed_titles
from models.model_files import load_model
from models.whole_file import write_bytes
from tasks.command import run
from tasks.frames import Schema, check, read_frame
from tasks.params import AllParams, load_params
from tasks.reporting.material import HISTORY, TABLE, Material
from tasks.reporting.page import page
from tasks.schemas import OCCUPATIONS, QUERIES, RUN, SCORES, SPLIT_ALIASES

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

PAGE = Path("data/report/report.html")


def report(material: Material) -> bytes:
    """The page as UTF-8."""
    return page(material).encode()


def load_material(params: AllParams, data: Path) -> Material:
    """Read what the stages before wrote below `data`.

    Raises:
        FileNotFoundError: a stage before has not run.
        SchemaError: a file is not what its stage writes.
    """
    trained, evaluated = data / f"train/{params.stage}", data / f"evaluate/{params.stage}"
    featurizer, encoder = load_model(trained / "model")

    def embed(raw_titles: Sequence[str]) -> Float[np.ndarray, "title dim"]:
        return embed_titles(encoder, featurizer, list(raw_titles)).cpu().numpy()

    queries = pl.concat(
        read_frame(data / source / "queries.parquet", QUERIES) for source in ("typos", "split")
    )
    return Material(
        params=params,
        counts=json.loads((data / "ingest/metrics.json").read_text(encoding="utf-8")),
        occupations=read_frame(data / "ingest/occupations.parquet", OCCUPATIONS),
        aliases=read_frame(data / "split/aliases.parquet", SPLIT_ALIASES),
        queries=queries.filter(pl.col("part") == "test"),
        history=_read_csv(trained / "history.csv", HISTORY),
        run=read_frame(evaluated / "run.parquet", RUN),
        scores=read_frame(evaluated / "scores.parquet", SCORES),
        table=_read_csv(evaluated / "table.csv", TABLE),
        weights=sum(weight.numel() for weight in encoder.parameters()),
        embed=embed,
    )


def _read_csv(path: Path, schema: Schema) -> pl.DataFrame:
    frame = pl.read_csv(path, schema_overrides=dict(schema))
    return check(frame, schema, str(path))


def main() -> None:
    """Run the stage in the working directory."""
    write_bytes(report(load_material(load_params(), Path("data"))), PAGE)


if __name__ == "__main__":
    run(main)
