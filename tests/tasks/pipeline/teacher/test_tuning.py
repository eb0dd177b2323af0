"""Tuning of a sentence encoder, with a small module in the real one's place; and the real one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from models.network.kinds import loss_settings
from models.training.batches import Pairs
from models.training.strings import Strings
from tasks.pipeline.teacher.params import TuningParams
from tasks.pipeline.teacher.sentence_encoder import SentenceEncoder, sentence_encoder
from tasks.pipeline.teacher.tuning import tune

TITLES = ["nurse", "ward carer", "baker", "bread maker", "welder", "metal joiner"]
STRINGS = Strings(
    TITLES,
    torch.tensor([[0], [0], [1], [1], [2], [2]]),
    torch.arange(len(TITLES)),
    torch.empty(0).long(),
)
PAIRS = Pairs(torch.tensor([[0, 1], [2, 3], [4, 5]]), torch.empty(0, 2).long())
INFO_NCE = {"kind": "info_nce", "temperature": 0.1, "symmetric": True}


class Letters(nn.Module):
    """What `SentenceTransformer` gives of a batch of features: here counts of letters."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.table = nn.Linear(26, 8)
        self.longest: list[int] = []

    def preprocess(self, titles: list[str]) -> dict[str, Tensor]:
        self.longest += [max(map(len, titles))]
        counts = [[title.count(chr(97 + n)) for n in range(26)] for title in titles]
        return {"counts": torch.tensor(counts, dtype=torch.float)}

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"sentence_embedding": nn.functional.normalize(self.table(features["counts"]))}


def apart(encoder: SentenceEncoder, titles: Sequence[str] = TITLES) -> float:
    """How much closer the pairs are than what is none."""
    with torch.no_grad():
        cosines = encoder.embed(titles) @ encoder.embed(titles).T
    similar = torch.zeros(len(titles), len(titles), dtype=torch.bool)
    similar[[0, 2, 4], [1, 3, 5]] = True
    return float(cosines[similar].mean() - cosines[~(similar | similar.T)].mean())


def params(steps: int) -> TuningParams:
    return TuningParams(steps=steps, pairs=2, learning_rate=0.02)


@pytest.mark.thorough
def test_pairs_come_together_and_equal_seeds_give_equal_weights() -> None:
    tuned = []
    for seed in (1, 1, 2):
        encoder = SentenceEncoder(Letters())  # type: ignore[arg-type]
        before = apart(encoder)
        tune(encoder, STRINGS, PAIRS, loss_settings(INFO_NCE), params(40), seed)
        assert apart(encoder) > before + 0.1
        tuned.append(encoder.model.table.weight)
    assert tuned[0].equal(tuned[1]) and not tuned[0].equal(tuned[2])


def test_a_batch_is_embedded_by_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.pipeline.teacher.tuning.AT_ONCE", 2)
    encoder = SentenceEncoder(Letters())  # type: ignore[arg-type]
    tune(encoder, STRINGS, PAIRS, loss_settings(INFO_NCE), params(1), 1)
    longest = encoder.model.longest
    assert len(longest) == 2 and all(one <= other for one, other in pairwise(longest))


def test_a_loss_into_an_earlier_space_is_refused() -> None:
    loss = loss_settings(
        {"kind": "frozen_margin", "margin": 0.5, "negatives": "projection", "draws": 5}
    )
    with pytest.raises(ValueError, match=r"frozen_margin .* set teacher\.tuning\.steps to 0"):
        tune(SentenceEncoder(Letters()), STRINGS, PAIRS, loss, params(1), 1)  # type: ignore[arg-type]


@pytest.mark.thorough
def test_the_real_one_learns() -> None:
    pytest.importorskip("sentence_transformers")
    encoder = sentence_encoder()
    before = apart(encoder)
    given = params(4).model_copy(update={"learning_rate": 0.0001})
    tune(encoder, STRINGS, PAIRS, loss_settings(INFO_NCE), given, 1)
    assert apart(encoder) > before + 0.02
