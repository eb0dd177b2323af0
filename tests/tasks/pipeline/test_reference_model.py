"""The registered version that a new model is to be compatible with, as a stage's folder."""

from pathlib import Path

import pytest
import tiny_registry
from mlflow_import import WARNINGS
from params_of import write_params

from models.network.kinds import load_model
from models.network.quantization import packed, unpacked
from tasks.io.section import ParamsError
from tasks.pipeline import reference_model as stage
from tasks.pipeline import train as training
from tasks.pipeline.reference_model import reference_model

pytestmark = WARNINGS
VERSION = "models:/rolecall/1"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, registered as version 1."""
    return tiny_registry.registered(tmp_path_factory.mktemp("earlier"), 1)


def chosen(folder: Path, address: str, loss: str) -> None:
    """Write `params.yaml` of a training into the space of `address`, or of none."""
    write_params(folder, train={"compatible_with": address, "loss": {"kind": loss}})


def test_no_address_gives_no_model(tmp_path: Path) -> None:
    """What was fetched before is gone."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out/weights.safetensors").touch()
    reference_model("", tmp_path, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["address"]
    assert (tmp_path / "out/address").read_text(encoding="utf-8") == "\n"


@pytest.mark.parametrize(
    ("address", "loss", "folder"),
    [("", "info_nce", None), (VERSION, "frozen_margin", "data/reference_model")],
)
def test_training_reads_the_folder_where_a_version_is_named(
    tmp_path, monkeypatch, address, loss, folder
):
    chosen(tmp_path, address, loss)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["train", "--mix", "extra_words", "--seed", "3"])
    calls: list[tuple[object, ...]] = []
    monkeypatch.setattr(training, "train_files", lambda *parts: calls.append(parts))
    training.main()
    ((strings, pairs, settings, out, _, earlier, *_),) = calls
    names = ("pairs/extra_words/strings.parquet", "pairs/extra_words/pairs.parquet")
    expected = [Path("data", name) for name in (*names, "train/extra_words/3")]
    assert [strings, pairs, out] == expected
    assert settings.seed == 3 and settings.loss.needs_targets == (folder is not None)
    assert earlier == (None if folder is None else Path(folder))


@pytest.mark.slow
def test_a_version_is_a_folder_that_training_reads(root, monkeypatch) -> None:
    """Its address stands in it; made again the folder is the same."""
    chosen(root, VERSION, "frozen_margin")
    monkeypatch.chdir(root)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    stage.main()
    featurizer, encoder = load_model(stage.FOLDER)
    expected = load_model(root / "data/train/typos/7/model")
    assert (featurizer, encoder.settings) == (expected[0], expected[1].settings)
    for name, weight in unpacked(packed(expected[1], "byte")).items():
        assert weight.equal(encoder.state_dict()[name])
    assert (stage.FOLDER / "address").read_text(encoding="utf-8") == f"{VERSION}\n"
    before = {path.name: path.read_bytes() for path in stage.FOLDER.iterdir()}
    (stage.FOLDER / "leftover").touch()
    stage.main()
    assert before == {path.name: path.read_bytes() for path in stage.FOLDER.iterdir()}


@pytest.mark.slow
def test_an_altered_package_trains_nothing(root: Path, tmp_path: Path) -> None:
    """One byte of the registry's own weights is another."""
    (weights,) = (root / ".mlflow").rglob("weights.safetensors")
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ParamsError, match=r"rolecall/1: .*weights\.safetensors is not the file"):
        reference_model(VERSION, root, tmp_path / "out")
    weights.write_bytes(content)


@pytest.mark.slow
def test_an_alias_is_refused_with_the_version_it_means(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match=r"an alias moves.*write models:/rolecall/1, its version"):
        reference_model("models:/rolecall@challenger", root, tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize("address", ["models:/rolecall/9", "models:/other/1", "models:/rolecall@x"])
def test_what_is_not_there(root: Path, tmp_path: Path, address: str) -> None:
    with pytest.raises(ParamsError, match=f"compatible_with = {address}: not in the registry"):
        reference_model(address, root, tmp_path / "out")
