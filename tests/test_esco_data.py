"""The promises of data/esco/: ESCO's and O*NET's titles, and the hand-made files beside them."""

import re
import runpy
from pathlib import Path

import polars as pl
import pytest
from published import DATA, needs

ROOT = Path(__file__).resolve().parents[1]
ESCO = ROOT / "data/esco"
SOURCES = [DATA / "esco", DATA / "esco_languages"]
LANGUAGES = "bg cs da de en es et fr hr hu it lt lv nl no pl pt ro sk sl sv"
LARGEST = "de en es fr hu it nl pl pt ro"
COLUMNS = {
    "titles": ["occupation_id", "language", "title", "preferred"],
    "occupations": ["occupation_id", "isco_code"],
    "groups": ["isco_code", "label"],
    "onet": ["soc_code", "occupation_label", "title", "kind"],
}
NOTE = r"(broader|nearest|doubtful|none): \w.*"
MAKE = runpy.run_path(str(ESCO / "make.py"))


def table(name: str) -> pl.DataFrame:
    return pl.read_parquet(ESCO / f"{name}.parquet")


@pytest.mark.thorough
@needs(SOURCES[0])
@needs(SOURCES[1])
@needs(DATA / "onet")
def test_the_script_makes_the_committed_bytes_again(tmp_path: Path) -> None:
    MAKE["main"]([*map(str, SOURCES), "--onet", str(DATA / "onet"), "--into", str(tmp_path)])
    for name in COLUMNS:
        file = f"{name}.parquet"
        assert (tmp_path / file).read_bytes() == (ESCO / file).read_bytes(), file


def test_the_script_reads_any_languages_and_the_publishers_columns(tmp_path: Path) -> None:
    """A title repeated in its occupation counts once; a concept without English is left out."""
    with pytest.raises(FileNotFoundError, match=r"occupations_en\.csv is in none of "):
        MAKE["make"]([tmp_path], tmp_path)
    header = "conceptType,conceptUri,iscoGroup,preferredLabel,altLabels,hiddenLabels\n"
    (tmp_path / "occupations_en.csv").write_text(
        f'{header}Occupation,esco/b,2512,coder,"coder\n programmer ",hacker\n'
        "Occupation,esco/a,7512,baker,,\n"
    )
    (tmp_path / "occupations_de.csv").write_text(
        "conceptUri,preferredLabel,altLabels\nesco/new,Influencer,\nesco/a,Bäcker,Bäckerin\n"
    )
    (tmp_path / "ISCOGroups_en.csv").write_text("code,preferredLabel\n75,crafts\n2,experts\n")
    (tmp_path / "Occupation Data.txt").write_text('O*NET-SOC Code\tTitle\n1\t"Chief\n')
    (tmp_path / "Alternate Titles.txt").write_text(
        "O*NET-SOC Code\tAlternate Title\tShort Title\n1\tBoss\tn/a\n1\tExecutive\tCEO\n"
    )
    asked = "O*NET-SOC Code\tReported Job Title\n1\tBoss\n"
    (tmp_path / "Sample of Reported Titles.txt").write_text(asked)
    made = MAKE["make"]([tmp_path], tmp_path)
    assert {name: frame.columns for name, frame in made.items()} == COLUMNS
    assert made["titles"].rows() == [
        ("esco/a", "de", "Bäcker", True),
        ("esco/a", "de", "Bäckerin", False),
        ("esco/a", "en", "baker", True),
        ("esco/b", "en", "coder", True),
        ("esco/b", "en", "programmer", False),
    ]
    assert made["occupations"].rows() == [("esco/a", "7512"), ("esco/b", "2512")]
    assert made["groups"].rows() == [("2", "experts"), ("75", "crafts")]
    kinds = [("Boss", "alternate"), ("Executive", "alternate"), ('"Chief', "label")]
    kinds += [("Boss", "reported"), ("CEO", "short")]
    assert made["onet"].select("title", "kind").rows() == kinds


def test_the_files_have_these_columns_and_sizes_and_no_empty_cell() -> None:
    assert sum(path.stat().st_size for path in ESCO.glob("*.parquet")) < 4_000_000
    heights = {"titles": 301_790, "occupations": 2_942, "groups": 619, "onet": 63_394}
    for name, columns in COLUMNS.items():
        frame = table(name)
        assert (frame.columns, frame.height) == (columns, heights[name])
        assert sum(frame.null_count().row(0)) == 0
        texts = pl.col(pl.String)
        faulty = (texts == "") | (texts != texts.str.strip_chars())
        assert not any(frame.select(faulty.any()).row(0))
        assert frame.is_unique().all()


def labels() -> dict[str, str]:
    """The English label of each concept."""
    english = table("titles").filter(pl.col("preferred") & (pl.col("language") == "en"))
    return dict(english.select("occupation_id", "title").rows())


def test_every_title_has_an_occupation_and_every_occupation_a_group() -> None:
    titles, occupations = table("titles"), table("occupations")
    codes = set(table("groups")["isco_code"])
    assert set(titles["occupation_id"]) == set(occupations["occupation_id"])
    assert set(occupations["isco_code"]) <= codes
    assert {code[:-1] for code in codes if len(code) > 1} <= codes


