"""Answered runs and queues in miniature."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tasks.apps.review.candidates import ANSWER
from tasks.apps.review.queue import QUEUE
from tasks.io.files import sha256

SURE = {"occupation_id": "nurse", "score": 0.9, "score_margin": 0.5, "confidence": 0.9}
SURE |= {"abstained": False, "reason": None}


def answer(**changes: Any) -> dict[str, Any]:
    """An answer that is quite sure, but for some values."""
    return SURE | changes


def abstention(reason: str) -> dict[str, Any]:
    return dict.fromkeys(SURE) | {"abstained": True, "reason": reason}


def write_run(
    folder: Path, parts: Sequence[Sequence[tuple[str | None, Mapping[str, Any]]]], prefix: str = ""
) -> Path:
    """Write what `rolecall normalize` leaves: parts of (raw title, answer), and a manifest."""
    folder.mkdir(parents=True)
    schema = {"Titel": pl.String, **{prefix + name: kind for name, kind in ANSWER.items()}}
    named = []
    for number, split in enumerate(parts):
        rows = [(title, *(answer[name] for name in ANSWER)) for title, answer in split]
        name = f"part-0000-{number:05}.parquet"
        pl.DataFrame(rows, schema=schema, orient="row").write_parquet(folder / name)
        named.append({"name": name, "rows": len(rows), "sha256": sha256(folder / name)})
    manifest = {
        "result": {"column": "Titel", "prefix": prefix, "model": "models:/rolecall/1"},
        "rows": sum(split["rows"] for split in named),
        "parts": named,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def queue_of(*titles: str, **changes: Any) -> pl.DataFrame:
    """A queue of titles that are all answered alike."""
    row = {"occupation_id": "nurse", "matched_title": "Nurse", "model_version": "m1", "rows": 3}
    row |= {"confidence": 0.25, "chosen_by": "coverage", "served": "answered"}
    row |= {"why_queued": "3 rows", "why_answered": "so", "top_occupation_ids": ["nurse", "baker"]}
    row |= {"distinguishing_words": [], "runner_up_words": []}
    row |= {"top_titles": ["Nurse", "Baker"], "top_scores": [0.9, 0.5]}
    rows = [{"raw_title": title, **row, **changes} for title in titles]
    return pl.DataFrame(rows, schema=dict(QUEUE))
