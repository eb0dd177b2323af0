"""A profile over params.yaml: what is merged, what is replaced, what is refused."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flows.workspaces.profiles import DEFAULT, SAMPLE, ProfileError, merged, read_profile
from tasks.check_params import check_params, load_params

ROOT = Path(__file__).parents[2]
BASE: dict[str, Any] = {
    "seed": 1,
    "ingest": {
        "taxonomy": {"reader": "sample", "files": {"a": "a.csv", "b": "b.csv"}, "columns": {}},
        "inputs": {"file": "inputs.csv"},
    },
}

trees = st.dictionaries(
    st.sampled_from("abcd"),
    st.recursive(
        st.integers(),
        lambda inner: st.dictionaries(st.sampled_from("abcd"), inner, min_size=1, max_size=3),
        max_leaves=8,
    ),
    min_size=1,
)


def test_systems_are_replaced_whole() -> None:
    """Every one of them is trained, so those of the defaults must not stay."""
    base = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    overrides, _ = read_profile(ROOT / "profiles", "similarity")
    systems = overrides["similarity"]["systems"]
    result = merged(base, overrides)["similarity"]
    assert result["systems"] == systems != base["similarity"]["systems"]
    assert result["bootstrap_draws"] == base["similarity"]["bootstrap_draws"]


def test_sections_are_merged_and_open_maps_replaced() -> None:
    overrides = {"ingest": {"taxonomy": {"files": {"c": "c.csv"}}}}
    before = copy.deepcopy(BASE)
    result = merged(BASE, overrides)
    assert result["ingest"]["taxonomy"] == {
        "reader": "sample",
        "files": {"c": "c.csv"},
        "columns": {},
    }
    assert result["ingest"]["inputs"] == BASE["ingest"]["inputs"]
    assert before == BASE


@pytest.mark.thorough
@given(trees)
def test_nothing_and_itself_change_nothing(tree: dict[str, Any]) -> None:
    assert merged(tree, {}) == tree
    assert merged(tree, tree) == tree


@pytest.mark.thorough
@given(trees, st.data())
def test_one_leaf_changes_only_itself(tree: dict[str, Any], data: st.DataObject) -> None:
    """Compare with the set of leaves with their addresses."""
    address = data.draw(st.sampled_from(sorted(leaves(tree))))
    override: Any = -1
    for name in reversed(address):
        override = {name: override}
    expected = leaves(tree) | {address: -1}
    assert leaves(merged(tree, override)) == expected


def leaves(tree: Any, where: tuple[str, ...] = ()) -> dict[tuple[str, ...], int]:
    if not isinstance(tree, dict):
        return {where: tree}
    return {
        k: v for name, branch in tree.items() for k, v in leaves(branch, (*where, name)).items()
    }


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


def test_an_unknown_profile_names_the_known_ones() -> None:
    with pytest.raises(
        ProfileError,
        match=r"no profile 'escoo'.*: esco, esco_vacancies, paper, ",
    ):
        read_profile(ROOT / "profiles", "escoo")


def test_a_profile_that_extends_another(tmp_path: Path) -> None:
    """Its values replace the other's; maps of names that are not ours are replaced whole."""
    written = {
        "far": {
            "seed": 3,
            "ingest": {"taxonomy": {"reader": "onet", "files": {"a": "x", "b": "y"}}},
        },
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
    assert overrides == {
        "seed": 4,
        "ingest": {"folder": "here", "taxonomy": {"reader": "onet", "files": {"a": "z"}}},
    }
    (tmp_path / "far.yaml").write_text("extends: self", encoding="utf-8")
    with pytest.raises(ProfileError, match="profile self extends own extends near extends far ext"):
        read_profile(tmp_path, "self")
    (tmp_path / "far.yaml").write_text("extends: nowhere", encoding="utf-8")
    with pytest.raises(ProfileError, match="no profile 'nowhere'"):
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
