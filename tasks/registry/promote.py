"""The gate between challenger and champion: `python -m tasks.registry.promote [--version N]`.

Both registered models are loaded as a consumer loads them and asked the gate's queries afresh, with
one index: the aliases of the split `train`. The decision and its figures become tags of the
version; a decided version keeps its decision. On promotion the alias `champion` moves to it and
`challenger` is taken away; a version that was refused stays `challenger` until the next one comes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from models.answer.index import AliasIndex
from models.answer.normalizer import Normalizer
from models.answer.search import Search
from models.repeatable.seeding import child_seed
from models.text.ngram_matcher import NgramMatcher
from tasks.evaluation.ranking import rank_queries
from tasks.evaluation.systems import EvaluateParams, read_index
from tasks.files.command import run
from tasks.files.queries import read_queries
from tasks.registry.artefact import Sources, build_artefact
from tasks.registry.gate import Verdict, as_markdown, decide
from tasks.registry.register import (
    CHALLENGER,
    CHAMPION,
    Registered,
    alias_of,
    find_version,
)
from tasks.registry.tracking import registry

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion

UNTRAINED = "the untrained network"
SEEN = (
    "\n\nNote: {opponent} was trained on another split; {seen} of the gate's titles were in its "
    "training, which can only help it."
)


@dataclass(frozen=True)
class Decision:
    """The gate's answer about one version.

    Attributes:
        promoted: whether the version is champion now.
        reason: in a sentence.
        table_markdown: the figures that it rests on; empty if nothing was compared.
    """

    promoted: bool
    reason: str
    table_markdown: str


def promote(root: Path, version: object) -> Decision:
    """Judge `version` of the model named in `root`'s parameters, once; move the alias if it won.

    Raises:
        ValueError: `version` was made from another taxonomy than that below `root`.
    """
    sources = Sources.below(root)
    name = sources.register.name
    with registry(root) as client:
        challenger = client.get_model_version(name, str(version))
        champion = _champion(client, name)
        if "decision" not in challenger.tags:
            if champion is not None and str(champion.version) == str(challenger.version):
                return Decision(True, "made champion by hand, without a decision", "")
            verdict, page = _judge(root, sources, challenger, champion)
            _record(client, challenger, verdict, page)
        return _carry_out(client, name, str(version))


def standing(root: Path) -> tuple[Registered, Decision] | None:
    """Return the version of the files below `root` and its decision, if both are there already."""
    sources = Sources.below(root)
    name, artefact_hash = sources.register.name, sources.artefact_hash()
    with registry(root) as client:
        known = find_version(client, name, artefact_hash)
        if known is None or "decision" not in known.tags:
            return None
        number = str(known.version)
        decision = _carry_out(client, name, number)
        alias = alias_of(client, name, number)
        return Registered(name, number, alias, True), decision


def _champion(client: MlflowClient, name: str) -> ModelVersion | None:
    """Return the version that is champion, or None."""
    number = client.get_registered_model(name).aliases.get(CHAMPION)
    return None if number is None else client.get_model_version(name, number)


def _judge(
    root: Path, sources: Sources, challenger: ModelVersion, champion: ModelVersion | None
) -> tuple[Verdict, str]:
    """Return the verdict and its page."""
    if challenger.tags["taxonomy_hash"] != sources.taxonomy_hash():
        raise ValueError(
            f"{challenger.name} version {challenger.version} has another taxonomy than {root}: "
            "ask for the decision where it was registered, or register again"
        )
    if champion is None:
        opponent, normalizer = UNTRAINED, _untrained(sources)
    elif champion.tags.get("taxonomy_hash") != challenger.tags["taxonomy_hash"]:
        return Verdict(False, _other_taxonomy(challenger, champion), []), ""
    else:
        opponent, normalizer = f"champion version {champion.version}", _loaded(champion)
    queries = read_queries("gate", root / "data")
    systems = {"challenger": _loaded(challenger), "opponent": normalizer}
    scores = _scores(systems, read_index(root / "data"), queries, sources.evaluate)
    seed = child_seed(sources.run.seed, "gate")
    draws = sources.evaluate.bootstrap_draws
    verdict = decide(scores, opponent, draws, seed, first=champion is None)
    page = as_markdown(verdict.figures, opponent)
    seen = 0 if champion is None else _seen(normalizer, queries)
    return verdict, page + (SEEN.format(opponent=opponent, seen=seen) if seen else "")


def _scores(
    systems: Mapping[str, Normalizer],
    index: AliasIndex,
    queries: pl.DataFrame,
    evaluate: EvaluateParams,
) -> pl.DataFrame:
    """Return the values of the systems and of `ngram`, on the same queries with the same index."""
    searches = {name: normalizer.within(index) for name, normalizer in systems.items()}
    searches["ngram"] = Search(index, NgramMatcher(index.titles).similarities, evaluate.rule)
    return pl.concat(
        rank_queries(name, search, queries, evaluate.run_depth)[0]
        for name, search in searches.items()
    )


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


def _untrained(sources: Sources) -> Normalizer:
    """Make the same artefact of the network as training began, and read it."""
    from tasks.registry.serving import read_normalizer

    with tempfile.TemporaryDirectory() as folder:
        build_artefact(sources, Path(folder), "initial")
        return read_normalizer(Path(folder))


def _other_taxonomy(challenger: ModelVersion, champion: ModelVersion) -> str:
    return (
        f"champion version {champion.version} answers from another taxonomy, so figures do not "
        f"compare; to change over, give version {challenger.version} the alias yourself: "
        f"MlflowClient().set_registered_model_alias('{challenger.name}', '{CHAMPION}', "
        f"{challenger.version})"
    )


def _record(client: MlflowClient, version: ModelVersion, verdict: Verdict, page: str) -> None:
    """Write the decision as tags, the tag `decision` last: with it the decision stands."""
    tags = {
        "decision_reason": verdict.reason,
        "decision_table": page,
        "decision_figures": json.dumps([asdict(figures) for figures in verdict.figures]),
        "decision": "promoted" if verdict.promoted else "not promoted",
    }
    for key, value in tags.items():
        client.set_model_version_tag(version.name, version.version, key, value)


def _carry_out(client: MlflowClient, name: str, number: str) -> Decision:
    """Move the aliases as decided, once, and give the decision as it stands now."""
    version = client.get_model_version(name, number)
    promoted, reason = version.tags["decision"] == "promoted", version.tags["decision_reason"]
    if promoted and "decision_carried_out" not in version.tags:
        client.set_registered_model_alias(name, CHAMPION, number)
        if CHALLENGER in version.aliases:
            client.delete_registered_model_alias(name, CHALLENGER)
        client.set_model_version_tag(name, number, "decision_carried_out", "yes")
    champion = _champion(client, name)
    is_champion = champion is not None and str(champion.version) == number
    if promoted and not is_champion:
        now = "none" if champion is None else f"version {champion.version}"
        reason = f"was promoted ({reason}); champion is {now} now"
    return Decision(is_champion, reason, version.tags["decision_table"])


def main() -> None:
    """Judge the challenger of the current directory's model, or the version asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", help="default: the version that is challenger")
    parser.add_argument("--standing", action="store_true", help="judge nothing, say what stands")
    parser.add_argument("--json", action="store_true", help="the outcome as the last line, JSON")
    options, root = parser.parse_args(), Path.cwd()
    if options.standing:
        stands = standing(root)
        print(
            json.dumps(stands and {"registered": asdict(stands[0]), "decision": asdict(stands[1])})
        )
        return
    version = options.version or _challenger(root)
    decision = promote(root, version)
    word = "champion" if decision.promoted else "not promoted"
    print(f"version {version} {word}: {decision.reason}\n\n{decision.table_markdown}")
    if options.json:
        print(json.dumps(asdict(decision)))


def _challenger(root: Path) -> str:
    name = Sources.below(root).register.name
    with registry(root) as client:
        version = client.get_registered_model(name).aliases.get(CHALLENGER)
    if version is None:
        raise ValueError(f"{name} has no challenger; register one, or name it with --version")
    return str(version)


if __name__ == "__main__":
    run(main)
