"""The publishers' unchanged files, with the counts that are known of them."""

import polars as pl
import pytest
from params_of import inputs_params, taxonomy_params
from published import DATA, needs

from tasks.pipeline.ingest.stage import Ingested, IngestParams, InputsParams, ingest, require_usable

pytestmark = needs(DATA / "esco")


def ingest_published(reader: str, files: dict[str, str], inputs: InputsParams) -> Ingested:
    taxonomy = taxonomy_params(reader, files)
    params = IngestParams(folder=str(DATA), taxonomy=taxonomy, inputs=inputs, max_rejected_share=0)
    ingested = ingest(params)
    require_usable(ingested, params)
    return ingested


@pytest.mark.thorough
def test_esco_counts() -> None:
    """Count 32,939 titles as listed, 64 merged; lower-cased and stripped only, 32,878 were left.

    Find one title in 39 occupations, 90 in the largest, and four levels of codes in each.
    """
    columns = {"raw_title": "vacancyTitle", "occupation_id": "conceptUri"}
    esco = ingest_published(
        "esco",
        {"occupations": "esco/occupations_en.csv", "groups": "esco/ISCOGroups_en.csv"},
        inputs_params("table", "jobbert/titles.csv", columns=columns),
    )
    assert esco.occupations.height == 2_942
    assert esco.aliases.height == 32_939 - 64 == 32_875
    assert esco.rejected.reasons() == {"duplicate title": 64}
    assert esco.rejected.errors == 0
    rows = {"ISCOGroups_en.csv": 619, "occupations_en.csv": 2_942, "titles.csv": 15_463}
    assert esco.rejected.rows == rows
    sizes = esco.aliases.group_by("occupation_id").len()["len"]
    assert (sizes == 1).sum() == 39
    assert sizes.max() == 90
    assert esco.occupations["codes"].list.len().unique().to_list() == [4]
    assert esco.aliases["preferred"].sum() == 2_942


@pytest.mark.thorough
@needs(DATA / "esco_languages")
def test_esco_in_two_languages() -> None:
    """The German file is of other versions: 68 occupations more, two fewer, and no groups."""
    both = ingest_published(
        "esco",
        {
            "occupations_de": "esco_languages/occupations_de.csv",
            "occupations_en": "esco/occupations_en.csv",
            "groups": "esco/ISCOGroups_en.csv",
        },
        inputs_params(),
    )
    languages = both.aliases["language"].value_counts().sort("language")
    assert languages.rows() == [("de", 18_336), ("en", 32_875)]
    assert both.aliases["preferred"].sum() == 2_940 + 2_942
    assert both.rejected.reasons()["occupation without a group in any file"] == 3_008 - 2_940
    assert both.rejected.errors == 0
    plumbers = both.aliases.filter(pl.col("title").str.to_lowercase() == "plumber")["occupation_id"]
    labels = both.aliases.filter("preferred", pl.col("occupation_id").is_in(plumbers.to_list()))
    assert labels["language"].to_list() == ["en", "de"] * len(plumbers)


@pytest.mark.thorough
def test_onet_counts() -> None:
    """Add 1,016 labels, 52,754 alternate, 2,189 short titles, 7,541 reported: 63,500 titles.

    All reported ones are alternate ones too, so 63,500 - 7,541 - 108 = 55,851 are left.
    """
    onet = ingest_published(
        "onet",
        {
            "occupations": "onet/Occupation Data.txt",
            "alternates": "onet/Alternate Titles.txt",
            "reported": "onet/Sample of Reported Titles.txt",
        },
        inputs_params(),
    )
    assert onet.occupations.height == 1_016
    assert onet.aliases.height == 1_016 + 52_754 + 2_189 + 7_541 - 7_541 - 108 == 55_851
    assert onet.rejected.reasons() == {"duplicate title": 7_541 + 108}
    codes = onet.occupations["codes"]
    assert codes.list.first().n_unique() == 23  # major groups of SOC 2018
    assert codes.list.len().unique().to_list() == [4]
