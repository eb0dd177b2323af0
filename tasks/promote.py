"""The gate between challenger and champion: `python -m tasks.promote [--version N]`.

Both registered networks are run afresh on the gate's queries, with one index: the aliases of the
split `train`. The decision and its figures become tags of the version; a decided version keeps its
decision. On promotion the alias `champion` moves to it and `challenger` is taken away; a version
that was refused stays `challenger` until the next one comes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from models.model_files import load_model
from models.ngram_matcher import NgramMatcher
from models.normalizer_files import load_normalizer
from models.seeding import child_seed
from tasks.alias_index import AliasIndex, Similarities
from tasks.artefact import Sources
from tasks.command import run
from tasks.gate import Verdict, as_markdown, decide
from tasks.queries import read_queries
from tasks.ranking import rank_queries
from tasks.register import CHALLENGER, CHAMPION
from tasks.systems import network
from tasks.tracking import registry

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
    name = sources.params.register_.name
    with registry(root) as client:
        challenger = client.get_model_version(name, str(version))
        champion = _champion(client, name)
        if "decision" not in challenger.tags:
            if champion is not None and str(champion.version) == str(challenger.version):
                return Decision(True, "made champion by hand, without a decision", "")
            with tempfile.TemporaryDirectory() as kept:
                verdict, page = _judge(root, sources, challenger, champion, Path(kept))
            _record(client, challenger, verdict, page)
        return _carry_out(client, name, str(version))


def _champion(client: MlflowClient, name: str) -> ModelVersion | None:
    """The version that is champion, or None."""
    number = client.get_registered_model(name).aliases.get(CHAMPION)
    return None if number is None else client.get_model_version(name, number)


def _judge(
    root: Path,
    sources: Sources,
    challenger: ModelVersion,
    champion: ModelVersion | None,
    kept: Path,
) -> tuple[Verdict, str]:
    """The verdict and its page; artefacts are downloaded below `kept`."""
    if challenger.tags["taxonomy_hash"] != sources.taxonomy_hash():
        raise ValueError(
            f"{challenger.name} version {challenger.version} has another taxonomy than {root}: "
            "ask for the decision where it was registered, or register again"
        )
    if champion is None:
        opponent, folder = UNTRAINED, None
    elif champion.tags.get("taxonomy_hash") != challenger.tags["taxonomy_hash"]:
        return Verdict(False, _other_taxonomy(challenger, champion), []), ""
    else:
        opponent, folder = f"champion version {champion.version}", _artefact(champion, kept)
    queries = read_queries("gate", root / "data")
    scores = _scores(sources, queries, _artefact(challenger, kept), folder)
    params = sources.params
    seed = child_seed(params.seed, "gate")
    draws = params.evaluate.bootstrap_draws
    verdict = decide(scores, opponent, draws, seed, first=folder is None)
    page = as_markdown(verdict.figures, opponent)
    seen = 0 if folder is None else _seen(folder, queries)
    return verdict, page + (SEEN.format(opponent=opponent, seen=seen) if seen else "")


def _scores(
    sources: Sources, queries: pl.DataFrame, challenger: Path, champion: Path | None
) -> pl.DataFrame:
    """`challenger`, `opponent` and `ngram` on the same queries with the same index."""
    aliases = sources.read_aliases().filter(pl.col("split") == "train")
    index = AliasIndex.of(aliases)
    opponent = load_model(sources.model, "initial") if champion is None else load_model(champion)
    systems: dict[str, Similarities] = {
        "challenger": network(*load_model(challenger), index.titles),
        "opponent": network(*opponent, index.titles),
        "ngram": NgramMatcher(index.titles).similarities,
    }
    return pl.concat(
        rank_queries(name, system, index, queries, sources.params.evaluate)[0]
        for name, system in systems.items()
    )


def _seen(folder: Path, queries: pl.DataFrame) -> int:
    """How many gate titles the champion's own split had in training."""
    normalizer = load_normalizer(folder)
    trained = set(normalizer.with_split("train").aliases["title"].to_pylist())
    return sum(title in trained for title in queries["raw_title"])


def _artefact(version: ModelVersion, kept: Path) -> Path:
    """The artefact folder of a registered version, copied below `kept`."""
    import mlflow

    target = kept / str(version.version)
    target.mkdir()
    uri = f"models:/{version.name}/{version.version}/artifacts/normalizer"
    return Path(mlflow.artifacts.download_artifacts(uri, dst_path=str(target)))


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
    version, root = parser.parse_args().version, Path.cwd()
    name = Sources.below(root).params.register_.name
    if version is None:
        with registry(root) as client:
            version = client.get_registered_model(name).aliases.get(CHALLENGER)
    if version is None:
        raise SystemExit(f"{name} has no challenger; register one, or name it with --version")
    decision = promote(root, version)
    word = "champion" if decision.promoted else "not promoted"
    print(f"{name} version {version} {word}: {decision.reason}\n\n{decision.table_markdown}")


if __name__ == "__main__":
    run(main)
