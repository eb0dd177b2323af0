"""From files as people have them to a profile that the stages can work with."""

import csv
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tables.workbooks import write_workbook

from flows.profiles import merged, resolve_sources
from tasks.apps.profile_wizard import propose as wizard
from tasks.apps.profile_wizard.propose import DraftError, ProfileDraft, parse_options, write_profile
from tasks.check_params import check_params, load_params
from tasks.pipeline.ingest.stage import ingest, require_usable
from tasks.tables.delimited import AS_FOUND, Format
from tasks.tables.source_files import IngestError

ROOT = Path(__file__).resolve().parents[4]
EXAMPLE = ROOT / "examples/own_taxonomy"
HEADER = ("Kennziffer", "Beruf", "Bezeichnung", "Sparte")
ROWS = [
    ("B1", "Bäcker", "Brotbäcker", "Lebensmittel"),
    ("B1", "Bäcker", "Bäckergeselle", "Lebensmittel"),
    ("B2", "Pfleger", "Altenpfleger", "Gesundheit"),
    ("B2", "Pfleger", "Krankenpfleger", "Gesundheit"),
    ("B2", "Pfleger", "Pflegekraft", "Gesundheit"),
    ("B3", "Ärztin", "Chirurgin", "Gesundheit"),
    ("B3", "Ärztin", "Fachärztin", "Gesundheit"),
]
RAW = [("Anzeige", "Ziel"), ("Brotbäcker gesucht", "B1"), ("Nachtdienst", ""), ("Chirurgin", "B3")]
PAIRS = [("dies", "das"), ("Bäcker", "Bäckerin")]


def propose(
    root: Path,
    *taxonomy: Path,
    inputs: Sequence[Path] = (),
    synonyms: Sequence[Path] = (),
    columns: Mapping[str, str | list[str]] | None = None,
    form: Format = AS_FOUND,
) -> ProfileDraft:
    """Propose `mine`; a role in `columns` has a column, or several."""
    files = {"taxonomy": taxonomy, "inputs": inputs, "synonyms": synonyms}
    listed = {role: [one] if isinstance(one, str) else one for role, one in (columns or {}).items()}
    options = parse_options([f"{role}={name}" for role, names in listed.items() for name in names])
    return wizard.propose("mine", files, root=root, columns=options, form=form)


