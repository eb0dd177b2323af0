"""Training from files, as on a machine that has nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import load_file, save

from models.network.model_files import load_model
from models.text.featurizer import Featurizer
from models.training import train_files as module
from models.training.batches import Pairs
from models.training.run import TrainSettings, describe
from models.training.strings import Strings
from models.training.train_files import main, settings_from, train_files

Toy = tuple[Strings, Pairs, Featurizer]


@contextmanager
def killed_before_it_writes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End a training that has finished its steps."""

    def stop(*_: object) -> None:
        raise InterruptedError

    with monkeypatch.context() as patch, pytest.raises(InterruptedError):
        patch.setattr(module, "save_model", stop)
        yield


@pytest.fixture
def files(tmp_path: Path, toy: Toy) -> tuple[Path, Path]:
    """`strings.parquet` and `pairs.parquet` of the toy taxonomy, a digit in a validation query."""
    strings, pairs, _ = toy
    role = ["valid" if i in strings.valid else "alias" for i in range(len(strings.titles))]
    columns = {
        "string_id": pa.array(range(len(role)), pa.uint32()),
        "title": [*strings.titles[:-1], "miner 7"],
        "occupation_ids": [[f"o{code}"] for (code,) in strings.occupations.tolist()],
        "role": role,
    }
    pq.write_table(pa.table(columns), tmp_path / "strings.parquet")
    rows = torch.cat([pairs.similar, pairs.dissimilar]).numpy().astype("uint32")
    similar = [i < len(pairs.similar) for i in range(len(rows))]
    source = pa.array(["base"] * len(rows)).dictionary_encode()
    ends = {"anchor_id": rows[:, 0], "other_id": rows[:, 1]}
    columns = {**ends, "similar": similar, "source": source}
    pq.write_table(pa.table(columns), tmp_path / "pairs.parquet")
    return tmp_path / "strings.parquet", tmp_path / "pairs.parquet"


