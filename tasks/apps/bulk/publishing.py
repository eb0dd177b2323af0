"""The finished parts of a bulk run as its output: a folder with their manifest, or one file.

A folder takes its name by one rename. A file gets manifest and refused rows beside it first, and
its own name last: as long as it is not there, the run is not finished.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.apps.bulk.files import Refused
from tasks.apps.bulk.output import OWN, PLAN, Output
from tasks.apps.bulk.single_file import write_tables
from tasks.apps.unfinished import LOCK, OutputError, refuse_foreign
from tasks.io.bulk_output import MANIFEST, kind_of, manifest_of, refused_of
from tasks.io.frames import write_json
from tasks.io.hashes import sha256

REFUSED = pa.schema(
    [(name, pa.int64() if name == "line" else pa.string()) for name in Refused._fields]
)


def publish(output: Output) -> dict[str, Any]:
    """Give a run's output its place, remove all else, and return the manifest.

    Raises:
        OutputError: somebody else's files have come into the folder, or to the place.
    """
    manifest, refused = output.summary()
    refuse_foreign(output.folder, OWN)
    if kind_of(output.place):
        return _publish_file(output, manifest, refused)
    return _publish_folder(output, manifest, refused)


def _publish_folder(
    output: Output, manifest: dict[str, Any], refused: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    kept = {MANIFEST, PLAN, *(part["name"] for part in manifest["parts"])}
    if refused:
        kept.add(_write_refused(output, refused, ".parquet"))
    write_json(manifest, output.folder / MANIFEST)
    output.remove_all_but(kept)
    output.folder.rename(output.place)  # with its plan: until here the folder is this run's
    for name in (PLAN, LOCK):
        (output.place / name).unlink()
    return manifest


def _publish_file(
    output: Output, manifest: dict[str, Any], refused: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    kind, folder, place = kind_of(output.place), output.folder, output.place
    whole = folder / f"whole{kind}"
    print(f"writing {place} ...", flush=True)
    tables = (pq.read_table(folder / part["name"]) for part in manifest["parts"])
    write_tables(output.schema, tables, whole)
    part = {"name": place.name, "rows": manifest["rows"], "sha256": sha256(whole)}
    manifest = {**manifest, "parts": [part]}
    write_json(manifest, folder / MANIFEST)
    if place.exists():
        raise OutputError(f"{place} is there now: move it away, and run again")
    (folder / MANIFEST).replace(manifest_of(place))
    if refused:
        (folder / _write_refused(output, refused, kind)).replace(refused_of(place))
    else:
        refused_of(place).unlink(missing_ok=True)  # of an earlier output of this name
    whole.rename(place)
    output.remove_all_but(set())
    return manifest


def _write_refused(output: Output, refused: Sequence[Mapping[str, Any]], kind: str) -> str:
    name = f"refused{kind}"
    table = pa.Table.from_pylist([*refused], REFUSED)
    write_tables(REFUSED, [table], output.folder / name)
    return name
