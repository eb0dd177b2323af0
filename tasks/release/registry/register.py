"""A finished run becomes a registered version: `python -m tasks.release.registry.register`.

From files only, and once per content: a version whose tag `artefact_hash` is equal is returned. A
new version appears together with its tags, in one transaction, and is then called `challenger`; a
call that was killed before that leaves at most an unregistered run, which the next call removes.
Whoever registers meanwhile waits.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version as installed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.normalizer.abbreviations import read_abbreviations
from models.normalizer.answers.columns import columns
from models.normalizer.qualifiers import check_phrases
from tasks.io.command import run
from tasks.io.section import RunParams
from tasks.io.tracking import experiment, registry
from tasks.release.model_package.checksums import write_checksums
from tasks.release.model_package.folder import build_artefact
from tasks.release.model_package.run_files import RunFiles
from tasks.release.model_package.serving_file import self_contained
from tasks.release.registry.champion_lock import champion_lock
from tasks.release.registry.outcomes import RegisteredVersion
from tasks.release.registry.provenance import provenance
from tasks.release.registry.scratch import scratch_folder, temporary_files_in

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion
    from mlflow.models import ModelSignature

CHALLENGER, CHAMPION = "challenger", "champion"
CARRIED_OUT = "decision_carried_out"  # tag of a version that a decision has made champion
CORRECTS = "corrects"  # tag of a version that is another one's network with later feedback
ARTEFACT = "normalizer"
REQUIREMENTS = ("mlflow", "numpy", "onnxruntime", "pandas", "pyarrow")
EXAMPLE = ("looking for C++ developers (urgent!)", "Registered Nurse - night shift", "")


def register(root: Path) -> RegisteredVersion:
    """Register the artefact of the mix in `root`'s parameters, once per content.

    Raises:
        FileNotFoundError: the pipeline has not run.
    """
    sources = RunFiles.below(root)
    check_phrases(sources.qualifiers)
    read_abbreviations(sources.abbreviations)
    name, artefact_hash = sources.register.name, sources.artefact_hash()
    with champion_lock(root), registry(root) as client:
        known = find_version(client, name, artefact_hash)
        if known is None:
            version = _add(client, root, sources, artefact_hash)
        else:
            version = str(known.version)
            if "decision" not in known.tags and CHAMPION not in known.aliases:
                client.set_registered_model_alias(name, CHALLENGER, version)  # a kill left it out
        return as_registered(client, name, version, known is not None)


def find_version(client: MlflowClient, name: str, artefact_hash: str) -> ModelVersion | None:
    """Return the version of this content, complete with its aliases, or None."""
    query = f"name = '{name}' and tags.artefact_hash = '{artefact_hash}'"
    versions = client.search_model_versions(query)
    if not versions:
        return None
    return client.get_model_version(name, max(versions, key=lambda v: int(v.version)).version)


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
    answer = []
    for name, column in columns().items():
        kind = types[column.type]
        answer.append(ColSpec(Array(kind) if column.is_list else kind, name, required=False))
    params = [
        ParamSpec("top_k", "long", top_k),
        ParamSpec("min_confidence", "double", 0.0),
        ParamSpec("code_depth", "long", 0),
        ParamSpec("language", "string", ""),
    ]
    raw_title = ColSpec(DataType.string, "raw_title")
    return ModelSignature(Schema([raw_title]), Schema(answer), ParamSchema(params))


def _add(client: MlflowClient, root: Path, sources: RunFiles, artefact_hash: str) -> str:
    tags = {
        "artefact_hash": artefact_hash,
        "taxonomy_hash": sources.taxonomy_hash(),
        "mix": sources.run.mix,
        "train_seed": str(sources.run.seeds[0]),
    }
    with scratch_folder(root) as temporary, temporary_files_in(temporary):
        packed = packaged(temporary, sources)
        metrics = read_metrics(root, sources.run)
        return add_version(client, root, sources.register.name, packed, tags, metrics)


def add_version(
    client: MlflowClient,
    root: Path,
    name: str,
    packed: Mapping[str, Any],
    tags: Mapping[str, str],
    metrics: Mapping[str, float],
) -> str:
    """Log a model and register it, with its tags, as challenger; return the version's number.

    `packed`: what `as_logged` returned; `tags`: `artefact_hash` and others, beside where it comes
    from.
    """
    import mlflow

    tags = {**provenance(root), **tags}
    place, own = experiment(client, root, name), tags["artefact_hash"]
    for leftover in client.search_runs([place], f"tags.artefact_hash = '{own}'"):
        client.delete_run(leftover.info.run_id)
    run_name = f"{name} {own[:8]}"
    with mlflow.start_run(experiment_id=place, run_name=run_name, tags=tags):
        mlflow.log_metrics(dict(metrics))
        with _requirements_known():
            uri = str(mlflow.pyfunc.log_model(name="normalizer", **packed).model_uri)
    version = str(mlflow.register_model(uri, name, tags=tags).version)
    client.set_registered_model_alias(name, CHALLENGER, version)
    return version


@contextmanager
def _requirements_known() -> Iterator[None]:
    """Let MLflow believe that what is installed is installed: else it reads all packages' files."""
    from mlflow.utils import requirements_utils as checks

    check = checks._check_requirement_satisfied
    checks._check_requirement_satisfied = lambda requirement: None
    try:
        yield
    finally:
        checks._check_requirement_satisfied = check


def packaged(folder: Path, sources: RunFiles) -> dict[str, Any]:
    """Write what MLflow is to log or save as a model; return how that is called there."""
    build_artefact(sources, folder / ARTEFACT)
    return as_logged(folder, sources.register.top_k)


def as_logged(folder: Path, top_k: int) -> dict[str, Any]:
    """Add the serving file and checksums to what is in `folder`; return how MLflow calls it."""
    import pandas as pd

    serving = folder / "serving.py"
    serving.write_text(self_contained(), encoding="utf-8")
    write_checksums(folder / ARTEFACT, serving)
    return {
        "python_model": str(serving),
        "artifacts": {ARTEFACT: str(folder / ARTEFACT)},
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
