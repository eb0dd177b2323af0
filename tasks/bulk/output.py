"""The folder that a bulk run leaves: parts, refused rows and a manifest, all at once.

While it is made it lies beside its place, as `NAME.unfinished`, with a plan of what it is made of
and a note behind each finished part; a run of the same plan goes on behind the last. At the end the
notes become `manifest.json` and the folder takes its name: whoever finds it finds all of it. The
same input, model and parameters give the same bytes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from models.repeatable.whole_file import whole_file
from tasks.bulk.files import File, Refused
from tasks.files.frames import read_json, write_json

MANIFEST, PLAN, REFUSED = "manifest.json", "plan.json", "refused.parquet"
UNFINISHED = ".unfinished"


class OutputError(ValueError):
    """A place where nothing can be written; the message says what to do."""


@dataclass(frozen=True)
class Output:
    """A folder in the making.

    Attributes:
        place: where it will be.
        plan: what it follows from, the state of the input by a hash; the manifest's `result`.
    """

    place: Path
    plan: Mapping[str, Any]

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
            made = self.place / MANIFEST
            if made.is_file() and read_json(made).get("result") == self.plan:
                (self.place / PLAN).unlink(missing_ok=True)  # a kill left it
                return True
            raise OutputError(f"{self.place} is there already: name another place, or remove it")
        if (self.folder / PLAN).is_file():
            found = read_json(self.folder / PLAN)
            other = sorted(key for key in self.plan if found.get(key) != self.plan[key])
            if other:
                raise OutputError(
                    f"{self.folder} is what a run with other {', '.join(other)} has left: run that "
                    "again to finish it, or remove the folder"
                )
        else:
            write_json(self.plan, self.folder / PLAN)
        return False

    def done(self, number: int) -> int | None:
        """Return how many parts a file has if it is finished, else None."""
        note = self.folder / f"file-{number:04}.json"
        return int(read_json(note)["parts"]) if note.is_file() else None

    def rows(self, number: int, part: int) -> int | None:
        """Return how many rows a part has if it is finished, else None."""
        note = self.folder / f"{_part(number, part)}.json"
        return int(read_json(note)["rows"]) if note.is_file() else None

    def write_part(self, number: int, part: int, table: pa.Table, reasons: pa.ChunkedArray) -> None:
        """Write a part, and then the note that it is finished.

        Args:
            number: of the file.
            part: of the file.
            table: its rows.
            reasons: why there is no answer, null where there is one.
        """
        path = self.folder / f"{_part(number, part)}.parquet"
        with whole_file(path) as partial:
            pq.write_table(table, partial, compression="zstd")
        told = Counter(reason for reason in reasons.to_pylist() if reason is not None)
        note = {"rows": len(table), "abstained": dict(sorted(told.items()))}
        write_json(note | {"sha256": _sha256(path)}, path.with_suffix(".json"))

    def write_file(self, number: int, parts: int, refused: Sequence[Refused]) -> None:
        """Note that a file is finished, and which of its rows are none."""
        rows = [row._asdict() for row in refused]
        write_json({"parts": parts, "refused": rows}, self.folder / f"file-{number:04}.json")

    def publish(self, files: Sequence[File]) -> dict[str, Any]:
        """Write manifest and refused rows, take the notes away, and let the folder have its name.

        Returns:
            the manifest.
        """
        parts, named, refused = [], [], []
        abstained: Counter[str] = Counter()
        finished: list[Path] = []
        for number, file in enumerate(files):
            finished.append(self.folder / f"file-{number:04}.json")
            told = read_json(finished[-1])
            refused += told["refused"]
            rows = 0
            for part in range(told["parts"]):
                finished.append(self.folder / f"{_part(number, part)}.json")
                note = read_json(finished[-1])
                rows += note["rows"]
                abstained.update(note["abstained"])
                name = f"{_part(number, part)}.parquet"
                parts.append({"name": name, "rows": note["rows"], "sha256": note["sha256"]})
            named.append({"name": file.name, "size": file.size, "rows": rows})
        total = sum(part["rows"] for part in parts)
        manifest = {
            "result": self.plan,
            "files": named,
            "rows": total,
            "answered": total - abstained.total(),
            "abstained": dict(sorted(abstained.items())),
            "refused": len(refused),
            "parts": parts,
        }
        if refused:
            with whole_file(self.folder / REFUSED) as partial:
                pq.write_table(pa.Table.from_pylist(refused), partial, compression="zstd")
        write_json(manifest, self.folder / MANIFEST)
        for path in finished:
            path.unlink(missing_ok=True)
        self.folder.rename(self.place)  # with its plan: until here the folder is this run's
        (self.place / PLAN).unlink()
        return manifest


def _part(number: int, part: int) -> str:
    return f"part-{number:04}-{part:05}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
