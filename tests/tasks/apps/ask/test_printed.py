"""Answers as lines: with and without colour, wrapped, and harmless for a terminal."""

from __future__ import annotations

import re

from served_toy import TORN, toy_normalizer

from models.serving.confidence import Calibration
from tasks.apps import ask as described
from tasks.apps import ask as printed

SURE = Calibration(0.05, [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], 10)
COLOUR = re.compile(r"\x1b\[\d+m")


def lines(title: str, *, calibrated: bool = True, colour: bool = False, width: int = 80) -> str:
    (answer,) = described(toy_normalizer(SURE if calibrated else None), [title], {"top_k": 3})
    return printed(answer, colour=colour, width=width)


def test_an_answer() -> None:
    text = lines("head baker, nights")
    first, second, *rest = text.splitlines()
    assert first == "head baker, nights"
    assert re.fullmatch(r"  Baker  confidence 0\.\d\d", second)
    names = [line.split()[0] for line in rest if line[2] != " "]
    assert names == ["id", "hierarchy", "codes", "words", "similar", "why"]
    assert (
        "7 Craft workers (0." in text
        and "SOC: 51-3011" in text
        and "seniority: head; contract: nights" in text
    )
    assert max(map(len, rest)) <= 80


def test_an_unsure_answer_says_which_code_is_sure() -> None:
    vague = Calibration(0.06, [2.0, -9.0, -9.0], [1.0] * 3, 10)
    (answer,) = described(toy_normalizer(vague), [TORN], {"top_k": 3})
    text = printed(answer, colour=False, width=80)
    assert re.search(r"\n  sure of    7 Craft workers \(0\.\d\d\)\n", text)


def test_an_abstention_says_the_reason() -> None:
    assert lines("???").splitlines() == [
        "???",
        "  no answer: no letters",
        "  why        the title holds digits, punctuation or emoji only",
    ]


def test_an_answer_without_calibration() -> None:
    assert lines("baker", calibrated=False).splitlines()[1] == "  Baker  uncalibrated"


def test_colour_changes_nothing_but_colour() -> None:
    painted = lines("bread maker", colour=True)
    assert COLOUR.sub("", painted) == lines("bread maker")
    assert len(COLOUR.findall(painted)) > 10


def test_a_title_cannot_steer_the_terminal() -> None:
    text = lines("baker\x1b[2J\a\nnurse")
    assert text.startswith("baker\\x1b[2J\\x07\\nnurse\n") and "\x1b" not in text


def test_a_narrow_terminal_gets_shorter_lines() -> None:
    assert max(map(len, lines("bread maker", width=10).splitlines())) <= 40