def written(
    path: Path, rows: Sequence[Sequence[str]], delimiter: str = ";", code: str = "utf-8"
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding=code, newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a main tree of parameters alone."""
    (tmp_path / "clone").mkdir()
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    (tmp_path / "clone/params.yaml").write_text(text, encoding="utf-8")
    return tmp_path / "clone"


@pytest.fixture
def titles(tmp_path: Path) -> Path:
    return written(tmp_path / "titles.csv", [HEADER, *ROWS])


def values(draft: ProfileDraft) -> dict[str, Any]:
    tree: dict[str, Any] = yaml.safe_load(draft.text)
    return tree


def columns(draft: ProfileDraft, section: str = "taxonomy") -> dict[str, str]:
    return values(draft)["ingest"][section]["columns"]


def test_the_example_is_read_whole_by_what_is_proposed(root: Path) -> None:
    """Lay the profile over the parameters, check these as the flows do, and ingest."""
    draft = propose(ROOT, EXAMPLE / "titles.csv", inputs=[EXAMPLE / "raw.csv"])
    tree = values(draft)
    external = {name: f"./examples/own_taxonomy/{name}" for name in ("titles.csv", "raw.csv")}
    assert tree.pop("external") == external
    names = {"occupation_id": "Job code", "title": "Also called"}
    names |= {"occupation_label": "Standard title", "codes": "Job family"}
    assert columns(draft) == names
    assert columns(draft, "inputs") == {"raw_title": "posting title", "occupation_id": "code"}
    base = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    (root / "params.yaml").write_text(yaml.safe_dump(merged(base, tree)), encoding="utf-8")
    params = load_params(root / "params.yaml")
    check_params(params)
    assert params.train_feedback.continues
    assert params.register_.name == "rolecall-mine"
    section = params.ingest.model_copy(update={"folder": EXAMPLE.as_posix()})
    read = ingest(section)
    require_usable(read, section)
    assert (read.occupations.height, read.aliases.height, read.rejected.errors) == (20, 107, 0)
    assert (read.inputs.height, read.inputs["occupation_id"].count()) == (50, 46)
    assert "  20 occupations, 107 titles, labels among them" in draft.preview
    assert "  50 inputs, 46 labelled" in draft.preview


def test_a_column_of_languages(root: Path, tmp_path: Path) -> None:
    """And one that is called so but holds sentences is none."""
    spoken = [(*HEADER, "Sprache")] + [(*row, "de") for row in ROWS[:-1]] + [(*ROWS[-1], "")]
    draft = propose(root, written(tmp_path / "a.csv", spoken))
    assert columns(draft)["language"] == "Sprache" and columns(draft)["title"] == "Bezeichnung"
    assert any(line.split() == ["language", "'Sprache':", "de"] for line in draft.preview)
    german = [(*HEADER, "Sprache")] + [(*row, "Deutsch oder Englisch") for row in ROWS]
    assert "language" not in columns(propose(root, written(tmp_path / "b.csv", german)))


@pytest.mark.parametrize(
    ("delimiter", "code", "name"),
    [
        (",", "utf-8", "utf-8"),
        (";", "utf-8-sig", "utf-8"),
        ("\t", "utf-16", "utf-16-le"),
        ("|", "cp1252", "cp1252"),
    ],
)
def test_delimiter_and_encoding_are_written_down(root, tmp_path, delimiter, code, name) -> None:
    titles = written(tmp_path / "titles.csv", [HEADER, *ROWS], delimiter, code)
    taxonomy = values(propose(root, titles))["ingest"]["taxonomy"]
    assert (taxonomy["delimiter"], taxonomy["encoding"]) == (delimiter, name)


@pytest.mark.parametrize("kind", [".xlsx", ".jsonl.gz"])
def test_tables_of_other_kinds(root: Path, tmp_path: Path, kind: str) -> None:
    """Ids are floats, as programs write them beside missing ones."""
    lines = [(float(row[0][1:]), row[2]) for row in ROWS]
    path = tmp_path / f"titles{kind}"
    if kind == ".xlsx":
        write_workbook(path, {"A": [("key", "name"), *lines]})
    else:
        objects = [json.dumps({"key": key, "name": name}) for key, name in lines]
        path.write_bytes(gzip.compress("\n".join(objects).encode()))
    inputs = write_workbook(tmp_path / "raw.xlsx", {"A": [["Anzeige"], ["Koch gesucht"]]})
    draft = propose(root, path, inputs=[inputs])
    assert columns(draft) == {"occupation_id": "key", "title": "name"}
    assert columns(draft, "inputs") == {"raw_title": "Anzeige"}
    assert "  3 occupations, 7 titles, labels among them" in draft.preview


def test_rows_of_parquet_are_alike_by_the_chosen_columns(root: Path, tmp_path: Path) -> None:
    """The row number, which is not chosen, makes no difference; the stage counts the same."""
    rows = [*ROWS, ROWS[0]]
    frame = pl.DataFrame(rows, schema=list(HEADER), orient="row").with_row_index("Nr")
    frame.write_parquet(tmp_path / "t.parquet")
    preview = propose(root, tmp_path / "t.parquet").preview
    assert "rows that would be refused: 1 × duplicate row" in preview


def test_a_column_of_forms_of_address_holds_no_titles(root: Path, tmp_path: Path) -> None:
    rows = [("title", "job", "key"), *(("Dr." * n, row[2], row[0]) for n, row in enumerate(ROWS))]
    assert columns(propose(root, written(tmp_path / "t.csv", rows)))["title"] == "job"


def test_without_ids_the_label_is_the_id(root: Path, tmp_path: Path) -> None:
    rows = [(label, title) for _, label, title, _ in [HEADER, *ROWS]]
    draft = propose(root, written(tmp_path / "t.csv", rows))
    guessed = {"occupation_id": "Beruf", "title": "Bezeichnung", "occupation_label": "Beruf"}
    assert columns(draft) == guessed
    assert values(draft)["ingest"]["inputs"]["reader"] == "none"
    assert values(draft)["synonyms"] == {"reader": "none"}


def test_overrides_are_not_guessed(root: Path, titles: Path) -> None:
    columns_of = {"title": "Bezeichnung", "occupation_label": "", "codes": "Beruf"}
    draft = propose(root, titles, columns=columns_of)
    del columns_of["occupation_label"]
    assert columns(draft) == {"occupation_id": "Kennziffer", **columns_of}


def test_two_columns_that_may_both_be_it_are_asked_about(root: Path, tmp_path: Path) -> None:
    """Name neither: both are words that differ from row to row."""
    rows = [(f"B{n // 3}", f"cook {n}", f"Koch {n}") for n in range(9)]
    path = written(tmp_path / "t.csv", [("key", "English", "German"), *rows])
    with pytest.raises(DraftError) as error:
        propose(root, path)
    message = str(error.value)
    assert "'English' and 'German' may each be title" in message
    assert f"{path} (UTF-8, semicolons between fields) has the columns" in message
    assert message.endswith("\n  'German': Koch 0, Koch 1, ...")
    assert "Add --column title=English or --column title=German; both together" in message
    assert columns(propose(root, path, columns={"title": "German"}))["title"] == "German"


ONE_TITLE_EACH = [("id", "title"), ("1", "cook"), ("2", "nurse")]
TABLE = [HEADER, *ROWS]


@pytest.mark.parametrize(
    ("rows", "columns_of", "message"),
    [
        (ONE_TITLE_EACH, {}, "no column looks like occupation_id"),
        (ONE_TITLE_EACH, {"occupation_id": "id"}, "has one title for each occupation"),
        ([("id", "title")], {}, "has a header and no rows"),
        ([("id", "id"), ("1", "cook")], {}, r"has the column \['id'\] more than once"),
        ([], {}, "has no header line"),
        (TABLE, {"titel": "Beruf"}, "--column titel=...: choose occupation_id, title, "),
        (TABLE, {"occupation_id": ""}, "--column occupation_id=: .* has the columns"),
        (TABLE, {"title": "Berufe"}, "title=Berufe: .* has the columns\n  'Kennziffer'"),
    ],
)
def test_files_and_overrides_that_make_no_taxonomy(
    root: Path, tmp_path: Path, rows: list[Any], columns_of: dict[str, str], message: str
) -> None:
    with pytest.raises((DraftError, IngestError), match=message) as error:
        propose(root, written(tmp_path / "t.csv", rows), columns=columns_of)
    assert str(tmp_path / "t.csv") in str(error.value) or "titel" in columns_of


def test_labels_in_place_of_ids_are_reported(root: Path, titles: Path, tmp_path: Path) -> None:
    raw = [written(tmp_path / "raw.csv", [("text", "for"), ("Brotbäcker ab sofort", "Bäcker")])]
    draft = propose(root, titles, inputs=raw)
    assert columns(draft, "inputs") == {"raw_title": "text"}
    hint = next(line for line in draft.preview if "by their label" in line)
    assert "'occupation_id=Beruf'" in hint
    again = propose(root, titles, inputs=raw, columns={"occupation_id": "Beruf"})
    assert columns(again, "inputs") == {"occupation_id": "for", "raw_title": "text"}


def test_one_title_a_line(root: Path, titles: Path, tmp_path: Path) -> None:
    """No header: the first line is a title, and titles may hold commas; there may be two files."""
    (tmp_path / "a.txt").write_text("Brotbäcker, Nacht\nKoch\nPflegekraft, Teilzeit\n", "utf-8")
    (tmp_path / "b.txt").write_text("Koch b\nArzt b\n", "utf-8")
    draft = propose(root, titles, inputs=[tmp_path / "a.txt", tmp_path / "b.txt"])
    inputs = values(draft)["ingest"]["inputs"]
    assert (inputs["reader"], inputs["file"]) == ("lines", ["a.txt", "b.txt"])
    assert "  5 inputs, 0 labelled" in draft.preview
    named = written(tmp_path / "raw.csv", [("text",), ("Koch",)])
    draft = propose(root, titles, inputs=[named])
    assert columns(draft, "inputs") == {"raw_title": "text"}
    assert "  1 inputs, 0 labelled" in draft.preview


@pytest.mark.thorough
@pytest.mark.parametrize(("titles", "is_small"), [(999, True), (1000, False)])
def test_small_taxonomies_are_trained_on_for_less_long(root, tmp_path, titles, is_small) -> None:
    """Ten titles an occupation, the first of them its label."""
    rows = [(f"B{n // 10}", f"cook of number {n}") for n in range(titles)]
    path = written(tmp_path / "t.csv", [("id", "title"), *rows])
    assert ("train" in values(propose(root, path))) == is_small


def test_synonyms_by_any_two_names(root: Path, titles: Path, tmp_path: Path) -> None:
    paths = [written(tmp_path / "s.csv", PAIRS), written(tmp_path / "b/s.csv", PAIRS)]
    section = values(propose(root, titles, synonyms=paths[:1]))["synonyms"]
    names = {"term": "dies", "synonym": "das"}
    source = {"reader": "table", "folder": "data/external", "file": "s.csv"}
    assert section == {**source, "columns": names}
    tree = values(propose(root, titles, synonyms=paths))
    assert tree["synonyms"] == {**section, "file": ["s.csv", "synonyms-s.csv"]}
    assert tree["external"]["synonyms-s.csv"] == str(paths[1])


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", ["a: b #c", "x\\y:z", "'q'\"", "new\nline", "- é {x} 😀", "n" * 245]
)
def test_any_name_of_a_file_survives_the_profile(root: Path, tmp_path: Path, name: str) -> None:
    """In `data/external` it has no sign that DVC cannot read there."""
    titles = written(tmp_path / f"{name}.csv", [HEADER, *ROWS])
    pairs = written(tmp_path / "below" / f"{name}.csv", PAIRS)
    tree = values(propose(root, titles, synonyms=[pairs]))
    assert sorted(tree["external"].values()) == sorted(map(str, (titles, pairs)))
    (own,) = tree["ingest"]["taxonomy"]["files"].values()
    assert tree["synonyms"]["file"] == f"synonyms-{own}"
    assert set(tree["external"]) == {own, f"synonyms-{own}"}
    resolve_sources(tree["external"], None, root)


def test_any_name_of_a_column_survives_the_profile(root: Path, tmp_path: Path) -> None:
    """Put signs of YAML, quotes and a line end into the header."""
    title = 'a: #title "x" {y}\nz'
    rows = [("Kennziffer: 'é'", title), *((key, one) for key, _, one, _ in ROWS)]
    columns_of = {"title": title, "occupation_id": "Kennziffer: 'é'"}
    path = written(tmp_path / "t.csv", rows)
    assert columns(propose(root, path, columns=columns_of)) == columns_of


def test_rows_at_fault_are_warned_of(root: Path, titles: Path, tmp_path: Path) -> None:
    raw = written(tmp_path / "raw.csv", [*RAW, ("Koch", "B9"), ("Chirurgin", "B3")])
    lines = propose(root, titles, inputs=[raw]).preview
    assert lines[-1].startswith("warning: 1 of 12 rows are at fault, more than ingest.max_reject")
    counts, shown = lines[-3:-1]
    assert counts == "rows that would be refused: 1 × unknown occupation"
    assert shown.endswith("line 5: unknown occupation: Koch;B9"), shown
    assert not any("warning" in line for line in propose(root, titles).preview)


def test_an_encoding_holds_for_files_that_need_it(root: Path, tmp_path: Path) -> None:
    rows = [("kod", "nazwa"), ("1", "księgowy"), ("1", "księgowa"), ("2", "mąż"), ("2", "łucznik")]
    titles = written(tmp_path / "t.csv", rows, code="cp1250")
    chosen = {"occupation_id": "kod", "title": "nazwa"}
    raw = [written(tmp_path / "raw.csv", RAW)]
    draft = propose(root, titles, inputs=raw, columns=chosen, form=Format(encoding="cp1250"))
    sections = values(draft)["ingest"]
    assert [sections[name]["encoding"] for name in ("taxonomy", "inputs")] == ["cp1250", "utf-8"]
    assert any("księgowy" in line for line in draft.preview)


@pytest.mark.parametrize("name", ["", "my profile", "../mine", "mine.yaml", "für", "n" * 300])
def test_names_that_no_model_can_have(root: Path, titles: Path, name: str) -> None:
    files = {"taxonomy": [titles]}
    with pytest.raises(DraftError, match="is no name of a profile: up to 80 letters"):
        write_profile(root, name, files, [], delimiter="", encoding="", force=False)


def test_each_guess_is_shown_with_two_values(root: Path, titles: Path) -> None:
    assert propose(root, titles).preview[1:7] == [
        "  occupation_id        'Kennziffer': B1, B2, ...",
        "  title                'Bezeichnung': Brotbäcker, Bäckergeselle, ...",
        "  occupation_label     'Beruf': Bäcker, Pfleger, ...",
        "  codes                none",
        "  language             none",
        "  not used             'Sparte': Lebensmittel, Gesundheit",
    ]


def test_a_message_has_room_for_the_options_whatever_the_columns(root: Path, tmp_path) -> None:
    """A terminal shows ten lines: options come first, and six columns with examples."""
    names = ("id", *(f"words {n}" for n in range(30)))
    rows = [(f"B{n // 3}", *(f"cook {n} {m}" for m in range(30))) for n in range(9)]
    with pytest.raises(DraftError, match="Add --column 'title=words 0' or --column") as error:
        propose(root, written(tmp_path / "t.csv", [names, *rows]))
    assert len(str(error.value).splitlines()) <= 10
    assert "'words 29'" in str(error.value)


def test_titles_in_several_columns(root: Path, tmp_path: Path) -> None:
    """One row an occupation, as in a spreadsheet; the first column has the labels."""
    rows = [("id", "de", "en"), ("1", "Koch", "cook"), ("2", "Pfleger", "nurse"), ("3", "Arzt", "")]
    path = written(tmp_path / "t.csv", rows)
    with pytest.raises(DraftError, match="add --column title=COLUMN for each column of titles"):
        propose(root, path)
    chosen = {"occupation_id": "id", "title": ["de", "en"]}
    draft = propose(root, path, columns=chosen)
    assert columns(draft) == chosen
    assert "  title                'de': Koch, Pfleger, ...; 'en': cook, nurse" in draft.preview
    assert "  3 occupations, 5 titles, labels among them" in draft.preview


def test_several_files_of_one_option(root: Path, titles: Path, tmp_path: Path) -> None:
    """Order columns and delimit fields differently; one file has a column more.

    Their names are alike: on some disks T and t are one letter.
    """
    more = written(tmp_path / "b/Titles.csv", [HEADER[::-1], ("Bau", "Maurerin", "Maurer", "B4")])
    other = [("Ziel", "x", "Anzeige"), ("B4", "", "Maurer")]
    raw = [written(tmp_path / "raw.csv", RAW), written(tmp_path / "b/raw.csv", other, ",")]
    draft = propose(root, titles, more, inputs=raw)
    tree = values(draft)
    named = ("titles.csv", "taxonomy-Titles.csv", "raw.csv", "inputs-raw.csv")
    assert tree["external"] == dict(zip(named, map(str, (titles, more, *raw)), strict=True))
    taxonomy, inputs = tree["ingest"]["taxonomy"], tree["ingest"]["inputs"]
    assert taxonomy["files"] == {"titles": "titles.csv", "titles_2": "taxonomy-Titles.csv"}
    assert inputs["file"] == ["raw.csv", "inputs-raw.csv"]
    assert (taxonomy["delimiter"], inputs["delimiter"]) == (";", "")
    assert inputs["columns"] == {"occupation_id": "Ziel", "raw_title": "Anzeige"}
    assert "  4 occupations, 12 titles, labels among them" in draft.preview
    assert "  4 inputs, 3 labelled" in draft.preview


def test_what_cannot_be_repeated_is_refused(root: Path, titles: Path, tmp_path: Path) -> None:
    with pytest.raises(DraftError, match="--column codes=b: only title has several columns"):
        parse_options(["codes=a", "codes=b"])
    other = written(tmp_path / "other.csv", [("x", "y"), ("1", "2")])
    with pytest.raises(DraftError, match=r"these have none: titles\.csv: .*; other\.csv: x, y"):
        propose(root, titles, other)
