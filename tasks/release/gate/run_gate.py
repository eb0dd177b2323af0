"""Challenger and opponent answer the gate's queries afresh, as a consumer loads them.

Both registered models answer with one index: the aliases of the split `train`; everyday titles
(`tasks/release/gate/everyday.py`) with all. Where there is no champion, the opponent is the network
as training began, exported in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from models.normalizer.normalizer import Normalizer
from models.normalizer.package_format import check_format
from models.search.index import AliasIndex
from tasks.evaluation.systems import read_index
from tasks.io.queries import read_queries
from tasks.io.section import load
from tasks.release.gate.disputed import Disputed, disputed
from tasks.release.gate.everyday import everyday_queries, first_answers
from tasks.release.gate.first_ranks import Frames, rank_first
from tasks.release.gate.first_version import (
    UNTRAINED,
    by_hand,
    decide_corrected,
    decide_first,
    what_training_saw,
    without_champion,
)
from tasks.release.gate.gate_figures import as_markdown, by_test
from tasks.release.gate.impact import Impact, impact
from tasks.release.gate.last_run import last_run
from tasks.release.gate.params import GateParams
from tasks.release.gate.rule import GateDecision, decide
from tasks.release.model_package.folder import build_artefact
from tasks.release.model_package.run_files import RunFiles
from tasks.release.registry.loading import fetched
from tasks.release.registry.register import CHAMPION, CORRECTS
from tasks.release.registry.scratch import scratch_folder

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion

TRAINED_ON = (
    "\n\nNote: {opponent} was trained on another split; {count} of the gate's titles were in its "
    "training, which can only help it."
)


@dataclass(frozen=True)
class GateRun:
    """A decision with the figures that the report shows."""

    decision: GateDecision
    opponent: str  # whom the challenger was judged against
    table_markdown: str = ""  # empty if nothing was compared
    changed_predictions: list[dict[str, Any]] = field(default_factory=list)
    impact: Impact | None = None  # new answers to the titles of the last bulk run, if there is one
    disputed: Disputed | None = None  # a sample of its rows with two answers, if there is one


def run_gate(
    root: Path, sources: RunFiles, challenger: ModelVersion, champion: ModelVersion | None
) -> GateRun:
    """Judge a version against the champion, or against the untrained network without one.

    Raises:
        ValueError: the version was made from another taxonomy than that below `root`, or the
            champion is of a format that the gate cannot query.
    """
    if challenger.tags["taxonomy_hash"] != sources.taxonomy_hash():
        raise ValueError(
            f"{challenger.name} version {challenger.version} has another taxonomy than {root}: "
            "run the gate where it was registered, or register again"
        )
    opponent = f"champion version {champion.version}" if champion else UNTRAINED
    if champion and champion.tags.get("taxonomy_hash") != challenger.tags["taxonomy_hash"]:
        reason = (
            f"{opponent} answers from another taxonomy, so figures do not compare; to change over, "
            f"give version {challenger.version} the alias yourself: "
            f"{by_hand(challenger.name, str(challenger.version))}"
        )
        return GateRun(GateDecision(False, reason, []), opponent)
    queries, index = gate_queries(root / "data"), read_index(root / "data")
    normalizer = _loaded_champion(champion, root) if champion else _untrained(sources, root)
    systems = {"challenger": _loaded(challenger, root), "opponent": normalizer}
    params, everyday = load(GateParams, root / "params.yaml"), queries.clear()
    if params.everyday:
        everyday = everyday_queries(root / params.everyday, index.occupations)
    results = _answers(systems, index, queries, everyday)
    answers = by_test(pl.concat(scores for scores, _ in results.values()))
    if champion is None:
        learned = what_training_saw(sources.model, root / "data")
        decision = decide_first(answers, params.alpha, learned)
        if not decision.promoted:
            advice = without_champion(challenger.name, str(challenger.version))
            decision = replace(decision, reason=f"{decision.reason}; {advice}")
    elif challenger.tags.get(CORRECTS) == str(champion.version):
        decision = decide_corrected(answers, opponent, params.alpha)
    else:
        decision = decide(answers, opponent, params)
    page = as_markdown(decision.figures, opponent, params.margin, params.alpha)
    if champion:
        count = _trained_on(normalizer, queries["cleaned"].to_list())
        page += TRAINED_ON.format(opponent=opponent, count=count) if count else ""
    run = last_run(root, challenger.name) if champion else None  # no run has an untrained network
    titles = pl.concat([queries, everyday])
    rows = run.rows_of(titles["raw_title"]) if run else {}
    was, now = (results[name][1] for name in ("opponent", "challenger"))
    changed = changed_predictions(was, now, titles, sources.labels(), rows)
    if run is None:
        return GateRun(decision, opponent, page, changed)
    both = run, normalizer, systems["challenger"]
    return GateRun(decision, opponent, page, changed, impact(*both), disputed(*both))


def gate_queries(data: Path) -> pl.DataFrame:
    """Read the gate's queries: schema `QUERIES`.

    The gate leaves out a mined input whose label contradicts the title in it (source
    `label_differs`): a network that learned the label would count as worse.
    """
    return read_queries("gate", data).filter(pl.col("source") != "label_differs")


def _answers(
    systems: Mapping[str, Normalizer],
    index: AliasIndex,
    queries: pl.DataFrame,
    everyday: pl.DataFrame,
) -> dict[str, Frames]:
    """Return `SCORES` and `RUN` of each system, of each the columns that the gate reads."""
    results = {}
    for name, ranked in rank_first(systems, index, queries).items():
        scores, runs = zip(ranked, first_answers(name, systems[name], everyday), strict=True)
        results[name] = pl.concat(scores), pl.concat(runs)
    return results


def changed_predictions(
    before: pl.DataFrame,
    after: pl.DataFrame,
    queries: pl.DataFrame,
    labels: Mapping[str, str],
    rows: Mapping[str, int],
) -> list[dict[str, Any]]:
    """List the queries whose first answer is right with one system and wrong with the other.

    They come in their order, with the labels of opponent and challenger, None for an abstention.

    `before`: schema `RUN`, of the opponent; `after`: schema `RUN`, of the challenger; `queries`:
    schema `QUERIES`; of several right occupations all labels are given; `rows`: of a title in the
    last bulk run, 0 if it is missing.
    """
    key, both = ["test", "query_id"], queries
    for run, name in ((before, "before"), (after, "after")):
        first = run.filter(rank=1).select(*key, pl.col("occupation_id").alias(name))
        both = both.join(first, on=key, maintain_order="left")
    was, now = (
        pl.col("occupation_ids").list.contains(pl.col(name)).fill_null(value=False)
        for name in ("before", "after")
    )
    changed = both.with_columns(right=now).filter(was != now)
    return [
        {
            "test": row["test"],
            "raw_title": row["raw_title"],
            "occupation_label": " or ".join(labels[name] for name in row["occupation_ids"]),
            "before": labels.get(row["before"]),
            "after": labels.get(row["after"]),
            "change": "wrong to right" if row["right"] else "right to wrong",
            "rows": rows.get(row["raw_title"], 0),
        }
        for row in changed.iter_rows(named=True)
    ]


def _trained_on(model: Normalizer, titles: Sequence[str]) -> int:
    """Count those titles that are a model's own of the split `train`."""
    columns: Any = model.aliases
    places, splits = columns["title"].codes, columns["split"]
    own = [
        places[splits.codes == code] for code, name in enumerate(splits.names) if name == "train"
    ]
    return int(np.isin(model.title_places(titles), own).sum())


def _loaded(version: ModelVersion, root: Path) -> Normalizer:
    """Load a version as a consumer does, and return the normalizer in it."""
    import mlflow

    with fetched(f"models:/{version.name}/{version.version}", root) as (address, folder):
        # without warnings MLflow does not look at all installed packages
        loaded = mlflow.pyfunc.load_model(str(folder), suppress_warnings=True)
    served = loaded.unwrap_python_model()
    if not hasattr(served, "normalizer"):
        check_format({}, address)
    normalizer: Normalizer = served.normalizer
    return normalizer


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
    from tasks.release.model_package.reading import read_normalizer

    with scratch_folder(root) as folder:
        build_artefact(sources, folder, "initial")
        return read_normalizer(folder)
