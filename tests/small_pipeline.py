"""A folder with `params.yaml` and a few titles, in which stages run as their commands do."""

import csv
import runpy
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from pipeline_graph import module_of

ROOT = Path(__file__).resolve().parents[1]
TITLES = {
    "baker": ["baker", "bread maker", "pastry baker", "baker of bread", "dough mixer", "bun maker"],
    "nurse": ["nurse", "ward nurse", "staff nurse", "sister", "nursing officer", "matron"],
    "driver": ["driver", "lorry driver", "trucker", "haulier", "van driver", "chauffeur"],
}
ROWS = [{"id": one, "title": title} for one, titles in TITLES.items() for title in titles]
STAGES = (
    ["ingest", "split", "typos", "synonyms", "extra_words", "auxiliary_taxonomy"]
    + [f"pairs --mix {mix}" for mix in ("base", "typos", "synonyms", "extra_words")]
    + ["train --mix extra_words --seed 1", "simulate_feedback --seed 1", "feedback"]
    + ["pairs --mix corrections", "train_feedback --mix corrections --seed 1", "lexical"]
    + ["calibrate --mix corrections --seed 1", "evaluate --mix corrections --seed 1"]
)


class Place:
    """A folder with `params.yaml` for one table of titles and one of inputs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.params: dict[str, Any] = yaml.safe_load((ROOT / "params.yaml").read_text())
        self.params["ingest"]["folder"] = "."
        files, columns = {"titles": "titles.csv"}, {"occupation_id": "id", "title": "title"}
        taxonomy = {"reader": "table", "files": files, "columns": columns}
        self.params["ingest"]["taxonomy"] |= taxonomy
        columns = {"raw_title": "raw", "occupation_id": "id"}
        inputs = {"reader": "table", "file": "inputs.csv", "columns": columns}
        self.params["ingest"]["inputs"] |= inputs
        (folder / "feedback").mkdir()
        self.table("titles.csv", ROWS)
        self.table("inputs.csv", [{"raw": "bread baker wanted", "id": "baker"}])

    def table(self, name: str, rows: list[dict[str, str]]) -> None:
        with (self.folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def set(self, name: str, value: object) -> None:
        """Set a parameter by its dotted name."""
        *sections, last = name.split(".")
        tree = self.params
        for section in sections:
            tree = tree[section]
        tree[last] = value

    def write_params(self) -> None:
        text = yaml.safe_dump(self.params, allow_unicode=True)
        (self.folder / "params.yaml").write_text(text, encoding="utf-8")

    def succeeds(self, name: str, *arguments: str) -> None:
        """Run the module as `python -m` does, in this process: imports take seconds."""
        self.write_params()
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*found in sys.modules", RuntimeWarning)
            patch.chdir(self.folder)
            patch.setattr("sys.argv", [name, *arguments])
            module = "tasks.check_params" if name == "check_params" else module_of(name, ROOT)
            runpy.run_module(module, run_name="__main__", alter_sys=True)

    def fails(self, name: str, *arguments: str) -> str:
        """The message of a stage that must end with it, as status 1 and without a traceback."""
        with pytest.raises(SystemExit) as end:
            self.succeeds(name, *arguments)
        message = end.value.code  # of a text, Python writes it to stderr and ends with status 1
        assert isinstance(message, str) and message.startswith("error: ")
        return message

    def frame(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.folder / "data" / f"{name}.parquet")
