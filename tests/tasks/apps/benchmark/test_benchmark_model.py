"""A model of the registry as a system: how it is addressed, and that its own network answers."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tiny_registry
import tiny_run
from mlflow_import import WARNINGS, mlflow

from tasks.apps.benchmark import cosine, load_model
from tasks.io.tracking import registry

pytestmark = [pytest.mark.slow, *WARNINGS]
TITLES = ["nurse", "coder", "night nurse"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two versions of `rolecall`, the second one called challenger."""
    folder = tiny_registry.registered(tmp_path_factory.mktemp("registered"), 1, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
        yield folder


@pytest.mark.parametrize(("address", "seed"), [("/1", 1), ("/2", 2), ("@challenger", 2)])
def test_its_own_network_compares(root: Path, address: str, seed: int) -> None:
    """An alias is shown as the version that it stands for."""
    name, embed = load_model(f"models:/rolecall{address}", root)
    assert name == f"models:/rolecall/{seed}"
    own = tiny_run.embedded(seed, TITLES)
    np.testing.assert_allclose(cosine(embed, TITLES)(TITLES), own @ own.T, atol=1e-5)


def test_folders_of_a_model(root: Path) -> None:
    """What MLflow wrote, and the artifact in it."""
    with registry(root):
        written = Path(mlflow.artifacts.download_artifacts("models:/rolecall/1"))
    for folder in (written, written / "artifacts/normalizer"):
        _, embed = load_model(str(folder), root)
        np.testing.assert_allclose(embed(TITLES), tiny_run.embedded(1, TITLES), atol=1e-5)


def test_no_model_is_named(root: Path) -> None:
    with pytest.raises(ValueError, match=r"no model nowhere: .*; name a version"):
        load_model("nowhere", root)
