"""One whole run of each slow study whose figures are a dated snapshot: bulk, languages, loop."""

import csv
import importlib
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import small_benchmark
import tiny_run
import yaml
from mlflow_import import WARNINGS
from toy_workspace import JOBS, PARAMS, make_workspace, queries, write_board

from benchmarks import language_arm as arms
from benchmarks.results import Row, Run, _tidied, read_rows, replace_rows
from benchmarks.studies import bulk, languages, loop
from benchmarks.systems import RegisteredModel, write_model
from benchmarks.workspace import COLUMNS, FILE, Halves, Workspace, stage_module
from tasks.check_params import load_params
from tasks.io import schemas
from tasks.io.frames import write_frame
from tasks.io.mixes import SOURCES
from tasks.pipeline.pairs.strings import NO_AUXILIARY
from tasks.release.model_package.run_files import RunFiles

pytestmark = [pytest.mark.slow, *WARNINGS]
WORDS = {
    "en": ("baker", "nurse", "welder", "roofer", "pilot", "tailor"),
    "de": ("Bäcker", "Krankenpfleger", "Schweißer", "Dachdecker", "Pilot", "Schneider"),
}
KINDS = ("", "senior ", "assistant ", "night ", "chief ", "trainee ", "lead ", "deputy ")
TOWNS = ("bern", "york", "lyon", "rome", "oslo")
FRONTS = [one + two for one in "abcdefg" for two in "mnopqrs"]


class TinyArm:
    """A tiny run instead of ESCO in some languages."""

    def __init__(self, workspace: Workspace, name: str, kept: Path) -> None:
        self.workspace, self.name, self.kept = workspace, name, kept

    def train(self, seeds: list[int], processes: int) -> None:
        assert seeds == [self.workspace.seed] and processes == 1

    @contextmanager
    def served(self, seed: int) -> Iterator[RegisteredModel]:
        write_model(RunFiles.below(self.workspace.folder), self.kept / "model")
        yield RegisteredModel.load(self.kept / "model")


def test_bulk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parquet to Parquet; every answer is that of the exact search."""
    sample = replace(Workspace.read("sample"), folder=tiny_run.make_run(tmp_path / "run"))
    titles = pl.Series([f"nurse {number}" for number in range(60)])
    asked = pl.DataFrame({"query_id": titles, "raw_title": titles, "occupation_id": "nurse"})
    monkeypatch.setattr(bulk, "read_halves", lambda *_: Halves(asked.clear(), asked))
    monkeypatch.setattr(bulk.Workspace, "read", lambda _: sample)
    monkeypatch.setattr(bulk, "distinct_titles", lambda _, count: titles[:count])
    monkeypatch.setattr(bulk, "Arm", TinyArm)
    monkeypatch.setattr(bulk, "on_spark", lambda *_: iter(()))
    monkeypatch.setattr(bulk, "one_thread_speeds", lambda *_: iter(()))
    options = Namespace(
        languages=["all"], titles=[60], rows=[40], cluster=10, processes=1, kept=tmp_path
    )
    *parts, rows = bulk.measure("sample", options)
    assert [part == rows[: len(part)] for part in parts] == [True] * 2, "each run is kept at once"
    figures = {(row.system, row.test, row.metric): row.value for row in rows}
    for metric in ("other_first", "other_top_five"):
        assert figures["all", "vacancies", metric] == 0
    assert figures["all-all_exact", "vacancies", "gain_success_at_1"] == 0
    positive = [("all", f"part/{part}", "titles_per_second") for part in ("embed", "predict")]
    positive += [("machine", "floor", "gigabytes_per_second"), ("all", "single", "milliseconds")]
    for test in ("distinct/6e-05m", "repeats/4e-05m"):
        positive += [("all", test, "rows_per_second"), ("all", test, "seconds")]
        assert figures["all", test, "peak_mib"] > 10
    assert min(figures[key] for key in positive) > 0


def write_esco(root: Path) -> Workspace:
    """A workspace with parameters and source files, in which nothing has run."""
    params = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))
    params["mix"] = arms.MIX
    files = {name: f"{name}.parquet" for name in ("titles", "occupations", "groups")}
    params["ingest"]["folder"] = "data/esco"
    params["ingest"]["taxonomy"] |= {"reader": "esco_parquet", "files": files}
    params["synonyms"]["reader"] = "none"
    params["encoders"]["ngram_bag"] |= {"dim": 4, "min_count": 1}
    params["train"] |= {"batch_pairs": 6, "max_steps": 4, "evaluate_every": 2}
    params["evaluate"]["bootstrap_draws"] = 20
    folder = root / "data/esco"
    folder.mkdir(parents=True)
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    jobs = [(f"o{n}", language, job) for language in WORDS for n, job in enumerate(WORDS[language])]
    titles = [(own, spoken, kind + job, not kind) for own, spoken, job in jobs for kind in KINDS]
    codes = [(f"o{number}", str(7000 + number)) for number in range(len(WORDS["en"]))]
    groups = {code[:digits] for _, code in codes for digits in range(1, 5)}
    for name, columns, rows in (
        ("titles", "occupation_id language title preferred", titles),
        ("occupations", "occupation_id isco_code", codes),
        ("groups", "isco_code label", [(own, f"group {own}") for own in sorted(groups)]),
    ):
        frame = pl.DataFrame(rows, columns.split(), orient="row")
        frame.write_parquet(folder / files[name])
    inputs = [(f"{job} {town}", code, own) for own, code, job in jobs for town in TOWNS]
    frame = pl.DataFrame(inputs, ["raw_title", "language", "occupation_id"], orient="row")
    frame.write_csv(folder / "inputs.csv")
    return Workspace("esco", root, load_params(root / "params.yaml"))


def write_published(folder: Path) -> None:
    """Two of MELO's sets, with the map of one in the other folder, and a board."""
    for name in ("deu_q_de_c_de", "deu_q_de_c_en"):
        (folder / "melo" / name).mkdir(parents=True)
        small_benchmark.write(folder / "melo" / name, concept=small_benchmark.CONCEPTS)
    (folder / "melo_concepts").mkdir()
    moved = folder / "melo/deu_q_de_c_de/concept_mapping.tsv"
    moved.rename(folder / "melo_concepts/deu_q_de_c_de.tsv")
    (folder / FILE).parent.mkdir()
    with (folder / FILE).open("w", encoding="utf-8", newline="") as file:
        rows = [(f"{job} {k}", f"o{n}") for n, job in enumerate(WORDS["en"]) for k in range(20)]
        csv.writer(file).writerows([tuple(COLUMNS.values()), *rows])


