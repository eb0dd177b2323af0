"""A few titles answered at once, for people: in the terminal, as JSON, for the page of `serve`.

`described` gives the columns of `Answer` as plain values, and beside them `raw_title`, `meaning` of
the reason, `code_labels` (names of `codes`, empty if unknown), the `alternatives` with their labels
and codes, and the `explanation`. `ask` prints that. It imports neither MLflow nor Polars.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from models.serving import clean as abstention
from models.serving.clean import UNCALIBRATED
from models.serving.explain import explain
from models.serving.model import Normalizer
from tasks.release.registry.opening import opened

MEANINGS: Mapping[str, str] = {  # reason of an answer -> its meaning in words
    abstention.NULL: "the title is missing",
    abstention.NOT_TEXT: "the title is no text",
    abstention.EMPTY: "the title holds white space only",
    abstention.NO_LETTERS: "the title holds digits, punctuation or emoji only",
    abstention.UNKNOWN_LETTERS: "the training titles have none of its letters",
    abstention.NOT_A_JOB_TITLE: "it reads less like a job title than nearly all inputs do, says "
    "no more than a status, a contract or a place, or reviewers marked it as not a job title",
    abstention.UNKNOWN_WORDS: "no title of the taxonomy has one of its words: it is in a "
    "language that the model does not know, or no words at all",
    abstention.UNSURE: "the confidence of the best answer is below the minimum",
    UNCALIBRATED: "the model has no calibration, so its answers have no confidence",
}
SURE, LIKELY = 0.8, 0.5  # confidences from which on an answer is green, and yellow
BOLD, DIM, GREEN, YELLOW, RED = "1", "2", "32", "33", "31"
INDENT, NAME = "  ", 11  # characters of a line's name
WIDTH = 100  # of a line at most
AT_ONCE = 256  # titles answered together


def ask(
    titles: Sequence[str], model: str, root: Path, params: Mapping[str, Any], *, as_json: bool
) -> None:
    """Print an answer for each title, in their order; without a title read standard input.

    `model`: address in the registry of `root`; `params`: of `Normalizer.predict`, by name.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a lone surrogate has no UTF-8
    with opened(model, root) as (_, normalizer):
        try:
            colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
            width = shutil.get_terminal_size().columns
            for batch in [titles] if titles else _lines():
                for answer in described(normalizer, batch, params):
                    text = printed(answer, colour=colour, width=width) + "\n"
                    if as_json:
                        text = json.dumps(answer, ensure_ascii=False, allow_nan=False)
                    print(text, flush=sys.stdout.isatty())
        except BrokenPipeError:  # as `head` leaves; nothing is left to be flushed at the exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _lines() -> Iterator[list[str]]:
    """Yield titles of standard input: each by itself as a person types it, else many at once."""
    lines = io.TextIOWrapper(sys.stdin.buffer, "utf-8-sig", errors="replace")
    titles, typed = (line.rstrip("\r\n") for line in lines), sys.stdin.isatty()
    if typed:
        print("a title and Enter; Ctrl-D ends", file=sys.stderr)
    while batch := [*islice(titles, 1 if typed else AT_ONCE)]:
        yield batch


def described(
    normalizer: Normalizer,
    raw_titles: Sequence[str | None],
    params: Mapping[str, Any],
    *,
    explained: bool = True,
) -> Iterator[dict[str, Any]]:
    """Yield the description of each title's answer, in their order.

    `params`: of `Normalizer.predict`, by name, which raises a ValueError if one is out of range;
    `explained`: whether to say which words drew the title, which costs a search for each word.
    """
    labels, language = normalizer.labels, params.get("language", "")
    position = {name: row for row, name in enumerate(normalizer.index.occupations)}
    for raw_title, answer in zip(raw_titles, normalizer.predict(raw_titles, **params), strict=True):
        values = {"raw_title": raw_title, **answer._asdict()}
        values["meaning"] = MEANINGS.get(answer.reason or "")
        values["code_labels"] = [normalizer.groups.get(code, "") for code in answer.codes]
        rows = zip(answer.top_occupation_ids, answer.top_titles, answer.top_scores, strict=True)
        label_language = language or answer.matched_language
        values["alternatives"] = [
            {
                "occupation_id": name,
                "occupation_label": labels.label(position[name], label_language),
                "codes": labels.codes[position[name]],
                "matched_title": title,
                "score": score,
            }
            for name, title, score in [*rows][1:]
        ]
        if explained and answer.abstained:
            values["explanation"] = {"why": f"no answer: {values['meaning']}", "words": []}
        elif explained:
            explanation = explain(normalizer, raw_title, language)
            words = [part._asdict() for part in explanation.parts]
            values["explanation"] = {"why": explanation.why, "words": words}
        yield values


def printed(answer: Mapping[str, Any], *, colour: bool, width: int) -> str:
    """Write what `described` yields; `width` in characters."""
    lines = [_painted(BOLD, _plain(answer["raw_title"] or ""), colour), _headline(answer, colour)]
    room = max(40, min(width, WIDTH)) - len(INDENT) - NAME
    for name, text in _details(answer):
        for line in textwrap.wrap(_plain(text), room, break_on_hyphens=False):
            lines.append(INDENT + _painted(DIM, name.ljust(NAME), colour) + line)
            name = ""
    return "\n".join(lines)


def _headline(answer: Mapping[str, Any], colour: bool) -> str:
    if answer["abstained"]:
        return INDENT + _painted(YELLOW, f"no answer: {answer['reason']}", colour)
    label = INDENT + _painted(BOLD, _plain(answer["occupation_label"]), colour)
    confidence = answer["confidence"]
    if confidence is None:
        return f"{label}  {answer['reason']}"
    tone = GREEN if confidence >= SURE else YELLOW if confidence >= LIKELY else RED
    return f"{label}  {_painted(tone, f'confidence {confidence:.2f}', colour)}"


def _details(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and text of each line that says something."""
    if answer["abstained"]:
        yield "why", answer["meaning"]
        if answer["best_confident_code"]:
            yield "code", f"{answer['best_confident_code']} is confident"
        return
    yield "id", answer["occupation_id"]
    sure = [f"({value:.2f})" for value in answer["code_confidences"]]
    parts = zip_longest(answer["codes"], answer["code_labels"], sure)
    if levels := [" ".join(filter(None, one)) for one in parts]:
        yield "hierarchy", " > ".join(levels)
    if answer["best_confident_code"] in answer["codes"]:
        yield "sure of", levels[answer["codes"].index(answer["best_confident_code"])]
    if answer["crosswalk_codes"]:
        yield "codes", ", ".join(answer["crosswalk_codes"])
    kinds = [kind for kind in ("seniority", "contract", "location") if answer[kind]]
    if kinds:
        yield "words", "; ".join(f"{kind}: {', '.join(answer[kind])}" for kind in kinds)
    if others := answer["alternatives"]:
        named = (f"{one['occupation_label']} ({one['score']:.2f})" for one in others)
        yield "similar", ", ".join(named)
    if "explanation" in answer:
        yield "why", answer["explanation"]["why"]


def _plain(text: str) -> str:
    """Write what is no printable character as its escape: a title cannot steer the terminal."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _painted(tone: str, text: str, colour: bool) -> str:
    return f"\x1b[{tone}m{text}\x1b[0m" if colour else text
