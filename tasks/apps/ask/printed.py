"""The description of an answer as lines for a terminal, in colour or plain."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

SURE, LIKELY = 0.8, 0.5  # confidences from which on an answer is green, and yellow
BOLD, DIM, GREEN, YELLOW, RED = "1", "2", "32", "33", "31"
INDENT, NAME = "  ", 11  # characters of a line's name
WIDTH = 100  # of a line at most


def printed(answer: Mapping[str, Any], *, colour: bool, width: int) -> str:
    """Write what `described` yields; `width` in characters."""
    title = answer["raw_title"] if answer["raw_title"] is not None else ""
    lines = [_painted(BOLD, _plain(title), colour), _headline(answer, colour)]
    for name, text in _details(answer):
        wrapped = textwrap.wrap(
            _plain(text), max(40, min(width, WIDTH)) - len(INDENT) - NAME, break_on_hyphens=False
        )
        lines += [
            f"{INDENT}{_painted(DIM, label.ljust(NAME), colour)}{line}"
            for label, line in zip([name, *[""] * len(wrapped)], wrapped, strict=False)
        ]
    return "\n".join(lines)


def _headline(answer: Mapping[str, Any], colour: bool) -> str:
    if answer["abstained"]:
        return f"{INDENT}{_painted(YELLOW, 'no answer: ' + answer['reason'], colour)}"
    label = _painted(BOLD, _plain(answer["occupation_label"]), colour)
    confidence = answer["confidence"]
    if confidence is None:
        return f"{INDENT}{label}  {answer['reason']}"
    tone = GREEN if confidence >= SURE else YELLOW if confidence >= LIKELY else RED
    return f"{INDENT}{label}  {_painted(tone, f'confidence {confidence:.2f}', colour)}"


def _details(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and text of each line that says something."""
    if answer["abstained"]:
        yield "why", answer["meaning"]
        if answer["best_confident_code"]:
            yield "code", f"{answer['best_confident_code']} is confident"
        return
    yield "id", answer["occupation_id"]
    if answer["codes"]:
        yield "hierarchy", " > ".join(_levels(answer))
    if answer["best_confident_code"] in answer["codes"]:
        level = answer["codes"].index(answer["best_confident_code"])
        yield "sure of", [*_levels(answer)][level]
    if answer["crosswalk_codes"]:
        yield "codes", ", ".join(answer["crosswalk_codes"])
    words = {kind: answer[kind] for kind in ("seniority", "contract", "location") if answer[kind]}
    if words:
        yield "words", "; ".join(f"{kind}: {', '.join(found)}" for kind, found in words.items())
    if answer["alternatives"]:
        others = (
            f"{one['occupation_label']} ({one['score']:.2f})" for one in answer["alternatives"]
        )
        yield "similar", ", ".join(others)
    if "explanation" in answer:
        yield "why", answer["explanation"]["why"]


def _levels(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the codes with their labels and confidences, where there are any."""
    for level, code in enumerate(answer["codes"]):
        sure = [f"({value:.2f})" for value in answer["code_confidences"][level : level + 1]]
        yield " ".join(filter(None, [code, answer["code_labels"][level], *sure]))


def _plain(text: str) -> str:
    """Write what is no printable character as its escape: a title cannot steer the terminal."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _painted(tone: str, text: str, colour: bool) -> str:
    return f"\x1b[{tone}m{text}\x1b[0m" if colour else text
