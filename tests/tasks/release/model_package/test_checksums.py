"""One flipped byte in any file of a package: it is not read, and the file is named."""

from __future__ import annotations

from pathlib import Path

import mlflow_import  # noqa: F401  before tasks.release.model_package.serving
import polars as pl
import pytest
import tiny_run

from models.normalizer.package_checksums import CHECKSUMS
from tasks.io.schemas import EXEMPLARS, OVERRIDES
from tasks.io.section import load
from tasks.pipeline.calibrate.params import CalibrateParams
from tasks.release.model_package.checksums import write_checksums
from tasks.release.model_package.folder import build_artefact
from tasks.release.model_package.patch import exemplify, replace_overrides
from tasks.release.model_package.run_files import RunFiles
from tasks.release.model_package.serving import read_normalizer


@pytest.fixture(scope="module")
def artefact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    build_artefact(RunFiles.below(tiny_run.make_run(folder / "run")), folder / "artefact")
    return folder / "artefact"


def flipped(file: Path) -> bytes:
    """Flip a bit in the middle of a file; return the content that it had."""
    content = file.read_bytes()
    middle = len(content) // 2
    file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    return content


def test_every_file_counts(artefact: Path) -> None:
    files = sorted(artefact.iterdir())
    assert len(files) == 17
    for file in files:
        content = flipped(file)
        with pytest.raises(ValueError, match=file.name):
            read_normalizer(artefact)
        file.write_bytes(content)
    read_normalizer(artefact)


def test_a_patched_package_has_checksums_of_its_own(artefact: Path) -> None:
    before = (artefact / CHECKSUMS).read_text()
    said = {"normalized": ["owl"], "occupation_id": ["nurse"], "correct": [True]}
    assert replace_overrides(artefact, pl.DataFrame(said, dict(OVERRIDES)))
    learned = pl.DataFrame([("night owl", "nurse", 1.0, "review")], dict(EXEMPLARS), orient="row")
    params = load(CalibrateParams, artefact.parent / "run/params.yaml")
    exemplify(artefact, pl.Series(["night owl"]), learned, params)
    assert read_normalizer(artefact).exemplars["title"] == ["night owl"]
    changed = set((artefact / CHECKSUMS).read_text().splitlines()) - set(before.splitlines())
    names = {line.partition("  ")[2] for line in changed}
    assert names == {"overrides.parquet", "exemplars.parquet", "index.npy"}


def test_equal_files_have_equal_checksums(artefact: Path) -> None:
    before = (artefact / CHECKSUMS).read_bytes()
    write_checksums(artefact)
    assert (artefact / CHECKSUMS).read_bytes() == before
