"""MELO's ranks and served answers by hand, the stages of an arm, and a small run of the whole."""

from __future__ import annotations

import csv
import importlib
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import small_benchmark
import yaml
from mlflow_import import WARNINGS
from toy_workspace import PARAMS

from benchmarks import language_arm as arms
from benchmarks.results import Run, read_rows, replace_rows
from benchmarks.studies import languages, melo
from benchmarks.studies.languages import answered, error_rows
from benchmarks.systems import PACKAGE, RegisteredModel
from benchmarks.workspace import COLUMNS, FILE, Workspace, stage_module
from models.serving.scores import ScoreRule
from tasks.apps.benchmark_folder import read_benchmark, read_concepts
from tasks.check_params import load_params
from tasks.io.frames import write_frame
from tasks.release.model_package.folder import KNOWN

pytestmark = WARNINGS
JOBS = {
    "en": ("baker", "nurse", "welder", "roofer", "pilot", "tailor"),
    "de": ("Bäcker", "Krankenpfleger", "Schweißer", "Dachdecker", "Pilot", "Schneider"),
}
KINDS = ("", "senior ", "assistant ", "night ", "chief ", "trainee ", "lead ", "deputy ")


def test_an_element_scores_with_its_occupation_and_ties_count_against_it(tmp_path: Path) -> None:
    """Worked by hand, at a temperature that leaves the best element of each occupation.

    Own scores of Q1 are .5, .5 (it, relevant), .9, .1 (food), .5 (it2): with their occupations
    1, 1, 1.8, 1 and 1. Of the four tied ones both relevant stand last, in places 4 and 5, so that
    AP = (1/4 + 2/5) / 2 and RR = 1/4.
    """
    folder = small_benchmark.write(tmp_path, concept=small_benchmark.CONCEPTS)
    benchmark = read_benchmark(folder, concepts=False)
    occupation_of = read_concepts(folder / "concept_mapping.tsv", benchmark.elements)
    own = {"software-entwickler": 0.5, "programmierer": 0.5, "bäcker": 0.9, "brotbäckerin": 0.1}

    def similarities(titles: list[str]) -> np.ndarray:
        row = [own[title] for title in benchmark.index.titles]
        return np.array([row] * len(titles), np.float32)

    rule = ScoreRule("best", 1)
    values = melo.voted(similarities, benchmark, occupation_of, rule, 1000)
    assert values["mean_average_precision"][0] == pytest.approx((1 / 4 + 2 / 5) / 2)
    assert values["mrr"][0] == 1 / 4
    assert melo.languages_of("deu_q_de_c_en") == ("de", "en")


def test_a_tied_relevant_element_passes_none_that_scores_less() -> None:
    less = np.nextafter(np.float32(0.5), np.float32(0))
    scores = np.array([[0.5, 0.5, less]], np.float32)
    lowered = melo.ties_against(scores, np.array([[0, -1]]))
    assert lowered[0, 2] < lowered[0, 0] < lowered[0, 1]


def test_an_abstention_is_wrong_at_every_level(tmp_path: Path) -> None:
    """Right; right digits of another occupation; first digit only; second answer; abstention."""
    codes = {"a": ["2", "25"], "b": ["2", "25"], "c": ["2", "21"], "d": ["9", "91"]}
    rows = [{"occupation_id": name, "codes": own} for name, own in codes.items()]
    known = pl.DataFrame(rows).with_columns(
        occupation_label=pl.lit(""), crosswalk_codes=pl.lit([], pl.List(pl.String)), bias=0.0
    )
    write_frame(known.cast(dict(KNOWN)).select([*KNOWN]), _occupations(tmp_path), KNOWN)
    tops: list[list[str]] = [["a"], ["b"], ["c"], ["d", "a"], []]
    made = {
        "top_occupation_ids": tops,
        "codes": [codes[top[0]] if top else [] for top in tops],
        "code_confidences": [[0.75, 0.5]] * 4 + [[]],
        "confidence": [0.5] * 4 + [None],
        "abstained": [not top for top in tops],
    }
    fake = Namespace(predict=lambda frame, params: pd.DataFrame(made))
    titles = pl.DataFrame({"test": "t", "query_id": [*"12345"], "raw_title": [*"12345"]})
    titles = titles.with_columns(occupation_ids=pl.lit(["a"], pl.List(pl.String)))
    values = answered(RegisteredModel(tmp_path, fake), titles)
    assert values["success_at_1"].to_list() == [1, 0, 0, 0, 0]
    assert values["mrr_at_10"].to_list() == [1, 0, 0, 0.5, 0]
    assert values["two_digits"].to_list() == [1, 1, 0, 0, 0]
    assert values["first_digit"].to_list() == [1, 1, 1, 0, 0]
    assert values["abstained"].to_list() == [0, 0, 0, 0, 1]
    four = pl.concat([values] * 4)  # 16 answers: enough for the bins
    errors = {row.metric: row for row in error_rows("s", {1: four}, 1) if row.seed == 1}
    assert errors["calibration_error"].n == errors["calibration_error_first_digit"].n == 16
    assert errors["calibration_error"].value == pytest.approx(0.5, abs=0.1)


