"""A profile over params.yaml, and its external files: four ways to name one."""

import copy
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.profiles import (
    DEFAULT,
    SAMPLE,
    ProfileError,
    import_external,
    merged,
    read_profile,
    require_files,
    resolve_sources,
)
from tasks.check_params import check_params, load_params

ROOT = Path(__file__).parents[2]
TAXONOMY = {"reader": "sample", "files": {"a": "a.csv", "b": "b.csv"}, "columns": {}}
INGEST = {"taxonomy": TAXONOMY, "inputs": {"file": "inputs.csv"}}
BASE: dict[str, Any] = {"seed": 1, "ingest": INGEST}


def test_systems_are_replaced_whole() -> None:
    """Every one of them is trained, so those of the defaults must not stay."""
    base = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    overrides, _ = read_profile(ROOT / "profiles", "similarity")
    systems = overrides["similarity"]["systems"]
    result = merged(base, overrides)["similarity"]
    assert result["systems"] == systems != base["similarity"]["systems"]
    assert result["bootstrap_draws"] == base["similarity"]["bootstrap_draws"]


def test_sections_are_merged_and_open_maps_replaced() -> None:
    overrides = {"ingest": {"taxonomy": {"reader": "x", "files": {"c": "c.csv"}}}}
    before = copy.deepcopy(BASE)
    result = merged(BASE, overrides)
    taxonomy = {"reader": "x", "files": {"c": "c.csv"}, "columns": {}}
    assert result == {"seed": 1, "ingest": {**BASE["ingest"], "taxonomy": taxonomy}}
    assert before == BASE == merged(BASE, {}) == merged(BASE, BASE)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"sed": 2}, "sed: unknown parameter; did you mean seed?"),
        ({"ingest": {"taxonomy": {"readers": "esco"}}}, "ingest.taxonomy.readers: .*mean reader?"),
        ({"xyzzy": 2}, "xyzzy: unknown parameter; there are: seed, ingest"),
        ({"ingest": 3}, "ingest: 3 where params.yaml has"),
        ({"seed": {"a": 1}}, "seed: .* where params.yaml has 1"),
    ],
)
def test_an_unknown_parameter_is_refused(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        merged(BASE, overrides)


def test_a_profile_that_extends_another(tmp_path: Path) -> None:
    """Its values replace the other's; maps of names that are not ours are replaced whole."""
    far = {"taxonomy": {"reader": "onet", "files": {"a": "x", "b": "y"}}}
    written: dict[str, Any] = {
        "far": {"seed": 3, "ingest": far},
        "near": {"extends": "far", "external": {"z": "z.csv"}, "seed": 4},
        "own": {
            "extends": "near",
            "external": {"x": "x.csv", "z": "other.csv"},
            "ingest": {"folder": "here", "taxonomy": {"files": {"a": "z"}}},
        },
        "self": {"extends": "own"},
    }
    for name, content in written.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    overrides, external = read_profile(tmp_path, "own")
    assert external == {"z": "other.csv", "x": "x.csv"}
    taxonomy = {"reader": "onet", "files": {"a": "z"}}
    assert overrides == {"seed": 4, "ingest": {"folder": "here", "taxonomy": taxonomy}}
    (tmp_path / "far.yaml").write_text("extends: self", encoding="utf-8")
    with pytest.raises(ProfileError, match="profile self extends own extends near extends far ext"):
        read_profile(tmp_path, "self")
    (tmp_path / "far.yaml").write_text("extends: nowhere", encoding="utf-8")
    with pytest.raises(ProfileError, match=r"no profile 'nowhere'.*: far, near, own, self"):
        read_profile(tmp_path, "self")


@pytest.mark.thorough
@pytest.mark.parametrize("path", sorted((ROOT / "profiles").glob("*.yaml")), ids=lambda p: p.stem)
def test_the_projects_profiles_are_whole(path: Path, tmp_path: Path) -> None:
    """Accept each one's parameters in the stages; import every data file that it names."""
    overrides, external = read_profile(path.parent, path.stem)
    base = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params = merged(base, overrides)
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    checked = load_params(tmp_path / "params.yaml")
    check_params(checked)
    name = "rolecall" if path.stem == DEFAULT else f"rolecall-{path.stem}"
    assert checked.register_.name == name
    taxonomy, inputs = checked.ingest.located
    pairs = checked.scored_pairs
    read = {
        *taxonomy.files.values(),
        *checked.auxiliary_taxonomy.located.files.values(),
        *inputs.files,
        *map(str, checked.synonyms.paths),
        *(f"{pairs.folder}/{file}" for file in pairs.files.model_dump().values()),
    }
    brought = {f"data/external/{name}" for name in external}
    assert {file for file in read if file.startswith("data/external/")} == brought
    assert all((ROOT / file).is_file() for file in read - brought)


def test_the_default_needs_no_download_and_each_name_is_of_one_model() -> None:
    """`models:/rolecall@champion` is ESCO's; the sample has a name that no profile can have."""
    overrides, external = read_profile(ROOT / "profiles", DEFAULT)
    assert not external and overrides["register"]["name"] == "rolecall"
    base = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    assert base["register"]["name"] == f"rolecall-{SAMPLE}"
    assert not (ROOT / "profiles" / f"{SAMPLE}.yaml").exists()


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """Make a main tree with a file in it, one beside it, and one below the folder of the data."""
    for name in ("clone/own/titles.csv", "beside.csv", "data/esco/occupations.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path / "clone"


def test_four_ways_to_name_a_source(main: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None depends on where the command was called; only the last needs ROLECALL_DATA."""
    monkeypatch.chdir(main / "own")
    beside = str(main.parent / "beside.csv")
    own = {"a": beside, "b": "./own/titles.csv", "c": "s3://bucket/x.csv", "d": "./../beside.csv"}
    expected = {"a": beside, "b": f"{main}/own/titles.csv", "c": "s3://bucket/x.csv", "d": beside}
    assert resolve_sources(own, None, main) == expected
    below = {"e": "esco/occupations.csv"}
    file = f"{main.parent}/data/esco/occupations.csv"
    for data in ("../data", str(main.parent / "data")):
        assert resolve_sources(below, data, main) == {"e": file}
    address = "https://host/esco/occupations.csv"
    assert resolve_sources(below, "https://host/", main) == {"e": address}


@pytest.mark.parametrize(
    ("path", "data", "message"),
    [
        ("/no/where.csv", None, "no file or folder /no/where.csv: correct the line `n: /no/where"),
        ("./no.csv", None, "no file or folder .*/clone/no.csv: correct the line `n: ./no.csv`"),
        ("x.csv", None, "set ROLECALL_DATA .*docs/SOURCES.md.*by its absolute path"),
        ("x.csv", "../data", "no file or folder .*/data/x.csv; ROLECALL_DATA is '../data'.*absol"),
    ],
)
def test_a_missing_source_is_refused_with_advice(main, path, data, message) -> None:
    with pytest.raises(ProfileError, match=message):
        resolve_sources({"n": path}, data, main)


@pytest.mark.parametrize("source", ["./own/pipe.csv", "./own"])
def test_a_pipe_is_named_before_dvc_opens_it(main: Path, source: str) -> None:
    """In a folder DVC waited for it without end."""
    os.mkfifo(main / "own/pipe.csv")
    message = rf"^n cannot be imported: {main}/own/pipe\.csv is a pipe; take it out$"
    with pytest.raises(ProfileError, match=message):
        resolve_sources({"n": source}, None, main)


@pytest.mark.parametrize(
    "source",
    [
        "s3://key:secret@bucket/x.csv",
        "https://secret@host/x.csv",
        "https://host/x.csv?X-Amz-Signature=secret",
        "https://host/x.csv?v=1&access_token=secret",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(main: Path, source: str) -> None:
    """DVC would write it into `data/NAME.dvc`."""
    with pytest.raises(ProfileError, match=r"AWS_ACCESS_KEY_ID.*remote://NAME/n$") as error:
        resolve_sources({"n": source}, None, main)
    assert "secret" not in str(error.value)
    with pytest.raises(ProfileError, match="holds a password"):
        resolve_sources({"n": "x.csv"}, "https://me:secret@host/", main)
    plain = {"n": "ssh://git@host/x.csv", "m": "https://host/x.csv?download=1"}
    assert resolve_sources(plain, None, main) == plain


@pytest.mark.parametrize("name", ["a/b.csv", "a: b.csv", "a\\b.csv", "..", "", "ü" * 121])
def test_a_name_that_dvc_cannot_read_is_refused(main: Path, name: str) -> None:
    with pytest.raises(ProfileError, match="is no name in data/external"):
        resolve_sources({name: "./own/titles.csv"}, None, main)


def params(folder: str = "data/external", synonyms: str = "") -> dict[str, Any]:
    taxonomy = {"files": {"titles": "titles.csv"}}
    ingest = {"folder": folder, "taxonomy": taxonomy, "inputs": {"file": "raw.csv"}}
    return {"ingest": ingest, "synonyms": {"folder": folder, "file": synonyms}}


def test_a_file_that_the_workspace_lacks_is_refused(tmp_path: Path) -> None:
    for name in ("titles.csv", "raw.csv"):
        (tmp_path / "data/external").mkdir(parents=True, exist_ok=True)
        (tmp_path / "data/external" / name).touch()
    require_files(tmp_path, params(), tmp_path / "main")
    with pytest.raises(ProfileError, match=r"synonyms\.file names \S+s\.csv.*\n.*s\.csv: /path/to"):
        require_files(tmp_path, params(synonyms="s.csv"), tmp_path / "main")
    (tmp_path / "data/external/raw.csv").unlink()
    with pytest.raises(ProfileError, match=r"ingest\.inputs\.file names data/external/raw\.csv"):
        require_files(tmp_path, params(), tmp_path / "main")


def test_a_file_of_the_clone_alone_is_refused_with_the_line_that_brings_it(tmp_path: Path) -> None:
    main, workspace = tmp_path / "main", tmp_path / "workspace"
    (main / "data/mine").mkdir(parents=True)
    (main / "data/mine/titles.csv").touch()
    message = (
        r"^ingest.taxonomy.files.titles names data/mine/titles.csv, which.*only this clone, uncomm"
        r".*\n  external: {titles.csv: ./data/mine/titles.csv}\n"
        r"and name it as titles.csv \(ingest: folder: data/external\)$"
    )
    with pytest.raises(ProfileError, match=message):
        require_files(workspace, params("data/mine"), main)


def ignoring(folder: Path, run_in: Callable[..., str], dvc: tuple[str, ...]) -> None:
    """Make a repository with the project's ignored files."""
    run_in(folder, "git", "init", "--quiet")
    run_in(folder, *dvc, "init", "--quiet")
    for name in (".gitignore", ".dvcignore"):
        shutil.copy(ROOT / name, folder)


@pytest.mark.thorough
def test_dvc_sees_imports_below_the_ignored_folder(tmp_path, run_in, dvc) -> None:
    """Those that people make, and those of a profile, beside the folder.

    Ignore no folder with its slash, which DVC prunes: `/data/*` would hide `data/` itself.
    """
    ignoring(tmp_path, run_in, dvc)
    (tmp_path / "data" / "external").mkdir(parents=True)
    (tmp_path / "data" / "stage.csv").write_text("made by a stage")
    (tmp_path / "source.csv").write_text("made outside")
    run_in(tmp_path, *dvc, "import-url", "--quiet", "source.csv", "data/external/file.csv")
    external = {"other.csv": "source.csv"}
    import_external(tmp_path, external, str(tmp_path), tmp_path, lambda _: None)
    stages = ["data/external/file.csv.dvc", "data/other.csv.dvc"]
    listed = run_in(tmp_path, *dvc, "stage", "list", "--all", "--name-only").splitlines()
    assert sorted(listed) == stages
    seen = run_in(tmp_path, "git", "status", "--porcelain", "--untracked-files=all", "data")
    assert seen.splitlines() == [f"?? {stage}" for stage in stages]


@pytest.mark.thorough
def test_the_sample_does_not_depend_on_feedback_of_profiles(tmp_path, run_in, dvc) -> None:
    """Reviewers' files are in no commit; DVC sees those of the sample alone."""
    ignoring(tmp_path, run_in, dvc)
    files = ["feedback/README.md", "feedback/monday.csv", "feedback/esco/monday.csv"]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    seen = run_in(tmp_path, "git", "status", "--porcelain", "--untracked-files=all", "feedback")
    assert seen == f"?? {files[0]}\n"
    assert run_in(tmp_path, *dvc, "check-ignore", *files).splitlines() == [files[2]]
