"""One toy workspace serves all studies that train."""

from pathlib import Path

import pytest
from toy_workspace import make_workspace


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in miniature, which no test may change."""
    return make_workspace(tmp_path_factory.mktemp("toy"))


@pytest.fixture
def workspace(toy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as the working directory, where it is the data set `sample`."""
    monkeypatch.chdir(toy)
    return toy
