"""A registered model opened within a second: its files found without MLflow, if they lie here.

MLflow's import takes seconds, and the default registry is an SQLite file whose models lie beside
it. So a version is looked up in its tables, read-only. Any other registry, and tables that do not
give one folder that exists, are left to MLflow (`tasks/release/registry/loading.py`).
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from models.normalizer.normalizer import Normalizer
from tasks.io.tracking import SQLITE, tracking_uri
from tasks.release.model_package.reading import read_normalizer

ADDRESS = re.compile(r"models:/(?P<name>[^/@]+)(?:/(?P<version>\d+)|@(?P<alias>[^/@]+))")
BY_ALIAS = "select distinct version from registered_model_aliases where name = ? and alias = ?"
BY_VERSION = "select storage_location from model_versions where name = ? and version = ?"
ELSEWHERE = "MLFLOW_REGISTRY_URI"
"""MLflow's variable for a registry that is not the tracking server's."""


@contextmanager
def opened(address: str, root: Path) -> Iterator[tuple[str, Normalizer]]:
    """Yield a model's address, an alias by its version, and the normalizer that it holds.

    `address`: as `fetched` takes it.

    Raises:
        ValueError: there is none, or it holds no normalizer of this format.
    """
    beside = stored(address, tracking_uri(root))
    if beside:
        yield beside[0], _normalizer(*beside)
    else:
        from tasks.release.registry.loading import fetched

        with fetched(address, root) as (versioned, folder):
            yield versioned, _normalizer(versioned, folder)


def stored(address: str, uri: str) -> tuple[str, Path] | None:
    """Return the address of a version, and its folder, by the tables of an SQLite registry.

    None: MLflow has to look.

    Raises:
        ValueError: the registry holds no such version, or there is no registry yet.
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


def _folder(location: str, registry: Path) -> Path | None:
    """Return the folder of a version if it lies below that of the registry; a moved one does not.

    Links count as they are, and as what they lead to.
    """
    place = urlsplit(location)
    folder = Path(unquote(place.path))
    below = folder.is_relative_to(registry) or folder.resolve().is_relative_to(registry.resolve())
    is_model = place.scheme in ("", "file") and (folder / "MLmodel").is_file()
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
