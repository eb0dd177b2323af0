"""Training from files, as on a machine that has nothing else, and training that goes on."""

import json
import math
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
from training_checks import Build, Toy

from models.network.kinds import load_model
from models.training import train_files as module
from models.training.loop import Look, Trained, TrainSettings, describe
from models.training.train_files import continued, main, seeded, settings_from, train_files

Files = tuple[Path, Path]
Train = Callable[..., Trained]


@contextmanager
def killed_before_it_writes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End a training that has finished its steps."""

    def stop(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(module.kinds, "save_model", stop)
        yield


@pytest.fixture
def files(tmp_path: Path, toy: Toy) -> Files:
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


@pytest.fixture
def train_to(tmp_path: Path, files: Files) -> Train:
    """Train on `files` to a folder of `tmp_path`, with checkpoints in another."""

    def train(settings: TrainSettings, out: str, saved: str = "saved", **more: object) -> Trained:
        return train_files(*files, settings, tmp_path / out, tmp_path / saved, **more)

    return train


def written(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_settings_round_trip(train_settings: Build) -> None:
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
    tmp_path, files, train_to, train_settings, monkeypatch
):
    settings, saved = train_settings(), tmp_path / "saved"
    trained = train_to(settings, "out")
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
    tmp_path, files, train_to, train_settings, monkeypatch, capsys
):
    """The checkpoint outlives it, and the next run only writes what was missing.

    With another file it would not resume.
    """
    train_to(train_settings(), "whole", "other")
    for changes in (False, True):
        with killed_before_it_writes(monkeypatch):
            train_to(train_settings(), "out")
        assert len(list((tmp_path / "saved").iterdir())) == 1
        if changes:
            pq.write_table(pq.read_table(files[1])[:60], files[1])
        capsys.readouterr()
        train_to(train_settings(), "out")
        assert ("resumed at step 6" in capsys.readouterr().out) != changes
        assert changes or written(tmp_path / "out") == written(tmp_path / "whole")


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
def first(tmp_path: Path, train_to: Train, train_settings: Build) -> Path:
    """Return the result of a training of four steps from another seed's weights."""
    train_to(train_settings(max_steps=4, seed=5), "first")
    return tmp_path / "first"


def test_without_a_verdict_the_start_is_the_result(tmp_path, train_to, first, train_settings):
    """It has to be of the same network."""
    settings = train_settings(judged_share=0.5, max_steps=9, seed=2)
    train_to(settings, "out", "new", start=first)
    assert written(tmp_path / "out") == written(first)
    assert not (tmp_path / "new").exists()
    other = replace(settings, encoder=replace(settings.encoder, dim=settings.encoder.dim + 1))
    with pytest.raises(ValueError, match=r"has the network .*: train it again"):
        train_to(other, "out", start=first)


@pytest.mark.parametrize("trainings", [1, 3])
def test_a_training_goes_on_from_another(
    trainings, tmp_path, files, train_to, first, train_settings, monkeypatch, capsys
):
    """Its last weights are kept, and the untrained network is the first's.

    A small step leaves the weights near those of the start. A kill changes no byte, however many
    trainings are averaged: all of them are kept until the result is written.
    """
    judge(files[1], 20)
    settings = train_settings(judged_share=0.5, max_steps=4, learning_rate=1e-5)
    more = {"start": first, "trainings": trainings}
    train_to(settings, "whole", "other", **more)
    result, before = written(tmp_path / "whole"), written(first)
    same = ("model/featurizer.json", "model/encoder.json", "model/initial.safetensors")
    assert all(result[name] == before[name] for name in same)
    lines = result["history.csv"].decode().splitlines()
    assert lines[:4] == before["history.csv"].decode().splitlines()
    assert [line.split(",")[0] for line in lines[4:]] == ["6", "8"]
    assert all(line.endswith(",nan") for line in lines[4:])
    started, after = (
        load_file(folder / "model/weights.safetensors") for folder in (first, tmp_path / "whole")
    )
    assert 0 < max((started[name] - value).abs().max() for name, value in after.items()) < 1e-4

    with killed_before_it_writes(monkeypatch):
        train_to(settings, "out", **more)
    capsys.readouterr()
    train_to(settings, "out", **more)
    assert capsys.readouterr().out.count("resumed at step 4") == trainings
    assert written(tmp_path / "out") == result

    with killed_before_it_writes(monkeypatch):
        train_to(settings, "out", **more)
    weights = first / "model/weights.safetensors"
    weights.write_bytes(save({name: value / 2 for name, value in load_file(weights).items()}))
    capsys.readouterr()
    train_to(settings, "out", **more)
    assert "resumed" not in capsys.readouterr().out, "the start has changed"


def test_each_training_has_a_seed_of_its_own(train_settings: Build) -> None:
    """More trainings keep those that there were."""
    settings = train_settings(seed=3)
    seeds = [own.seed for own in seeded(settings, 4)]
    assert len({3, *seeds}) == 5
    assert [own.seed for own in seeded(settings, 2)] == seeds[:2]
    assert [own.seed for own in seeded(train_settings(seed=4), 2)] != seeds[:2]


def test_the_mean_by_hand() -> None:
    """Weights (1, 4), (2, 5) and (6, 0) have the mean (3, 3); losses .5, .25 and .75 have .5."""
    initial = {"table": torch.zeros(2)}
    begun = Look(0, *[math.nan] * 4)

    def trained(one: float, other: float, loss: float) -> Trained:
        looks = [begun, Look(7, loss, -loss, 2 * loss, math.nan)]
        return Trained({"table": torch.tensor([one, other]).float()}, {}, looks)

    first = Trained({"table": torch.ones(2)}, initial, [begun, Look(3, 1.0, 1.0, 0.0, 0.5)])
    mean = continued(first, [trained(1, 4, 0.5), trained(2, 5, 0.25), trained(6, 0, 0.75)])
    assert mean.weights["table"].tolist() == [3, 3]
    assert mean.initial is initial
    assert mean.history[:2] == first.history
    assert mean.history[2][:4] == (10, 0.5, -0.5, 1.0)
    assert [type(look.step) for look in mean.history] == [int, int, int]
