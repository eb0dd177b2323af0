"""The output of a bulk run in the making: a folder of parts and notes, which a later run continues.

The folder lies beside the output's place, as `NAME.unfinished`, with a plan of its inputs and a
note for each finished part; a run of the same plan goes on behind the last. Parts of a file that
has changed since are made again. At the end `publishing.py` makes of it what was asked for: a
reader finds all of it or nothing. Equal input, model and parameters give the same bytes.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from models.reproducibility.atomic_write import atomic_write
from tasks.apps.bulk.files import File, Refused, state_of
from tasks.apps.unfinished import LOCK, OutputError, unfinished_at
from tasks.io.bulk_output import kind_of, manifest_of, refused_of
from tasks.io.frames import read_json, write_json
from tasks.io.hashes import sha256, text_hash

PLAN = "plan.json"
STATE = "state"  # of the input's files, in the manifest
OWN = re.compile(
    r"temporary|\.?(plan|manifest|whole|refused|file-\d+|part-\d+-\d+)"
    r"\.(json|parquet|csv|xlsx)(\.partial)?"
)
"""Names in the folder."""


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

        Raises:
            OutputError: the place is taken, or another run's folder is in the way.
        """
        if self.place.exists():
            require_same_run(self.place, self.result)
            self._remove_rest()
            return True
        manifest, refused = manifest_of(self.place), refused_of(self.place)
        if kind_of(self.place) and refused.exists() and not manifest.exists():
            raise OutputError(f"{refused} is in the way: name another place, or remove it")
        if (self.folder / PLAN).is_file():
            plan = read_json(self.folder / PLAN)
            other = sorted(key for key in self.plan if plan.get(key) != self.plan[key])
            if other:
                raise OutputError(
                    f"{self.folder} was left by a run with other {', '.join(other)}: run that "
                    "again to finish it, or remove the folder"
                )
        elif any(path.name != LOCK for path in self.folder.iterdir()):
            raise OutputError(f"{self.folder} has files and no {PLAN}: remove it, if it is yours")
        else:
            write_json(self.plan, self.folder / PLAN)
        return False

    def _remove_rest(self) -> None:
        """Remove what a kill left at the very end."""
        plan = self.folder / PLAN
        if plan.is_file() and read_json(plan) == self.plan:
            self.remove_all_but(set())
        if not kind_of(self.place):
            (self.place / PLAN).unlink(missing_ok=True)
            (self.place / LOCK).unlink(missing_ok=True)

    def done(self, number: int) -> int | None:
        """Return how many parts a file has if it is finished, else None."""
        note = self._noted(number, f"file-{number:04}")
        return int(note["parts"]) if note else None

    def rows(self, number: int, part: int) -> int | None:
        """Return how many rows a part has if it is finished, else None."""
        note = self._noted(number, _part(number, part))
        return int(note["rows"]) if note else None

    def _noted(self, number: int, name: str) -> dict[str, Any] | None:
        path = self.folder / f"{name}.json"
        note = dict(read_json(path)) if path.is_file() else {}
        return note if note.get("file") == self._file(number) else None

    def _note(self, number: int, name: str, **values: Any) -> None:  # noqa: ANN401
        write_json({"file": self._file(number), **values}, self.folder / f"{name}.json")

    def _file(self, number: int) -> str:
        return text_hash(json.dumps(self.files[number]))

    def write_part(self, number: int, part: int, table: pa.Table, reasons: pa.ChunkedArray) -> None:
        """Write a part, and then the note that it is finished.

        `reasons`: why there is no answer, null where there is one.
        """
        path = self.folder / f"{_part(number, part)}.parquet"
        with atomic_write(path) as partial:
            texts = dictionaries(table.schema)
            pq.write_table(table, partial, compression="zstd", use_dictionary=texts)
        abstained = dict(sorted(Counter(reasons.drop_null().to_pylist()).items()))
        self._note(number, path.stem, rows=len(table), abstained=abstained, sha256=sha256(path))

    def write_file(self, number: int, parts: int, refused: Sequence[Refused]) -> None:
        """Note that a file is finished, and which of its rows are none."""
        rows = [row._asdict() for row in refused]
        self._note(number, f"file-{number:04}", parts=parts, refused=rows)

    def summary(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return the manifest and all refused rows, by the notes of finished files."""
        parts, named, refused = [], [], []
        abstained: Counter[str] = Counter()
        for number, file in enumerate(self.files):
            noted = read_json(self.folder / f"file-{number:04}.json")
            refused += noted["refused"]
            rows = 0
            for part in range(noted["parts"]):
                name = _part(number, part)
                note = read_json(self.folder / f"{name}.json")
                rows += note["rows"]
                abstained.update(note["abstained"])
                sizes = {"rows": note["rows"], "sha256": note["sha256"]}
                parts.append({"name": f"{name}.parquet", **sizes})
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

    def remove_all_but(self, kept: set[str]) -> None:
        """Remove a run's files from the folder, those first without which it is not continued."""
        names = sorted(path.name for path in self.folder.iterdir() if OWN.fullmatch(path.name))
        for name in names:
            if name not in kept and (self.folder / name).is_file():
                (self.folder / name).unlink()


def require_same_run(place: Path, run: Mapping[str, Any], unknown: Collection[str] = ()) -> None:
    """Refuse a place that is taken, unless by the finished output of the same run.

    `run`: as `Output.result`; what is `unknown` of it is not compared.

    Raises:
        OutputError: it holds something else; if that is of another run, with what differs.
    """
    manifest = manifest_of(place)
    there = read_json(manifest).get("result", {}) if manifest.is_file() else {}
    names = sorted({*there, *run} - {*unknown})
    other = [name for name in names if there.get(name) != run.get(name)]
    if other:
        differing = ", ".join("files" if name == STATE else name for name in other)
        of = f", of a run with other {differing}" if there else ""
        raise OutputError(f"{place} is there already{of}: name another place, or remove it")


def dictionaries(schema: pa.Schema) -> list[str]:
    """Return the Parquet columns that are written by a dictionary: all but numbers with a point."""
    names = []
    for field in schema:
        is_list = pa.types.is_list(field.type)
        if not pa.types.is_floating(field.type.value_type if is_list else field.type):
            names.append(f"{field.name}.list.element" if is_list else field.name)
    return names


def _part(number: int, part: int) -> str:
    return f"part-{number:04}-{part:05}"
