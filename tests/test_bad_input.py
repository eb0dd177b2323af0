"""Bad input as users meet it: a stage's exit status, and a message that says what to do.

Each test runs `tasks.pipeline.STAGE.stage` as the command does, in a folder that holds only
`params.yaml` and a little data; one runs the command itself.
The registered model's bad input: tests/models/normalizer/test_normalizer.py.
"""

from __future__ import annotations

import csv
import json
import os
import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from models.text.titles import LONGEST
from tasks.io.frames import write_frame
from tasks.io.schemas import AUXILIARY_TITLES
from tasks.pipeline.pairs.strings_table import NO_AUXILIARY

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


TRAIN = "train --mix typos --seed 1"


class Place:
    """A folder with `params.yaml` for one table of titles and one of inputs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.params: dict[str, Any] = yaml.safe_load((ROOT / "params.yaml").read_text())
        self.params["ingest"]["folder"] = "."
        self.params["ingest"]["taxonomy"] |= {
            "reader": "table",
            "files": {"titles": "titles.csv"},
            "columns": {"occupation_id": "id", "title": "title"},
        }
        self.params["ingest"]["inputs"] |= {
            "reader": "table",
            "file": "inputs.csv",
            "columns": {"raw_title": "raw", "occupation_id": "id"},
        }
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
            module = f"pipeline.{name}.stage" if name != "check_params" else name
            runpy.run_module(f"tasks.{module}", run_name="__main__", alter_sys=True)

    def fails(self, name: str, *arguments: str) -> str:
        """The message of a stage that must end with it, as status 1 and without a traceback."""
        with pytest.raises(SystemExit) as end:
            self.succeeds(name, *arguments)
        message = end.value.code  # of a text, Python writes it to stderr and ends with status 1
        assert isinstance(message, str) and message.startswith("error: ")
        return message

    def frame(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.folder / "data" / f"{name}.parquet")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_broken_row_is_rejected_with_file_line_and_reason(place: Place) -> None:
    """Line 3 of 19 has a field too many; the parameter decides whether that is too much."""
    lines = (place.folder / "titles.csv").read_text().splitlines(keepends=True)
    lines.insert(2, "baker,bun,seller\n")
    (place.folder / "titles.csv").write_text("".join(lines))
    place.params["ingest"]["max_rejected_share"] = 0.1
    place.succeeds("ingest")
    assert place.frame("ingest/rejected").rows() == [
        ("titles.csv", 3, "wrong number of fields", "baker,bun,seller")
    ]
    assert place.frame("ingest/aliases").height == len(ROWS)
    metrics = json.loads((place.folder / "data/ingest/metrics.json").read_text())
    assert metrics["rejected_errors"] == 1

    place.params["ingest"]["max_rejected_share"] = 0.01
    message = place.fails("ingest")
    assert "1 of 20 rows were rejected, more than ingest.max_rejected_share = 0.01" in message
    assert "repair the files or raise the parameter" in message
    assert place.frame("ingest/rejected").height == 1


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_without_the_column_names_it_and_what_there_is(place: Place, kind: str) -> None:
    name = f"other.{kind}"
    frame = pl.DataFrame({"id": ["baker"], "job": ["baker"]})
    frame.write_csv(place.folder / name) if kind == "csv" else frame.write_parquet(
        place.folder / name
    )
    place.params["ingest"]["taxonomy"]["files"] = {"titles": name}
    message = place.fails("ingest")
    assert f"{name} has no column ['title'], only ['id', 'job']" in message
    assert "ingest.taxonomy.files.titles" in message
    assert not (place.folder / "data").exists()


def test_a_stage_file_without_the_column_names_the_stage_to_run_again(place: Place) -> None:
    place.succeeds("ingest")
    file = place.folder / "data/ingest/aliases.parquet"
    pl.read_parquet(file).drop("preferred").write_parquet(file)
    message = place.fails("split")
    assert "aliases.parquet: preferred: missing, expected Boolean" in message
    assert "Rerun the stage that writes it" in message


@pytest.mark.thorough
def test_the_command_ends_with_status_1_and_a_message_alone(place: Place) -> None:
    (place.folder / "titles.csv").unlink()
    place.write_params()
    done = subprocess.run(
        [sys.executable, "-m", "tasks.pipeline.ingest.stage"],
        cwd=place.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: titles.csv is missing.")
    assert "Traceback" not in done.stderr


def test_a_missing_file_says_where_it_comes_from(place: Place) -> None:
    (place.folder / "titles.csv").unlink()
    assert "titles.csv is missing. It is the file that ingest.taxonomy.files" in place.fails(
        "ingest"
    )
    assert "aliases.parquet is missing: run `dvc repro`" in place.fails("split")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("stage", "name", "value", "complaint"),
    [
        (TRAIN, "losses.info_nce.temperature", "1", " = '1': Input should be a valid number"),
        (TRAIN, "train.clip_norm", 0, " = 0: Input should be greater than 0"),
        (TRAIN, "train.clip_norm", "1", " = '1': Input should be a valid number"),
        (TRAIN, "train.batchpairs", 7, ": unknown parameter; check its spelling"),
        ("ingest", "ingest.max_rejected_share", 2, " = 2: Input should be less than or equal to 1"),
        ("ingest", "ingest.taxonomy.file", "", ": unknown parameter; check its spelling"),
    ],
)
def test_parameters_that_cannot_be(
    place: Place, stage: str, name: str, value: object, complaint: str
) -> None:
    """The stage that reads them refuses them, and so does the check of the whole file."""
    place.set(name, value)
    for command in (stage.split(), ["check_params"]):
        message = place.fails(*command)
        assert name + complaint in message
        assert "params.yaml" in message


def test_a_stage_reads_its_own_section_alone(place: Place) -> None:
    """A wrong value of another stage does not stop it; the check of the whole file names it."""
    place.succeeds("check_params")
    place.set("train.clip_norm", 0)
    place.set("trains", {})
    place.succeeds("ingest")
    message = place.fails("check_params")
    assert "train.clip_norm = 0: Input should be greater than 0" in message
    assert "trains: unknown parameter; check its spelling" in message


def test_a_section_that_is_not_there(place: Place) -> None:
    del place.params["pairs"]
    for command in (["pairs", "--mix", "base"], ["check_params"]):
        assert "pairs: missing; params.yaml holds every parameter" in place.fails(*command)


def test_an_empty_taxonomy(place: Place) -> None:
    (place.folder / "titles.csv").write_text("id,title\n")
    message = place.fails("ingest")
    assert "the taxonomy is empty: there is nothing to tell apart" in message
    assert "titles.csv has no rows, a header at most. Add titles" in message
    assert "inputs.csv" not in message


def test_an_empty_file(place: Place) -> None:
    (place.folder / "titles.csv").write_text("")
    assert "titles.csv has no header line" in place.fails("ingest")


def test_one_occupation_only(place: Place) -> None:
    place.table("titles.csv", [row for row in ROWS if row["id"] == "baker"])
    message = place.fails("ingest")
    assert "the taxonomy has one occupation only: there is nothing to tell apart" in message


@pytest.mark.thorough
def test_occupations_of_one_title_each_give_no_pair(place: Place) -> None:
    place.table("titles.csv", [{"id": one, "title": one} for one in TITLES])
    place.succeeds("ingest")
    place.succeeds("split")
    write_frame(
        NO_AUXILIARY, place.folder / "data/auxiliary_taxonomy/titles.parquet", AUXILIARY_TITLES
    )
    assert "every occupation has a single title" in place.fails("pairs", "--mix", "base")


STRANGE = {
    "emoji": "👩‍🍳🥐🔥",
    "long": "pastry baker and " * 588 + "more",  # 10,000 characters
    "punctuation": "?!…",
    "controls": "bread\u0000 ma\u200bker\u202e",
    "right to left": "خبّاز",
    "one character": "x",
}


def strange(place: Place) -> None:
    """Each strange title as an alias and as a labelled input; rows that are empty as well."""
    assert len(STRANGE["long"]) == 10_000
    aliases = [{"id": "baker", "title": title} for title in STRANGE.values()]
    place.table("titles.csv", [*ROWS, *aliases, {"id": "nurse", "title": ""}])
    inputs = [{"raw": f"{title} job", "id": "baker"} for title in STRANGE.values()]
    empty = [{"raw": "", "id": "nurse"}, {"raw": "  ", "id": ""}]
    place.table("inputs.csv", [*inputs, {"raw": "💥", "id": ""}, *empty])
    place.params["ingest"]["max_rejected_share"] = 0.2


def test_strange_and_empty_titles_are_kept_or_counted(place: Place) -> None:
    strange(place)
    place.succeeds("ingest")
    aliases = set(place.frame("ingest/aliases")["title"])
    rejected = place.frame("ingest/rejected")
    kept = {name for name, title in STRANGE.items() if title in aliases}
    assert kept >= {"emoji", "long", "right to left", "one character"}
    assert set(STRANGE) - kept <= {"punctuation", "controls"}
    reasons = rejected.filter(pl.col("row").str.strip_chars(", \n").is_in(["", "nurse"]))
    assert set(reasons["reason"]) == {"empty title", "empty raw_title", "empty row"}
    inputs = place.frame("ingest/inputs")["raw_title"].to_list()
    assert f"{STRANGE['long']} job" in inputs
    assert "💥" in inputs
    read = json.loads((place.folder / "data/ingest/metrics.json").read_text())["rows_read"]
    assert read["inputs.csv"] == len(inputs) + rejected.filter(file="inputs.csv").height


def test_null_titles_of_a_parquet_file_are_rejected(place: Place) -> None:
    """Null, empty and white space mean the same; with no label either it is an empty row."""
    raw = ["baker of buns", None, "", " \t", "🍞"]
    frame = pl.DataFrame({"raw": raw, "id": ["baker", "nurse", None, None, None]})
    frame.write_parquet(place.folder / "inputs.parquet")
    place.params["ingest"]["inputs"]["file"] = "inputs.parquet"
    place.params["ingest"]["max_rejected_share"] = 0.2
    place.succeeds("ingest")
    assert place.frame("ingest/inputs").rows() == [(0, "baker of buns", "baker"), (1, "🍞", None)]
    rejected = place.frame("ingest/rejected").select("line", "reason").rows()
    assert rejected == [(2, "empty raw_title"), (3, "empty row"), (4, "empty row")]


@pytest.mark.slow
def test_strange_titles_go_through_all_stages(place: Place) -> None:
    """Two steps of training; every query of the tests gets its values, none of them NaN."""
    strange(place)
    place.params["train"].update(max_steps=2, evaluate_every=1, batch_pairs=8)
    place.params["encoders"]["ngram_bag"].update(dim=4)
    place.table("synonyms.csv", [{"term": "baker", "synonym": "maker of bread"}])
    place.params["synonyms"] |= {"folder": ".", "file": "synonyms.csv"}
    for stage in STAGES:
        place.succeeds(*stage.split())
    written = ("split", "typos", "synonyms", "extra_words")
    queries = pl.concat(place.frame(f"{stage}/queries") for stage in written)
    tests = queries.filter(split="test")
    for folder in ("lexical", "evaluate/corrections/1"):
        scores = place.frame(f"{folder}/scores")
        assert scores.height == 2 * tests.height
        assert scores["reciprocal_rank"].is_finite().all()
    assert any("👩" in title for title in tests["raw_title"])
    assert any(len(title) == LONGEST for title in tests["raw_title"])
    assert queries["cleaned"].str.len_chars().max() == LONGEST


FEW = {"baker": ["baker", "bread maker"], "nurse": ["nurse", "ward nurse"]}
NIGHTS = [
    {"raw": f"night {title} {n}", "id": one} for n in range(5) for one, (title, _) in FEW.items()
]


@pytest.mark.slow
@pytest.mark.parametrize("inputs", [[], NIGHTS, [row | {"id": ""} for row in NIGHTS]])
def test_few_titles_go_through_all_stages(place: Place, inputs: list[dict[str, str]]) -> None:
    """Two occupations of two titles, no synonyms; no inputs, labelled ones, unlabelled ones.

    Most tests are then without a query, validation and gate too, and a batch is the whole file.
    """
    place.table("titles.csv", [{"id": one, "title": title} for one in FEW for title in FEW[one]])
    if inputs:
        place.table("inputs.csv", inputs)
    else:
        place.params["ingest"]["inputs"] |= {"reader": "none", "file": "", "columns": {}}
    place.params["synonyms"]["reader"] = "none"
    place.params["train"].update(max_steps=2, evaluate_every=1)
    place.params["encoders"]["ngram_bag"].update(dim=4)
    for stage in (*STAGES, "report"):
        place.succeeds(*stage.split())
    assert place.frame("evaluate/corrections/1/scores")["reciprocal_rank"].is_finite().all()
    page = (place.folder / "data/report/report.html").read_text(encoding="utf-8")
    assert "</html>" in page
