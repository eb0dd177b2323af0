"""The stage `evaluate` on toy files: the untrained network and the trained one, by seed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from frames_of import write_exemplars
from toy_evaluation import write_toy

from models.encoders.recurrent import RecurrentSettings
from models.network.kinds import fit_featurizer, make_encoder, save_model
from tasks.evaluation.metric_tables import read_table
from tasks.io.frames import read_frame
from tasks.io.schemas import RUN, SCORES, TABLE
from tasks.pipeline.evaluate import main


@pytest.fixture
def folder(here: Path, monkeypatch, encoder_settings: Callable[..., RecurrentSettings]) -> Path:
    """The stage's folder: mix `corrections`, seed 3, which is not the pipeline's."""
    write_toy(here)
    featurizer = fit_featurizer(["cook nurse tutor"], encoder_settings())
    torch.manual_seed(0)
    weights = make_encoder(encoder_settings(), featurizer).state_dict()
    model = Path("data/train/corrections/3/model")
    save_model(model, featurizer, encoder_settings(), weights, weights)
    write_exemplars(Path("data/calibrate/corrections/3"))
    monkeypatch.setattr("sys.argv", ["evaluate", "--mix", "corrections", "--seed", "3"])
    return here / "data/evaluate/corrections/3"


def test_untrained_and_the_model_under_its_mix(folder: Path) -> None:
    main()
    figures = json.loads((folder / "metrics.json").read_text())
    assert list(figures) == ["corrections", "untrained"]
    assert figures["untrained"] == figures["corrections"]
    assert all(tests["typos"]["success_at_1"] == 1 for tests in figures.values())
    scores = read_frame(folder / "scores.parquet", SCORES)
    assert scores["system"].unique(maintain_order=True).to_list() == ["untrained", "corrections"]
    run = read_frame(folder / "run.parquet", RUN)
    assert set(run["title"]) == {"cook", "nurse", "tutor"}
    assert read_table(folder / "table.csv", TABLE)["n"].unique().to_list() == [1]
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    main()
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(before) == {"scores.parquet", "run.parquet", "table.csv", "metrics.json"}
