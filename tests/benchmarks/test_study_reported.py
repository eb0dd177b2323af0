"""Reported titles out of the taxonomy and asked, and a small run of the whole."""

from __future__ import annotations

import shutil
from argparse import Namespace
from pathlib import Path

import polars as pl
import pytest
import yaml
from frames_of import aliases_of, inputs_of
from toy_workspace import JOBS, toy_encoder

from benchmarks import systems
from benchmarks.studies.reported import measure as reported
from flows.workspaces.profiles import merged, read_profile
from tasks.companion import companion
from tasks.files.frames import write_frame
from tasks.files.schemas import SPLIT_INPUTS
from tasks.ingest import IngestParams, ingest
from tasks.split import SplitParams, split

ROOT = Path(__file__).parents[2]
OCCUPATIONS = "O*NET-SOC Code\tTitle\tDescription\n11-1011.00\tBakers\t.\n11-1021.00\tCooks\t.\n"
ALTERNATES = (
    "O*NET-SOC Code\tAlternate Title\tShort Title\tSource(s)\n"
    "11-1011.00\tBread Baker\tn/a\t02\n"
    "11-1011.00\tPastry Chef\tn/a\t02\n"
    "11-1021.00\tChef (Pastry)\tPastry chef!\t02\n"
)
REPORTED = (
    "O*NET-SOC Code\tReported Job Title\tShown in My Next Move\n"
    "11-1011.00\tPastry Chef\tY\n"
    "11-1021.00\tPastry-Chef\tY\n"
    "11-1021.00\tPASTRY CHEF\tN\n"
    "11-1021.00\tBakers\tN\n"
)
OPTIONS = Namespace(
    systems=["tfidf", "sentence_encoder", "recurrent", "champion"],
    steps=4,
    batch=6,
    recurrent_rate=0.01,
    seeds=2,
    processes=1,
)


def test_the_profile_learns_from_no_reported_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an alias nor the companion has one; a label stays, and asks nothing."""
    base = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    overrides, external = read_profile(ROOT / "profiles", "onet_reported")
    params = merged(base, overrides)
    monkeypatch.chdir(tmp_path)
    contents = {"Occupation": OCCUPATIONS, "Alternate": ALTERNATES, "Sample": REPORTED}
    for name, source in external.items():
        file = tmp_path / "data/external" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        begins = Path(source).name.split()[0]
        file.write_text(contents.get(begins, ""), encoding="utf-8")
    read = ingest(IngestParams(**params["ingest"]))
    assert read.aliases["title"].to_list() == ["Bakers", "Bread Baker", "Cooks", "Chef (Pastry)"]
    assert read.errors == 0

    parts = split(read.aliases, read.inputs, SplitParams(**params["split"]), params["seed"])
    assert set(parts.inputs["split"]) == {"annotations", "known"}
    asked = reported.queries(parts.inputs)
    assert asked.select("normalized", "occupation_ids").rows() == [
        ("pastry chef", ["11-1011.00", "11-1021.00"]),
        ("pastrychef", ["11-1021.00"]),
    ]
    assert not set(asked["normalized"]) & set(parts.aliases["normalized"])
    other = pl.DataFrame(
        {"occupation_id": ["e", "e"], "title": ["(pastry) chef", "baker"], "preferred": [True] * 2}
    )
    beside = companion(other, set(parts.queries["normalized"])).titles
    assert beside["title"].to_list() == ["baker"]
    assert reported.counts(parts.inputs, parts.aliases) == {
        "occupations": 2,
        "label_alone": 0,
        "aliases": 4,
        "reported_labels": 1,
    }


def test_the_network_is_that_of_the_profile_taxonomies() -> None:
    """`champion` means the same settings in each study."""
    mine, other = (
        read_profile(ROOT / "profiles", name)[0] for name in ("onet_reported", "taxonomies")
    )
    data = {"ingest", "split", "companion", "synonyms", "register"}
    assert {k: v for k, v in mine.items() if k not in data} == {
        k: v for k, v in other.items() if k not in data
    }
    assert mine["companion"]["noise"] == other["companion"]["noise"]


def test_inputs_that_are_no_tests_are_refused() -> None:
    """A stage may have learned them."""
    inputs = inputs_of([("chef", "a", "annotations"), ("cook", "a", "train")])
    with pytest.raises(ValueError, match=r"split into train: set annotations_share: 1\.0"):
        reported.queries(inputs)


def test_occupations_that_keep_their_label_alone_are_counted() -> None:
    aliases = aliases_of([("a", "chef", True, "train"), ("b", "x", True, "train")])
    more = aliases_of([("b", "y", False, "gate")])
    counted = reported.counts(inputs_of([]), pl.concat([aliases, more]))
    assert (counted["occupations"], counted["label_alone"], counted["aliases"]) == (2, 1, 3)


def test_a_study_on_a_toy(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All occupations are ranked by each system; a gain is the difference of its two figures."""
    shutil.copytree(toy, tmp_path / "toy")
    monkeypatch.chdir(tmp_path / "toy")
    rows = [
        (f"{front} {job}", f"o{k}", "annotations") for k, job in enumerate(JOBS) for front in "ab"
    ]
    inputs = inputs_of([*rows, ("A bread baker", "o0", "annotations"), (JOBS[0], "o1", "known")])
    write_frame(inputs, Path("data/split/inputs.parquet"), SPLIT_INPUTS)
    monkeypatch.setattr(systems, "sentence_encoder", toy_encoder)
    monkeypatch.setattr(reported.Workspace, "mix", "3")
    (made,) = reported.measure("sample", Namespace(**vars(OPTIONS), kept=tmp_path / "kept"))
    table = pl.DataFrame(made, orient="row", schema=list(reported.Row._fields))
    counted = dict(table.filter(system="data").select("metric", "value").iter_rows())
    assert counted == {"occupations": 5, "label_alone": 0, "aliases": 20, "reported_labels": 1}
    metrics = {"success_at_1", "success_at_5", "success_at_10", "mrr"}
    for metric in metrics:
        own = table.filter(metric=metric)
        assert set(own["system"]) == set(OPTIONS.systems)
        assert own["value"].is_between(0, 1).all() and set(own["n"]) == {10}
        assert own.filter(system="recurrent")["seed"].to_list() == [1, 2, None]
    means = table.filter(pl.col("seed").is_null(), metric="mrr")
    mean = dict(means.select("system", "value").iter_rows())
    gained = table.filter(metric="gain_mrr", system="champion-tfidf")["value"].item()
    assert gained == pytest.approx(mean["champion"] - mean["tfidf"])
    assert mean["tfidf"] > 0.9  # the job's own words stand in each title
    assert set(table.filter(system="data")["metric"]).isdisjoint(metrics)
