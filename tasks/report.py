"""Stage `report`: everything that is worth looking at, as one self-contained HTML page.

In: `data/ingest/{occupations.parquet,metrics.json}`, `data/split/aliases.parquet`, all tests'
queries (`tasks/queries.py`), `{variants.parquet,metrics.json}` of `data/synonyms/` and
`data/extra_words/`, `data/pairs/K/metrics.json`, `data/train/K/SEED/{history.csv,model/}`, and
`{run,scores}.parquet` and `table.csv` of `data/lexical/` and `data/evaluate/K/SEED/`; K is `stage`
of `params.yaml`, SEED the first of its `seeds`. Out: `data/report/report.html`. The page
holds no date, duration or path: equal inputs give equal bytes. It measures nothing new but paired
differences of what the stages before wrote.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from models.embedding import embed_titles
from models.model_files import load_model
from models.whole_file import write_bytes
from tasks.command import run
from tasks.frames import read_frame
from tasks.params import AllParams, load_params
from tasks.queries import read_queries
from tasks.reporting.material import HISTORY, Material
from tasks.reporting.page import page
from tasks.schemas import (
    EXTRA_WORDS_VARIANTS,
    OCCUPATIONS,
    RUN,
    SCORES,
    SPLIT_ALIASES,
    SYNONYM_VARIANTS,
    TABLE,
)
from tasks.tables import read_table

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
    trained = data / f"train/{params.stage}/{params.seeds[0]}"
    evaluated = [data / "lexical", data / f"evaluate/{params.stage}/{params.seeds[0]}"]
    featurizer, encoder = load_model(trained / "model")
    vectors = encoder.unit_vectors()

    def embed(raw_titles: Sequence[str]) -> Float[np.ndarray, "title dim"]:
        return embed_titles(encoder, featurizer, list(raw_titles)).cpu().numpy()

    return Material(
        params=params,
        counts=_read_json(data / "ingest/metrics.json"),
        occupations=read_frame(data / "ingest/occupations.parquet", OCCUPATIONS),
        aliases=read_frame(data / "split/aliases.parquet", SPLIT_ALIASES),
        queries=read_queries("test", data),
        history=read_table(trained / "history.csv", HISTORY),
        run=pl.concat(read_frame(folder / "run.parquet", RUN) for folder in evaluated),
        scores=pl.concat(read_frame(folder / "scores.parquet", SCORES) for folder in evaluated),
        table=pl.concat(read_table(folder / "table.csv", TABLE) for folder in evaluated),
        synonym_variants=read_frame(data / "synonyms/variants.parquet", SYNONYM_VARIANTS),
        extra_words_variants=read_frame(
            data / "extra_words/variants.parquet", EXTRA_WORDS_VARIANTS
        ),
        made={
            name: _read_json(data / folder / "metrics.json")
            for name, folder in (
                ("synonyms", "synonyms"),
                ("extra_words", "extra_words"),
                ("pairs", f"pairs/{params.stage}"),
            )
        },
        weights=sum(weight.numel() for weight in encoder.parameters()),
        embed=embed,
        units=() if vectors is None else featurizer.vocabularies[0].known,
        unit_vectors=None if vectors is None else vectors.numpy(),
    )


def _read_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Run the stage in the working directory."""
    write_bytes(report(load_material(load_params(), Path("data"))), PAGE)


if __name__ == "__main__":
    run(main)
