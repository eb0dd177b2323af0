"""Training from files, as on a machine that has nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from models.network.model_files import load_model
from models.text.featurizer import Featurizer
from models.training import train_files as module
from models.training.batches import Pairs
from models.training.run import TrainSettings, describe
from models.training.strings import Strings
from models.training.train_files import main, settings_from, train_files

Toy = tuple[Strings, Pairs, Featurizer]


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
    def stop(*_: object) -> None:
        raise InterruptedError

    with monkeypatch.context() as patch, pytest.raises(InterruptedError):
        patch.setattr(module, "save_model", stop)
        train_files(*files, train_settings(), tmp_path / "out", tmp_path / "saved")
    pq.write_table(pq.read_table(files[1])[:60], files[1])
    train_files(*files, train_settings(), tmp_path / "out", tmp_path / "saved")
    assert "resumed" not in capsys.readouterr().out
