"""The publishers' unchanged files, with the counts that are known of them."""

import polars as pl
import pytest
from params_of import inputs_params, taxonomy_params
from published import DATA, needs

from tasks.pipeline.ingest.stage import (
    Ingested,
    IngestParams,
    InputsParams,
    ingest,
    require_usable,
)

pytestmark = needs(DATA / "esco")


def ingest_published(reader: str, files: dict[str, str], inputs: InputsParams) -> Ingested:
    taxonomy = taxonomy_params(reader, files)
    params = IngestParams(folder=str(DATA), taxonomy=taxonomy, inputs=inputs, max_rejected_share=0)
    ingested = ingest(params)
    require_usable(ingested, params)
    return ingested


@pytest.fixture(scope="module")
def esco() -> Ingested:
    columns = {"raw_title": "vacancyTitle", "occupation_id": "conceptUri"}
    return ingest_published(
        "esco",
        {"occupations": "esco/occupations_en.csv", "groups": "esco/ISCOGroups_en.csv"},
        inputs_params("table", "jobbert/titles.csv", columns=columns),
    )


@pytest.mark.thorough
def test_esco_counts(esco: Ingested) -> None:
    """Count 32,939 titles as listed, 64 merged; lower-cased and stripped only, 32,878 were left."""
    assert esco.occupations.height == 2_942
    assert esco.aliases.height == 32_939 - 64 == 32_875
    assert esco.rejected.reasons() == {"duplicate title": 64}
    assert esco.rejected.errors == 0
    assert esco.rejected.rows == {
        "ISCOGroups_en.csv": 619,
        "occupations_en.csv": 2_942,
        "titles.csv": 15_463,
    }


def test_esco_holds_what_its_readme_says(esco: Ingested) -> None:
    """Find one title in 39 occupations, 90 in the largest, and four levels of codes in each."""
    sizes = esco.aliases.group_by("occupation_id").len()["len"]
    assert (sizes == 1).sum() == 39
    assert sizes.max() == 90
    assert esco.occupations["codes"].list.len().unique().to_list() == [4]
    assert esco.aliases["preferred"].sum() == 2_942


def test_the_first_merged_title_stands_where_the_refusal_says(esco: Ingested) -> None:
    file, line, _, title = esco.rejected.frame().row(0)
    lines = (DATA / "esco" / file).read_text(encoding="utf-8").split("\n")
    assert lines[line - 1].startswith("Occupation,http://data.europa.eu/esco/occupation/")
    record = lines[line - 1 :]
    end = next(n for n, text in enumerate(record[1:], 1) if text.startswith("Occupation,http"))
    assert sum(title in text.casefold() for text in record[:end]) >= 2


def test_vacancy_titles_come_as_they_are(esco: Ingested) -> None:
    assert esco.inputs.height == 15_463
    assert esco.inputs["occupation_id"].null_count() == 0
    assert esco.inputs["raw_title"].to_list()[:2] == [
        "Internship Digital Marketer",
        "Marketing Executive",
    ]
    assert " Business Studies / Marketing" in esco.inputs["raw_title"].to_list()[:12]


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
