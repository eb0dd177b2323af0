"""The run on titles: success@1 by loop, a reference model's space, and what people judged."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from shapes import check_fields
from training_checks import CPU, Build, Toy

from models.network.embedding import embed_rows, embed_titles
from models.network.kinds import fit_featurizer, load_model, loss_settings, make_encoder, save_model
from models.training.batches import Strings
from models.training.loop import TrainSettings
from models.training.title_run import FrozenSpace, TitleRun

FROZEN = {"kind": "frozen_margin", "margin": 0.5, "negatives": "projection", "draws": 1}


def by_loop(strings: Strings, queries: torch.Tensor, table: torch.Tensor) -> float:
    """Take each validation query's closest alias, which a row of the table stands for."""
    hits = []
    for query, embedding in zip(strings.valid, queries, strict=True):
        closest = strings.aliases[(table @ embedding).argmax()]
        hits.append(torch.equal(strings.occupations[closest], strings.occupations[query]))
    return sum(hits) / len(hits)


def test_valid_success_counts_ties_by_expectation(toy: Toy, train_settings: Build) -> None:
    """All strings alike: every occupation ties, so success@1 is gold / occupations of the index.

    Queries: one of occupation 0 (1/6), one of 0 and 1 (2/6), one of 1 and of an occupation that no
    alias has (1/6), one of the latter alone (a miss): (1/6 + 2/6 + 1/6 + 0) / 4 = 1/6.
    """
    strings, pairs, featurizer = toy
    aliases = strings.occupations[strings.aliases]
    gold = torch.tensor([[0, -1], [0, 1], [1, 7], [7, -1]])
    codes = torch.cat([torch.cat([aliases, torch.full_like(aliases, -1)], 1), gold])
    valid = torch.arange(len(aliases), len(codes))
    alike = Strings(["same"] * len(codes), codes, strings.aliases, valid)
    judge = TitleRun(alike, pairs, featurizer, train_settings(), CPU)
    assert judge.valid_score() == pytest.approx(1 / 6)


def test_a_title_of_two_occupations_is_half_a_hit(toy: Toy, train_settings: Build) -> None:
    """The query equals an alias of occupations 0 and 1 and is of 0: either may come first."""
    _, pairs, featurizer = toy
    codes = torch.tensor([[0, 1], [2, -1], [0, -1]])
    both = Strings(["tutor", "zzzz", "tutor"], codes, torch.tensor([0, 1]), torch.tensor([2]))
    assert TitleRun(both, pairs, featurizer, train_settings(), CPU).valid_score() == 0.5


@pytest.fixture
def earlier(toy: Toy, train_settings: Build, tmp_path: Path) -> Path:
    """Save an untrained network of other weights to a folder."""
    torch.manual_seed(99)
    settings = train_settings().encoder
    weights = make_encoder(settings, toy[2]).state_dict()
    save_model(tmp_path / "earlier", toy[2], settings, weights, weights)
    return tmp_path / "earlier"


def test_golden_targets() -> None:
    """Expect targets 0 (occupation 0), 1 (0 and 1), 2 (unknown to the pairs: 2).

    A string of occupation 1 is apart from targets 0 and 2; one of unknown occupation from none.
    The other string of the second pair is no alias, so the pair has no target.
    """
    space = FrozenSpace(
        torch.eye(3), torch.tensor([0, 1, 2, -1]), torch.tensor([[0, -1], [0, 1], [2, -1]])
    )
    targets = space.targets(torch.tensor([1, 3]), torch.tensor([[1, -1], [-1, -1]]), 3)
    check_fields(targets)
    assert targets.rows.tolist() == [1, -1]
    assert targets.negative_mask().tolist() == [[True, False, True], [False, False, False]]


def test_the_table_is_what_the_earlier_model_gives(toy: Toy, earlier: Path) -> None:
    strings, space = toy[0], FrozenSpace.of_aliases(earlier, toy[0])
    featurizer, encoder = load_model(earlier)
    titles = [strings.titles[row] for row in strings.aliases.tolist()]
    torch.testing.assert_close(space.table, embed_titles(encoder, featurizer, titles))
    assert space.row_of[strings.aliases].tolist() == list(range(len(titles)))
    assert (space.row_of[strings.valid] == -1).all()


def test_either_string_meets_the_target_of_the_other_and_an_alias_its_own(
    toy, earlier, train_settings
):
    strings, pairs, _ = toy
    settings = train_settings(loss=loss_settings(FROZEN), batch_pairs=len(pairs.similar))
    run = TitleRun(*toy, settings, CPU, FrozenSpace.of_aliases(earlier, strings))
    rows, batch = run.batch(0)
    aliases = strings.aliases.tolist()
    expected = []
    for left, right in pairs.similar.tolist():
        for string, met in ((left, right), (right, left), (left, left), (right, right)):
            expected.append((string, aliases.index(met) if met in aliases else -1))
    hits = zip(rows[batch.left].tolist(), batch.targets.rows.tolist(), strict=True)
    assert sorted(hits) == sorted(expected)


