"""The queue as one self-contained page: style, script and data inside, nothing from outside.

In: schema `QUEUE` and the occupations of the model. Out: `page.html` filled in. A content security
policy lets run what has the hash of our own script, and forbids every request, so that no title can
become a script. The page keeps the decisions in the browser, under a hash of the queue.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from tasks.apps.web.pages import hash_of

FOLDER = Path(__file__).with_name("browser")
SCRIPTS = ("session", "search", "saving", "state", "showing", "deciding", "searching", "keys")


class Occupation(NamedTuple):
    """An occupation as a person finds it."""

    id: str
    label: str
    aliases: Sequence[str]
    codes: Sequence[str]


def page(
    queue: pl.DataFrame, occupations: Sequence[Occupation], model: str, feedback: str = "feedback/"
) -> str:
    """Write the whole document; equal queues give equal characters.

    `queue`: schema `QUEUE`; `feedback`: the folder into which the reviewer's file goes.
    """
    place = {occupation.id: number for number, occupation in enumerate(occupations)}
    items = [*_items(queue, place)]
    data = {
        "model": model,
        "feedback": feedback,
        "queue": hashlib.sha256(_json(items).encode()).hexdigest()[:16],
        "items": items,
        "occupations": [[*occupation] for occupation in occupations],
    }
    parts = [_text(f"{name}.js") for name in (*SCRIPTS, "beginning")]  # in this order
    script, style = "\n".join(['"use strict";', *parts]), _text("page.css")
    filled = {
        "{{style_hash}}": hash_of(style),
        "{{script_hash}}": hash_of(script),
        "{{style}}": style,
        "{{script}}": script,
        # no "<": JSON cannot end the element it stands in, or begin a comment
        "{{data}}": _json(data).replace("<", "\\u003c"),
    }
    document = _text("page.html")
    for name, content in filled.items():  # data last: nothing in it is filled in
        document = document.replace(name, content)
    return document


def _items(queue: pl.DataFrame, place: dict[str, int]) -> Iterator[dict[str, Any]]:
    for row in queue.iter_rows(named=True):
        names = [place[name] for name in row["top_occupation_ids"]]
        scores = map(_rounded, row["top_scores"])
        yield {
            "title": row["raw_title"],
            "predicted": None if row["occupation_id"] is None else place[row["occupation_id"]],
            "matched": row["matched_title"],
            "version": row["model_version"],
            "confidence": _rounded(row["confidence"]),
            "chosenBy": row["chosen_by"],
            "served": row["served"],
            "why_queued": row["why_queued"],
            "answered": row["why_answered"],
            "distinguishing": row["distinguishing_words"],
            "runnerUp": row["runner_up_words"],
            "alternatives": [*zip(names, row["top_titles"], scores, strict=True)],
        }


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 3)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
