"""The hash of the code that trains one system, as `tasks/pipeline/training_code_hash.py` has it."""

from __future__ import annotations

import argparse
from pathlib import Path

from tasks.io.command import run
from tasks.io.files import write_json
from tasks.io.section import read_values
from tasks.pipeline.training_code_hash import code_of


def main() -> None:
    """Run the stage in the working directory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True)
    name = parser.parse_args().name
    system = read_values()["similarity"]["systems"][name]
    encoder, loss = (system[part]["kind"] for part in ("encoder", "loss"))
    code = code_of("tasks.papers.similarity.similarity_train", encoder, loss)
    write_json(code, Path(f"data/similarity_code/{name}.json"))


if __name__ == "__main__":
    run(main)