@pytest.mark.thorough
def test_training_meets_the_frozen_targets(toy: Toy, earlier: Path, train_settings: Build) -> None:
    """Bring strings nearer to an alias of their occupation, as the reference model placed it.

    Validation queries are looked up in its rows; with those of other aliases the score is another.
    """
    space = FrozenSpace.of_aliases(earlier, toy[0])
    settings = train_settings(loss=loss_settings(FROZEN), learning_rate=0.02)
    run = TitleRun(*toy, settings, CPU, space)
    left, right = toy[1].similar.long().unbind(1)

    def nearness() -> float:
        embeddings = embed_rows(run.encoder, run.strings, left)
        return float((embeddings * space.table[space.row_of[right]]).sum(1).mean())

    before = nearness()
    for step in range(40):
        run.step(step)
    assert nearness() > before + 0.3
    torch.testing.assert_close(space.table, FrozenSpace.of_aliases(earlier, toy[0]).table)
    queries = embed_rows(run.encoder, run.strings, toy[0].valid)
    assert run.valid_score() == pytest.approx(by_loop(toy[0], queries, space.table))
    assert run.valid_score() != by_loop(toy[0], queries, space.table.flip(0))


def test_a_loss_and_a_space_belong_together(toy: Toy, earlier: Path, train_settings: Build) -> None:
    settings, space = train_settings(), FrozenSpace.of_aliases(earlier, toy[0])
    frozen = replace(settings, loss=loss_settings(FROZEN))
    for own, own_space, message in (
        (settings, space, "loss contrastive with a reference model"),
        (frozen, None, "loss frozen_margin without a reference model"),
        (frozen, replace(space, table=torch.eye(9)), "have 9 dimensions, this encoder's 12; set"),
    ):
        with pytest.raises(ValueError, match=message):
            TitleRun(*toy, own, CPU, own_space)


@pytest.fixture
def judged(toy: Toy, encoder_settings: Callable[..., Any]) -> Toy:
    """The toy and "bakers", of unknown occupation, which people rejected for "baker", the first."""
    strings, pairs, _ = toy
    codes = torch.cat([strings.occupations, torch.tensor([[-1]])])
    more = replace(strings, titles=[*strings.titles, "bakers"], occupations=codes)
    rejected = torch.tensor([[0, len(strings.titles)]], dtype=torch.int32)
    featurizer = fit_featurizer(more.titles, encoder_settings())
    return more, replace(pairs, dissimilar=rejected), featurizer


def test_a_string_of_unknown_occupation_is_no_other_ones_negative(judged, train_settings) -> None:
    """But for its rejection: of all other strings, which of another occupation are."""
    rows, batch = TitleRun(*judged, train_settings(batch_pairs=999), CPU).batch(0)
    codes = judged[0].occupations[rows, 0]
    expected = (codes[:, None] != codes) & (codes >= 0) & (codes[:, None] >= 0)
    baker, unknown = rows.tolist().index(0), codes.tolist().index(-1)
    expected[baker, unknown] = expected[unknown, baker] = True
    assert len(rows) == len(judged[0].aliases) + 1
    assert torch.equal(batch.negative_mask, expected)
    assert batch.dissimilar.tolist() == [[baker, unknown]]


def moved(toy: Toy, settings: TrainSettings) -> torch.Tensor:
    """Return how far each string moves, squared, at unit norm, in a training that goes on."""
    strings, pairs, _ = toy
    judged = torch.zeros(len(pairs.similar), dtype=torch.bool)
    judged[0] = True
    start = TitleRun(*toy, replace(settings, seed=7), CPU).weights()
    parts = strings, replace(pairs, judged=judged), toy[2], settings, CPU
    continued = TitleRun(*parts, before=start)
    rows = torch.arange(len(strings.titles))
    before = embed_rows(continued.encoder, continued.strings, rows)
    assert continued.drift(rows, before) == pytest.approx(0, abs=1e-9)
    for step in range(20):
        continued.step(step)
    after = embed_rows(continued.encoder, continued.strings, rows)
    distances = (after - before).square().sum(1)
    others = rows != pairs.similar[0, 1]
    assert continued.drift(rows, after) == pytest.approx(float(distances[others].mean()), rel=1e-4)
    return distances


def test_strings_that_nobody_judged_are_held(toy: Toy, train_settings: Build) -> None:
    free, held = (
        moved(toy, train_settings(judged_share=0.5, held_weight=weight)) for weight in (0, 100)
    )
    assert held.mean() < free.mean() / 2
