"""A registered model on the disk, by its address: where a consumer's process can load it from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from models.normalizer.package_checksums import CHECKSUMS, CODE, check_files
from models.normalizer.package_format import check_format
from tasks.io.frames import read_json
from tasks.io.masked import masked
from tasks.io.tracking import registry
from tasks.release.registry.scratch import scratch_folder

if TYPE_CHECKING:
    from mlflow import MlflowClient

ALIASED = re.compile(r"models:/([^/@]+)@([^/@]+)")
HELP = (
    "name a version (models:/NAME/VERSION), an alias (models:/NAME@ALIAS; `rolecall models` "
    "lists both) or the folder of a model"
)


def versioned(client: MlflowClient, address: str) -> str:
    """Return the address of the version that an alias stands for; any other as it is."""
    aliased = ALIASED.fullmatch(address)
    if not aliased:
        return address
    version = client.get_model_version_by_alias(*aliased.groups()).version
    return f"models:/{aliased[1]}/{version}"


@contextmanager
def fetched(address: str, root: Path) -> Iterator[tuple[str, Path]]:
    """Yield a model's address, an alias by its version, and the folder that it lies in meanwhile.

    `address`: `models:/NAME/VERSION`, `models:/NAME@ALIAS`, or a folder that MLflow wrote.

    Raises:
        ValueError: there is none, it is of another format, or one of its files was altered.
    """
    with scratch_folder(root) as temporary:
        folder = Path(address)
        if not (folder / "MLmodel").is_file():
            with registry(root) as client:
                import mlflow

                try:
                    address = versioned(client, address)
                    folder = Path(
                        mlflow.artifacts.download_artifacts(address, dst_path=str(temporary))
                    )
                except (mlflow.MlflowException, OSError) as error:
                    fault = masked(str(error).strip().splitlines()[0])
                    raise ValueError(f"no model {address}: {fault}; {HELP}") from None
        for settings in folder.glob("artifacts/*/settings.json"):  # of this project's packages
            _check(settings.parent, address)
        yield address, folder


def _check(package: Path, address: str) -> None:
    try:
        if (package / CHECKSUMS).is_file():  # earlier versions wrote none
            check_files(package, package / CODE)
    except ValueError as error:
        raise ValueError(
            f"{address}: {error}; if the registry's own copy is damaged, delete the version and "
            "run `rolecall retrain`"
        ) from None
    check_format(read_json(package / "settings.json"), address)
