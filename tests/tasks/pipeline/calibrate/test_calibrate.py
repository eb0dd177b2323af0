"""The stage `exemplars`: which inputs a mix may know, what they add, how sure answers are."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from frames_of import frame_of, inputs_of, queries_of
from params_of import write_params
from tiny_run import make_run

from models.serving.confidence import KNOWN, Levels, OodScore, word_evidence
from models.serving.index import AliasIndex
from models.serving.scores import Exemplars, ScoreRule
from models.serving.search import Search
from models.text.words import TitleWords, Words
from tasks.io.frames import read_frame, write_frame
from tasks.io.mixes import reads_feedback
from tasks.io.schemas import AUXILIARY_TITLES, EXEMPLARS, PRIOR, RESOLUTIONS, SPLIT_INPUTS, STRINGS
from tasks.pipeline.calibrate.confidence import calibrate, without_own_exemplars
from tasks.pipeline.calibrate.prior import (
    CalibrateParams,
    Known,
    auxiliary_titles,
    gather,
    known_inputs,
    recounted,
)
from tasks.pipeline.calibrate.stage import main

T = 0.1
INDEX = AliasIndex.of(["baker", "cook", "nurse"], ["a", "b", "c"])
CLOSE = {"loaf man": [0.8, 0.4, 0.0], "ward help": [0.0, 0.1, 0.7], "chef": [0.1, 0.9, 0.2]}
PLAIN = Search(INDEX, lambda titles: np.array([CLOSE[t] for t in titles]), ScoreRule("best", T))
INPUTS = inputs_of(
    [
        ("Loaf man", "a", "train"),
        ("loaf  man", "b", "train"),
        ("Ward help", None, "unlabelled"),
        ("Chef", "b", "train"),
        ("Cook (m/f)", "b", "annotations"),
        ("asked", None, "unlabelled"),
    ]
)
RESOLVED = [
    ("Loaf man", "a", "baker", "correct", False, "a", False),
    ("Chef", "c", "nurse", "incorrect", False, "b", False),
    ("Ward help", "c", "nurse", "correct", False, "c", True),
    ("who knows", "c", "nurse", "incorrect", False, None, False),
]
"""Rows of `RESOLUTIONS` without the readings."""
NOBODY = pl.DataFrame(schema={"title": pl.String, "occupation_id": pl.String, "count": int})


def params(**values: float) -> CalibrateParams:
    plain = {"prior_power": 0.5, "pseudo_count": 1.0, "label_weight": 1.0, "prediction_weight": 0.3}
    plain |= {"input_label_weight": 0.0, "max_false_rejection_rate": 0.05, "auxiliary_titles": 0}
    return CalibrateParams(**plain | {"predictions_per_input": 2} | values)  # type: ignore[arg-type]


def known(mix: str) -> Known:
    resolved = frame_of(RESOLVED if reads_feedback(mix) else [], RESOLUTIONS)
    return known_inputs(mix, INPUTS, resolved, {"asked"})


def test_what_each_mix_may_know() -> None:
    """Mixes before real inputs know none; what a test asks or the gate keeps is known to none."""
    assert [known(mix).bare for mix in ("base", "typos", "synonyms")] == [[], [], []]
    assert known("extra_words").bare == ["loaf man", "ward help", "chef"]
    assert known("extra_words").came_labelled.rows() == [("loaf man", "a"), ("chef", "b")]
    assert known("verdicts").bare == ["chef"]
    assert known("verdicts").came_labelled.rows() == [("chef", "b")]
    assert known("base").came_labelled.is_empty()
    assert known("verdicts").labelled.rows() == [("loaf man", "a", 1)]
    assert known("corrections").bare == []
    assert known("corrections").labelled.rows() == [("loaf man", "a", 1), ("chef", "b", 1)]


def softmax(values: list[float]) -> list[float]:
    powers = np.exp(np.array(values) / T)
    return (powers / powers.sum()).tolist()


def test_prior_and_exemplars_by_loops() -> None:
    """Two bare titles, and a labelled one that counts twice."""
    labelled = pl.DataFrame({"title": ["chef"], "occupation_id": ["b"], "count": [2]})
    made = gather(PLAIN, Known(["loaf man", "ward help"], labelled), params(), T)
    guessed = [softmax(CLOSE[title]) for title in ("loaf man", "ward help")]
    expected = [(one + two) / 2 for one, two in zip(*guessed, strict=True)]
    chances = [(n + 3 * share) / 5 for n, share in zip([0, 2, 0], expected, strict=True)]
    assert made.prior["chance"].to_list() == pytest.approx(chances)
    bias = [0.5 * T * float(np.log(3 * chance)) for chance in chances]
    assert made.prior["bias"].to_list() == pytest.approx(bias, abs=1e-6)
    rows = made.exemplars.rows()
    assert rows[0] == ("chef", "b", 2.0, "review")
    for title, (first, second) in zip(
        ("loaf man", "ward help"), (rows[1:3], rows[3:5]), strict=True
    ):
        posterior = softmax([s + b for s, b in zip(CLOSE[title], bias, strict=True)])
        best = sorted(range(3), key=lambda code: -posterior[code])[:2]
        assert [first[:2], second[:2]] == [(title, "abc"[code]) for code in best]
        weights = [0.3 * posterior[code] for code in best]
        assert [first[2], second[2]] == pytest.approx(weights, abs=1e-6)
        assert first[3] == second[3] == "model"


def test_titles_of_a_second_taxonomy_tell_of_the_prior_alone() -> None:
    rows = {"title": ["ward help", "wrd help", "chef"], "normalized": [""] * 3}
    rows |= {"occupation_ids": [["c"]] * 3, "noisy": [False, True, False]}
    table = pl.DataFrame(rows, schema=dict(AUXILIARY_TITLES))
    drawn = auxiliary_titles(table, 1, np.random.default_rng(1))
    assert drawn in (["ward help"], ["chef"])
    assert auxiliary_titles(table, 9, np.random.default_rng(1)) == ["ward help", "chef"]
    made = gather(PLAIN, Known([], NOBODY, auxiliary=["ward help"]), params(), T)
    assert made.prior["chance"].to_list() == pytest.approx(softmax(CLOSE["ward help"]))
    assert made.exemplars.is_empty()


def test_a_prior_recounted_is_the_prior_of_these_reviews() -> None:
    """Whatever reviews it counted before; a prior without power has no bias."""
    priors = {}
    for reviews in ((0, 0, 0), (0, 2, 1), (5, 0, 0)):
        labelled = pl.DataFrame({"title": [*"xyz"], "occupation_id": [*"abc"], "count": [*reviews]})
        made = gather(PLAIN, Known(["loaf man", "ward help"], labelled), params(), T)
        priors[reviews] = made.prior["bias"].to_numpy()
    for before, bias in priors.items():
        for after, wanted in priors.items():
            made_of = recounted(bias, np.array(before), np.array(after), params(), T)
            assert made_of.dtype == np.float32
            assert made_of.tolist() == pytest.approx(wanted.tolist(), abs=1e-6)
    even = np.zeros(3, np.float32)
    assert recounted(even, np.zeros(3), np.ones(3), params(prior_power=0.0), T) is even


@pytest.mark.parametrize("power", [0.0, 0.3, 1.0])
def test_a_prior_of_another_power_is_not_recounted(power: float) -> None:
    """The champion may be from before `prior_power` was changed, to 0.5 here."""
    labelled = pl.DataFrame({"title": ["x"], "occupation_id": ["b"], "count": [2]})
    known_titles = Known(["loaf man", "ward help"], labelled)
    bias = gather(PLAIN, known_titles, params(prior_power=power), T).prior["bias"].to_numpy()
    made = recounted(bias, np.array([0, 2, 0]), np.array([3, 2, 0]), params(), T)
    assert made.tolist() == bias.tolist()


def test_nothing_known_is_an_even_prior_without_exemplars() -> None:
    made = gather(PLAIN, Known([], NOBODY), params(), T)
    assert made.prior["bias"].to_list() == pytest.approx([0, 0, 0], abs=1e-7)
    assert made.exemplars.is_empty()


def test_inputs_that_came_labelled_are_exemplars_by_their_weight() -> None:
    came = pl.DataFrame({"title": ["chef", "loaf man"], "occupation_id": ["b", "elsewhere"]})
    weights = params(input_label_weight=0.5, prediction_weight=0)
    made = gather(PLAIN, Known(["chef", "loaf man"], NOBODY, came), weights, T)
    assert made.exemplars.rows() == [("chef", "b", 0.5, "label")]


def test_confidence_is_as_high_as_answers_are_right() -> None:
    """Half of the answers are right, whatever their scores say."""
    asked = [("loaf man", "a"), ("ward help", "a"), ("chef", "b"), ("ward help", "b")] * 50
    queries = queries_of(
        (str(number), "annotations", "valid", title, [gold], 1, "input")
        for number, (title, gold) in enumerate(asked)
    )
    hierarchy = Levels.of([["1"], ["1"], ["2"]])
    owned = {"occupation_id": [*"abc"], "cleaned": INDEX.titles, "label": INDEX.titles}
    labels = pl.DataFrame(owned)
    made = calibrate(PLAIN, queries, hierarchy, T, labels, 0.0)
    titles = [title for title, _ in asked]
    hits = PLAIN(titles, 1)
    shares = hierarchy.shares(hits.scores, T, hits.occupations[:, 0])
    aliases = [INDEX.titles[place] for place in hits.titles[:, 0]]
    endings = TitleWords.of(INDEX.titles).endings
    said = word_evidence(Words.of(titles)[0], aliases, aliases, hits.top_similarity, endings)
    assert made(shares, said)[:, -1].mean() == pytest.approx(0.5, abs=0.01)
    assert made.ood_threshold == KNOWN
    half = calibrate(PLAIN, queries, hierarchy, T, labels, 0.5).ood_threshold
    ood_score = OodScore(frozenset(INDEX.titles), TitleWords.of(INDEX.titles).endings)
    assert half == pytest.approx(np.median(ood_score(titles, hits.top_similarity)))


def test_no_title_is_helped_by_its_own_exemplar() -> None:
    """The others still are: "chef" is one of "b" to itself alone."""
    own = {"title": ["chef"], "occupation_id": ["c"], "weight": [1.0]}
    exemplars = Exemplars.of(INDEX, {}, own, T)
    near = {"chef": 1.0, "ward help": 0.9}
    search = replace(
        PLAIN,
        similarities=lambda titles: np.array([[*CLOSE[t], near[t]] for t in titles]),
        exemplars=exemplars,
    )
    asked = ["chef", "ward help"]
    own, others = without_own_exemplars(search)(asked, 1), search(asked, 1)
    assert own.scores[0] == pytest.approx(PLAIN(asked, 1).scores[0], abs=1e-5)
    assert others.scores[0, 2] > 0.9 and (own.scores[1] == others.scores[1]).all()


@pytest.mark.thorough
@pytest.mark.parametrize("mix", ["typos", "extra_words"])
def test_the_stage_on_a_run(mix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_run(tmp_path / "run")
    monkeypatch.chdir(root)
    Path("data/train/typos").rename(f"data/train/{mix}")
    inputs = inputs_of([("Night coder", None, "unlabelled")])
    write_frame(inputs, Path("data/split/inputs.parquet"), SPLIT_INPUTS)
    write_frame(pl.DataFrame(schema=STRINGS), Path(f"data/pairs/{mix}/strings.parquet"), STRINGS)
    auxiliary = pl.DataFrame(schema=dict(AUXILIARY_TITLES))
    write_frame(auxiliary, Path("data/auxiliary_taxonomy/titles.parquet"), AUXILIARY_TITLES)
    write_params(calibrate={"prior_power": 0.5, "prediction_weight": 0.3})
    monkeypatch.setattr("sys.argv", ["calibrate", "--mix", mix, "--seed", "7"])
    main()
    folder = Path(f"data/calibrate/{mix}/7")
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    tables = ("prior.parquet", "exemplars.parquet")
    assert set(first) == {*tables, "calibration.json", "metrics.json"}
    assert read_frame(folder / "prior.parquet", PRIOR)["chance"].sum() == pytest.approx(1)
    titles = set(read_frame(folder / "exemplars.parquet", EXEMPLARS)["title"])
    assert titles == ({"night coder"} if mix == "extra_words" else set())
    assert json.loads(first["calibration.json"]) is None  # no validation query of either test
    main()
    assert first == {path.name: path.read_bytes() for path in folder.iterdir()}
