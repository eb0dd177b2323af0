"""The output of a bulk run: a folder of parts and notes in the making, then what was asked for.

The folder lies beside the output's place, as `NAME.unfinished`, with a plan of its inputs and a
note for each finished part; a run of the same plan goes on behind the last. Parts of a file that
has changed since are made again. At the end a folder takes its name by one rename. A single file
gets manifest and refused rows beside it first, and its own name last: a reader finds all of it or
nothing. Equal input, model and parameters give the same bytes.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from models.reproducibility import atomic_write
from tasks.apps.bulk.inspection import File, Refused, state_of
from tasks.apps.bulk.single_file import write_tables
from tasks.apps.unfinished import LOCK, OutputError, refuse_foreign, unfinished_at
from tasks.io.bulk_output import MANIFEST, kind_of, manifest_of, refused_of
from tasks.io.files import read_json, sha256, text_hash, write_json

PLAN = "plan.json"
STATE = "state"  # of the input's files, in the manifest
OWN = re.compile(  # names in the folder
    r"temporary|\.?(plan|manifest|whole|refused|file-\d+|part-\d+-\d+)"
    r"\.(json|parquet|csv|xlsx)(\.partial)?"
)
REFUSED = pa.schema((n, pa.int64() if n == "line" else pa.string()) for n in Refused._fields)
DICTIONARY_BYTES = 1 << 30  # Parquet's own limit would write long dictionaries out for each row


@dataclass(frozen=True)
class Output:
    """An output in the making; `tasks/apps/unfinished.py` locks its folder."""

    place: Path  # where it will be
    plan: Mapping[str, Any]  # all its inputs but the files
    files: Sequence[File]  # of the input
    schema: pa.Schema  # of its parts

    @property
    def result(self) -> dict[str, Any]:
        """All its inputs; part of the manifest."""
        return {**self.plan, STATE: state_of(self.files)}

    @property
    def folder(self) -> Path:
        """Where it lies until it is whole."""
        return unfinished_at(self.place)

    def begin(self) -> bool:
        """Begin, or go on with what is there; return whether all of it is finished already.

        An OutputError says that the path is taken, or another run's folder is in the way.
        """
        file = self.folder / PLAN
        plan = read_json(file) if file.is_file() else None
        if self.place.exists():
            require_same_run(self.place, self.result)
            if plan == self.plan:  # a kill at the very end left it
                self._remove_all_but(set())
            if not kind_of(self.place):
                for name in (PLAN, LOCK):
                    (self.place / name).unlink(missing_ok=True)
            return True
        manifest, refused = manifest_of(self.place), refused_of(self.place)
        if kind_of(self.place) and refused.exists() and not manifest.exists():
            raise OutputError(f"{refused} is in the way: name another place, or remove it")
        if plan is not None:
            if other := sorted(key for key in self.plan if plan.get(key) != self.plan[key]):
                raise OutputError(
                    f"{self.folder} was left by a run with other {', '.join(other)}: run that "
                    "again to finish it, or remove the folder"
                )
        elif any(path.name != LOCK for path in self.folder.iterdir()):
            raise OutputError(f"{self.folder} has files and no {PLAN}: remove it, if it is yours")
        else:
            write_json(self.plan, file)
        return False

    def finished(self, number: int, part: int | None = None) -> int | None:
        """Return how many parts a finished file has, or rows its finished part; else None."""
        path = self._note_of(number, part)
        note = read_json(path) if path.is_file() else {}
        count = note.get("rows" if part is not None else "parts")
        return count if note.get("file") == self._file(number) else None

    def _note_of(self, number: int, part: int | None = None) -> Path:
        name = f"file-{number:04}" if part is None else f"part-{number:04}-{part:05}"
        return self.folder / f"{name}.json"

    def _file(self, number: int) -> str:
        return text_hash(json.dumps(self.files[number]))

    def write_part(
        self, number: int, part: int, table: pa.Table, abstained: Mapping[str, int]
    ) -> None:
        """Write a part, and then the note that it is finished.

        `table`: of `schema`, but texts may be dictionaries; `abstained`: rows by their reason.
        """
        note = self._note_of(number, part)
        path = note.with_suffix(".parquet")
        with atomic_write(path) as partial:
            _write(table, self.schema, partial)
        counts = {"rows": len(table), "abstained": dict(sorted(abstained.items()))}
        write_json({"file": self._file(number), **counts, "sha256": sha256(path)}, note)

    def write_file(self, number: int, parts: int, refused: Sequence[Refused]) -> None:
        """Note that a file is finished, and which of its rows are none."""
        values = {"parts": parts, "refused": [row._asdict() for row in refused]}
        write_json({"file": self._file(number), **values}, self._note_of(number))

    def publish(self) -> dict[str, Any]:
        """Give the output its path, remove all else, and return the manifest.

        An OutputError says that somebody else's files have come into the folder, or to the path.
        """
        manifest, refused = self._summary()
        refuse_foreign(self.folder, OWN)
        if kind_of(self.place):
            return self._publish_file(manifest, refused)
        kept = {MANIFEST, PLAN, *(part["name"] for part in manifest["parts"])}
        if refused:
            kept.add(self._write_refused(refused, ".parquet").name)
        write_json(manifest, self.folder / MANIFEST)
        self._remove_all_but(kept)
        self.folder.rename(self.place)  # with its plan: until here the folder is this run's
        for name in (PLAN, LOCK):
            (self.place / name).unlink()
        return manifest

    def _publish_file(
        self, manifest: dict[str, Any], refused: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        kind, place = kind_of(self.place), self.place
        whole = self.folder / f"whole{kind}"
        print(f"writing {place} ...", flush=True)
        tables = (pq.read_table(self.folder / part["name"]) for part in manifest["parts"])
        write_tables(self.schema, tables, whole)
        part = {"name": place.name, "rows": manifest["rows"], "sha256": sha256(whole)}
        manifest = {**manifest, "parts": [part]}
        write_json(manifest, self.folder / MANIFEST)
        if place.exists():
            raise OutputError(f"{place} is there now: move it away, and run again")
        (self.folder / MANIFEST).replace(manifest_of(place))
        if refused:
            self._write_refused(refused, kind).replace(refused_of(place))
        else:
            refused_of(place).unlink(missing_ok=True)  # of an earlier output of this name
        whole.rename(place)
        self._remove_all_but(set())
        return manifest

    def _write_refused(self, refused: Sequence[Mapping[str, Any]], kind: str) -> Path:
        path = self.folder / f"refused{kind}"
        write_tables(REFUSED, [pa.Table.from_pylist([*refused], REFUSED)], path)
        return path

    def _summary(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the manifest and all refused rows, by the notes of finished files."""
        parts, named, refused = [], [], []
        abstained: Counter[str] = Counter()
        for number, file in enumerate(self.files):
            noted = read_json(self._note_of(number))
            refused += noted["refused"]
            rows = 0
            for path in (self._note_of(number, part) for part in range(noted["parts"])):
                note = read_json(path)
                rows += note["rows"]
                abstained.update(note["abstained"])
                sizes = {"rows": note["rows"], "sha256": note["sha256"]}
                parts.append({"name": f"{path.stem}.parquet", **sizes})
            named.append({"name": file.name, "size": file.size, "rows": rows})
        total = sum(part["rows"] for part in parts)
        manifest = {
            "result": self.result,
            "files": named,
            "rows": total,
            "answered": total - abstained.total(),
            "abstained": dict(sorted(abstained.items())),
            "refused": len(refused),
            "refused_reasons": dict(sorted(Counter(row["reason"] for row in refused).items())),
            "parts": parts,
        }
        return manifest, refused

    def _remove_all_but(self, kept: set[str]) -> None:
        """Remove a run's files from the folder, those first without which it is not continued."""
        for path in sorted(self.folder.iterdir()):
            if OWN.fullmatch(path.name) and path.name not in kept and path.is_file():
                path.unlink()


