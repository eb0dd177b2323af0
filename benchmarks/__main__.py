"""Measure one study: `python -m benchmarks NAME [--dataset NAME ...] [options]`.

Without a name it lists the studies. `all` measures every study whose files are there. A study that
trains continues behind the last network that it kept. `--results` writes the rows to another folder
than `results/`, and leaves the pages as they are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import render
from benchmarks.results import FOLDER, Run, replace_rows
from benchmarks.study import Study, studies, study
from benchmarks.workspace import data_folder, folder_of

QUIET = ("processes", "kept", "dataset", "results")
"""Options that change no figure, or are written otherwise into the command."""
OUTSIDE = "$ROLECALL_DATA/"  # how the path of a publisher's file begins, in `needs`


def measure(chosen: Study, arguments: Sequence[str]) -> Path:
    """Measure one study on its data sets and write its rows; return the folder of the files."""
    options = parser(chosen).parse_args(arguments)
    for dataset in options.dataset or chosen.config["datasets"]:
        reason = missing(chosen, dataset)
        if reason and options.dataset:
            raise FileNotFoundError(f"{chosen.name} {dataset}: {reason}")
        if reason:
            print(f"{chosen.name} {dataset}: left out, {reason}", flush=True)
            continue
        run = Run.now(command(chosen, dataset, options))
        for rows in chosen.measuring.measure(dataset, options):
            replace_rows(chosen.name, dataset, rows, run, options.results)
            print(f"{chosen.name} {dataset}: {len(rows)} figures", flush=True)
    return Path(options.results)


def parser(chosen: Study) -> argparse.ArgumentParser:
    """Return the parser of a study's options, which have their defaults from its YAML."""
    made = argparse.ArgumentParser(f"python -m benchmarks {chosen.name}")
    made.add_argument("--dataset", nargs="+", help=f"default: {chosen.config['datasets']}")
    made.add_argument("--processes", type=int, default=2, help="networks that train at a time")
    made.add_argument("--kept", type=Path, default=Path(".checkpoints") / chosen.name)
    made.add_argument("--results", type=Path, default=FOLDER, help="folder of the CSV files")
    for name, default in chosen.config.get("options", {}).items():
        several = isinstance(default, list)
        kind, nargs = type(default[0] if several else default), "*" if several else None
        made.add_argument(f"--{name}", type=kind, default=default, nargs=nargs, help=str(default))
    return made


def missing(chosen: Study, dataset: str) -> str | None:
    """Say why a study cannot run on a data set; None if it can."""
    needs = chosen.config["needs"]
    file = needs[dataset] if isinstance(needs, dict) else needs
    if file.startswith(OUTSIDE):
        path = data_folder() / file.removeprefix(OUTSIDE)
        return None if path.is_file() else f"{file} is not there"
    path = folder_of(dataset) / file
    return None if path.is_file() else f"{path} is missing: run `{before(chosen, dataset)}`"


def before(chosen: Study, dataset: str) -> str:
    """Return the command that has to have run: `make reproduce PROFILE=esco`."""
    made_by: str = chosen.config.get("before", "")
    return f"{made_by} PROFILE={dataset}" if made_by else ""


def command(chosen: Study, dataset: str, options: argparse.Namespace) -> str:
    """Write the line that measures again, with every option that changes a figure."""
    words = ["python", "-m", "benchmarks", chosen.name, "--dataset", dataset]
    for name, value in vars(options).items():
        if name not in QUIET:
            values = value if isinstance(value, list) else [value]
            words += [f"--{name.replace('_', '-')}", *map(str, values)]
    return " && ".join(filter(None, [before(chosen, dataset), " ".join(words)]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the study that is named, and render the pages."""
    name, *rest = list(sys.argv[1:] if arguments is None else arguments) or [""]
    if name in ("", "-h", "--help"):
        print(__doc__)
        print("\n".join(f"{one.name:14} {one.config['question']}" for one in studies()))
        return
    folders = [measure(one, rest) for one in (studies() if name == "all" else [study(name)])]
    if folders[-1] == FOLDER:
        render.main()


if __name__ == "__main__":
    main()
