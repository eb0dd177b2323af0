"""A network trained with people's corrections, what inputs say beside it, and its artefact.

In: a workspace's pairs of mix 3 and what people said so far. Out: an artefact folder, made in the
steps and with the parameters of mix 4c in the pipeline: pairs (as the study `feedback` has them),
training, evidence, confidence. Networks and evidence are kept, named by all that they follow from;
artefacts are not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchmarks.studies.feedback.pairs import Material, variant_pairs
from benchmarks.studies.feedback.variants import variant
from benchmarks.studies.loop.stream import BEFORE, Stream
from benchmarks.title_networks import TitleNetwork, TitleNetworks
from benchmarks.tuning import Job, training_code
from models.answer.search import Search
from models.network.model_files import load_model
from models.training.checkpoints import run_key
from models.training.run import TrainSettings
from tasks.artefact.folder import Sources, build_artefact
from tasks.evaluation.answering import answering
from tasks.evaluation.systems import network
from tasks.evidence.calibrating import calibrate, calibration_queries, levels
from tasks.evidence.gathering import gather
from tasks.evidence.known import known_inputs
from tasks.feedback import Judged
from tasks.files.frames import read_frame, write_frame, write_json
from tasks.files.queries import BEFORE_FEEDBACK, read_queries
from tasks.files.schemas import EXEMPLARS, OCCUPATIONS, PRIOR, SPLIT_INPUTS, STRINGS, TOLD
from tasks.files.sources import CORRECTIONS
from tasks.pairing.pair_blocks import write_blocks


@dataclass(frozen=True)
class Retraining:
    """How networks of a workspace are trained again.

    Attributes:
        stream: of the workspace.
        settings: of training, its seed among them.
        kept: folder of what is kept.
    """

    stream: Stream
    settings: TrainSettings
    kept: Path

    def first(self, name: str) -> TitleNetwork:
        """Train without anybody's word, or take what is kept; `name` is said of progress."""
        return self._trained(self.stream.workspace.pairs(BEFORE), name)

    def again(self, said: Judged, name: str) -> TitleNetwork:
        """Train with the verdicts and corrections that are no reserve."""
        workspace = self.stream.workspace
        params = workspace.params
        before = workspace.pairs(BEFORE) / "pairs.parquet"
        material = Material(self.stream.strings, before, {})
        learned = variant(CORRECTIONS)
        made = variant_pairs(learned, material, said.verdicts, params.pairs, params.seed)
        with TemporaryDirectory() as folder:
            pairs = Path(folder)
            write_frame(made[0], pairs / "strings.parquet", STRINGS)
            write_blocks(made[1], pairs / "pairs.parquet")
            return self._trained(pairs, name)

    def artefact(self, model: Path, said: Judged, folder: Path) -> Path:
        """Write what consumers load: a network, evidence gathered anew, and the look-up."""
        sources = Sources.below(self.stream.workspace.folder)
        told = folder / "said" / "told.parquet"
        write_frame(said.told, told, TOLD)
        evidence = self._evidence(model, said.judged)
        made = replace(sources, model=model, evidence=evidence, told=told)
        build_artefact(made, folder / "artefact")
        return folder / "artefact"

    def _trained(self, pairs: Path, name: str) -> TitleNetwork:
        networks = TitleNetworks(self.kept, 1, pairs, teacher=self.stream.workspace.teacher)
        return networks.outcome(Job(name, self.settings))

    def _evidence(self, model: Path, judged: pl.DataFrame) -> Path:
        """Write what the stage `evidence` does for mix 4c, unless it is kept."""
        folder = self.kept / f"evidence-{self._key(model, judged)}"
        if (folder / "calibration.json").is_file():  # the last one that is written
            return folder
        workspace, index = self.stream.workspace, self.stream.index
        params, rule = workspace.params.evidence, workspace.params.evaluate.rule
        inputs = read_frame(workspace.data / "split/inputs.parquet", SPLIT_INPUTS)
        known = known_inputs(CORRECTIONS, inputs, judged, self.stream.queried)
        plain = Search(index, network(*load_model(model), index.titles), rule)
        made = gather(plain, known, params, rule.temperature, "evidence")
        write_frame(made.prior, folder / "prior.parquet", PRIOR)
        write_frame(made.exemplars, folder / "exemplars.parquet", EXEMPLARS)
        test, queries = calibration_queries(read_queries("valid", workspace.data))
        calibration = None
        if test:
            named = read_frame(workspace.data / "ingest/occupations.parquet", OCCUPATIONS)
            search = answering(model, index, rule, folder)
            hierarchy, share = levels(index, named), params.lost_share
            calibration = calibrate(search, queries, hierarchy, rule.temperature, share)
        write_json(calibration and asdict(calibration), folder / "calibration.json")
        return folder

    def _key(self, model: Path, judged: pl.DataFrame) -> str:
        params = self.stream.workspace.params
        sections = [own.model_dump(mode="json") for own in (params.evidence, params.evaluate)]
        return run_key([sections, judged.rows(), self._code], [*model.glob("*.*"), *self._read()])

    @cached_property
    def _code(self) -> dict[str, str]:
        return training_code(self.settings, __name__)

    def _read(self) -> Iterable[Path]:
        data = self.stream.workspace.data
        yield from (data / stage / "queries.parquet" for stage in BEFORE_FEEDBACK)
        yield from (data / "split" / f"{name}.parquet" for name in ("inputs", "titles"))
        yield data / "ingest/occupations.parquet"
