"""The registered version that a new model is to be compatible with."""

from __future__ import annotations

import shutil
from pathlib import Path

import mlflow_import  # noqa: F401  its warnings
import pytest
import tiny_run

from models.model_files import load_model
from tasks.earlier_model import earlier_model
from tasks.params import ParamsError
from tasks.register import register

pytestmark = [
    pytest.mark.slow,
    # of MLflow's and torch's own code: nothing here can answer them
    pytest.mark.filterwarnings("ignore::UserWarning:mlflow"),
    pytest.mark.filterwarnings("ignore::FutureWarning:mlflow"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, registered as version 1."""
    root = tiny_run.make_run(tmp_path_factory.mktemp("earlier") / "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        assert register(root).version == "1"
    return root


def test_nothing_is_asked_for(tmp_path: Path) -> None:
    with earlier_model("", tmp_path) as folder:
        assert folder is None


def test_a_version_is_a_folder_that_training_reads(root: Path) -> None:
    with earlier_model("models:/rolecall/1", root) as folder:
        assert folder is not None
        featurizer, encoder = load_model(folder)
        kept = shutil.copytree(folder, root / "kept")
    assert not folder.exists()
    expected = load_model(root / "data/train/1/7/model")
    assert featurizer == expected[0]
    assert encoder.settings == expected[1].settings
    assert (kept / "weights.safetensors").is_file()


def test_an_alias_is_refused_with_the_version_it_means(root: Path) -> None:
    with (
        pytest.raises(ParamsError, match=r"an alias moves.*write models:/rolecall/1, its version"),
        earlier_model("models:/rolecall@challenger", root),
    ):
        pass


@pytest.mark.parametrize("address", ["models:/rolecall/9", "models:/other/1", "models:/rolecall@x"])
def test_what_is_not_there(root: Path, address: str) -> None:
    with (
        pytest.raises(ParamsError, match=f"compatible_with = {address}: not in the registry"),
        earlier_model(address, root),
    ):
        pass
