"""A profile on published files, here a small slice: every stage, in a workspace.

`test_own_taxonomy.py` has the flow, the registry and the main tree of a profile. The slice is the
sample's, written as ESCO publishes its files, so that no download is needed; the published files
themselves are read in tests/tasks/pipeline/ingest/test_published.py.
"""

from __future__ import annotations

import csv
import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest
import yaml
from clones import Clone

pytestmark = pytest.mark.slow
OCCUPATION = "conceptType,conceptUri,iscoGroup,preferredLabel,altLabels,hiddenLabels,status"
GROUP = "conceptType,conceptUri,code,preferredLabel,altLabels,inScheme,description"
ADDRESS = "http://data.europa.eu/esco/occupation/"
THESAURUS = "synonym_job_titles_for_search.txt"
SOURCES = ("occupations_en.csv", "ISCOGroups_en.csv", "titles.csv", THESAURUS)
OCCUPATIONS = 60
PROFILE = f"""
external:
  occupations_en.csv: esco/occupations_en.csv
  ISCOGroups_en.csv: esco/ISCOGroups_en.csv
  titles.csv: jobbert/titles.csv
  {THESAURUS}: synonyms/{THESAURUS}
ingest:
  folder: data/external
  taxonomy:
    reader: esco
    files: {{occupations: occupations_en.csv, groups: ISCOGroups_en.csv}}
  inputs:
    file: titles.csv
    columns: {{raw_title: vacancyTitle, occupation_id: conceptUri}}
synonyms: {{reader: thesaurus, folder: data/external, file: {THESAURUS}}}
pairs: {{positives_per_anchor: 4}}
register: {{name: rolecall-slice}}
"""
PREPARE = """
from pathlib import Path
from flows.workspace import prepare
prepare(Path.cwd(), "slice")
"""


def md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def sample(root: Path, name: str) -> list[dict[str, str]]:
    with (root / f"data/sample/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(file: Path, header: str, rows: Iterable[Iterable[object]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header.split(","))
        writer.writerows(rows)


@pytest.fixture(scope="module")
def sources(small_source: Clone, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder as ROLECALL_DATA names it: the sample's first occupations in ESCO's format."""
    folder = tmp_path_factory.mktemp("sources")
    aliases: dict[str, list[str]] = {}
    for row in sample(small_source.root, "aliases"):
        aliases.setdefault(row["occupation_id"], []).append(row["title"])
    chosen = sample(small_source.root, "occupations")[:OCCUPATIONS]
    write(
        folder / "esco/occupations_en.csv",
        OCCUPATION,
        (
            (
                "Occupation",
                ADDRESS + row["occupation_id"],
                row["isco_code"],
                row["occupation_label"],
                "\n".join(aliases.get(row["occupation_id"], [])),
                "",
                "released",
            )
            for row in chosen
        ),
    )
    write(
        folder / "esco/ISCOGroups_en.csv",
        GROUP,
        (
            (
                "ISCOGroup",
                f"http://data.europa.eu/esco/isco/C{row['isco_code']}",
                row["isco_code"],
                row["label"],
                "",
                "a scheme,\nanother one",
                "",
            )
            for row in sample(small_source.root, "hierarchy")
        ),
    )
    ids = {row["occupation_id"] for row in chosen}
    inputs = [row for row in sample(small_source.root, "inputs") if row["occupation_id"] in ids]
    write(
        folder / "jobbert/titles.csv",
        ",vacancyTitle,conceptUri",
        ((n, r["raw_title"], ADDRESS + r["occupation_id"]) for n, r in enumerate(inputs)),
    )
    lines = (
        f"{row['term']}, {row['synonym']} => {row['term'].replace(' ', '_')}\n"
        for row in sample(small_source.root, "synonyms")
    )
    (folder / "synonyms").mkdir()
    (folder / "synonyms" / THESAURUS).write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def main(small_source: Clone, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """Make the main tree, with one more profile."""
    clone = small_source.copied(tmp_path_factory.mktemp("main tree"))
    (clone.root / "profiles/slice.yaml").write_text(PROFILE, encoding="utf-8")
    clone.git("add", "profiles")
    clone.git("commit", "--quiet", "--message=profile")
    return clone


@pytest.fixture(scope="module")
def workspace(main: Clone, sources: Path) -> Clone:
    """Run the stages of its workspace as the flow does."""
    main.python(PREPARE, ROLECALL_DATA=str(sources))
    workspace = Clone(main.root / ".workspaces" / "slice", main.home)
    workspace.dvc("repro", "report")
    return workspace


def test_every_stage_runs(workspace: Clone) -> None:
    assert workspace.is_up_to_date()
    occupations = pl.read_parquet(workspace.root / "data/ingest/occupations.parquet")
    assert len(occupations) == OCCUPATIONS
    assert (workspace.root / "data/report/report.html").stat().st_size > 10_000


def test_its_lock_names_external_files_without_a_path(
    main: Clone, workspace: Clone, sources: Path
) -> None:
    """Compare checksums with the published files'; nothing says where they lay.

    The folder's is that of a list of names and checksums, as DVC writes it.
    """
    lock = workspace.lock
    stages = yaml.safe_load(lock)["stages"]
    read = [*stages["ingest"]["deps"], *stages["synonyms"]["deps"]]
    deps = {dep["path"]: dep["md5"] for dep in read}
    files = {name: md5(next(sources.rglob(name)).read_bytes()) for name in SOURCES}
    listed = [{"md5": files[name], "relpath": name} for name in sorted(files)]
    folder = md5(json.dumps(listed, sort_keys=True).encode())
    assert deps["data/external"] == f"{folder}.dir"
    assert "data/sample" not in deps
    for path in (sources, main.root, workspace.root, main.home):
        assert str(path) not in lock
    assert "/" + "tmp" not in lock


def test_without_the_data_it_says_what_to_set(main: Clone) -> None:
    done = main.try_run(sys.executable, "-m", "flows.cli", "retrain", "--profile", "slice")
    assert done.returncode == 1
    assert "set ROLECALL_DATA" in done.stdout
    assert "docs/SOURCES.md" in done.stdout
    assert "Traceback" not in done.stdout
