"""The sample's labelled inputs as labelled inputs for ESCO: `inputs_en.csv`.

    python data/esco/label_sample.py

An input gets the concept of `sample_inputs.csv`, or that of its occupation in
`sample_occupations.csv`. Inputs without one are left out.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

HERE = Path(__file__).resolve().parent
SAMPLE = HERE.parent / "sample"


def labelled() -> pl.DataFrame:
    """Return `raw_title, language, occupation_id, occupation_label` in the sample's order."""
    inputs = pl.read_csv(SAMPLE / "inputs.csv").drop_nulls("occupation_id")
    own = pl.read_csv(HERE / "sample_inputs.csv").with_columns(pl.col("concept_uri").fill_null(""))
    concepts = pl.read_csv(HERE / "sample_occupations.csv").select(
        "occupation_id", inherited="concept_uri", inherited_label="concept_label"
    )
    joined = inputs.join(own.unique("raw_title"), on="raw_title", how="left").join(
        concepts, on="occupation_id", how="left"
    )
    named = joined.select(
        "raw_title",
        language=pl.lit("en"),
        occupation_id=pl.coalesce("concept_uri", "inherited"),
        occupation_label=pl.coalesce("concept_label", "inherited_label"),
    )
    return named.drop_nulls("occupation_id").filter(pl.col("occupation_id") != "")


if __name__ == "__main__":
    labelled().write_csv(HERE / "inputs_en.csv")