def written(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_settings_round_trip(train_settings: Callable[..., TrainSettings]) -> None:
    settings = train_settings()
    values = json.loads(json.dumps(describe(settings)))
    assert settings_from(values) == settings
    with pytest.raises(ValueError, match=r"recurrent has the values .*; check \['hiden'\]"):
        settings_from(values | {"encoder": values["encoder"] | {"hiden": 3}})
    with pytest.raises(ValueError, match="have no kind 'best'; choose contrastive"):
        settings_from(values | {"loss": {"kind": "best"}})
    with pytest.raises(TypeError, match="surprise"):
        settings_from(values | {"surprise": 1})


@pytest.mark.thorough
def test_files_and_command_line_give_the_same(
    tmp_path: Path,
    files: tuple[Path, Path],
    train_settings: Callable[..., TrainSettings],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings, saved = train_settings(), tmp_path / "checkpoints"
    trained = train_files(*files, settings, tmp_path / "out", saved)
    names = ("featurizer.json", "encoder.json", "weights.safetensors", "initial.safetensors")
    result = written(tmp_path / "out")
    assert set(result) == {"history.csv", *(f"model/{name}" for name in names)}
    assert list(saved.iterdir()) == []

    lines = result["history.csv"].decode().splitlines()
    assert lines[0] == "step,loss,loss_similar,loss_dissimilar,valid_score"
    assert [line.split(",")[0] for line in lines[1:]] == ["0", "2", "4", "6"]
    assert lines[1].startswith("0,nan,nan,nan,")
    featurizer, encoder = load_model(tmp_path / "out" / "model")
    assert "7" not in featurizer.alphabet  # stands in a validation query only
    assert "u" in featurizer.alphabet
    assert all(torch.equal(v, trained.weights[k]) for k, v in encoder.state_dict().items())

    (tmp_path / "settings.json").write_text(json.dumps(describe(settings)))
    options = {"strings": files[0], "pairs": files[1], "settings": tmp_path / "settings.json"}
    options |= {"out": tmp_path / "again", "checkpoints": saved}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    monkeypatch.setattr("sys.argv", ["train_files", *words])
    main()
    assert written(tmp_path / "again") == result


@pytest.mark.thorough
def test_a_kill_while_the_result_is_written(
    tmp_path: Path,
    files: tuple[Path, Path],
    train_settings: Callable[..., TrainSettings],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The checkpoint outlives it, and the next run only writes what was missing."""
    settings, saved = train_settings(), tmp_path / "checkpoints"
    train_files(*files, settings, tmp_path / "whole", tmp_path / "other")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(module, "save_model", full_disk)
        train_files(*files, settings, tmp_path / "out", saved)
    assert len(list(saved.iterdir())) == 1
    capsys.readouterr()
    train_files(*files, settings, tmp_path / "out", saved)
    assert "resumed at step 6" in capsys.readouterr().out
    assert written(tmp_path / "out") == written(tmp_path / "whole")
    assert list(saved.iterdir()) == []


@pytest.mark.thorough
def test_another_file_does_not_resume(
    tmp_path: Path,
    files: tuple[Path, Path],
    train_settings: Callable[..., TrainSettings],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with killed_before_it_writes(monkeypatch):
        train_files(*files, train_settings(), tmp_path / "out", tmp_path / "saved")
    pq.write_table(pq.read_table(files[1])[:60], files[1])
    train_files(*files, train_settings(), tmp_path / "out", tmp_path / "saved")
    assert "resumed" not in capsys.readouterr().out


def judge(pairs_file: Path, count: int) -> None:
    """Let the first `count` similar pairs, and as many dissimilar ones, come from people."""
    table = pq.read_table(pairs_file)
    similar = table["similar"].to_numpy(zero_copy_only=False)
    judged = np.zeros(len(similar), int)
    for kind in (similar, ~similar):
        judged[np.flatnonzero(kind)[:count]] = 1
    names = np.array(["base", "feedback"])[judged]
    source = pa.array(names).dictionary_encode()
    pq.write_table(table.set_column(3, "source", source), pairs_file)


@pytest.fixture
def first(
    tmp_path: Path, files: tuple[Path, Path], train_settings: Callable[..., TrainSettings]
) -> Path:
    """Return the result of a training of four steps from another seed's weights."""
    settings = train_settings(max_steps=4, seed=5)
    train_files(*files, settings, tmp_path / "first", tmp_path / "checkpoints")
    return tmp_path / "first"


def test_without_a_verdict_the_start_is_the_result(
    tmp_path: Path,
    files: tuple[Path, Path],
    first: Path,
    train_settings: Callable[..., TrainSettings],
) -> None:
    settings = train_settings(judged_share=0.5, max_steps=9, seed=2)
    train_files(*files, settings, tmp_path / "out", tmp_path / "saved", start=first)
    assert written(tmp_path / "out") == written(first)
    assert not (tmp_path / "saved").exists()


@pytest.mark.parametrize("trainings", [1, 3])
def test_a_training_goes_on_from_another(
    trainings: int,
    tmp_path: Path,
    files: tuple[Path, Path],
    first: Path,
    train_settings: Callable[..., TrainSettings],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its last weights are kept, and the untrained network is the first's.

    A small step leaves the weights near those of the start. A kill changes no byte, however many
    trainings are averaged: all of them are kept until the result is written.
    """
    judge(files[1], 20)
    settings = train_settings(judged_share=0.5, max_steps=4, learning_rate=1e-5)
    train_files(
        *files, settings, tmp_path / "whole", tmp_path / "other", start=first, trainings=trainings
    )
    result, before = written(tmp_path / "whole"), written(first)
    same = ("model/featurizer.json", "model/encoder.json", "model/initial.safetensors")
    assert all(result[name] == before[name] for name in same)
    lines = result["history.csv"].decode().splitlines()
    assert lines[:4] == before["history.csv"].decode().splitlines()
    assert [line.split(",")[0] for line in lines[4:]] == ["6", "8"]
    assert all(line.endswith(",nan") for line in lines[4:])
    (_, started), (_, after) = (
        load_model(folder / "model") for folder in (first, tmp_path / "whole")
    )
    moved = [(started.state_dict()[k] - v).abs().max() for k, v in after.state_dict().items()]
    assert 0 < max(moved) < 1e-4

    with killed_before_it_writes(monkeypatch):
        train_files(
            *files, settings, tmp_path / "out", tmp_path / "saved", start=first, trainings=trainings
        )
    capsys.readouterr()
    train_files(
        *files, settings, tmp_path / "out", tmp_path / "saved", start=first, trainings=trainings
    )
    assert capsys.readouterr().out.count("resumed at step 4") == trainings
    assert written(tmp_path / "out") == result


def test_a_changed_start_does_not_resume(
    tmp_path: Path,
    files: tuple[Path, Path],
    first: Path,
    train_settings: Callable[..., TrainSettings],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    judge(files[1], 20)
    settings = train_settings(judged_share=0.5, max_steps=2)

    with killed_before_it_writes(monkeypatch):
        train_files(*files, settings, tmp_path / "out", tmp_path / "saved", start=first)
    weights = first / "model/weights.safetensors"
    weights.write_bytes(save({name: value / 2 for name, value in load_file(weights).items()}))
    train_files(*files, settings, tmp_path / "out", tmp_path / "saved", start=first)
    assert "resumed" not in capsys.readouterr().out


def test_a_start_of_another_network_is_refused(
    tmp_path: Path,
    files: tuple[Path, Path],
    first: Path,
    train_settings: Callable[..., TrainSettings],
) -> None:
    settings = train_settings(judged_share=0.5)
    other = replace(settings, encoder=replace(settings.encoder, dim=settings.encoder.dim + 1))
    with pytest.raises(ValueError, match=r"has the network .*: train it again"):
        train_files(*files, other, tmp_path / "out", tmp_path / "saved", start=first)
