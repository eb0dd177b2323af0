"""What the stage `feedback` leaves below the root of a tiny run."""

from __future__ import annotations

from pathlib import Path

from frames_of import Rows, frame_of, write_overrides

from tasks.io.frames import write_frame
from tasks.io.schemas import JUDGED


def say(root: Path, *said: tuple[str, str | None], held_out: Rows = ()) -> None:
    """Write what people said of raw titles, (raw title, occupation_id or None: no job title).

    Those `held_out` are judged as well, and not learned from.
    """
    rows = [(raw, "baker", "incorrect", False, name, False) for raw, name in said]
    rows += [(raw, "baker", "incorrect", False, name, True) for raw, name in held_out]
    write_frame(frame_of(rows, JUDGED), root / "data/feedback/judged.parquet", JUDGED)
    write_overrides(root / "data/feedback/overrides.parquet", [*said, *held_out])
