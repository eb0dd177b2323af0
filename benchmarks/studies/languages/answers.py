"""Answers of a served model to vacancy titles and to labelled inputs; an abstention is wrong.

`board`: the odd half of the job board. `labelled/en` and `labelled/other`: the labelled inputs of
the split `test`, which nothing is trained or calibrated on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.job_board import read_halves
from benchmarks.product.figures import error_figure, place_metrics, places
from benchmarks.product.systems import PACKAGE, RegisteredModel
from benchmarks.results import Row
from benchmarks.workspace import Workspace
from models.metrics.calibration_error import BINS
from models.reproducibility.seeding import child_seed
from models.search.index import AliasIndex
from tasks.io.frames import read_frame
from tasks.io.schemas import QUERIES
from tasks.release.model_package.folder import KNOWN

METRICS = (
    "success_at_1",
    "success_at_10",
    "mrr_at_10",
    "mrr_at_100",
    "first_digit",
    "two_digits",
    "abstained",
)
ERRORS = {
    "calibration_error": ("confidence", "success_at_1"),
    "calibration_error_first_digit": ("first_digit_confidence", "first_digit"),
}
"""Metric to the columns of confidence and of what was correct."""
COLUMNS = ("test", "query_id", "raw_title", "occupation_ids")


def queries(workspace: Workspace, index: AliasIndex, published: Path) -> pl.DataFrame:
    """Read `COLUMNS`: the board's titles, then labelled inputs, by the language of their file."""
    board = read_halves(published, index, "odd").queried.with_columns(
        test=pl.lit("board"), occupation_ids=pl.concat_list("occupation_id")
    )
    inputs = workspace.params.ingest.located[1]
    title = inputs.columns["raw_title"]
    files = [pl.read_csv(workspace.folder / file, infer_schema=False) for file in inputs.files]
    languages = pl.concat([own.select(raw_title=title, own="language") for own in files])
    labelled = read_frame(workspace.data / "split/queries.parquet", QUERIES)
    english = pl.col("raw_title").replace_strict(
        languages["raw_title"], languages["own"] == "en", default=False
    )
    name = pl.when(english).then(pl.lit("labelled/en")).otherwise(pl.lit("labelled/other"))
    labelled = labelled.filter(test="annotations", split="test").with_columns(test=name)
    return pl.concat([board.select(COLUMNS), labelled.select(COLUMNS)])


def answered(model: RegisteredModel, titles: pl.DataFrame) -> pl.DataFrame:
    """Return `test, query_id`, `METRICS` as numbers, and the confidences of `ERRORS` or NaN."""
    predicted = model.predicted(titles["raw_title"].to_list())
    known = read_frame(model.folder / PACKAGE / "occupations.parquet", KNOWN)
    codes: Mapping[str, list[str]] = dict(known.select("occupation_id", "codes").iter_rows())
    gold = titles["occupation_ids"].to_list()
    place = places(gold, [[*own] for own in predicted["top_occupation_ids"]])
    own_codes = [[*own] for own in predicted["codes"]]
    digits = {
        name: [
            len(own) > level and any(own[level] in codes[one][level : level + 1] for one in names)
            for own, names in zip(own_codes, gold, strict=True)
        ]
        for level, name in enumerate(("first_digit", "two_digits"))
    }
    values = {
        **place_metrics(place),
        "abstained": predicted["abstained"].to_numpy(dtype=bool),
        **digits,
    }
    numbers = {name: np.asarray(own, float) for name, own in values.items()}
    broad = [own[0] if len(own) else np.nan for own in predicted["code_confidences"]]
    confidences = {
        "confidence": predicted["confidence"].to_numpy(dtype=float, na_value=np.nan),
        "first_digit_confidence": np.array(broad, float),
    }
    return titles.select("test", "query_id").with_columns(
        **{name: pl.Series(own) for name, own in (numbers | confidences).items()}
    )


def error_rows(system: str, by_seed: Mapping[int, pl.DataFrame], seed: int) -> Iterator[Row]:
    """Yield the calibration error of the answers to each test, of each network and their mean."""
    for test in next(iter(by_seed.values()))["test"].unique(maintain_order=True):
        for metric, (confidence, correct) in ERRORS.items():
            rows = []
            for own_seed, values in by_seed.items():
                own = values.filter(pl.col(confidence).is_not_nan(), test=test)
                if len(own) >= BINS:
                    numbers = own[confidence].to_numpy(), own[correct].to_numpy() == 1
                    draw = child_seed(seed, "benchmark", test)
                    row = error_figure(system, test, *numbers, draw)
                    rows.append(row._replace(metric=metric, seed=own_seed))
            yield from rows
            if rows:
                mean = sum(row.value for row in rows) / len(rows)
                yield Row(system, test, metric, mean, rows[0].n)
