"""A finished run becomes a registered version: `python -m tasks.release.registry.register`.

From files only, and once per content: a version whose tag `artifact_hash` is equal is returned. A
new version appears together with its tags, in one transaction, and is then called `challenger`; a
call that was killed before that leaves at most an unregistered run, which the next call removes.
Whoever registers meanwhile waits. Tags say where a version comes from (`provenance`): made from the
very commit, it has `tree` = `clean` and `params_changed` = `{}`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import version as installed
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from models.serving.answer import columns
from tasks.io.command import run
from tasks.io.files import md5
from tasks.io.mixes import WRITERS
from tasks.io.section import RunParams
from tasks.io.tracking import experiment, git, masked, registry
from tasks.release.model_package.folder import build_artifact
from tasks.release.model_package.phrases import check_abbreviations, check_phrases
from tasks.release.model_package.run_files import RunFiles
from tasks.release.model_package.runtime import write_checksums, write_runtime
from tasks.release.registry.locks import champion_lock, scratch_folder, temporary_files_in
from tasks.release.registry.outcomes import RegisteredVersion

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion
    from mlflow.models import ModelSignature

CHALLENGER, CHAMPION = "challenger", "champion"
CARRIED_OUT = "decision_carried_out"  # tag of a version that a decision has made champion
CORRECTS = "corrects"  # tag of a version that is another one's network with later feedback
ARTIFACT = "normalizer"
REQUIREMENTS = ("mlflow", "numba", "numpy", "onnxruntime", "pandas", "pyarrow")
DATA = (
    *(f"data/ingest/{name}.parquet" for name in ("aliases", "groups", "inputs", "occupations")),
    *(f"data/split/{name}.parquet" for name in ("aliases", "titles")),
    *(f"data/{writer}/queries.parquet" for writer in WRITERS),
    "data/feedback/verdicts.parquet",
)
RECORDED = (":!dvc.lock", ":!params.yaml")  # their own hashes are tags
UNKNOWN = "unknown"
LONGEST = 5000  # characters of a tag that every registry takes
EXAMPLE = ("looking for C++ developers (urgent!)", "Registered Nurse - night shift", "")


def register(root: Path) -> RegisteredVersion:
    """Register the model of the mix in `root`'s parameters; FileNotFoundError if it has not run."""
    sources = RunFiles.below(root)
    check_phrases(sources.qualifiers)
    check_abbreviations(sources.abbreviations)
    name, artifact_hash = sources.register.name, sources.artifact_hash()
    with champion_lock(root), registry(root) as client:
        known = find_version(client, name, artifact_hash)
        if known is None:
            tags = {
                "artifact_hash": artifact_hash,
                "taxonomy_hash": sources.taxonomy_hash(),
                "mix": sources.run.mix,
                "train_seed": str(sources.run.seeds[0]),
            }
            metrics, top_k = read_metrics(root, sources.run), sources.register.top_k
            with scratch_folder(root) as folder:
                build_artifact(sources, folder / ARTIFACT)
                version = add_version(client, root, name, folder, top_k, tags, metrics)
        else:
            version = str(known.version)
            if "decision" not in known.tags and CHAMPION not in known.aliases:
                client.set_registered_model_alias(name, CHALLENGER, version)  # a kill left it out
        return as_registered(client, name, version, known is not None)


def find_version(client: MlflowClient, name: str, artifact_hash: str) -> ModelVersion | None:
    """Return the version of this content, complete with its aliases, or None."""
    query = f"name = '{name}' and tags.artifact_hash = '{artifact_hash}'"
    numbers = [int(found.version) for found in client.search_model_versions(query)]
    return client.get_model_version(name, str(max(numbers))) if numbers else None


def as_registered(
    client: MlflowClient, name: str, version: str, already_registered: bool
) -> RegisteredVersion:
    """Return a version with the alias that it has now."""
    aliases = client.get_model_version(name, version).aliases
    alias = next((alias for alias in (CHAMPION, CHALLENGER) if alias in aliases), "none")
    return RegisteredVersion(name, version, alias, already_registered)


def signature(top_k: int) -> ModelSignature:
    """Declare column `raw_title` in, an answer's columns out, and the params."""
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, ParamSchema, ParamSpec, Schema
    from mlflow.types.schema import Array, DataType

    types = {str: DataType.string, float: DataType.double, bool: DataType.boolean}
    kinds = {name: (types[one.type], one.is_list) for name, one in columns().items()}
    answer = [
        ColSpec(Array(kind) if is_list else kind, name, required=False)
        for name, (kind, is_list) in kinds.items()
    ]
    params = [ParamSpec("top_k", "long", top_k), ParamSpec("min_confidence", "double", 0.0)]
    params += [ParamSpec("code_depth", "long", 0), ParamSpec("language", "string", "")]
    raw_title = ColSpec(DataType.string, "raw_title")
    return ModelSignature(Schema([raw_title]), Schema(answer), ParamSchema(params))


