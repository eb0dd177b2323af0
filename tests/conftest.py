"""A toy taxonomy and tiny settings for all tests; property tests draw the same cases every time."""

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from encoder_checks import SMALL_RECURRENT
from hypothesis import settings

from models.encoders.recurrent import RecurrentSettings
from models.losses.contrastive import ContrastiveSettings
from models.network.kinds import fit_featurizer
from models.text.featurizer import Featurizer
from models.training.batches import Pairs, Strings
from models.training.loop import TrainSettings

settings.register_profile("rolecall", deadline=None, derandomize=True, database=None)
settings.load_profile("rolecall")
os.environ["ROLECALL_PROFILE"] = "sample"  # ESCO, the default of all commands, takes minutes
# networks this small lose more than they win by a second thread, above all on a busy machine
torch.set_num_threads(1)

WEIGHTS = {"weight_similar": 0.25, "weight_dissimilar": 4.0}
LOSS = ContrastiveSettings(penalty="hinge", margin=0.2, negatives="hardest", hardest=2, **WEIGHTS)
WORDS = ("baker", "nurse", "driver", "pilot", "clerk", "miner")
TRAINING = ("", "senior ", "junior ", "old ")
VALIDATION = "new "
LONGEST = (  # slow files, so that workers end together; the first two make `retrained` and `small`
    *("stranger", "kill", "whole_loop", "fresh_clone", "own_taxonomy", "normalize"),
    *("reproduce_table3", "register", "spark_consumer", "published_figures", "stages"),
    *("retrain", "deployments", "cli", "consumer", "workspace"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort by file, as `LONGEST` says."""
    position = {f"test_{name}": number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: position.get(item.path.stem, len(position)))


@pytest.fixture(autouse=True)
def logging_goes_on() -> Iterator[None]:
    """Undo what the end of a command does: it turns logging off in its process."""
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def encoder_settings() -> Callable[..., RecurrentSettings]:
    """`RecurrentSettings` of a tiny network; keywords change them."""
    return lambda **changes: RecurrentSettings(**vars(SMALL_RECURRENT) | changes)


@pytest.fixture
def loss_settings() -> Callable[..., ContrastiveSettings]:
    """`ContrastiveSettings`; keywords change them."""
    return lambda **changes: ContrastiveSettings(**vars(LOSS) | changes)


@pytest.fixture
def train_settings() -> Callable[..., TrainSettings]:
    """`TrainSettings` of a short run; keywords change them."""
    values: dict[str, Any] = {"seed": 1, "encoder": SMALL_RECURRENT, "loss": LOSS, "batch_pairs": 8}
    values |= {"learning_rate": 0.01, "schedule": "constant", "l2": 0.0, "clip_norm": 1.0}
    values |= {"max_steps": 6, "evaluate_every": 2, "patience": 9}
    return lambda **changes: TrainSettings(**values | changes)


@pytest.fixture
def toy() -> tuple[Strings, Pairs, Featurizer]:
    """Six occupations of four aliases and one validation query, all pairs of aliases."""
    titles = [front + word for word in WORDS for front in TRAINING]
    codes = torch.arange(len(WORDS)).repeat_interleave(len(TRAINING))
    strings = Strings(
        titles + [VALIDATION + word for word in WORDS],
        torch.cat([codes, torch.arange(len(WORDS))])[:, None],
        torch.arange(len(titles)),
        torch.arange(len(titles), len(titles) + len(WORDS)),
    )
    left, right = torch.triu_indices(len(titles), len(titles), 1)
    same = codes[left] == codes[right]
    rows = torch.stack([left, right], 1).int()
    return strings, Pairs(rows[same], rows[~same]), fit_featurizer(titles, SMALL_RECURRENT)
