"""The folder that a bulk run writes: parts, refused rows and a manifest, all at once.

An unfinished folder lies beside its place, as `NAME.unfinished`, with a plan of its inputs and a
note for each finished part; a run of the same plan goes on behind the last. Parts of a file that
has changed since are made again. At the end the notes become `manifest.json` and the folder takes
its name: a reader finds all of it or nothing. Equal input, model and parameters give the same
bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from models.reproducibility.atomic_write import atomic_write
from tasks.apps.bulk.files import File, Refused, state_of
from tasks.io.frames import read_json, write_json
from tasks.io.hashes import text_hash
from tasks.release.gate.last_run import MANIFEST

PLAN, REFUSED = "plan.json", "refused.parquet"
UNFINISHED = ".unfinished"


class OutputError(ValueError):
    """A place that cannot be written; the message says what to do."""


@dataclass(frozen=True)
class Output:
    """A folder in the making."""

    place: Path  # where it will be
    plan: Mapping[str, Any]  # all its inputs but the files
    files: Sequence[File]  # of the input

    @property
    def result(self) -> dict[str, Any]:
        """All its inputs; part of the manifest."""
        return {**self.plan, "state": state_of(self.files)}

    @property
    def folder(self) -> Path:
        """Where it lies until it is whole."""
        return self.place.with_name(self.place.name + UNFINISHED)

    def begin(self) -> bool:
        """Make the folder, or go on with it; return whether all of it is there already.

        Raises:
            OutputError: the place is taken, or another run's folder is in the way.
        """
        if self.place.exists():
            manifest = self.place / MANIFEST
            if manifest.is_file() and read_json(manifest).get("result") == self.result:
                (self.place / PLAN).unlink(missing_ok=True)  # a kill left it
                return True
            raise OutputError(f"{self.place} is there already: name another place, or remove it")
        if (self.folder / PLAN).is_file():
            plan = read_json(self.folder / PLAN)
            other = sorted(key for key in self.plan if plan.get(key) != self.plan[key])
            if other:
                raise OutputError(
                    f"{self.folder} was left by a run with other {', '.join(other)}: run that "
                    "again to finish it, or remove the folder"
                )
        else:
            write_json(self.plan, self.folder / PLAN)
        return False

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
            pq.write_table(table, partial, compression="zstd")
        abstained = dict(sorted(Counter(reasons.drop_null().to_pylist()).items()))
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        self._note(number, path.stem, rows=len(table), abstained=abstained, sha256=sha256)

    def write_file(self, number: int, parts: int, refused: Sequence[Refused]) -> None:
        """Note that a file is finished, and which of its rows are none."""
        rows = [row._asdict() for row in refused]
        self._note(number, f"file-{number:04}", parts=parts, refused=rows)

    def publish(self) -> dict[str, Any]:
        """Write manifest and refused rows, remove all else, rename; return the manifest."""
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
            "parts": parts,
        }
        if refused:
            with atomic_write(self.folder / REFUSED) as partial:
                pq.write_table(pa.Table.from_pylist(refused), partial, compression="zstd")
        write_json(manifest, self.folder / MANIFEST)
        kept = {MANIFEST, PLAN, *(part["name"] for part in parts), *([REFUSED] if refused else [])}
        # notes, those of files first, and parts of files as they were before
        for path in sorted(self.folder.iterdir()):
            if path.name not in kept:
                path.unlink()
        self.folder.rename(self.place)  # with its plan: until here the folder is this run's
        (self.place / PLAN).unlink()
        return manifest


def _part(number: int, part: int) -> str:
    return f"part-{number:04}-{part:05}"