def in_this_process(folder: Path, stage: str) -> float:
    """Run a stage as `run_stage` does, without a start of Python."""
    name, *arguments = stage.split()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["stage", *arguments])
        importlib.import_module(stage_module(name)).main()
    return 60.0


def test_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One arm of all languages and one of English, whose sets of MELO are none."""
    stages = [*yaml.safe_load((PARAMS.parent / "dvc.yaml").read_text())["stages"]]
    assert stages[: stages.index("pairs")] == [*arms.DATA_STAGES]
    workspace, published = write_esco(tmp_path / "esco"), tmp_path / "published"
    write_published(published)
    monkeypatch.setattr(arms, "run_stage", in_this_process)
    monkeypatch.setattr(languages.Workspace, "read", lambda _: workspace)
    monkeypatch.setattr(languages, "data_folder", lambda: published)
    monkeypatch.setattr(RegisteredModel, "costs", lambda self, titles: iter([]))
    sets, kept = ["deu_q_de_c_de", "deu_q_de_c_en"], tmp_path / "kept"
    numbers = {"seeds": [2], "depth": 100, "processes": 1, "untrained": ["tfidf"]}
    options = Namespace(languages=["all", "en"], sets=sets, kept=kept, **numbers)
    made = [*languages.measure("esco", options)]
    rows = [row for one in made for row in one]
    figures = {(row.system, row.test, row.metric, row.seed): row for row in rows}
    for seed in (2, None):
        assert 0 < figures["all", "melo/deu_q_de_c_de/elements", "mrr", seed].value <= 1
        assert 0 < figures["all", "melo/deu_q_de_c_en/occupations", "mrr", seed].value <= 1
        for test in ("board", "labelled/en", "labelled/other"):
            assert 0 <= figures["en", test, "two_digits", seed].value <= 1
    assert figures["tfidf", "melo/deu_q_de_c_de/elements", "mrr", None].n == 2
    assert not [row for row in rows if row.system == "en" and row.test.startswith("melo")]
    assert figures["en", "cost", "minutes_data", None].value == pytest.approx(10)
    assert figures["en", "cost", "minutes_train", None].value > 0
    english, both = (tmp_path / f"kept/{name}/data/split/aliases.parquet" for name in ("en", "all"))
    assert pl.read_parquet(english)["language"].unique().to_list() == ["en"]
    assert set(pl.read_parquet(both)["language"]) == {"de", "en"}
    options.languages = ["en"]  # its network is kept
    (again,) = languages.measure("esco", options)
    assert again == made[1]
    assert len([*options.kept.glob("*/weights.safetensors")]) == 2
    for one in made:
        replace_rows("languages", "esco", one, Run("a", "2026-01-02", "m", "c"), tmp_path)
    drawn = languages.plot(read_rows(tmp_path / "languages.csv"))
    assert "best published" in drawn and "TF-IDF" in drawn and "de → en" in drawn


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A board beside a finished workspace, the working directory, whose network learns 4 steps."""
    root = make_workspace(tmp_path / "workspace")
    monkeypatch.chdir(root)
    rows = [(f"{front} {job}", f"o{k}") for k, job in enumerate(JOBS) for front in FRONTS]
    write_board(tmp_path, rows + [(title.upper(), k) for title, k in rows[::7]])
    monkeypatch.setattr(loop, "data_folder", lambda: tmp_path)
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    params["train"] |= {"max_steps": 4, "evaluate_every": 4}
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    (root / "dvc.lock").write_text("schema: '2.0'\n", encoding="utf-8")
    codes = [(f"o{k}", job, ["1", f"1{k % 2}"]) for k, job in enumerate(JOBS)]
    occupations = pl.DataFrame(codes, dict(schemas.OCCUPATIONS), orient="row")
    of_sources = (schemas.VARIANTS, schemas.SYNONYM_VARIANTS, schemas.EXTRA_WORDS_VARIANTS)
    for name, schema, frame in (
        ("ingest/occupations", schemas.OCCUPATIONS, occupations),
        ("ingest/groups", schemas.GROUPS, pl.DataFrame(schema=dict(schemas.GROUPS))),
        ("auxiliary_taxonomy/titles", schemas.AUXILIARY_TITLES, NO_AUXILIARY),
        ("typos/queries", schemas.QUERIES, queries("typos", "gate", "old ")),
    ):
        write_frame(frame, root / f"data/{name}.parquet", schema)
    for source, own in zip(SOURCES, of_sources, strict=True):
        file = root / f"data/{source.stage}/variants.parquet"
        write_frame(pl.DataFrame(schema=dict(own)), file, own)
    return tmp_path


