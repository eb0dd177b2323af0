"""A model of a finished run as MLflow saves it, without a registry."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from tasks.release.model_package.folder import RunFiles
from tasks.release.registry.register import packaged


def write_model(sources: RunFiles, folder: Path) -> None:
    """Write it to a folder, which is emptied before."""
    import mlflow

    shutil.rmtree(folder, ignore_errors=True)
    with TemporaryDirectory() as temporary:
        mlflow.pyfunc.save_model(str(folder), **packaged(Path(temporary), sources))
