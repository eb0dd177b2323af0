"""A toy normalizer's answers described, and printed: coloured, wrapped, harmless for a terminal."""

import re

from served_toy import TORN, toy_normalizer, toy_normalizer_of_languages

from models.serving import clean as abstention
from models.serving.answer import Answer
from models.serving.clean import UNCALIBRATED
from models.serving.confidence import Calibration
from tasks.apps.ask import MEANINGS, described, printed

SURE = Calibration(0.05, [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], 10)
COLOUR = re.compile(r"\x1b\[\d+m")
TITLES = ["Bread maker", None, "", "???", "keeper"]


def test_a_description_has_all_columns_and_what_people_want_beside_them() -> None:
    bread, missing, empty, signs, keeper = described(toy_normalizer(SURE), TITLES, {"top_k": 3})
    beside = {"raw_title", "meaning", "code_labels", "alternatives", "explanation"}
    assert bread.keys() == beside | set(Answer._fields)
    assert (bread["raw_title"], bread["occupation_label"]) == ("Bread maker", "Baker")
    assert (bread["codes"], bread["code_labels"]) == (["7", "75"], ["Craft workers", ""])
    assert bread["meaning"] is None and bread["confidence"] > 0.5
    behind = [one["occupation_id"] for one in bread["alternatives"]]
    assert behind == bread["top_occupation_ids"][1:]
    assert {one["occupation_label"] for one in bread["alternatives"]} == {"Nurse", "Keeper"}
    words = [part["word"] for part in bread["explanation"]["words"]]
    assert words == ["bread", "maker"] and bread["explanation"]["why"].startswith("Baker, by")
    assert [one["reason"] for one in (missing, empty, signs)] == ["null", "empty", "no letters"]
    assert missing["explanation"] == {"why": "no answer: the title is missing", "words": []}
    assert signs["meaning"] == "the title holds digits, punctuation or emoji only"
    assert signs["alternatives"] == [] and len(keeper["alternatives"]) == 2


def test_an_abstention_is_not_explained_as_an_answer() -> None:
    (answer,) = described(toy_normalizer(SURE), ["bread"], {"min_confidence": 1.0})
    assert answer["reason"] == "low confidence" and answer["explanation"]["words"] == []
    assert answer["explanation"]["why"].startswith("no answer: the confidence")


def test_without_calibration_and_without_explanation() -> None:
    (answer,) = described(toy_normalizer(), ["bread"], {}, explained=False)
    assert answer["confidence"] is None and "explanation" not in answer
    assert answer["meaning"].startswith("the model has no calibration")


def test_every_reason_has_a_meaning() -> None:
    named = vars(abstention).items()
    reasons = {value for name, value in named if name.isupper() and isinstance(value, str)}
    assert set(MEANINGS) == reasons | {UNCALIBRATED}


def test_alternatives_and_explanation_are_in_the_language_asked_for() -> None:
    """Or in that of the closest title."""
    normalizer, nurse = toy_normalizer_of_languages(), "nurse responsible for general care"
    for raw_title, params, expected in (
        ("coffee baker", {"language": "de"}, "Krankenpfleger"),
        ("coffee baker", {}, nurse),
        ("Barista Krankenpfleger Barista", {"language": "en"}, nurse),
    ):
        (answer,) = described(normalizer, [raw_title], {"top_k": 4, **params})
        labels = {one["occupation_id"]: one["occupation_label"] for one in answer["alternatives"]}
        assert (labels | {answer["occupation_id"]: answer["occupation_label"]})["nurse"] == expected
    (answer,) = described(normalizer, ["registered nurse"], {"language": "de"})
    assert answer["explanation"]["why"].startswith("Krankenpfleger, by its title 'Nurse'")


def lines(title: str, *, calibrated: bool = True, colour: bool = False, width: int = 80) -> str:
    (answer,) = described(toy_normalizer(SURE if calibrated else None), [title], {"top_k": 3})
    return printed(answer, colour=colour, width=width)


def test_the_lines_of_an_answer() -> None:
    text = lines("head baker, nights")
    first, second, *rest = text.splitlines()
    assert first == "head baker, nights"
    assert re.fullmatch(r"  Baker  confidence 0\.\d\d", second)
    names = [line.split()[0] for line in rest if line[2] != " "]
    assert names == ["id", "hierarchy", "codes", "words", "similar", "why"]
    for said in ("7 Craft workers (0.", "SOC: 51-3011", "seniority: head; contract: nights"):
        assert said in text
    assert max(map(len, rest)) <= 80
    assert max(map(len, lines("bread maker", width=10).splitlines())) <= 40


def test_an_unsure_answer_says_which_code_is_sure() -> None:
    vague = Calibration(0.06, [2.0, -9.0, -9.0], [1.0] * 3, 10)
    (answer,) = described(toy_normalizer(vague), [TORN], {"top_k": 3})
    text = printed(answer, colour=False, width=80)
    assert re.search(r"\n  sure of    7 Craft workers \(0\.\d\d\)\n", text)


def test_the_reason_stands_where_the_confidence_does() -> None:
    assert lines("???").splitlines() == [
        "???",
        "  no answer: no letters",
        "  why        the title holds digits, punctuation or emoji only",
    ]
    assert lines("baker", calibrated=False).splitlines()[1] == "  Baker  uncalibrated"


def test_colour_changes_nothing_but_colour() -> None:
    painted = lines("bread maker", colour=True)
    assert COLOUR.sub("", painted) == lines("bread maker")
    assert len(COLOUR.findall(painted)) > 10


def test_a_title_cannot_steer_the_terminal() -> None:
    text = lines("baker\x1b[2J\a\nnurse")
    assert text.startswith("baker\\x1b[2J\\x07\\nnurse\n") and "\x1b" not in text
