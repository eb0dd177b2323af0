"""The gate: challenger and opponent answer its queries afresh, as a consumer loads them.

Both registered models answer with one index: the aliases of the split `train`; everyday titles
with all (`tasks/release/gate/answers.py`). Where there is no champion, the opponent is the network
as training began, exported in the same way.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from models.serving.model import Normalizer
from models.serving.package import check_format, read_normalizer
from tasks.evaluation.systems import read_index
from tasks.io.frames import read_frame
from tasks.io.schemas import QUERIES
from tasks.io.section import load
from tasks.release.gate.answers import (
    changed_predictions,
    everyday_queries,
    first_answers,
    gate_queries,
    rank_first,
)
from tasks.release.gate.disputed import disputed
from tasks.release.gate.figures import by_test
from tasks.release.gate.impact import impact, last_run
from tasks.release.gate.rule import (
    UNTRAINED,
    GateDecision,
    GateParams,
    decide,
    decide_corrected,
    decide_first,
)
from tasks.release.model_package.folder import build_artifact
from tasks.release.model_package.run_files import RunFiles
from tasks.release.registry.locks import scratch_folder
from tasks.release.registry.opening import fetched
from tasks.release.registry.register import CHALLENGER, CHAMPION, CORRECTS

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion

NOTHING_COMPARED: dict[str, Any] = {
    **{"opponent": "", "trained_on": 0, "margin": None, "alpha": None},
    **{"changed_predictions": [], "impact": None, "disputed": None},
}


def run_gate(
    root: Path, sources: RunFiles, challenger: ModelVersion, champion: ModelVersion | None
) -> tuple[GateDecision, dict[str, Any]]:
    """Judge a version against the champion, or against the untrained network without one.

    Returns the decision, and what its page shows besides: `opponent`, `trained_on` (how many of the
    gate's titles it was trained on), `margin, alpha` of the section `gate` (null if nothing was
    compared), `changed_predictions`, and of the last bulk run `impact` and `disputed` (null without
    one). ValueError if the version was made from another taxonomy than that below `root`, or the
    champion is of a format that the gate cannot query.
    """
    name, version = challenger.name, str(challenger.version)
    if challenger.tags["taxonomy_hash"] != sources.taxonomy_hash():
        raise ValueError(
            f"{name} version {version} has another taxonomy than {root}: run the gate where it was "
            "registered, or register again"
        )
    opponent = f"champion version {champion.version}" if champion else UNTRAINED
    if champion and champion.tags.get("taxonomy_hash") != challenger.tags["taxonomy_hash"]:
        reason = (
            f"{opponent} answers from another taxonomy, so figures do not compare; to change over, "
            f"give version {version} the alias yourself: {_by_hand(name, version)}"
        )
        return GateDecision(False, reason, []), NOTHING_COMPARED | {"opponent": opponent}
    params, index = load(GateParams, root / "params.yaml"), read_index(root / "data")
    queries = gate_queries(root / "data")
    everyday = queries.clear()
    if params.everyday:
        everyday = everyday_queries(root / params.everyday, index.occupations)
    titles = pl.concat([queries, everyday])
    before = _loaded_champion(champion, root) if champion else _untrained(sources, root)
    models = before, _loaded(challenger, root)
    ranked = rank_first(models, index, queries)
    (was, right_before), (now, right_now) = (
        map(np.concatenate, zip(own, first_answers(model, everyday), strict=True))
        for model, own in zip(models, ranked, strict=True)
    )
    results = by_test(titles["test"].to_list(), right_now, right_before)
    if champion is None:
        learned = what_training_saw(sources.model, root / "data")
        decision = decide_first(results, params.alpha, learned)
        if not decision.promoted:
            advice = (
                f"{name} has no champion: load models:/{name}/{version} or "
                f"models:/{name}@{CHALLENGER}, or make it champion by hand: "
                f"{_by_hand(name, version)}"
            )
            decision = replace(decision, reason=f"{decision.reason}; {advice}")
    elif challenger.tags.get(CORRECTS) == str(champion.version):
        decision = decide_corrected(results, opponent, params.alpha)
    else:
        decision = decide(results, opponent, params)
    run = last_run(root, name) if champion else None  # no run has an untrained network
    rows = run.rows_of(titles["raw_title"]) if run else {}
    return decision, {
        "opponent": opponent,
        "trained_on": _trained_on(before, queries["cleaned"].to_list()) if champion else 0,
        "margin": params.margin,
        "alpha": params.alpha,
        "changed_predictions": changed_predictions(titles, was, now, sources.labels(), rows),
        "impact": run and impact(run, *models),
        "disputed": run and disputed(run, *models),
    }


def what_training_saw(model: Path, data: Path) -> str:
    """Say how many validation queries chose the weights, and whether those of step 0 were kept.

    Steps on people's verdicts that followed, which no validation query judges, are named too. The
    history lies beside `model`, the folder of the network.
    """
    with (model.parent / "history.csv").open(encoding="utf-8", newline="") as file:
        steps = [(int(row["step"]), float(row["valid_score"])) for row in csv.DictReader(file)]
    looks = [look for look in steps if not math.isnan(look[1])]
    more = steps[-1][0] - looks[-1][0]
    followed = f"; {more} steps on people's verdicts followed" if more else ""
    queries = read_frame(data / "split/queries.parquet", QUERIES).filter(split="valid")
    count = queries["cleaned"].n_unique()
    step, best = max(looks, key=lambda look: look[1])  # of equal ones the first, as training does
    if not count:
        kept = "training had no validation queries to choose its weights by and kept the last"
    elif step == 0:
        kept = (
            f"no later look at the {count} validation queries was better than that at step 0 "
            f"({best:.3f}), so the weights of step 0 were kept"
        )
    else:
        kept = (
            f"the weights are those of step {step}, chosen by {count} validation queries, whose "
            f"score is known to within {1.96 * 0.5 / math.sqrt(count):.2f} only"
        )
    return kept + followed


def _by_hand(name: str, version: str) -> str:
    """Return the call that makes a version champion."""
    return f"MlflowClient().set_registered_model_alias('{name}', '{CHAMPION}', {version})"


def _trained_on(model: Normalizer, titles: Sequence[str]) -> int:
    """Count those titles that are a model's own of the split `train`."""
    columns: Any = model.aliases
    titles_of, splits = columns["title"].codes, columns["split"]
    is_train = np.array([name == "train" for name in splits.names], bool)[splits.codes]
    return int(np.isin(model.index.positions(titles), titles_of[is_train]).sum())


def _loaded(version: ModelVersion, root: Path) -> Normalizer:
    """Load a version as a consumer does, and return the normalizer in it."""
    import mlflow

    with fetched(f"models:/{version.name}/{version.version}", root) as (address, folder):
        # without warnings MLflow does not look at all installed packages
        loaded = mlflow.pyfunc.load_model(str(folder), suppress_warnings=True)
    served = loaded.unwrap_python_model()
    if not hasattr(served, "normalizer"):
        check_format({}, address)
    return served.normalizer  # type: ignore[no-any-return]


def _loaded_champion(version: ModelVersion, root: Path) -> Normalizer:
    """Load the champion, or say how a successor can be judged without it."""
    try:
        return _loaded(version, root)
    except ValueError as error:
        raise ValueError(
            f"{error}; the gate cannot query this champion: first take its alias away with "
            f"MlflowClient().delete_registered_model_alias('{version.name}', '{CHAMPION}')"
        ) from None


def _untrained(sources: RunFiles, root: Path) -> Normalizer:
    with scratch_folder(root) as folder:
        build_artifact(sources, folder, "initial")
        return read_normalizer(folder)
