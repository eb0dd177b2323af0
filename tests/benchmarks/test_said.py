"""Figures in sentences, claims that do not hold, and what the studies' own sentences say."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from benchmarks.pages.said import MISSING, OTHERS, PLACE, check, said
from benchmarks.pages.unlearned import MARK, UNLEARNED
from benchmarks.render import DEVIATIONS, claims, read
from benchmarks.results import FOLDER, Line
from benchmarks.study import studies

ROOT = Path(__file__).parents[2]
FRACTION = re.compile(r"\d\.\d")


def line(system: str, value: str, seed: str = "", **changes: str) -> Line:
    values = {"dataset": "sample", "system": system, "test": "typos", "metric": "mrr", "n": "9"}
    values |= {"value": value, "low": "", "high": "", "seed": seed, "run": "zoo-1"}
    return values | changes


RESULTS = defaultdict(
    list,
    zoo=[
        line("a", "0.5372", low="0.5", high="0.6"),
        line("a", "0.51", "1"),
        line("b", "-0.0223", metric="gain_mrr", low="-0.04", high="-0.001"),
        line("c", "0.25", "1"),
        line("c", "0.27", "2"),
        line("d", "0.1") | {MARK: UNLEARNED},
    ],
    gate=[line("e", "77885", metric="queries")],
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[sample; a; typos; mrr]]", "0.537"),
        ("by [[sample; a; typos;\n mrr | ends]].", "by [0.500, 0.600]."),
        ("[[sample; a; typos; mrr; 1]]", "0.510"),
        ("[[sample; b; typos; gain_mrr]]", "−0.022"),
        ("[[sample; b; typos; gain_mrr | size]]", "0.022"),
        ("[[sample; b; typos; gain_mrr | high]]", "−0.001"),
        ("[[sample; a; typos; mrr | percent]]", "53.7 %"),
        ("[[sample; a; typos; mrr - sample; b; typos; gain_mrr]]", "0.559"),
        ("[[gate: sample; e; typos; queries]] of {0.4}", "77,885 of 0.4"),
        ("[[sample; a; typos; mrr | n]]", "9"),
        ("[[sample; d; typos; mrr]]", UNLEARNED),
        ("[[esco; a; typos; mrr]]", MISSING),
    ],
)
def test_a_place_is_its_figure(text: str, expected: str) -> None:
    assert said(text, "zoo", RESULTS) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[sample; c; typos; mrr]]", "2 figures"),
        ("[[sample; typos; mrr]]", "needs dataset; system"),
        ("[[sample; a; typos; mrr | middle]]", "no part"),
    ],
)
def test_a_place_that_is_none(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        said(text, "zoo", RESULTS)


def test_claims_hold_or_are_errors() -> None:
    true = [
        "sample; a; typos; mrr | low > 0.4",
        "0 > sample; b; typos; gain_mrr | high",
        "sample; a; typos; mrr - sample; b; typos; gain_mrr > sample; a; typos; mrr",
    ]
    check(true, "zoo", RESULTS)
    with pytest.raises(ValueError, match="'esco; a; typos; mrr > 0' names what has not been meas"):
        check(["esco; a; typos; mrr > 0"], "zoo", RESULTS)
    with pytest.raises(ValueError, match=r"'sample; a; typos; mrr > 0\.6' does not hold: 0\.5372"):
        check(["sample; a; typos; mrr > 0.6"], "zoo", RESULTS)


def test_where_we_differ_from_the_papers_is_read_from_figures_too() -> None:
    text = DEVIATIONS.read_text(encoding="utf-8")
    assert not FRACTION.search(OTHERS.sub("", PLACE.sub("", text)))
    assert MISSING not in said(text, "", read(ROOT / FOLDER))


@pytest.mark.parametrize(("paper", "claim"), claims(), ids=lambda own: str(own)[:20])
def test_verdicts_on_the_papers_claims_are_read_from_figures(paper, claim) -> None:
    """And one that rests on a figure names what has to hold."""
    results, found = read(ROOT / FOLDER), claim["found"]
    assert claim["verdict"] in ("reproduced", "partly", "not", "could not be tried")
    assert not FRACTION.search(OTHERS.sub("", PLACE.sub("", found)))
    assert MISSING not in said(found, "", results)
    assert bool(claim["holds"]) == ("[[" in found)
    check(claim["holds"], "", results)


@pytest.mark.parametrize("study", studies(), ids=lambda own: own.name)
def test_what_studies_say_is_read_from_their_figures(study) -> None:
    """No fraction is written by hand, and none that is named is missing."""
    results, face = read(ROOT / FOLDER), study.face
    for text in (face["answer"], face.get("introduction", "")):
        assert not FRACTION.search(OTHERS.sub("", PLACE.sub("", text))), text
        assert MISSING not in said(text, study.name, results)
    check(face.get("claims", []), study.name, results)
