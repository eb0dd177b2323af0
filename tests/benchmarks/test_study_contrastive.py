"""The study of the loss on a toy: its arithmetic, its variants, a tiny run."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.__main__ import measure
from benchmarks.results import read_rows, read_runs
from benchmarks.studies.contrastive import measure as contrastive
from benchmarks.studies.contrastive.measure import gradient_share, losses
from benchmarks.study import study
from benchmarks.workspace import Workspace
from models.losses.contrastive import ContrastiveSettings, contrastive_loss, dissimilar_penalty
from tasks.pipeline.train.network_params import training_settings


def test_weights_of_means_are_the_papers_sum(workspace: Path) -> None:
    """The sum over pairs, one by one, divided by the number of similar ones."""
    base = training_settings(Workspace.read("sample").params.network, 1)
    loss = dict(losses(base))["pairs/hinge/margin:0.4"].loss
    similarity = torch.linspace(-0.9, 1.0, 6 * (1 + 4))
    similar = torch.arange(len(similarity)) < 6
    total = 0.0
    for value, alike in zip(similarity, similar, strict=True):
        total += float(
            0.25 * (1 - value) ** 2 if alike else dissimilar_penalty(value, "hinge", 0.4)
        )
    made = contrastive_loss(similarity, similar, ~similar, loss)
    assert made.total.item() == pytest.approx(total / 6, rel=1e-5)


def test_variants_are_what_their_names_say(workspace: Path) -> None:
    base = training_settings(Workspace.read("sample").params.network, 1)
    made = dict(losses(base))
    assert len(made) == 30
    for system, own in made.items():
        way, penalty, margin = system.split("/")
        loss = own.loss
        assert (loss.penalty, f"margin:{loss.margin:g}") == (penalty, margin)
        mined = ("hardest", 1.0, base.batch_pairs)
        expected = mined if way == "hardest" else ("pairs", 4.0, max(2, base.batch_pairs // 5))
        assert (loss.negatives, loss.weight_dissimilar, own.batch_pairs) == expected
        assert loss.weight_similar == 0.25


@pytest.mark.parametrize(
    ("penalty", "share"), [("printed", 3 / 6), ("flipped", 2 / 6), ("hinge", 2 / 6)]
)
def test_share_with_a_gradient(penalty: str, share: float) -> None:
    """Margin 0.4: printed moves -0.3, 0.1 and 0.3 (not 0, its minimum); the others 0.5 and 0.9."""
    similarity = torch.tensor([-0.3, 0.0, 0.1, 0.3, 0.5, 0.9])
    loss = ContrastiveSettings(penalty, 0.4, 0.25, 1.0, "pairs", 1)  # type: ignore[arg-type]
    assert gradient_share(similarity, loss) == pytest.approx(share)


def test_tiny_run(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contrastive, "MIX", "extra_words")
    monkeypatch.setattr(contrastive, "MARGINS", (0.4,))
    config = study("contrastive").config
    monkeypatch.setitem(config, "datasets", ["sample"])
    monkeypatch.setitem(config, "needs", "data/pairs/extra_words/pairs.parquet")
    words = f"--steps 3 --every 2 --processes 1 --kept {tmp_path}/kept --results {tmp_path}"
    measure(study("contrastive"), words.split())
    rows = read_rows(tmp_path / "contrastive.csv")
    assert len({row["system"] for row in rows}) == 1 + 6
    hinge = [row for row in rows if row["system"] == "pairs/hinge/margin:0.4"]
    figures = {(row["test"], row["metric"], row["seed"]): row for row in hinge}
    steps = {test for test, *_ in figures if test.startswith("step_")}
    assert steps == {"step_0000", "step_0002", "step_0003"}
    untrained = {row["test"] for row in rows if row["system"] == "untrained/printed/margin:0.4"}
    assert untrained == {"dissimilar_pairs"}
    firsts = {row["value"] for row in rows if row["test"] == "step_0000"}
    assert len(firsts) == 1  # those of a seed begin alike
    final = figures["valid", "success_at_1", "1"]
    assert float(final["low"]) <= float(final["value"]) <= float(final["high"])
    assert final["n"] == "10"
    assert read_runs(tmp_path)["contrastive-1"]["command"] == (
        "make reproduce PROFILE=sample && python -m benchmarks contrastive --dataset sample "
        "--steps 3 --every 2 --seeds 1"
    )
