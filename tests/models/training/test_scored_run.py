"""Scored pairs and paraphrases: distinct strings, batches by a loop, kills, the toy learns."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from shapes import check_fields, checked
from training_checks import CPU, check_kills, trained

from models.encoders.attentive import AttentiveSettings
from models.encoders.word_average import WordAverageSettings
from models.losses.contrastive import ContrastiveSettings
from models.losses.info_nce import InfoNceSettings
from models.losses.regression import RegressionSettings
from models.losses.von_mises_fisher import SETTINGS as VonMisesFisherSettings
from models.network.encoder import Encoder
from models.network.kinds import fit_featurizer, make_encoder
from models.text.featurizer import Featurizer
from models.text.titles import clean_title
from models.training.loop import TrainSettings
from models.training.scored_run import ScoredPairs, ScoredRun, pair_similarities

ENCODER = AttentiveSettings("word", 8, 8, 6, False, "attention", 1, 0.2)
REGRESSION = RegressionSettings(similarity="exp_manhattan")
INFO_NCE = InfoNceSettings(temperature=0.1, symmetric=True)
SUBJECTS = ("man", "woman", "child", "dog", "cook")
VERBS = ("runs", "eats", "sleeps", "sings")
WORDS = ("big", "large", "huge", "small", "tiny", "little", "fast", "quick", "rapid", "slow")
GROUPS = (0, 0, 0, 1, 1, 1, 2, 2, 2, 3)


def train_settings(**changes: Any) -> TrainSettings:
    settings = TrainSettings(1, ENCODER, REGRESSION, 8, 0.02, "constant", 0.0, 1.0, 6, 2, 99)
    return replace(settings, **changes)


def sentences() -> tuple[ScoredPairs, ScoredPairs]:
    """Give half a point for the same subject, half for the same verb; every fifth pair judges."""
    facts = [(subject, verb) for subject in SUBJECTS for verb in VERBS]
    pairs = [
        (f"a {s} {v}", f"the {t} {w}", ((s == t) + (v == w)) / 2)
        for at, (s, v) in enumerate(facts)
        for t, w in facts[at % 3 :: 3]
    ]
    judges = ScoredPairs.of(*map(list, zip(*pairs[::5], strict=True)))
    kept = [pair for at, pair in enumerate(pairs) if at % 5]
    return ScoredPairs.of(*map(list, zip(*kept, strict=True))), judges


def paraphrases() -> tuple[ScoredPairs, ScoredPairs]:
    """Link all words within a group; the links of `x word` judge."""
    links = [
        (WORDS[row], WORDS[earlier])
        for row in range(len(WORDS))
        for earlier in range(row)
        if GROUPS[row] == GROUPS[earlier]
    ]
    left, right = map(list, zip(*links, strict=True))
    return ScoredPairs.of(left, right), ScoredPairs.of([f"x {word}" for word in left], right)


def made(kind: str, **changes: Any) -> ScoredRun:
    pairs, valid = sentences() if kind == "scores" else paraphrases()
    loss = REGRESSION if kind == "scores" else INFO_NCE
    settings = train_settings(**{"loss": loss, **changes})
    featurizer = fit_featurizer(pairs.titles, settings.encoder)
    return ScoredRun(pairs, valid, featurizer, settings, CPU)


def test_golden_pairs() -> None:
    """List all left strings first: a cat, a dog, then a bird; the pairs are 0-1, 1-2, 0-0."""
    pairs = ScoredPairs.of(["a cat", "a dog", "a cat"], ["a dog", "a bird", "A  Cat"], [0.2, 0, 1])
    assert pairs.titles == ["a cat", "a dog", "a bird"]
    assert pairs.left.tolist() == [0, 1, 0]
    assert pairs.right.tolist() == [1, 2, 0]
    assert torch.equal(pairs.scores, torch.tensor([0.2, 0.0, 1.0]))
    assert len(pairs) == 3
    check_fields(pairs)


@pytest.mark.parametrize(
    ("right", "scores", "message"),
    [
        (["c"], None, "2 left and 1 right strings with no scores"),
        (["c", "d"], [0.1], "2 left and 2 right strings with 1 scores"),
        *(
            (["c", "d"], [0.5, score], r"the score of pair 1 is .*bring scores to \[0, 1\]")
            for score in (-0.1, 1.001, float("nan"))
        ),
    ],
)
def test_pairs_that_cannot_be_are_refused(right, scores, message) -> None:
    with pytest.raises(ValueError, match=message):
        ScoredPairs.of(["a", "b"], right, scores)


def test_a_batch_of_scored_pairs_holds_each_of_them_with_its_score() -> None:
    pairs, _ = sentences()
    known = {
        (pairs.titles[left], pairs.titles[right]): float(score)
        for left, right, score in zip(pairs.left, pairs.right, pairs.scores, strict=True)
    }
    scored, seen = made("scores"), set()
    for step in range(len(pairs) // 8):
        rows, batch = scored.batch(step)
        check_fields(batch)
        strings = [pairs.titles[row] for row in rows]
        assert len(set(strings)) == len(strings)
        assert len(batch.left) == len(batch.right) == len(batch.scores) == 8
        assert not batch.negative_mask.any() and batch.negative_mask.shape == (len(rows), len(rows))
        assert batch.dissimilar.shape == (0, 2) and batch.targets is None
        for left, right, score in zip(batch.left, batch.right, batch.scores, strict=True):
            pair = (strings[left], strings[right])
            assert known[pair] == score
            seen.add(pair)
    assert len(seen) == len(pairs) // 8 * 8  # an epoch holds no pair twice


def test_paraphrases_in_no_link_are_apart() -> None:
    """Compare with a loop over the strings of the batch and the set of all links."""
    pairs, _ = paraphrases()
    links = {frozenset((int(a), int(b))) for a, b in zip(pairs.left, pairs.right, strict=True)}
    scored = made("paraphrases", batch_pairs=4)
    beyond = 0
    for step in range(6):
        rows, batch = scored.batch(step)
        check_fields(batch)
        assert batch.scores is None and batch.dissimilar.shape == (0, 2)
        expected = [[a != b and {int(a), int(b)} not in links for b in rows] for a in rows]
        assert batch.negative_mask.tolist() == expected
        beyond += int((~batch.negative_mask).sum()) - len(rows) > 2 * len(batch.left)
    assert beyond, "no batch had a link that it did not read itself"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["scores", "paraphrases"])
@pytest.mark.parametrize("kills", [1, 2])
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path: Path, kind: str, kills: int) -> None:
    check_kills(lambda: made(kind), tmp_path, kills)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "loss", "steps", "gain", "least"),
    [
        ("scores", REGRESSION, 120, 0.2, 0.9),
        # a cosine of -1 for a score of 0, which five subjects cannot all have: r rises less
        ("scores", RegressionSettings(similarity="cosine"), 80, 0.1, 0),
        # a link's right word is one of two equally near, or the one: chance is at most 1 in 3
        ("paraphrases", INFO_NCE, 120, 0.1, 0),
        ("paraphrases", ContrastiveSettings("hinge", 0.2, 0.25, 4.0, "hardest", 2), 120, 0.1, 0),
    ],
)
def test_it_learns(tmp_path, kind, loss, steps, gain, least) -> None:
    """Score half a point for subject and verb each: r rises on unseen pairs."""
    run = made(kind, evaluate_every=40, loss=loss, max_steps=steps)
    first, *later = trained(run, tmp_path).history
    assert later[-1].loss < later[0].loss
    assert later[-1].valid_score > max(least, first.valid_score + gain)
    assert kind == "paraphrases" or all(look.loss_dissimilar == 0 for look in later)


def test_without_different_scores_nothing_is_judged() -> None:
    """Then training keeps the last weights."""
    pairs, _ = sentences()
    featurizer = fit_featurizer(pairs.titles, ENCODER)
    for valid in (ScoredPairs.of([], [], []), ScoredPairs.of(["a", "b"], ["c", "d"], [0.5, 0.5])):
        assert not ScoredRun(pairs, valid, featurizer, train_settings(), CPU).is_judged
    assert made("scores").is_judged


def judged(valid: ScoredPairs, loss: Any) -> ScoredRun:
    """Set word vectors by hand: north, north-east, east and west on the unit circle."""
    words = ["north", "northeast", "east", "west"]
    encoder = WordAverageSettings(max_length=4, min_count=1, dim=2)
    scores = [1.0] if valid.scores is not None else None
    pairs = ScoredPairs.of(words[:1], words[1:2], scores)
    settings = train_settings(encoder=encoder, loss=loss)
    scored = ScoredRun(pairs, valid, fit_featurizer(words, encoder), settings, CPU)
    vectors = torch.tensor([[0.0, 0], [0, 0], [1, 0], [0, 1], [0.6, 0.8], [-1, 0]])  # sorted words
    with torch.no_grad():
        (weight,) = scored.encoder.parameters()
        weight.copy_(vectors)
    return scored


def test_golden_success_of_paraphrases() -> None:
    """Place right words north, west and east, at 90, 180 and 0 degrees.

    northeast (53 degrees) is nearest to north, its own: 1. So is east, itself left out: 1. The
    unknown word, at the origin, is as near to one as to the others: 1/3. north, itself left out, is
    as near to west, its own, as to east: 1/2. Mean 17/24.
    """
    left, right = ["northeast", "east", "unheard", "north"], ["north", "north", "east", "west"]
    assert judged(ScoredPairs.of(left, right), INFO_NCE).valid_score() == pytest.approx(17 / 24)


def test_golden_correlation_of_scores() -> None:
    """Take L1 distances 0, 0.8, 2: g = 1, 0.449, 0.135; r with gold 1, 0.5, 0.

    Deviations of g (0.4718, -0.0788, -0.3930), of gold (0.5, 0, -0.5): 0.4324 / √(0.38325 · 0.5).
    Predictions that are all equal are worth nothing.
    """
    valid = ScoredPairs.of(
        ["north", "northeast", "east"], ["north", "north", "north"], [1.0, 0.5, 0.0]
    )
    expected = 0.4324 / np.sqrt(0.38325 * 0.5)
    assert judged(valid, REGRESSION).valid_score() == pytest.approx(expected, abs=2e-4)
    equal = ScoredPairs.of(["north", "west"], ["north", "west"], [1.0, 0.0])
    assert judged(equal, REGRESSION).valid_score() == 0.0


@pytest.fixture
def encoder() -> tuple[Encoder, Featurizer]:
    torch.manual_seed(3)
    featurizer = fit_featurizer(["a man runs", "the dog sleeps"], ENCODER)
    return make_encoder(ENCODER, featurizer), featurizer


def test_pair_similarities_are_those_of_a_loop(encoder: tuple[Encoder, Featurizer]) -> None:
    left = ["a man runs", "the dog", "a  MAN runs", "dog", "the dog sleeps a runs", ""]
    right = ["the dog", "the dog", "a dog sleeps", "unheard", "man", "dog"]
    outputs = {}
    for title in {*left, *right}:
        ids = encoder[1]([clean_title(title)]).streams[0]
        with torch.no_grad():
            features = torch.from_numpy(ids.padded()), torch.from_numpy(ids.lengths)
            outputs[title] = encoder[0].eval()(*features)[0].double().numpy()
    cosines = checked(pair_similarities)(*encoder, left, right, "cosine")
    manhattans = pair_similarities(*encoder, left, right, "exp_manhattan")
    for at, (mine, theirs) in enumerate(zip(left, right, strict=True)):
        a, b = outputs[mine], outputs[theirs]
        expected = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        assert cosines[at] == pytest.approx(expected, abs=1e-5)
        assert manhattans[at] == pytest.approx(np.exp(-np.abs(a - b).sum()), abs=1e-5)
    with pytest.raises(ValueError, match="similarity 'dot': choose cosine or exp_manhattan"):
        pair_similarities(*encoder, ["a"], ["b"], "dot")


def test_pair_similarities_of_none_and_of_strings_far_apart(encoder) -> None:
    """Take two distances of some hundreds: in single precision both would be 0."""
    assert pair_similarities(*encoder, [], [], "cosine").shape == (0,)
    scored = judged(ScoredPairs.of(["a"], ["b"], [1.0]), REGRESSION)
    with torch.no_grad():
        next(scored.encoder.parameters()).mul_(150)
    featurizer = fit_featurizer(["north", "northeast", "east", "west"], scored.settings.encoder)
    far = pair_similarities(
        scored.encoder, featurizer, ["north", "east"], ["west", "west"], "exp_manhattan"
    )
    assert 0 < far[1] == far[0] < 1e-100


def test_what_does_not_go_together_is_refused() -> None:
    scored, plain = ScoredPairs.of(["a"], ["b"], [0.5]), ScoredPairs.of(["a"], ["b"])
    featurizer = fit_featurizer(["a", "b"], ENCODER)
    space = VonMisesFisherSettings.__new__(VonMisesFisherSettings)
    for pairs, valid, loss, message in (
        (ScoredPairs.of([], [], []), scored, REGRESSION, "no pair to train on"),
        (scored, plain, REGRESSION, "judge by the same kind"),
        (scored, scored, INFO_NCE, "loss info_nce cannot learn from scores"),
        (plain, plain, REGRESSION, "loss regression reads dissimilar pairs"),
        (plain, plain, space, "loss von_mises_fisher trains into the space"),
    ):
        with pytest.raises(ValueError, match=message):
            ScoredRun(pairs, valid, featurizer, train_settings(loss=loss), CPU)
