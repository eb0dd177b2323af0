"""Stage `report`: what is worth looking at, as one self-contained HTML page, and five metrics.

In: `data/ingest/{occupations.parquet,metrics.json}`, `data/split/{aliases,titles}.parquet`, all
tests' queries (`tasks/files/queries.py`), `{variants.parquet,metrics.json}` of `data/synonyms/` and
`data/extra_words/`, `data/pairs/K/{judged.parquet,words.parquet,metrics.json}`,
`data/train/K/SEED/{history.csv,model/}`, and `{run,scores}.parquet` and `table.csv` of
`data/lexical/` and `data/evaluate/K/SEED/`, and `data/evidence/K/SEED/`; K is `mix` of
`params.yaml`, SEED the first of its `seeds`. Out: `data/report/report.html`, and for `dvc metrics`
`data/report/metrics.json`, the network's success@1 on each test. The page holds no date, duration
or path: equal inputs give equal bytes. It measures nothing new but paired differences of what the
stages before wrote, and what the network answers now to judged titles. Version, date and the gate's
decision are known after the stage only: `tasks/reporting/decision_page.py` puts them on top of the
page.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from models.network.embedding import embed_titles
from models.network.model_files import load_model
from models.repeatable.whole_file import write_bytes
from tasks.evaluation.answering import read_evidence
from tasks.evaluation.systems import EvaluateParams, index_of
from tasks.files.command import run
from tasks.files.frames import read_frame, read_json, write_json
from tasks.files.queries import read_queries
from tasks.files.schemas import (
    EXTRA_WORDS_VARIANTS,
    JUDGED,
    OCCUPATIONS,
    RUN,
    SCORES,
    SPLIT_ALIASES,
    SYNONYM_VARIANTS,
    TABLE,
    TITLES,
    WORDS,
)
from tasks.files.tables import read_table
from tasks.ingest import IngestParams
from tasks.params.network import NetworkParams
from tasks.params.section import Count, Section, load, load_run
from tasks.reporting.material import HISTORY, Material, PageParams
from tasks.reporting.page import page

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import Float

PAGE = Path("data/report/report.html")
METRICS = Path("data/report/metrics.json")


class ReportParams(Section):
    """Section `report`."""

    NAME: ClassVar[str] = "report"
    confusions: Count


def report(material: Material) -> bytes:
    """Return the page as UTF-8."""
    return page(material).encode()


def metrics(material: Material) -> dict[str, float]:
    """Return success@1 of the trained network by test."""
    rows = material.table.filter(
        (pl.col("system") == material.trained)
        & (pl.col("slice") == "all")
        & (pl.col("metric") == "success_at_1")
    )
    return dict(rows.select("test", "value").iter_rows())


def page_params() -> PageParams:
    """Read what the page needs of `params.yaml`."""
    chosen = load_run()
    return PageParams(
        chosen.mix,
        chosen.seed,
        chosen.seeds[0],
        load(IngestParams).taxonomy.reader,
        NetworkParams.read(),
        load(EvaluateParams),
        load(ReportParams),
    )


def load_material(params: PageParams, data: Path) -> Material:
    """Read what the stages before wrote below `data`.

    Raises:
        FileNotFoundError: a stage before has not run.
        SchemaError: a file is not what its stage writes.
    """
    trained = data / f"train/{params.mix}/{params.train_seed}"
    evaluated = [data / "lexical", data / f"evaluate/{params.mix}/{params.train_seed}"]
    featurizer, encoder = load_model(trained / "model")
    titles = read_frame(data / "split/titles.parquet", TITLES)

    def embed(titles: Sequence[str]) -> Float[np.ndarray, "title dim"]:
        return embed_titles(encoder, featurizer, list(titles)).cpu().numpy()

    return Material(
        params=params,
        counts=read_json(data / "ingest/metrics.json"),
        occupations=read_frame(data / "ingest/occupations.parquet", OCCUPATIONS),
        aliases=read_frame(data / "split/aliases.parquet", SPLIT_ALIASES),
        titles=titles,
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
            name: read_json(data / folder / "metrics.json")
            for name, folder in (
                ("synonyms", "synonyms"),
                ("extra_words", "extra_words"),
                ("pairs", f"pairs/{params.mix}"),
            )
        },
        evidence=read_evidence(
            data / f"evidence/{params.mix}/{params.train_seed}",
            index_of(titles),
            params.evaluate.soft_temperature,
        ),
        judged=read_frame(data / f"pairs/{params.mix}/judged.parquet", JUDGED),
        words=read_frame(data / f"pairs/{params.mix}/words.parquet", WORDS),
        weights=sum(weight.numel() for weight in encoder.parameters()),
        embed=embed,
    )


def main() -> None:
    """Run the stage in the working directory."""
    material = load_material(page_params(), Path("data"))
    write_json(metrics(material), METRICS)
    write_bytes(report(material), PAGE)


if __name__ == "__main__":
    run(main)