def _occupations(folder: Path) -> Path:
    return folder / PACKAGE / "occupations.parquet"


def test_the_stages_before_the_training_are_those_of_dvc() -> None:
    stages = list(yaml.safe_load((PARAMS.parent / "dvc.yaml").read_text())["stages"])
    assert stages[: stages.index("pairs")] == [*arms.DATA_STAGES]


def test_the_registered_champion_stands_for_the_first_seed_of_all(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []

    @contextmanager
    def fetched(address: str, root: Path) -> Iterator[tuple[str, Path]]:
        asked.append((address, root))
        yield address, root

    monkeypatch.setattr(arms, "fetched", fetched)
    load = classmethod(lambda cls, folder: cls(folder, None))
    monkeypatch.setattr(arms.RegisteredModel, "load", load)
    arm = arms.Arm(Workspace.read("sample"), arms.ALL, tmp_path)
    assert arm.train([1], 1) == {}
    with arm.served(1) as model:
        assert model.folder == Path()
    assert asked == [(arm.champion, Path())] * 2
    assert arm.champion == f"models:/{arm.workspace.params.register_.name}@champion"
    assert not arms.Arm(arm.workspace, "en", tmp_path).is_registered(1)


def test_missing_files_are_named_before_anything_trains(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(languages, "data_folder", lambda: tmp_path)
    with pytest.raises(FileNotFoundError, match="is not there: set ROLECALL_DATA"):
        languages.check_files(["deu_q_de_c_de"])
    write_published(tmp_path)
    languages.check_files(["deu_q_de_c_de", "deu_q_de_c_en"])
    with pytest.raises(ValueError, match="pol_q_pl_c_pl"):
        languages.check_files(["pol_q_pl_c_pl"])


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
    titles = [
        (f"o{number}", language, kind + job, not kind)
        for language, jobs in JOBS.items()
        for number, job in enumerate(jobs)
        for kind in KINDS
    ]
    columns = ["occupation_id", "language", "title", "preferred"]
    pl.DataFrame(titles, schema=columns, orient="row").write_parquet(folder / files["titles"])
    codes = [(f"o{number}", str(7000 + number)) for number in range(len(JOBS["en"]))]
    columns = ["occupation_id", "isco_code"]
    pl.DataFrame(codes, schema=columns, orient="row").write_parquet(folder / files["occupations"])
    groups = {code[:digits] for _, code in codes for digits in range(1, 5)}
    made = {"isco_code": sorted(groups), "label": [f"group {own}" for own in sorted(groups)]}
    pl.DataFrame(made).write_parquet(folder / files["groups"])
    inputs = [
        (f"{job} {town}", language, f"o{number}")
        for language, jobs in JOBS.items()
        for number, job in enumerate(jobs)
        for town in ("bern", "york", "lyon", "rome", "oslo")
    ]
    columns = ["raw_title", "language", "occupation_id"]
    pl.DataFrame(inputs, schema=columns, orient="row").write_csv(folder / "inputs.csv")
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
        rows = [(f"{job} {k}", f"o{n}") for n, job in enumerate(JOBS["en"]) for k in range(20)]
        csv.writer(file).writerows([tuple(COLUMNS.values()), *rows])


def in_this_process(folder: Path, stage: str) -> float:
    """Run a stage as `run_stage` does, without a start of Python."""
    name, *arguments = stage.split()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["stage", *arguments])
        importlib.import_module(stage_module(name)).main()
    return 60.0


@pytest.mark.slow
def test_a_whole_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One arm of all languages and one of English, whose sets of MELO are none."""
    workspace, published = write_esco(tmp_path / "esco"), tmp_path / "published"
    write_published(published)
    monkeypatch.setattr(arms, "run_stage", in_this_process)
    monkeypatch.setattr(languages.Workspace, "read", lambda _: workspace)
    monkeypatch.setattr(languages, "data_folder", lambda: published)
    monkeypatch.setattr(RegisteredModel, "costs", lambda self, titles: iter([]))
    options = Namespace(
        languages=["all", "en"],
        seeds=[2],
        sets=["deu_q_de_c_de", "deu_q_de_c_en"],
        depth=100,
        untrained=["tfidf"],
        processes=1,
        kept=tmp_path / "kept",
    )
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
