"""`rolecall normalize`: the flow of that name, on files as seen from the current directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flows.commands.work import place, work


def normalize(
    source: str, output: Path, model: str, options: dict[str, Any], known: Path | None
) -> None:
    """Run the flow in the clone, and print what came of it."""
    remote = "://" in source
    source, output = source if remote else str(Path(source).absolute()), output.absolute()
    model = str(Path(model).absolute()) if model and Path(model).exists() else model
    kept = str(known.absolute()) if known else ""
    with place(None) as root, work(root, "normalize"):
        from flows.normalize import facts
        from flows.normalize import normalize as flow
        from flows.results import as_facts

        chosen = {name: value for name, value in options.items() if value not in (None, "")}
        done = flow(source, str(output), model, chosen, kept)
        print("\n" + as_facts({**facts(done), "output": str(output)}), flush=True)
