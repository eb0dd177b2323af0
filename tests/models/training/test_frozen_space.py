"""A reference model's space: what each pair is to hit, and a run that trains into it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from shapes import check_fields

from models.network.embedding import embed_rows, embed_titles
from models.network.kinds import loss_settings, make_encoder
from models.network.model_files import save_model
from models.text.featurizer import Featurizer
from models.training.batches import Pairs
from models.training.frozen_space import FrozenSpace
from models.training.run import TrainSettings
from models.training.strings import Strings
from models.training.title_run import TitleRun

CPU = torch.device("cpu")
Toy = tuple[Strings, Pairs, Featurizer]
FROZEN = {"kind": "frozen_margin", "margin": 0.5, "negatives": "projection", "draws": 1}


@pytest.fixture
def earlier(toy: Toy, train_settings: Callable[..., TrainSettings], tmp_path: Path) -> Path:
    """Save an untrained network of other weights to a folder."""
    torch.manual_seed(99)
    settings = train_settings().encoder
    weights = make_encoder(settings, toy[2]).state_dict()
    save_model(tmp_path / "earlier", toy[2], settings, weights, weights)
    return tmp_path / "earlier"


def test_golden() -> None:
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
    from models.network.model_files import load_model

    strings = toy[0]
    space = FrozenSpace.of_aliases(earlier, strings)
    featurizer, encoder = load_model(earlier)
    titles = [strings.titles[row] for row in strings.aliases.tolist()]
    torch.testing.assert_close(space.table, embed_titles(encoder, featurizer, titles))
    assert space.row_of[strings.aliases].tolist() == list(range(len(titles)))
    assert (space.row_of[strings.valid] == -1).all()
    with pytest.raises(ValueError, match="have 12 dimensions, this encoder's 9; set"):
        space.check(9)


def test_either_string_meets_the_other_place_and_an_alias_its_own(
    toy: Toy, earlier: Path, train_settings: Callable[..., TrainSettings]
) -> None:
    strings, pairs, _ = toy
    count = len(pairs.similar)
    settings = train_settings(loss=loss_settings(FROZEN), batch_pairs=count)
    run = TitleRun(*toy, settings, CPU, FrozenSpace.of_aliases(earlier, strings))
    rows, batch = run.batch(0)
    assert batch.targets is not None
    aliases = strings.aliases.tolist()
    expected = []
    for left, right in pairs.similar.tolist():
        for string, met in ((left, right), (right, left), (left, left), (right, right)):
            expected.append((string, aliases.index(met) if met in aliases else -1))
    hits = zip(rows[batch.left].tolist(), batch.targets.rows.tolist(), strict=True)
    assert sorted(hits) == sorted(expected)


@pytest.mark.thorough
def test_training_meets_the_frozen_places(
    toy: Toy, earlier: Path, train_settings: Callable[..., TrainSettings]
) -> None:
    """Bring strings nearer to an alias of their occupation, as the reference model placed it."""
    settings = train_settings(loss=loss_settings(FROZEN), learning_rate=0.02)
    space = FrozenSpace.of_aliases(earlier, toy[0])
    run = TitleRun(*toy, settings, CPU, space)
    left, right = toy[1].similar.long().unbind(1)

    def nearness() -> float:
        embeddings = embed_rows(run.encoder, run.strings, left)
        return float((embeddings * space.table[space.row_of[right]]).sum(1).mean())

    before = nearness()
    for step in range(40):
        run.step(step)
    assert nearness() > before + 0.3
    assert 0 <= run.valid_score() <= 1
    torch.testing.assert_close(space.table, FrozenSpace.of_aliases(earlier, toy[0]).table)


@pytest.mark.thorough
def test_valid_success_is_looked_up_in_the_frozen_space(
    toy: Toy, earlier: Path, train_settings: Callable[..., TrainSettings]
) -> None:
    """Against a loop over its rows; with the rows of other aliases the score would be another."""
    strings, space = toy[0], FrozenSpace.of_aliases(earlier, toy[0])
    run = TitleRun(*toy, train_settings(loss=loss_settings(FROZEN), learning_rate=0.02), CPU, space)
    for step in range(40):
        run.step(step)
    queries = embed_rows(run.encoder, run.strings, strings.valid)

    def score(table: torch.Tensor) -> float:
        closest = strings.aliases[(queries @ table.T).argmax(1)]
        return float(
            (strings.occupations[closest] == strings.occupations[strings.valid]).float().mean()
        )

    assert run.valid_score() == pytest.approx(score(space.table))
    assert score(space.table) != score(space.table.flip(0))


def test_a_loss_and_a_space_belong_together(
    toy: Toy, earlier: Path, train_settings: Callable[..., TrainSettings]
) -> None:
    settings = train_settings()
    space = FrozenSpace.of_aliases(earlier, toy[0])
    with pytest.raises(ValueError, match="loss contrastive with a reference model"):
        TitleRun(*toy, settings, CPU, space)
    with pytest.raises(ValueError, match="loss frozen_margin without a reference model"):
        TitleRun(*toy, replace(settings, loss=loss_settings(FROZEN)), CPU)