def require_same_run(place: Path, run: Mapping[str, Any], unknown: Collection[str] = ()) -> None:
    """Refuse a path that is taken, unless by the finished output of the same run.

    `run`: as `Output.result`; what is `unknown` of it is not compared. An OutputError says that the
    path holds something else; if that is of another run, with what differs.
    """
    manifest = manifest_of(place)
    there = read_json(manifest).get("result", {}) if manifest.is_file() else {}
    names = sorted({*there, *run} - {*unknown})
    if other := [name for name in names if there.get(name) != run.get(name)]:
        differing = ", ".join("files" if name == STATE else name for name in other)
        of = f", of a run with other {differing}" if there else ""
        raise OutputError(f"{place} is there already{of}: name another place, or remove it")


def compact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return text as a dictionary if at most half of its values differ; others as they are."""
    if pa.types.is_dictionary(column.type):  # it may hold what other parts have
        column = column.cast(column.type.value_type)
    if not _is_plain_text(column.type):
        return column
    coded = column.dictionary_encode()
    return coded if 2 * len(coded.chunk(0).dictionary) <= len(column) else column


def _write(table: pa.Table, schema: pa.Schema, path: Path) -> None:
    """Write a table of a schema as Parquet, whose dictionaries become those of Parquet.

    A reader gets the columns of `schema`. Plain text and numbers with a point have no dictionary;
    dictionaries have no least and greatest value, which would take a fifth of the time.
    """
    by_dictionary, with_statistics = [], []
    for field in table.schema:
        is_list = pa.types.is_list(field.type)
        kind = field.type.value_type if is_list else field.type
        name = f"{field.name}.list.element" if is_list else field.name
        if not (pa.types.is_floating(kind) or _is_plain_text(kind)):
            by_dictionary.append(name)
        if not pa.types.is_dictionary(kind):
            with_statistics.append(name)
    with pq.ParquetWriter(
        path,
        table.schema,
        compression="zstd",
        use_dictionary=by_dictionary,
        write_statistics=with_statistics,
        dictionary_pagesize_limit=DICTIONARY_BYTES,
        store_schema=False,
    ) as writer:
        writer.write_table(table)
        types = base64.b64encode(schema.serialize().to_pybytes())
        writer.add_key_value_metadata({"ARROW:schema": types})


def _is_plain_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
