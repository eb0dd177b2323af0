"""A registered model by its address: opened within a second, or its folder on the disk.

MLflow's import takes seconds, so `opened` looks a version up in the tables of the default registry,
an SQLite file beside its models. Any other registry, and tables that do not give one folder that
exists, are left to MLflow, which copies the model.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from urllib.parse import unquote, urlsplit

from models.serving.model import Normalizer
from models.serving.package import CHECKSUMS, check_files, check_format, read_normalizer
from tasks.io.files import read_json
from tasks.io.tracking import SQLITE, masked, registry, tracking_uri
from tasks.release.registry.locks import scratch_folder

HELP = (
    "name a version (models:/NAME/VERSION), an alias (models:/NAME@ALIAS; `rolecall models` "
    "lists both) or the folder of a model"
)
ADDRESS = re.compile(r"models:/(?P<name>[^/@]+)(?:/(?P<version>\d+)|@(?P<alias>[^/@]+))")
BY_ALIAS = "select distinct version from registered_model_aliases where name = ? and alias = ?"
BY_VERSION = "select storage_location from model_versions where name = ? and version = ?"
ELSEWHERE = "MLFLOW_REGISTRY_URI"  # names a registry that is not the tracking server's


@contextmanager
def opened(address: str, root: Path) -> Iterator[tuple[str, Normalizer]]:
    """Yield a model's address, an alias by its version, and the normalizer that it holds.

    `address`: as `fetched` takes it. A ValueError says that there is none, or that it holds no
    normalizer of this format.
    """
    beside = stored(address, tracking_uri(root))
    with nullcontext(beside) if beside else fetched(address, root) as (versioned, folder):
        yield versioned, _normalizer(versioned, folder)


def stored(address: str, uri: str) -> tuple[str, Path] | None:
    """Return the address of a version, and its folder, by the tables of an SQLite registry.

    None: MLflow has to look. A ValueError says that there is no such version, or no registry yet.
    """
    named, database = ADDRESS.fullmatch(address), Path(uri.removeprefix(SQLITE)).absolute()
    if not named or not uri.startswith(SQLITE) or ELSEWHERE in os.environ:
        return None
    if not database.is_file():
        raise ValueError(f"no model {address}: {database} is missing; run `rolecall retrain`")
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as tables:
            version = named["version"] or _only(tables, BY_ALIAS, named["name"], named["alias"])
            location = str(_only(tables, BY_VERSION, named["name"], version))
    except sqlite3.Error:
        return None
    except LookupError:
        raise ValueError(
            f"no model {address} in {database}; `rolecall models` lists the versions, "
            "`rolecall retrain` with its --profile registers one"
        ) from None
    folder = _folder(location, database.parent)
    return (f"models:/{named['name']}/{version}", folder) if folder else None


@contextmanager
def fetched(address: str, root: Path) -> Iterator[tuple[str, Path]]:
    """Yield a model's address, an alias by its version, and the folder that it lies in meanwhile.

    `address`: `models:/NAME/VERSION`, `models:/NAME@ALIAS`, or a folder that MLflow wrote. A
    ValueError says that there is none, it is of another format, or one of its files was altered.
    """
    with scratch_folder(root) as temporary:
        beside = stored(address, tracking_uri(root))
        address, folder = beside or (address, Path(address))
        if not (folder / "MLmodel").is_file():
            with registry(root) as client:
                import mlflow

                try:
                    if (named := ADDRESS.fullmatch(address)) and named["alias"]:
                        found = client.get_model_version_by_alias(named["name"], named["alias"])
                        address = f"models:/{named['name']}/{found.version}"
                    copy = mlflow.artifacts.download_artifacts(address, dst_path=str(temporary))
                    folder = Path(copy)
                except (mlflow.MlflowException, OSError) as error:
                    fault = masked(str(error).strip().splitlines()[0])
                    raise ValueError(f"no model {address}: {fault}; {HELP}") from None
        for settings in folder.glob("artifacts/*/settings.json"):  # of this project's packages
            _check(settings.parent, address)
        yield address, folder


def _folder(location: str, registry: Path) -> Path | None:
    """Return the folder of a version if it lies below that of the registry; a moved one does not.

    Links count as they are, and as what they lead to.
    """
    address = urlsplit(location)
    folder = Path(unquote(address.path))
    below = folder.is_relative_to(registry) or folder.resolve().is_relative_to(registry.resolve())
    is_model = address.scheme in ("", "file") and (folder / "MLmodel").is_file()
    return folder if below and is_model else None


def _only(tables: sqlite3.Connection, query: str, *values: object) -> object:
    """Return the one value that a query gives; LookupError if it gives none."""
    rows = tables.execute(query, values).fetchall()
    if len(rows) > 1:
        raise sqlite3.DataError(f"{len(rows)} rows of {values}")
    if not rows:
        raise LookupError(query)
    return rows[0][0]


def _normalizer(address: str, folder: Path) -> Normalizer:
    packages = [file.parent for file in folder.glob("artifacts/*/settings.json")]
    if len(packages) != 1:
        raise ValueError(f"{address} answers no raw titles; name a model that rolecall registered")
    return read_normalizer(packages[0])


def _check(package: Path, address: str) -> None:
    try:
        if (package / CHECKSUMS).is_file():  # earlier versions wrote none
            check_files(package, with_code=True)
    except ValueError as error:
        raise ValueError(
            f"{address}: {error}; if the registry's own copy is damaged, delete the version and "
            "run `rolecall retrain`"
        ) from None
    check_format(read_json(package / "settings.json"), address)
