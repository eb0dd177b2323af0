"""Challenger and opponent asked the gate's queries afresh, as a consumer loads them.

Both registered models answer with one index: the aliases of the split `train`. Where there is no
champion, the opponent is the network as training began, exported in the same way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from models.normalizer.normalizer import Normalizer
from models.ranking.search import Search
from models.text.ngram_matcher import NgramMatcher
from tasks.evaluation.ranking import rank_queries
from tasks.evaluation.systems import read_index
from tasks.io.queries import read_queries
from tasks.io.section import load
from tasks.release.gate.changed_predictions import ChangedPrediction, changed_predictions
from tasks.release.gate.first_version import (
    UNTRAINED,
    by_hand,
    decide_corrected,
    decide_first,
    what_training_saw,
    without_champion,
)
from tasks.release.gate.gate_figures import SystemResults, as_markdown, by_test
from tasks.release.gate.impact import Impact, impact
from tasks.release.gate.last_run import last_run
from tasks.release.gate.params import GateParams
from tasks.release.gate.rule import GateDecision, decide
from tasks.release.model_package.folder import RunFiles, build_artefact
from tasks.release.registry.register import CHAMPION, CORRECTS

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion

CONTRADICTED = "label_differs"
"""The source of queries that their own label contradicts."""
SEEN = (
    "\n\nNote: {opponent} was trained on another split; {seen} of the gate's titles were in its "
    "training, which can only help it."
)


class _Case(NamedTuple):
    """What a rule may say of a decision, besides the answers."""

    root: Path
    sources: RunFiles
    challenger: ModelVersion
    opponent: str
    params: GateParams


Rule = Callable[["Mapping[str, SystemResults]", _Case], GateDecision]


@dataclass(frozen=True)
class GateRun:
    """A verdict with what there is to show of it.

    Attributes:
        verdict: of the gate.
        opponent: whom the challenger was judged against.
        page: the table; empty if nothing was compared.
        changed_predictions: queries whose first answer became right or wrong.
        affected: what becomes of the titles of the last bulk run, if there is one.
    """

    verdict: GateDecision
    opponent: str
    page: str = ""
    changed_predictions: list[ChangedPrediction] = field(default_factory=list)
    impact: Impact | None = None

    def shown(self) -> dict[str, Any]:
        """Return what the report shows of it, as plain values."""
        return {
            "opponent": self.opponent,
            "table_markdown": self.page,
            "figures": [asdict(figures) for figures in self.verdict.figures],
            "changed_predictions": [asdict(flip) for flip in self.changed_predictions],
            "impact": asdict(self.impact) if self.impact else None,
        }


def run_gate(
    root: Path, sources: RunFiles, challenger: ModelVersion, champion: ModelVersion | None
) -> GateRun:
    """Judge a version against the champion, or against the untrained network without one.

    Raises:
        ValueError: the version was made from another taxonomy than that below `root`, or the
            champion is of a format that the gate cannot ask.
    """
    if challenger.tags["taxonomy_hash"] != sources.taxonomy_hash():
        raise ValueError(
            f"{challenger.name} version {challenger.version} has another taxonomy than {root}: "
            "ask for the decision where it was registered, or register again"
        )
    if champion is None:
        return _judged(root, sources, challenger, UNTRAINED, _untrained(sources), _first)
    opponent = f"champion version {champion.version}"
    if champion.tags.get("taxonomy_hash") != challenger.tags["taxonomy_hash"]:
        return GateRun(GateDecision(False, _other_taxonomy(challenger, opponent), []), opponent)
    is_correction = challenger.tags.get(CORRECTS) == str(champion.version)
    rule = _corrected if is_correction else _challenging
    return _judged(root, sources, challenger, opponent, _loaded(champion), rule)


def _judged(
    root: Path,
    sources: RunFiles,
    challenger: ModelVersion,
    opponent: str,
    normalizer: Normalizer,
    rule: Rule,
) -> GateRun:
    queries, index = gate_queries(root / "data"), read_index(root / "data")
    systems = {"challenger": _loaded(challenger), "opponent": normalizer}
    searches = {name: system.within(index) for name, system in systems.items()}
    searches["ngram"] = Search(
        index, NgramMatcher(index.titles).similarities, sources.evaluate.rule
    )
    asked = {name: rank_queries(name, searches[name], queries, 1) for name in searches}
    answers = by_test(pl.concat(scores for scores, _ in asked.values()))
    params = load(GateParams, root / "params.yaml")
    verdict = rule(answers, _Case(root, sources, challenger, opponent, params))
    page = as_markdown(verdict.figures, opponent, params.margin, params.alpha)
    first = opponent == UNTRAINED
    seen = 0 if first else _seen(normalizer, queries)
    page += SEEN.format(opponent=opponent, seen=seen) if seen else ""
    run = None if first else last_run(root, challenger.name)  # nobody has asked the untrained one
    rows = run.rows_of(queries["raw_title"]) if run else {}
    was, now = (asked[name][1] for name in ("opponent", "challenger"))
    changed = changed_predictions(was, now, queries, sources.labels(), rows)
    impact_facts = impact(run, normalizer, systems["challenger"]) if run else None
    return GateRun(verdict, opponent, page, changed, impact_facts)


def _first(answers: Mapping[str, SystemResults], case: _Case) -> GateDecision:
    learned = what_training_saw(case.sources.model, case.root / "data")
    verdict = decide_first(answers, case.params.alpha, learned)
    if verdict.promoted:
        return verdict
    helped = without_champion(case.challenger.name, str(case.challenger.version))
    return GateDecision(False, f"{verdict.reason}; {helped}", verdict.figures)


def _challenging(answers: Mapping[str, SystemResults], case: _Case) -> GateDecision:
    return decide(answers, case.opponent, case.params)


def _corrected(answers: Mapping[str, SystemResults], case: _Case) -> GateDecision:
    return decide_corrected(answers, case.opponent, case.params.alpha)


def gate_queries(data: Path) -> pl.DataFrame:
    """Read what the gate asks: `QUERIES`.

    A mined input whose label contradicts the title that stands in it is not asked: a network that
    learned what the label says would be held to be worse.
    """
    return read_queries("gate", data).filter(pl.col("source") != CONTRADICTED)


def _seen(normalizer: Normalizer, queries: pl.DataFrame) -> int:
    """Count the gate's titles that the champion's own split had in training."""
    splits = zip(normalizer.aliases["title"], normalizer.aliases["split"], strict=True)
    trained = {title for title, split in splits if split == "train"}
    return sum(title in trained for title in queries["cleaned"])


def _loaded(version: ModelVersion) -> Normalizer:
    """Load a version as a consumer does, and return what answers in it.

    Raises:
        ValueError: it was registered in a format that knows no such part.
    """
    import mlflow

    address = f"models:/{version.name}/{version.version}"
    served = mlflow.pyfunc.load_model(address).unwrap_python_model()
    if not hasattr(served, "normalizer"):
        raise ValueError(
            f"{address} is of an older format, which the gate cannot ask: register that model "
            f"again, or take its alias away: MlflowClient().delete_registered_model_alias("
            f"'{version.name}', '{CHAMPION}')"
        )
    normalizer: Normalizer = served.normalizer
    return normalizer


def _untrained(sources: RunFiles) -> Normalizer:
    """Make the same artefact of the network as training began, and read it."""
    from tasks.release.model_package.serving import read_normalizer

    with tempfile.TemporaryDirectory() as folder:
        build_artefact(sources, Path(folder), "initial")
        return read_normalizer(Path(folder))


def _other_taxonomy(challenger: ModelVersion, opponent: str) -> str:
    return (
        f"{opponent} answers from another taxonomy, so figures do not compare; to change over, "
        f"give version {challenger.version} the alias yourself: "
        f"{by_hand(challenger.name, str(challenger.version))}"
    )
