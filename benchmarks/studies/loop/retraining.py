"""A network trained with people's corrections, and its model package.

In: a workspace's pairs of mix `extra_words` and people's feedback so far. Out: a model package,
made as mix `corrections` is in the pipeline, with its parameters. Networks are kept.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchmarks.networks.corrected_pairs import write_corrected
from benchmarks.networks.runner import Job
from benchmarks.networks.title_networks import TitleNetwork, TitleNetworks
from benchmarks.studies.loop.stream import BEFORE, Stream
from models.network.model_files import load_model
from models.reproducibility.seeding import generator
from models.search.search import Search
from models.training.run import TrainSettings
from tasks.evaluation.answering import answering
from tasks.evaluation.systems import network
from tasks.io.frames import read_frame, write_frame, write_json
from tasks.io.mixes import CORRECTIONS
from tasks.io.queries import read_queries
from tasks.io.schemas import EXEMPLARS, OCCUPATIONS, OVERRIDES, PRIOR, SPLIT_ALIASES, SPLIT_INPUTS
from tasks.pipeline.calibrate.fit_confidence import calibrate, levels
from tasks.pipeline.calibrate.fit_prior import gather, known_inputs
from tasks.pipeline.calibrate.labels import labelled_queries, labels_of_titles
from tasks.pipeline.feedback.stage import Judged
from tasks.release.model_package.folder import RunFiles, build_artefact


@dataclass(frozen=True)
class Retraining:
    """Trains networks of a workspace again, and keeps them in a folder."""

    stream: Stream
    settings: TrainSettings
    kept: Path

    def first(self, name: str) -> TitleNetwork:
        """Train without feedback, or read the kept one; `name` stands in lines of progress."""
        return self._trained(self.stream.workspace.pairs(BEFORE), name)

    def again(self, feedback: Judged, name: str) -> TitleNetwork:
        """Train with the verdicts and corrections that are not held out for the gate."""
        workspace = self.stream.workspace
        params, rng = workspace.params, generator(workspace.params.seed, "pairs", CORRECTIONS)
        with TemporaryDirectory() as folder:
            pairs = Path(folder)
            write_corrected(workspace.pairs(BEFORE), feedback.verdicts, params.pairs, rng, pairs)
            return self._trained(pairs, name)

    def package(self, model: Path, feedback: Judged, folder: Path) -> Path:
        """Write a model package: a network, exemplars gathered anew, and exact matches."""
        sources = RunFiles.below(self.stream.workspace.folder)
        overrides = folder / "feedback" / "overrides.parquet"
        write_frame(feedback.overrides, overrides, OVERRIDES)
        self._write_exemplars(model, feedback.judged, folder / "calibrated")
        made = replace(sources, model=model, calibrated=folder / "calibrated", overrides=overrides)
        build_artefact(made, folder / "artefact")
        return folder / "artefact"

    def _trained(self, pairs: Path, name: str) -> TitleNetwork:
        return TitleNetworks(self.kept, 1, pairs).outcome(Job(name, self.settings))

    def _write_exemplars(self, model: Path, judged: pl.DataFrame, folder: Path) -> None:
        """Write the files of the stage `calibrate` for mix `corrections`."""
        workspace, index = self.stream.workspace, self.stream.index
        params, rule = workspace.params.calibrate, workspace.params.evaluate.rule
        inputs = read_frame(workspace.data / "split/inputs.parquet", SPLIT_INPUTS)
        inputs_known = known_inputs(CORRECTIONS, inputs, judged, self.stream.queried)
        plain = Search(index, network(*load_model(model), index.titles), rule)
        made = gather(plain, inputs_known, params, rule.temperature, "exemplars")
        write_frame(made.prior, folder / "prior.parquet", PRIOR)
        write_frame(made.exemplars, folder / "exemplars.parquet", EXEMPLARS)
        valid, queried = read_queries("valid", workspace.data), self.stream.queried
        labelled = labelled_queries(valid, inputs, set(inputs["cleaned"]), queried)
        calibration = None
        if labelled.test:
            named = read_frame(workspace.data / "ingest/occupations.parquet", OCCUPATIONS)
            aliases = read_frame(workspace.data / "split/aliases.parquet", SPLIT_ALIASES)
            calibration = calibrate(
                answering(model, index, rule, folder),
                labelled.queries,
                levels(index, named),
                rule.temperature,
                labels_of_titles(aliases, named),
                params.max_false_rejection_rate,
            )
        write_json(calibration and asdict(calibration), folder / "calibration.json")
