"""The promises of the embedded default, data/sample/: its size, its shape and its honesty."""

import csv
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from published import DATA, needs

from models.text.titles import clean_title, normalize_title
from tasks.io.section import load
from tasks.pipeline.ingest.stage import IngestParams, ingest, require_usable

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "data/sample"
HEADERS = {
    "occupations": ["occupation_id", "occupation_label", "isco_code"],
    "aliases": ["occupation_id", "title"],
    "hierarchy": ["isco_code", "parent_code", "label"],
    "inputs": ["raw_title", "occupation_id"],
    "synonyms": ["term", "synonym"],
}


def rows(name: str) -> list[dict[str, str]]:
    with (SAMPLE / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def titles_by_occupation() -> dict[str, list[str]]:
    """Every occupation's titles as written, the label first."""
    titles = {row["occupation_id"]: [row["occupation_label"]] for row in rows("occupations")}
    for row in rows("aliases"):
        if row["occupation_id"] in titles:  # another test asks for it
            titles[row["occupation_id"]].append(row["title"])
    return titles


TITLES = titles_by_occupation()
LABELLED = [row for row in rows("inputs") if row["occupation_id"]]
UNLABELLED = [row for row in rows("inputs") if not row["occupation_id"]]


def words(text: str) -> str:
    """The words of a title between single spaces, with a space at both ends."""
    return " ".join(["", *re.findall(r"[\w+#]+", clean_title(text)), ""])


@pytest.mark.parametrize("name", HEADERS)
def test_files_are_plain_csv_without_duplicate_rows(name: str) -> None:
    data = (SAMPLE / f"{name}.csv").read_bytes()
    assert b"\r" not in data
    assert data.endswith(b"\n")
    table = list(csv.reader(data.decode("utf-8").splitlines(), strict=True))
    assert table[0] == HEADERS[name]
    assert {len(row) for row in table} == {len(HEADERS[name])}
    assert [row for row, count in Counter(map(tuple, table)).items() if count > 1] == []


def test_size() -> None:
    assert len(TITLES) >= 300 and sum(map(len, TITLES.values())) >= 3_000
    assert len(LABELLED) >= 1_200 and len(UNLABELLED) >= 400
    assert len({row["term"] for row in rows("synonyms")}) >= 300 and len(rows("synonyms")) >= 900


def test_nothing_is_empty_or_padded() -> None:
    """Inputs may be padded, as real ones are; parents and labels of inputs may be missing."""
    for name in set(HEADERS) - {"inputs"}:
        for row in rows(name):
            for column, value in row.items():
                assert value == value.strip(), row
                assert value or column == "parent_code", row
    assert all(row["raw_title"].strip() for row in rows("inputs"))


def test_every_reference_resolves_on_four_levels_of_codes() -> None:
    """A code is its parent's and one digit more; occupations stand on the fourth level."""
    parents = {row["isco_code"]: row["parent_code"] for row in rows("hierarchy")}
    for code, parent in parents.items():
        assert re.fullmatch(r"\d{1,4}", code) and parent == code[:-1], code
        assert parent in parents or not parent, code
    assert {len(code) for code in parents} == {1, 2, 3, 4}
    codes = {row["isco_code"] for row in rows("occupations")}
    assert codes <= parents.keys() and {len(code) for code in codes} == {4}
    ids = [row["occupation_id"] for row in rows("occupations")]
    assert [one for one in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", one)] == []
    assert len(set(ids)) == len(ids)
    for several in (rows("aliases"), LABELLED):
        assert {row["occupation_id"] for row in several} <= TITLES.keys()


@needs(DATA / "esco")
def test_codes_exist_in_isco_08_and_labels_are_our_own() -> None:
    with (DATA / "esco/ISCOGroups_en.csv").open(encoding="utf-8", newline="") as file:
        rows_of = csv.DictReader(file)
        published = {row["code"]: clean_title(row["preferredLabel"]) for row in rows_of}
    ours = {row["isco_code"]: clean_title(row["label"]) for row in rows("hierarchy")}
    assert ours.keys() <= published.keys()
    copied = [code for code, label in ours.items() if label == published[code]]
    assert len(copied) <= 0.05 * len(ours)


def test_no_title_of_an_occupation_no_input_and_no_synonym_stands_twice() -> None:
    pairs = [tuple(map(normalize_title, row.values())) for row in rows("synonyms")]
    titles = [(one, normalize_title(title)) for one, held in TITLES.items() for title in held]
    inputs = [normalize_title(row["raw_title"]) for row in rows("inputs")]
    for several in (pairs, titles, inputs):
        assert [one for one, count in Counter(several).items() if count > 1] == []
    assert all(title for _, title in titles) and all(term != other for term, other in pairs)


def test_sizes_fall_off_like_a_broken_power_law() -> None:
    """The share of occupations with at least s titles, log-log: falling, steeper past the break."""
    sizes = [len(titles) for titles in TITLES.values()]
    assert sizes.count(1) >= 5
    assert sum(size > 30 for size in sizes) >= 5

    def slope(low: int, high: int) -> float:
        at_least = [sum(size >= limit for size in sizes) for limit in (low, high)]
        return math.log(at_least[1] / at_least[0]) / math.log(high / low)

    assert slope(8, 32) < 2 * slope(1, 8) < 0


def test_titles_look_alike_across_fields() -> None:
    """Java developer, real estate developer: one last word, different major groups."""
    holders = Counter(title for titles in TITLES.values() for title in map(normalize_title, titles))
    assert sum(count > 1 for count in holders.values()) >= 20, "of two occupations"
    major = {row["occupation_id"]: row["isco_code"][0] for row in rows("occupations")}
    fields = defaultdict(set)
    for one, titles in TITLES.items():
        for title in map(normalize_title, titles):
            fields[title.split()[-1]].add(major[one])
    assert {"1", "2"} <= fields["director"]
    assert len(fields["developer"]) >= 2
    assert sum(len(groups) >= 3 for groups in fields.values()) >= 20


def test_no_frame_holds_more_than_3_percent() -> None:
    """A frame: titles of two words or more with the same first word, or the same last one."""
    titles = [normalize_title(title).split() for held in TITLES.values() for title in held]
    for position in (0, -1):
        frames = Counter(title[position] for title in titles if len(title) > 1)
        assert [frame for frame in frames.items() if frame[1] > 0.03 * len(titles)] == []


def test_a_third_of_the_inputs_contain_no_title_of_their_occupation() -> None:
    """Those without a label are no title of the taxonomy at all."""
    without = sum(
        not any(words(title) in words(row["raw_title"]) for title in TITLES[row["occupation_id"]])
        for row in LABELLED
    )
    assert without >= len(LABELLED) / 3
    titles = {normalize_title(title) for held in TITLES.values() for title in held}
    assert [row for row in UNLABELLED if normalize_title(row["raw_title"]) in titles] == []


def test_inputs_are_as_varied_as_real_ones() -> None:
    """Each kind of dirt occurs ten times at least; the labels spread over most occupations."""
    texts = [row["raw_title"] for row in LABELLED]
    kinds = {
        "shouted words": re.compile(r"\b[A-Z]{5,}\b").search,
        "capitals inside a word": re.compile(r"[a-z][A-Z]").search,
        "no capitals": str.islower,
        "HTML rests": re.compile(r"&\w+;|</?\w+").search,
        "contract": re.compile(r"part.?time|full.?time|contract|temp|perm", re.I).search,
        "seniority": re.compile(r"senior|junior|\bsr\b|\bjr\b|lead|trainee|grad", re.I).search,
        "numbers": re.compile(r"\d").search,
        "other scripts and emoji": lambda text: any(ord(c) > 0x2000 for c in text),
    }
    counts = {kind: sum(map(bool, map(is_so, texts))) for kind, is_so in kinds.items()}
    rare = {kind: n for kind, n in counts.items() if n < 10}
    assert rare == {}
    assert len({row["occupation_id"] for row in LABELLED}) >= 0.6 * len(TITLES)


@pytest.mark.thorough
def test_the_stage_takes_every_row(monkeypatch) -> None:
    """With the default parameters nothing is rejected."""
    monkeypatch.chdir(ROOT)
    params = load(IngestParams)
    if params.taxonomy.reader != "sample":
        pytest.skip("params.yaml is a profile's")
    read = ingest(params)
    require_usable(read, params)
    assert read.rejected.refused == []
    assert read.aliases.height == sum(map(len, TITLES.values()))
    assert read.inputs.height == len(LABELLED) + len(UNLABELLED)
