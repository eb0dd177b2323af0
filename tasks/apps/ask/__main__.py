"""`python -m tasks.apps.ask --model ADDRESS [TITLE ...]`: a few titles answered in the terminal.

Without a title it reads standard input, one title a line. It imports neither MLflow nor Polars.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from models.normalizer.predict_params import PARAMS
from tasks.apps.ask.described import described
from tasks.apps.ask.printed import printed
from tasks.io.command import run
from tasks.release.registry.opening import opened

AT_ONCE = 256  # titles answered together


def main() -> None:
    """Print an answer for each title, in their order."""
    parser = argparse.ArgumentParser(prog="python -m tasks.apps.ask", description=__doc__)
    parser.add_argument("titles", nargs="*")
    parser.add_argument("--model", required=True)
    parser.add_argument("--json", action="store_true")
    for name, kind in (("top-k", int), ("min-confidence", float), ("code-depth", int)):
        parser.add_argument(f"--{name}", type=kind)
    parser.add_argument("--language")
    options = parser.parse_args()
    params = {name: value for name in PARAMS if (value := getattr(options, name)) is not None}
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a lone surrogate has no UTF-8
    with opened(options.model, Path.cwd()) as (_, normalizer):
        try:
            for titles in [options.titles] if options.titles else _lines():
                for answer in described(normalizer, titles, params):
                    print(_text(answer, options.json), flush=sys.stdout.isatty())
        except BrokenPipeError:  # as `head` leaves; nothing is left to be flushed at the exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _lines() -> Iterator[list[str]]:
    """Yield titles of standard input: each by itself as a person types it, else many at once."""
    lines = io.TextIOWrapper(sys.stdin.buffer, "utf-8-sig", errors="replace")
    typed = sys.stdin.isatty()
    if typed:
        print("a title and Enter; Ctrl-D ends", file=sys.stderr)
    titles: list[str] = []
    for line in lines:
        titles.append(line.rstrip("\r\n"))
        if typed or len(titles) == AT_ONCE:
            yield titles
            titles = []
    if titles:
        yield titles


def _text(answer: dict[str, object], as_json: bool) -> str:
    if as_json:
        return json.dumps(answer, ensure_ascii=False, allow_nan=False)
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    width = shutil.get_terminal_size().columns
    return printed(answer, colour=colour, width=width) + "\n"


if __name__ == "__main__":
    run(main)
