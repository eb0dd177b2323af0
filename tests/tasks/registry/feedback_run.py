"""What the stage `feedback` leaves below the root of a tiny run."""

from __future__ import annotations

from pathlib import Path

from frames_of import Rows, frame_of, write_told

from tasks.files.frames import write_frame
from tasks.files.schemas import JUDGED


def say(root: Path, *said: tuple[str, str | None], reserved: Rows = ()) -> None:
    """Write what people said of raw titles, (raw title, occupation_id or None: no job title).

    Those `reserved` are judged as well, and not learned from.
    """
    rows = [(raw, "baker", "wrong", False, name, False) for raw, name in said]
    rows += [(raw, "baker", "wrong", False, name, True) for raw, name in reserved]
    write_frame(frame_of(rows, JUDGED), root / "data/feedback/judged.parquet", JUDGED)
    write_told(root / "data/feedback/told.parquet", [*said, *reserved])
