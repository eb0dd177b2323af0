"""The list of phrases, the places beside it, what a model finds in inputs with them; crosswalks.

One person labelled the words of seniority, contract and place in `labelled_qualifiers.csv`: inputs
of the sample, drawn by `random.Random(14)`; spans as written, `|` between them.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from models.serving.qualifiers import KINDS, TOKENS, Qualifiers, read_phrases
from models.text.titles import clean_title
from tasks.io.command import ROOT
from tasks.release.model_package.folder import crosswalk_codes
from tasks.release.model_package.phrases import PHRASES, check_phrases, places, write_phrases

pytestmark = pytest.mark.thorough

LABELLED = Path(__file__).with_name("labelled_qualifiers.csv")
SAMPLE = ROOT / "data/sample"
LEAST = {"seniority": (0.84, 0.85), "contract": (0.98, 0.84), "location": (0.90, 0.90)}
"""Precision and recall that were reached when the labels were made, rounded down."""


def test_the_list_has_every_kind() -> None:
    check_phrases(PHRASES)
    phrases = read_phrases(PHRASES)
    assert all(phrases[kind] for kind in (*KINDS, "neither"))
    found = Qualifiers(phrases)(["Snr nurse, nights, remote"])
    own = [*zip(found.kinds, found.texts, strict=True)]
    assert own == [(0, "Snr"), (1, "nights"), (2, "remote")]
    assert not found.name_no_job[0]


def test_places_stand_behind_the_phrases(tmp_path: Path) -> None:
    write_phrases(PHRASES, ["nurse"], tmp_path / "phrases.csv")
    phrases, ours = read_phrases(tmp_path / "phrases.csv"), read_phrases(PHRASES)
    assert phrases["location"] == ours["location"] + places(["nurse"])
    assert phrases["contract"] == ours["contract"]


def test_places_are_no_words_of_titles() -> None:
    found = places(["Bath attendant", "Nurse"])
    assert {"london", "Swindon", "France", "Ohio", "Costa Rica"} <= set(found)
    assert "Bath" not in found
    assert "Ota" not in found, "three letters"
    assert found == sorted(found)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def words(title: str, spans: Sequence[str]) -> set[int]:
    """Return which tokens of a title stand in the spans, which are in the title's order."""
    end, chosen = 0, set()
    for span in spans:
        start = title.index(span, end)
        end = start + len(span)
        tokens = enumerate(TOKENS.finditer(title))
        chosen |= {n for n, token in tokens if token.start() < end and token.end() > start}
    return chosen


def labelled(row: dict[str, str], kind: str) -> set[int]:
    return words(row["raw_title"], [span for span in row[kind].split("|") if span])


def test_as_many_words_are_found_as_ever(tmp_path: Path) -> None:
    """A word is counted, not a span."""
    titles = [clean_title(row["title"]) for row in rows(SAMPLE / "aliases.csv")]
    write_phrases(PHRASES, titles, tmp_path / "phrases.csv")
    inputs = rows(LABELLED)
    found = Qualifiers(read_phrases(tmp_path / "phrases.csv"))([row["raw_title"] for row in inputs])
    for number, (kind, (precision, recall)) in enumerate(LEAST.items()):
        both = found_words = right_words = 0
        for position, row in enumerate(inputs):
            texts = found.texts[(found.rows == position) & (found.kinds == number)]
            right, own = labelled(row, kind), words(row["raw_title"], texts.tolist())
            both, found_words = both + len(own & right), found_words + len(own)
            right_words += len(right)
        assert both / found_words >= precision and both / right_words >= recall, kind
    assert [*LEAST] == [*KINDS] and np.isin(found.kinds, range(len(KINDS))).all()


HEAD = "code,standard,other_code\n"


def codes_of(tmp_path: Path, rows: str, head: str = HEAD) -> list[list[str]]:
    file = tmp_path / "crosswalk.csv"
    file.write_text(head + rows, encoding="utf-8")
    return crosswalk_codes(file, ["baker", "nurse"], [["7", "75"], ["2", "22"]])


def test_the_narrowest_code_counts_for_each_standard(tmp_path: Path) -> None:
    rows = "7,SOC,51\n75,SOC,51-3\n7,NOC,63\nbaker,SOC,51-3011\nbaker,SOC,35-2021\n22,SOC,29\n"
    assert codes_of(tmp_path, rows) == [["SOC: 51-3011", "SOC: 35-2021", "NOC: 63"], ["SOC: 29"]]


@pytest.mark.parametrize(
    ("head", "rows", "said"),
    [
        ("code,other_code\n", "7,51\n", "no column standard"),
        (HEAD, "7,SOC,51\n75,,51-3\n", "line 3: a value is missing"),
        (HEAD, "1234,SOC,51\n", "none of its 1 codes"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, head: str, rows: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        codes_of(tmp_path, rows, head)