def test_loop(board: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every arm has every week, an override is right at once, and what is kept is not run again."""
    options = Namespace(
        **{"weeks": 1, "budget": 8, "every": 1, "seeds": 1, "deals": 1, "processes": 1},
        kept=board / "kept",
    )
    (rows,) = loop.measure("sample", options)
    made = pl.DataFrame(rows, list(Row._fields), orient="row", infer_schema_length=None)
    weekly = made.filter(metric="success_at_1", seed=1)
    for name in loop.ARMS:
        assert weekly.filter(system=name)["test"].to_list() == ["week:1", "week:2", "later_weeks"]
    assert weekly.filter(test="week:1")["value"].n_unique() == 1  # nobody has reviewed anything
    mistakes = made.filter(metric="mistakes", test="week:1/queried", seed=1)
    reviewed = dict(mistakes.select("system", "n").iter_rows())
    assert reviewed["random"] == 8 and 1 <= reviewed["queue"] <= 8  # to this network most are alike
    once = made.filter(test="week:1/at_once", metric="corrected", seed=1)
    assert once["value"].to_list() == [1.0] * len(once) and len(once)
    later = made.filter(metric="gain_of_retraining", test="week:1/later", seed=1)
    assert set(later["n"]) == set(weekly.filter(test="week:2")["n"])
    promoted = made.filter(metric="promoted", test="week:1/gate", seed=1)
    assert sorted(promoted["system"]) == ["queue", "random"]
    gained = set(made.filter(metric="gain_success_at_1")["system"])
    assert gained == {"queue-random", "queue-nothing", "random-nothing"}
    names = [f"sample-{arm}-1-1-1x8-every-1.parquet" for arm in loop.ARMS]
    assert {path.name for path in (board / "kept").iterdir()} == {*names, "sample-first-1"}
    monkeypatch.setattr(subprocess, "run", None)
    assert [*loop.measure("sample", options)] == [rows]
    drawn = loop.plot([_tidied("sample", row, "loop-1") for row in rows])
    assert drawn.count("inputs answered correctly") == 1 and "the queue reviewed" in drawn
