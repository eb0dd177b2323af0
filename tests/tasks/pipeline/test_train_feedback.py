"""The network of a mix with feedback: from new weights, or from the network without feedback."""

from pathlib import Path
from typing import Any

import pytest
from params_of import write_params

from tasks.pipeline import train
from tasks.pipeline import train_feedback as stage
from tasks.pipeline.train import NetworkParams, training_settings

VALUES = {"max_steps": 7, "learning_rate": 0.5, "batch_pairs": 6, "judged_share": 0.25}
VALUES["held_weight"] = 3


def called(folder: Path, monkeypatch: pytest.MonkeyPatch, mix: str, **changes: object) -> list[Any]:
    """Run the stage with values of its section changed; return what it would train on."""
    write_params(folder, train_feedback=changes)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["train_feedback", "--mix", mix, "--seed", "3"])
    calls: list[list[object]] = []
    monkeypatch.setattr(train, "train_files", lambda *parts: calls.append([*parts]))
    stage.main()
    (call,) = calls
    return call


def test_new_weights_are_trained_as_any_mix(tmp_path, monkeypatch) -> None:
    """So the networks of Table 3 differ in their pairs only."""
    call = called(tmp_path, monkeypatch, "verdicts", **VALUES)
    *files, settings, out, _, earlier, start, _ = call
    assert files == [Path(f"data/pairs/verdicts/{name}.parquet") for name in ("strings", "pairs")]
    assert settings == training_settings(NetworkParams.read(), 3)
    assert (out, earlier, start) == (Path("data/train/verdicts/3"), None, None)


def test_a_training_that_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts from the network without feedback of its seed, with its own steps and rate."""
    call = called(tmp_path, monkeypatch, "corrections", continues=True, trainings=5, **VALUES)
    settings, start, trainings = call[2], *call[-2:]
    usual = training_settings(NetworkParams.read(), 3)
    changed = {name: value for name, value in vars(settings).items() if value != vars(usual)[name]}
    assert changed == VALUES
    assert (start, trainings) == (Path("data/train/extra_words/3"), 5)


def test_only_mixes_with_feedback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit):
        called(tmp_path, monkeypatch, "extra_words")
