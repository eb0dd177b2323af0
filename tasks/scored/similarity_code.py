"""What the code of training one system of the similarity track does, as `tasks/code.py` has it.

Out: `data/similarity_code/NAME.json`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tasks.code import code_of
from tasks.files.command import run
from tasks.files.frames import write_json
from tasks.params.section import read_values

FOLDER = Path("data/similarity_code")


def main() -> None:
    """Run the stage in the working directory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True)
    name = parser.parse_args().name
    system = read_values()["similarity"]["systems"][name]
    encoder, loss = (system[part]["kind"] for part in ("encoder", "loss"))
    code = code_of("tasks.scored.similarity_train", encoder, loss)
    write_json(code, FOLDER / f"{name}.json")


if __name__ == "__main__":
    run(main)