def add_version(
    client: MlflowClient,
    root: Path,
    name: str,
    folder: Path,
    top_k: int,
    tags: Mapping[str, str],
    metrics: Mapping[str, float],
) -> str:
    """Log a model and register it, with its tags, as challenger; return the version's number.

    `folder`: a scratch folder that holds the artifact; `tags`: `artifact_hash` and others, beside
    where the version comes from.
    """
    import mlflow

    tags = {**provenance(root), **tags}
    experiment_id, own = experiment(client, root, name), tags["artifact_hash"]
    for leftover in client.search_runs([experiment_id], f"tags.artifact_hash = '{own}'"):
        client.delete_run(leftover.info.run_id)
    run = mlflow.start_run(experiment_id=experiment_id, run_name=f"{name} {own[:8]}", tags=tags)
    with temporary_files_in(folder), run:
        mlflow.log_metrics(dict(metrics))
        logged = mlflow.pyfunc.log_model(name="normalizer", **as_logged(folder, top_k))
    version = str(mlflow.register_model(str(logged.model_uri), name, tags=tags).version)
    client.set_registered_model_alias(name, CHALLENGER, version)
    return version


def as_logged(folder: Path, top_k: int) -> dict[str, Any]:
    """Add the code and checksums to what is in `folder`; return how MLflow calls it."""
    import pandas as pd

    package, loader = write_runtime(folder)
    write_checksums(folder / ARTIFACT, (package, loader))
    return {
        "python_model": str(loader),
        "code_paths": [str(package)],
        "artifacts": {ARTIFACT: str(folder / ARTIFACT)},
        "signature": signature(top_k),
        "input_example": pd.DataFrame({"raw_title": EXAMPLE}),
        "pip_requirements": [f"{package}=={installed(package)}" for package in REQUIREMENTS],
    }


def read_metrics(root: Path, chosen: RunParams) -> dict[str, float]:
    """Figures of the lexical systems and the network, as `system/test/metric`; those there are."""
    evaluated = f"evaluate/{chosen.mix}/{chosen.seeds[0]}"
    files = (root / "data" / folder / "metrics.json" for folder in ("lexical", evaluated))
    return {
        f"{system}/{test}/{metric}": value
        for path in files
        if path.is_file()
        for system, tests in json.loads(path.read_text(encoding="utf-8")).items()
        for test, values in tests.items()
        for metric, value in values.items()
    }


def provenance(root: Path) -> dict[str, str]:
    """Tags `git_commit, tree, params_changed, lock_md5, params_md5` and `data_md5`.

    `git_commit` is HEAD; `tree` is `clean`, or names the tracked files other than `dvc.lock` and
    `params.yaml` that differ from it; without a commit both are `unknown`. `data_md5` is JSON from
    path to MD5, without missing files.
    """
    data = {name: md5(root / name) for name in DATA if (root / name).is_file()}
    commit = git(root, "rev-parse", "--verify", "--quiet", "HEAD").strip()
    return {
        "git_commit": commit or UNKNOWN,
        "tree": tree(root) if commit else UNKNOWN,
        "params_changed": masked(changes_as_json(params_changed(root))),
        "lock_md5": md5(root / "dvc.lock"),
        "params_md5": md5(root / "params.yaml"),
        "data_md5": json.dumps(data, sort_keys=True),
    }


def tree(root: Path) -> str:
    """Return `clean`, or `changed: ` and the tracked files that differ from HEAD."""
    differing = ("diff", "--name-only", "--no-renames", "--relative", "-z", "HEAD", "--", ".")
    names = git(root, *differing, *RECORDED).split("\0")[:-1]
    kept = _fitting([f"{name}, " for name in names], LONGEST - len("changed: and 99999 more"))
    more = f", and {len(names) - kept} more" if kept < len(names) else ""
    return f"changed: {', '.join(names[:kept])}{more}" if names else "clean"


def params_changed(root: Path) -> dict[str, list[Any]] | None:
    """Parameters that differ between HEAD and the disk, by dotted name: [committed, here].

    One that stands on one side only is null on the other. Of a profile's workspace these are the
    profile's. None without a commit that holds parameters.
    """
    committed = git(root, "show", "HEAD:./params.yaml")
    path = root / "params.yaml"
    if not committed or not path.is_file():
        return None
    before = dict(_flat(yaml.safe_load(committed)))
    here = dict(_flat(yaml.safe_load(path.read_text(encoding="utf-8"))))
    pairs = ((name, [before.get(name), here.get(name)]) for name in sorted(before | here))
    return {name: pair for name, pair in pairs if pair[0] != pair[1]}


def changes_as_json(changed: dict[str, list[Any]] | None) -> str:
    """Write them as JSON of `LONGEST` characters at most; what is cut is counted under `(cut)`."""
    pairs = [*(changed or {}).items()]
    entries = [f"{json.dumps(name)}: {json.dumps(pair)}, " for name, pair in pairs]
    kept = _fitting(entries, LONGEST - len('{"(cut)": "99999 more"}'))
    if kept == len(entries):
        return json.dumps(changed)
    return json.dumps(dict(pairs[:kept]) | {"(cut)": f"{len(pairs) - kept} more"})


def _fitting(parts: list[str], length: int) -> int:
    """Return how many parts from the front fit into so many characters."""
    return sum(end <= length for end in accumulate(map(len, parts)))


def _flat(values: object, above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted name and value; a list is a value."""
    if not isinstance(values, dict) or not values:
        yield above, values
        return
    for name, value in values.items():
        yield from _flat(value, f"{above}.{name}" if above else str(name))


def main() -> None:
    """Register the current directory's run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the outcome as the last line, JSON")
    options = parser.parse_args()
    done = register(Path.cwd())
    state = "was registered already" if done.already_registered else "registered"
    print(f"{done.name} version {done.version} {state}; alias {done.alias}")
    if options.json:
        print(json.dumps(asdict(done)))


if __name__ == "__main__":
    run(main)
