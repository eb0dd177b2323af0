"""Answers against plain loops; abstentions; the folder of files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.encoders.recurrent import RecurrentSettings
from models.kinds import fit_featurizer, make_encoder
from models.normalizer import Normalizer, NormalizerSettings
from models.normalizer_abstention import abstention
from models.normalizer_files import load_normalizer, save_normalizer
from models.titles import clean_title

ALIASES = [
    ("baker", "Baker", "train"),
    ("baker", "Bread maker", "train"),
    ("baker", "BREAD maker", "gate"),
    ("nurse", "Nurse", "train"),
    ("nurse", "Ward sister", "gate"),
    ("nurse", "Keeper", "train"),
    ("warden", "Keeper", "train"),
    ("warden", "911", "gate"),
]
OCCUPATIONS = [("baker", "Baker", ["7", "75"]), ("nurse", "Nurse", ["2"]), ("warden", "Keeper", [])]


def table(names: list[str], rows: list[tuple[object, ...]]) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.fixture(scope="module")
def normalizer() -> Normalizer:
    shape = RecurrentSettings("fast", 16, 4, 1, 4, 8, 0.0, 0.0)
    featurizer = fit_featurizer([title for _, title, _ in ALIASES], shape)
    torch.manual_seed(3)
    encoder = make_encoder(shape, featurizer).eval()
    return Normalizer.build(
        featurizer,
        encoder,
        table(["occupation_id", "title", "split"], ALIASES),
        table(["occupation_id", "occupation_label", "codes"], OCCUPATIONS),
        NormalizerSettings("best", 0.06, 2),
    )


@pytest.mark.parametrize("rule", ["best", "soft"])
def test_answers_equal_the_loops(normalizer: Normalizer, rule: str) -> None:
    """The score is max of dot products, or t·log Σ exp(s/t) − ½·t·log n, over distinct titles."""
    normalizer = replace(normalizer, settings=NormalizerSettings(rule, 0.06, 3))  # type: ignore[arg-type]
    asked = ["baker", "Nurse!", "breadmaker", "keeper", "911"]
    for raw_title, answer in zip(asked, normalizer.predict(asked), strict=True):
        query = normalizer.embed([raw_title])[0]
        scores = {}
        for name, _, _ in OCCUPATIONS:
            titles = sorted({clean_title(t) for o, t, _ in ALIASES if o == name})
            values = np.array([float(query @ normalizer.embed([t])[0]) for t in titles])
            soft = 0.06 * (np.log(np.exp(values / 0.06).sum()) - 0.5 * np.log(len(titles)))
            scores[name] = max(values) if rule == "best" else soft
        expected = sorted(scores, key=lambda name: -scores[name])
        assert answer.top_occupation_ids == expected
        assert answer.top_scores == pytest.approx([scores[n] for n in expected], abs=1e-5)
        assert answer.occupation_id == expected[0] and answer.score == answer.top_scores[0]


def test_a_title_of_the_taxonomy_is_found_as_it_is_written(normalizer: Normalizer) -> None:
    for occupation, title, _ in ALIASES:
        answer = normalizer.predict([title.upper()], top_k=3)[0]
        tied = [o for o, t, _ in ALIASES if clean_title(t) == clean_title(title)]
        assert answer.occupation_id == min(tied)
        assert answer.score == pytest.approx(1.0, abs=1e-5)
        written = dict(zip(answer.top_occupation_ids, answer.top_titles, strict=True))
        first = next(
            t for o, t, _ in ALIASES if o == occupation and clean_title(t) == clean_title(title)
        )
        assert written[occupation] == first


def test_label_codes_and_confidence(normalizer: Normalizer) -> None:
    answer = normalizer.predict(["BAKER"])[0]
    assert (answer.occupation_label, answer.codes) == ("Baker", ["7", "75"])
    assert answer.confidence is None and answer.reason == "uncalibrated"
    assert len(answer.top_titles) == 2  # the model's own top_k


@pytest.mark.parametrize(
    ("raw_title", "reason"),
    [
        (None, "null"),
        (float("nan"), "null"),
        (np.float32("nan"), "null"),
        (12, "not text"),
        (1.5, "not text"),
        (b"baker", "not text"),
        (["baker"], "not text"),
        (np.array([1.0, 2.0]), "not text"),
        ("", "empty"),
        (" \t\u00a0\n", "empty"),
        ("🍞🔥", "no letters"),
        ("123 !?", "no letters"),
        ("911", None),  # a title of the taxonomy
        ("\ud800", "no letters"),
        ("面包师", "unknown letters"),
        ("\ud800 baker", None),
        ("面包师 baker", None),
        ("x" * 10_000 + "a", None),
    ],
)
def test_an_answer_or_a_reason(
    normalizer: Normalizer, raw_title: object, reason: str | None
) -> None:
    answer = normalizer.predict(["nurse", raw_title, "baker"], top_k=1)
    assert [row.occupation_id for row in (answer[0], answer[2])] == ["nurse", "baker"]
    middle = answer[1]
    assert middle.reason == (reason or "uncalibrated")
    assert (middle.occupation_id is None) == (reason is not None)
    assert (middle.score is None) == (reason is not None)
    assert len(middle.top_scores) == (0 if reason else 1)


@given(st.lists(st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=30)), max_size=6))
@settings(deadline=None, max_examples=60)
def test_one_row_per_row(normalizer: Normalizer, raw_titles: list[object]) -> None:
    answers = normalizer.predict(raw_titles)
    assert len(answers) == len(raw_titles)
    for answer in answers:
        assert (answer.occupation_id is None) == (answer.score is None)
        assert answer.reason is not None and answer.confidence is None


def test_cut_means_longer_than_max_length(normalizer: Normalizer) -> None:
    answers = normalizer.predict(["a" * 16, "a" * 17, " " * 20 + "a"])
    assert [answer.cut for answer in answers] == [False, True, False]


def test_an_answer_does_not_depend_on_its_block(normalizer: Normalizer) -> None:
    many = ["nurse", "bread", "keeper of bread"] * 200  # several blocks
    alone = [normalizer.predict([title])[0] for title in many[:3]]
    for number, answer in enumerate(normalizer.predict(many)):
        assert answer.top_occupation_ids == alone[number % 3].top_occupation_ids
        assert answer.score == pytest.approx(alone[number % 3].score, abs=1e-5)


def test_what_cannot_be_asked(normalizer: Normalizer) -> None:
    with pytest.raises(ValueError, match=r"min_confidence = 0\.5: this model is not calibrated"):
        normalizer.predict(["baker"], min_confidence=0.5)
    with pytest.raises(ValueError, match="top_k = 0"):
        normalizer.predict(["baker"], top_k=0)
    assert len(normalizer.predict(["baker"], top_k=99, min_confidence=0.0)[0].top_scores) == 3


def test_index_of_one_split(normalizer: Normalizer) -> None:
    train = normalizer.with_split("train")
    rebuilt = Normalizer.build(
        train.featurizer, train.encoder, train.aliases, train.occupations, train.settings
    )
    assert train.index.titles == ["baker", "bread maker", "keeper", "nurse"]
    np.testing.assert_allclose(train.embeddings, rebuilt.embeddings, atol=1e-6)


def test_folder_gives_the_same_normalizer_and_the_same_bytes(
    normalizer: Normalizer, tmp_path: Path
) -> None:
    save_normalizer(normalizer, tmp_path / "one")
    loaded = load_normalizer(tmp_path / "one")
    assert loaded.predict(["baker", "keepr", None]) == normalizer.predict(["baker", "keepr", None])
    save_normalizer(loaded, tmp_path / "two")
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "two").iterdir())
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_folder_with_another_index_is_refused(normalizer: Normalizer, tmp_path: Path) -> None:
    save_normalizer(replace(normalizer, embeddings=normalizer.embeddings[1:]), tmp_path)
    with pytest.raises(ValueError, match=r"5 embeddings of 6 titles"):
        load_normalizer(tmp_path)


def test_no_alias_is_an_error(normalizer: Normalizer) -> None:
    with pytest.raises(ValueError, match="no alias"):
        normalizer.with_split("nowhere")


def test_titles_of_the_index_are_answered_whatever_they_are_made_of() -> None:
    assert abstention("24/7", frozenset("ab"), frozenset()) == "no letters"
    assert abstention("24/7", frozenset("ab"), frozenset({"24/7"})) is None
