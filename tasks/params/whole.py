"""`params.yaml` as a whole: every section, and what one asks of another.

`python -m tasks.params.whole` checks it, which the flows do before they start anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from tasks.artefact.folder import RegisterParams
from tasks.companion import CompanionParams
from tasks.evaluation.systems import EvaluateParams
from tasks.evidence.gathering import EvidenceParams
from tasks.extra_words import ExtraWordsParams
from tasks.feedback import FeedbackParams
from tasks.files.command import run
from tasks.ingest import IngestParams
from tasks.judging.gate import GateParams
from tasks.lexical import LexicalParams
from tasks.pairs import PairsParams
from tasks.params.network import NetworkParams, check_kinds, taught, training_settings
from tasks.params.section import FILE, ParamsError, RunParams, checked, read_values
from tasks.params.teaching import TeacherParams
from tasks.params.training import TrainParams
from tasks.report import ReportParams
from tasks.score import ScoreParams
from tasks.scored.scored_pairs import ScoredPairsParams
from tasks.scored.similarity_params import SimilarityParams, system_settings
from tasks.split import SplitParams
from tasks.synonyms import SynonymsParams
from tasks.table3.tables import Table3Params
from tasks.typos import TyposParams


class AllParams(RunParams):
    """The whole file."""

    threads: Annotated[str, Field(pattern=r"^OMP_NUM_THREADS=[1-9]\d? MKL_NUM_THREADS=[1-9]\d?$")]
    ingest: IngestParams
    split: SplitParams
    typos: TyposParams
    synonyms: SynonymsParams
    extra_words: ExtraWordsParams
    companion: CompanionParams
    score: ScoreParams
    feedback: FeedbackParams
    pairs: PairsParams
    teacher: TeacherParams
    train: TrainParams
    encoders: dict[str, dict[str, Any]]
    losses: dict[str, dict[str, Any]]
    lexical: LexicalParams
    evidence: EvidenceParams
    evaluate: EvaluateParams
    table3: Table3Params
    scored_pairs: ScoredPairsParams
    similarity: SimilarityParams
    report: ReportParams
    gate: GateParams
    register_: Annotated[RegisterParams, Field(alias="register")]

    @model_validator(mode="after")
    def _kinds_have_values(self) -> Self:
        for name, kind, sections in (
            ("train.encoder", self.train.encoder.kind, self.encoders),
            ("train.loss", self.train.loss.kind, self.losses),
        ):
            if kind not in sections:
                raise ValueError(
                    f"{name}.kind = {kind!r} has no section of values; choose "
                    f"{', '.join(sorted(sections))}"
                )
        return self

    @property
    def network(self) -> NetworkParams:
        """Section `train` and the values of all kinds."""
        return NetworkParams(self.train, self.encoders, self.losses)


def load_params(path: Path = FILE) -> AllParams:
    """Read and check the whole file.

    Raises:
        ParamsError: with every offending name, its value, and what is allowed.
    """
    return checked(AllParams, read_values(path), path)


def check_params(params: AllParams) -> None:
    """Refuse what no training could work with, in any section.

    Raises:
        ParamsError: with every offending value and what is allowed, or what does not go together.
    """
    network = params.network
    check_kinds(network)
    loss = taught(training_settings(network, params.seeds[0]), params.teacher).loss
    if loss.reads_dissimilar and not params.pairs.dissimilar_per_similar:
        raise ParamsError(
            f"params.yaml:\n  losses.{params.train.loss.kind} reads the dissimilar pairs of the "
            "file, but pairs.dissimilar_per_similar is 0; raise it, or choose other negatives"
        )
    for name in params.similarity.systems:
        system_settings(network, params.similarity, name, params.similarity.seeds[0])


def main() -> None:
    """Check `params.yaml` in the working directory."""
    check_params(load_params())


if __name__ == "__main__":
    run(main)
