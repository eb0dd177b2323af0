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
    assert len(TITLES) >= 300
    assert sum(map(len, TITLES.values())) >= 3_000
    assert len(LABELLED) >= 1_200
    assert len(UNLABELLED) >= 400
    assert len(LABELLED) + len(UNLABELLED) >= 1_600
    assert len({row["term"] for row in rows("synonyms")}) >= 300
    assert len(rows("synonyms")) >= 900


def test_nothing_is_empty_or_padded() -> None:
    """Inputs may be padded, as real ones are; parents and labels of inputs may be missing."""
    for name in set(HEADERS) - {"inputs"}:
        for row in rows(name):
            for column, value in row.items():
                assert value == value.strip(), row
                assert value or column == "parent_code", row
    assert all(row["raw_title"].strip() for row in rows("inputs"))


def test_every_reference_resolves() -> None:
    codes = {row["isco_code"] for row in rows("hierarchy")}
    assert {row["parent_code"] for row in rows("hierarchy")} - codes == {""}
    assert {row["isco_code"] for row in rows("occupations")} <= codes
    assert {row["occupation_id"] for row in rows("aliases")} <= TITLES.keys()
    assert {row["occupation_id"] for row in LABELLED} <= TITLES.keys()


def test_four_levels_of_isco_08_codes() -> None:
    """A code is its parent's and one digit more; occupations stand on the fourth level."""
    for row in rows("hierarchy"):
        assert re.fullmatch(r"\d{1,4}", row["isco_code"]), row
        assert row["parent_code"] == row["isco_code"][:-1], row
    assert {len(row["isco_code"]) for row in rows("hierarchy")} == {1, 2, 3, 4}
    assert {len(row["isco_code"]) for row in rows("occupations")} == {4}


@needs(DATA / "esco")
def test_codes_exist_in_isco_08_and_labels_are_our_own() -> None:
    with (DATA / "esco/ISCOGroups_en.csv").open(encoding="utf-8", newline="") as file:
        published = {
            row["code"]: clean_title(row["preferredLabel"]) for row in csv.DictReader(file)
        }
    ours = {row["isco_code"]: clean_title(row["label"]) for row in rows("hierarchy")}
    assert ours.keys() <= published.keys()
    copied = [code for code, label in ours.items() if label == published[code]]
    assert len(copied) <= 0.05 * len(ours)


def test_ids_are_slugs_and_unique() -> None:
    ids = [row["occupation_id"] for row in rows("occupations")]
    assert [one for one in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", one)] == []
    assert len(set(ids)) == len(ids)


def test_no_title_stands_twice_in_an_occupation() -> None:
    twice = [
        (one, title)
        for one, titles in TITLES.items()
        for title, count in Counter(map(normalize_title, titles)).items()
        if count > 1 or not title
    ]
    assert twice == []


def test_no_input_and_no_synonym_stands_twice() -> None:
    inputs = Counter(normalize_title(row["raw_title"]) for row in rows("inputs"))
    assert [title for title, count in inputs.items() if count > 1] == []
    pairs = Counter(
        (normalize_title(row["term"]), normalize_title(row["synonym"])) for row in rows("synonyms")
    )
    assert [pair for pair, count in pairs.items() if count > 1 or pair[0] == pair[1]] == []


def test_sizes_fall_off_like_a_broken_power_law() -> None:
    """The share of occupations with at least s titles, log-log: falling, steeper past the break."""
    sizes = [len(titles) for titles in TITLES.values()]
    assert sizes.count(1) >= 5
    assert sum(size > 30 for size in sizes) >= 5

    def slope(low: int, high: int) -> float:
        at_least = [sum(size >= limit for size in sizes) for limit in (low, high)]
        return math.log(at_least[1] / at_least[0]) / math.log(high / low)

    assert slope(8, 32) < 2 * slope(1, 8) < 0


def test_some_titles_belong_to_two_occupations() -> None:
    holders = Counter(title for titles in TITLES.values() for title in map(normalize_title, titles))
    assert sum(count > 1 for count in holders.values()) >= 20


def test_titles_look_alike_across_fields() -> None:
    """Java developer, real estate developer: one last word, different major groups."""
    major = {row["occupation_id"]: row["isco_code"][0] for row in rows("occupations")}
    fields = defaultdict(set)
    for one, titles in TITLES.items():
        for title in map(normalize_title, titles):
            fields[title.split()[-1]].add(major[one])
    assert {"1", "2"} <= fields["director"]
    assert len(fields["developer"]) >= 2
    assert sum(len(groups) >= 3 for groups in fields.values()) >= 20


@pytest.mark.parametrize("position", [0, -1])
def test_no_frame_holds_more_than_3_percent(position: int) -> None:
    """A frame: titles of two words or more with the same first word, or the same last one."""
    titles = [normalize_title(title).split() for held in TITLES.values() for title in held]
    frames = Counter(title[position] for title in titles if len(title) > 1)
    assert [frame for frame in frames.items() if frame[1] > 0.03 * len(titles)] == []


def test_a_third_of_the_inputs_contain_no_title_of_their_occupation() -> None:
    without = [
        row
        for row in LABELLED
        if not any(
            words(title) in words(row["raw_title"]) for title in TITLES[row["occupation_id"]]
        )
    ]
    assert len(without) >= len(LABELLED) / 3


def test_inputs_without_label_are_no_job_titles() -> None:
    """None of them is a title of the taxonomy."""
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
    rare = {
        kind: n for kind, is_so in kinds.items() if (n := sum(map(bool, map(is_so, texts)))) < 10
    }
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
