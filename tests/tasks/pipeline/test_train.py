"""The sections behind a network, and the settings that follow from them."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from params_of import write_params

from models.network.kinds import encoder_settings, kind_of, kinds, loss_settings, plain
from tasks.io.command import ROOT
from tasks.io.section import ParamsError
from tasks.pipeline.train import NetworkParams, check_kinds, training_settings

DEFAULT = ROOT / "params.yaml"
VALUES = yaml.safe_load(DEFAULT.read_text(encoding="utf-8"))
ADDRESS = "models:/rolecall/1"


def network(folder: Path, **train: Any) -> NetworkParams:
    """Read the defaults with values of `train` changed."""
    write_params(folder, train=train)
    return NetworkParams.read(folder / "params.yaml")


@pytest.mark.thorough
@pytest.mark.parametrize("encoder", kinds("encoders"))
@pytest.mark.parametrize("loss", kinds("losses"))
def test_every_kind_can_be_chosen(tmp_path: Path, encoder: str, loss: str) -> None:
    """Its settings are the values of its section; seed and steps are those that were handed in."""
    targets = loss in ("frozen_margin", "von_mises_fisher")
    changes = {"encoder": {"kind": encoder}, "loss": {"kind": loss}, "max_steps": 7}
    chosen = network(tmp_path, **changes, compatible_with=ADDRESS if targets else "")
    settings = training_settings(chosen, 3)
    assert (settings.seed, settings.max_steps) == (3, 7)
    assert (kind_of(settings.encoder), kind_of(settings.loss)) == (encoder, loss)
    assert settings.encoder == encoder_settings({"kind": encoder, **VALUES["encoders"][encoder]})
    assert settings.loss == loss_settings({"kind": loss, **VALUES["losses"][loss]})
    assert set(plain(settings.loss)) == {"kind", *VALUES["losses"][loss]}


def test_sparse_updates_need_a_bag_without_a_bias(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match=r"train\.sparse_updates = true: .* bias: false"):
        training_settings(network(tmp_path, sparse_updates=True), 1)


def test_only_the_kinds_of_the_network_stop_a_training(tmp_path: Path) -> None:
    """The file as a whole is checked for the others too (`check_kinds`)."""
    sound = network(tmp_path)
    wrong = {**sound.losses, "contrastive": {**sound.losses["contrastive"], "margin": 3}}
    faulty = sound._replace(losses=wrong)
    assert training_settings(faulty, 1) == training_settings(sound, 1)
    check_kinds(sound)
    with pytest.raises(ParamsError, match=r"losses\.contrastive: .*margin = 3"):
        check_kinds(faulty)


@pytest.mark.parametrize(("part", "package"), [("encoder", "encoders"), ("loss", "losses")])
def test_a_kind_without_values_is_refused(tmp_path: Path, part: str, package: str) -> None:
    choices = ", ".join(sorted(VALUES[package]))
    message = rf"train\.{part}\.kind = 'best' has no section of .*; choose {choices}$"
    with pytest.raises(ParamsError, match=message):
        network(tmp_path, **{part: {"kind": "best"}})


@pytest.mark.parametrize(("loss", "address"), [("frozen_margin", ""), ("margin", ADDRESS)])
def test_a_version_goes_with_a_loss_that_trains_into_its_space(tmp_path, loss, address) -> None:
    chosen = network(tmp_path, loss={"kind": loss}, compatible_with=address)
    with pytest.raises(ParamsError, match=f"the loss {loss}: name a version .* exactly if"):
        training_settings(chosen, 1)