def test_one_title_is_preferred_in_each_language() -> None:
    """The publisher's German lacks two of the 2,942 occupations and its Swedish three."""
    titles = table("titles")
    assert " ".join(titles["language"].unique().sort()) == LANGUAGES
    preferred = titles.group_by("language", "occupation_id").agg(pl.col("preferred").sum())
    assert preferred["preferred"].unique().to_list() == [1]
    lacking = {"de": 2, "sv": 3}
    counts = dict(preferred.group_by("language").len().rows())
    assert counts == {language: 2_942 - lacking.get(language, 0) for language in LANGUAGES.split()}


def test_each_sample_occupation_has_a_concept_or_a_reason() -> None:
    """In the sample's order; a concept's label is ESCO's, a note begins with its kind."""
    sample = pl.read_csv(ROOT / "data/sample/occupations.csv", infer_schema=False)
    mapped = pl.read_csv(ESCO / "sample_occupations.csv", infer_schema=False).fill_null("")
    names = ["occupation_id", "occupation_label"]
    assert mapped.columns == [*names, "concept_uri", "concept_label", "note"]
    assert mapped.select(names).equals(sample.select(names))
    known = {"": "", **labels()}
    for _, _, uri, label, note in mapped.rows():
        assert known[uri] == label
        assert not note or re.fullmatch(NOTE, note)
        assert note.startswith("none: ") == (not uri)


def test_the_inputs_are_everyday_titles_of_nine_languages() -> None:
    """At most a tenth of them are ESCO's own titles; they lie in all ten major groups."""
    inputs = pl.read_csv(ESCO / "inputs.csv")
    assert inputs.columns == ["raw_title", "language", "occupation_id", "occupation_label"]
    counts = dict(inputs.group_by("language").len().rows())
    assert " ".join(sorted(counts)) == "de es fr hu it nl pl pt ro"
    assert inputs.height == 400
    assert set(counts.values()) == {44, 45}
    named = inputs.select("occupation_id", "occupation_label")
    assert dict(named.rows()).items() <= labels().items()
    pairs = [
        titles.select("language", title=pl.col(name).str.to_lowercase())
        for titles, name in ((inputs, "raw_title"), (table("titles"), "title"))
    ]
    assert pairs[0].is_unique().all()
    assert pairs[0].join(pairs[1], on=["language", "title"], how="semi").height <= 40
    groups = dict(table("occupations").rows())
    for (_,), rows in inputs.group_by("language"):
        assert {groups[one][0] for one in rows["occupation_id"]} == set("0123456789")


def test_sample_inputs_of_other_concepts_are_labelled_inputs() -> None:
    """Each is labelled in the sample, and its concept is not that of its occupation."""
    occupations = dict(pl.read_csv(ROOT / "data/sample/inputs.csv").drop_nulls().rows())
    mapped = pl.read_csv(ESCO / "sample_occupations.csv")
    concepts = dict(mapped.select("occupation_id", "concept_uri").rows())
    moved = pl.read_csv(ESCO / "sample_inputs.csv")
    assert moved.columns == ["raw_title", "concept_uri", "concept_label"]
    assert moved["raw_title"].is_unique().all()
    named = moved.drop_nulls().select("concept_uri", "concept_label")
    assert dict(named.rows()).items() <= labels().items()
    assert all(concepts[occupations[title]] != uri for title, uri, _ in moved.rows())


def test_the_labelled_inputs_of_the_sample_are_those_of_the_two_tables() -> None:
    """Inputs that have a concept of their own, and those that follow their occupation."""
    labelled = runpy.run_path(str(ESCO / "label_sample.py"))["labelled"]()
    assert labelled.write_csv() == (ESCO / "inputs_en.csv").read_text(encoding="utf-8")
    own = pl.read_csv(ESCO / "sample_inputs.csv").drop_nulls("concept_uri")
    told = dict(own.select("raw_title", "concept_uri").iter_rows())
    assert len(told) > 300
    found = dict(labelled.select("raw_title", "occupation_id").iter_rows())
    assert {title: found[title] for title in told} == told
    assert labelled.height > 1700


def test_everyday_titles_have_answers_of_esco() -> None:
    """400 titles: two thirds are clear, a quarter in other languages; each stands once."""
    rows = pl.read_csv(ESCO / "everyday.csv")
    assert len(rows) == 400 and rows["raw_title"].str.to_lowercase().n_unique() == 400
    assert 0.25 <= (rows["language"] != "en").mean() <= 0.3
    assert 0.3 <= (rows["kind"] != "clear").mean() <= 0.35
    known, groups = set(table("occupations")["occupation_id"]), set(table("groups")["isco_code"])
    for row in rows.iter_rows(named=True):
        ids = (row["occupation_ids"] or "").split()
        assert set(ids) <= known and bool(ids) == (row["kind"] == "clear"), row
        assert row["code"] is None or (str(row["code"]) in groups and row["kind"] == "vague"), row
    inputs = pl.concat([pl.read_csv(ESCO / f"{name}.csv") for name in ("inputs", "inputs_en")])
    both = set(rows["raw_title"].str.to_lowercase()) & set(inputs["raw_title"].str.to_lowercase())
    assert both == set()
