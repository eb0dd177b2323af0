"""`params.yaml` as a whole: every section, and what one requires of another.

`python -m tasks.check_params` checks it, which the flows do before they start anything.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, create_model

from tasks.evaluation.systems import EvaluateParams
from tasks.io.command import run
from tasks.io.mixes import SOURCES
from tasks.io.section import FILE, ParamsError, RunParams, Section, checked, read_values
from tasks.papers.similarity.scored_pairs import ScoredPairsParams
from tasks.papers.similarity.similarity_train import SimilarityParams, system_settings
from tasks.papers.table3.stage import Table3Params
from tasks.pipeline.auxiliary_taxonomy import AuxiliaryTaxonomyParams
from tasks.pipeline.calibrate.prior import CalibrateParams
from tasks.pipeline.feedback.stage import FeedbackParams
from tasks.pipeline.ingest.stage import IngestParams
from tasks.pipeline.lexical import LexicalParams
from tasks.pipeline.pairs.drawn_pairs import PairsParams
from tasks.pipeline.report.stage import ReportParams
from tasks.pipeline.simulate_feedback import SimulateFeedbackParams
from tasks.pipeline.split import SplitParams
from tasks.pipeline.train import NetworkParams, check_kinds, training_settings
from tasks.pipeline.train_feedback import TrainFeedbackParams
from tasks.pipeline.train_params import TrainParams
from tasks.release.gate.rule import GateParams
from tasks.release.model_package.run_files import RegisterParams


def section_of(stage: str) -> type[Section]:
    """Return the section of a source of pairs: the class that its stage's module defines."""
    name = f"tasks.pipeline.{stage}"
    spec = find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        name = f"{name}.stage"
    for value in vars(import_module(name)).values():
        if isinstance(value, type) and issubclass(value, Section) and value.__module__ == name:
            return value
    raise LookupError(f"{name} defines no section of params.yaml, a subclass of Section")


_Sources = create_model(  # type: ignore[call-overload]  # its stubs know no names from a list
    "_Sources",
    __base__=RunParams,
    **{source.stage: (section_of(source.stage), ...) for source in SOURCES},
)
"""A section for each source of pairs (`tasks/io/mixes.py`)."""


class AllParams(_Sources):  # type: ignore[misc, valid-type]  # made from a list
    """The whole file."""

    threads: Annotated[str, Field(pattern=r"^OMP_NUM_THREADS=[1-9]\d? MKL_NUM_THREADS=[1-9]\d?$")]
    ingest: IngestParams
    split: SplitParams
    auxiliary_taxonomy: AuxiliaryTaxonomyParams
    simulate_feedback: SimulateFeedbackParams
    feedback: FeedbackParams
    pairs: PairsParams
    train: TrainParams
    train_feedback: TrainFeedbackParams
    encoders: dict[str, dict[str, Any]]
    losses: dict[str, dict[str, Any]]
    lexical: LexicalParams
    calibrate: CalibrateParams
    evaluate: EvaluateParams
    table3: Table3Params
    scored_pairs: ScoredPairsParams
    similarity: SimilarityParams
    report: ReportParams
    gate: GateParams
    register_: Annotated[RegisterParams, Field(alias="register")]

    @property
    def network(self) -> NetworkParams:
        """Section `train` and the values of all kinds; ParamsError if its own have none."""
        return NetworkParams.of(self.train, self.encoders, self.losses)


def load_params(path: Path = FILE) -> AllParams:
    """Read and check the whole file; the ParamsError names each value and what is allowed."""
    return checked(AllParams, read_values(path), path)


def check_params(params: AllParams) -> None:
    """Refuse values with which no training can work, in any section, with a ParamsError."""
    network = params.network
    check_kinds(network)
    loss = training_settings(network, params.seeds[0]).loss
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
