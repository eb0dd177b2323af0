"""A model of the registry as a system: how it is addressed, and that its own network answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tiny_registry
import tiny_run
from mlflow_import import WARNINGS, mlflow

from models.network.embedding import embed_titles
from models.network.quantization import packed, unpacked
from tasks.apps.benchmark.folder import BenchmarkError
from tasks.apps.benchmark.model import cosine, load_model
from tasks.io.tracking import registry

pytestmark = [pytest.mark.slow, *WARNINGS]
TITLES = ["nurse", "coder", "night nurse"]


class Silent(mlflow.pyfunc.PythonModel):
    """A model that gives no embeddings."""

    def predict(self, context: object, model_input: list[str]) -> list[str]:
        return model_input


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two versions of `rolecall`, the second one called challenger, and one of another model."""
    outside = tmp_path_factory.mktemp("registered")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(outside)  # MLflow keeps models without a run where its database was begun
        folder = tiny_registry.registered(outside, 1, 2)
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
        patch.chdir(folder)
        with registry(folder):
            mlflow.pyfunc.log_model(
                name="silent",
                python_model=Silent(),
                registered_model_name="silent",
                pip_requirements=[],
            )
        yield folder


def torchs(seed: int) -> np.ndarray:
    """Embed with the network as it is registered, in bytes."""
    featurizer, encoder = tiny_run.network(seed)
    encoder.load_state_dict(unpacked(packed(encoder, "byte")))
    return embed_titles(encoder, featurizer, TITLES).numpy()


@pytest.mark.parametrize(("address", "seed"), [("/1", 1), ("/2", 2), ("@challenger", 2)])
def test_its_own_network_compares(root: Path, address: str, seed: int) -> None:
    """An alias is shown as the version that it stands for."""
    model = load_model(f"models:/rolecall{address}", root)
    assert model.name == f"models:/rolecall/{seed}"
    own = torchs(seed)
    np.testing.assert_allclose(cosine(model, TITLES)(TITLES), own @ own.T, atol=1e-5)


def test_folders_of_a_model(root: Path) -> None:
    """What MLflow wrote, and the artefact in it."""
    with registry(root):
        written = Path(mlflow.artifacts.download_artifacts("models:/rolecall/1"))
    for folder in (written, written / "artifacts/normalizer"):
        np.testing.assert_allclose(
            load_model(str(folder), root).embed(TITLES), torchs(1), atol=1e-5
        )


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("models:/rolecall/9", "no model models:/rolecall/9: .*; name a version"),
        ("models:/rolecall@nobody", "no model models:/rolecall@nobody: .*`rolecall models`"),
        ("models:/other/1", "no model models:/other/1: "),
        ("nowhere", "no model nowhere: "),
        ("models:/silent/1", "models:/silent/1 gives no embeddings"),
    ],
)
def test_what_cannot_be_asked_is_named(root: Path, address: str, message: str) -> None:
    with pytest.raises(BenchmarkError, match=message):
        load_model(address, root)
