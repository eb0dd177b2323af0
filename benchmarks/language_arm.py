"""A taxonomy with some of its languages: pairs, networks of several seeds, and served models.

The pipeline's stages make the data once more, with other languages in `params.yaml`. A network is
calibrated and packaged as the pipeline does, and loaded as a consumer does. The registered champion
stands for the network of all languages and the first seed.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from benchmarks.networks import Job, TitleNetwork, TitleNetworks
from benchmarks.systems import RegisteredModel, write_model
from benchmarks.workspace import CODE, ONE_THREAD, Workspace, stage_module
from tasks.check_params import load_params
from tasks.io.mixes import MIXES
from tasks.pipeline.train import training_settings
from tasks.release.model_package.run_files import RunFiles
from tasks.release.registry.opening import fetched

ALL = "all"
MIX = "extra_words"
DATA_STAGES = ("ingest", "split", "typos", "synonyms", "extra_words", "auxiliary_taxonomy")


@dataclass(frozen=True)
class Arm:
    """Languages, as `all` or `en+de`, of a finished workspace's taxonomy."""

    workspace: Workspace
    name: str
    kept: Path
    seconds: dict[str, float] = field(default_factory=dict)  # processor time, as of `train 1`

    @property
    def languages(self) -> list[str]:
        """Codes of the languages; none stands for all."""
        return [] if self.name == ALL else self.name.split("+")

    @property
    def champion(self) -> str:
        """Address of the workspace's registered champion."""
        return f"models:/{self.workspace.params.register_.name}@champion"

    @cached_property
    def data(self) -> Workspace:
        """The workspace in which the stages before the training have run for these languages."""
        folder = self.kept / self.name
        write_params(self.workspace, self.languages, folder)
        pairs = (f"pairs --mix {mix}" for mix in MIXES[: MIXES.index(MIX) + 1])
        self.seconds["data"] = sum(run_stage(folder, stage) for stage in (*DATA_STAGES, *pairs))
        return replace(self.workspace, folder=folder, params=load_params(folder / "params.yaml"))

    def is_registered(self, seed: int) -> bool:
        """Tell whether the registered champion is the network of this seed."""
        return self.name == ALL and seed == self.workspace.seed

    def train(self, seeds: Sequence[int], processes: int) -> dict[int, TitleNetwork]:
        """Train the networks that are neither registered nor kept, and link them into `data`."""
        own = [seed for seed in seeds if not self.is_registered(seed)]
        if len(own) < len(seeds):
            with fetched(self.champion, self.workspace.folder):
                pass  # there is one: known before hours of training
        if not own:
            return {}
        networks = TitleNetworks(self.kept, processes, self.data.pairs(MIX))
        settings = [training_settings(self.data.params.network, seed) for seed in own]
        jobs = [Job(f"{self.name}, seed {one.seed}", one) for one in settings]
        made = dict(zip(own, networks.outcomes(jobs), strict=True))
        for seed, network in made.items():
            folder = self.data.files("train", MIX, seed)
            folder.mkdir(parents=True)
            (folder / "model").symlink_to(network.folder.resolve())
            if network.seconds is not None:
                self.seconds[f"train {seed}"] = network.seconds
        return made

    @contextmanager
    def served(self, seed: int) -> Iterator[RegisteredModel]:
        """Load the model of a seed, which is trained, as a consumer does."""
        if self.is_registered(seed):
            with fetched(self.champion, self.workspace.folder) as (address, folder):
                print(f"{self.name}, seed {seed}: {address}", flush=True)
                yield RegisteredModel.load(folder)
            return
        folder, stages = self.data.folder, ("train", "calibrate")
        took = run_stage(folder, f"calibrate --mix {MIX} --seed {seed}")
        self.seconds[f"calibrate {seed}"] = took
        model, calibrated = (self.data.files(stage, MIX, seed) for stage in stages)
        with TemporaryDirectory() as temporary:
            sources = replace(RunFiles.below(folder), model=model / "model", calibrated=calibrated)
            write_model(sources, Path(temporary) / "model")
            yield RegisteredModel.load(Path(temporary) / "model")


def write_params(workspace: Workspace, languages: Sequence[str], folder: Path) -> None:
    """Write a workspace's parameters with other languages; its source files are linked."""
    shutil.rmtree(folder, ignore_errors=True)
    values = yaml.safe_load((workspace.folder / "params.yaml").read_text(encoding="utf-8"))
    values["mix"] = MIX
    values["ingest"]["taxonomy"]["languages"] = list(languages)
    folder.mkdir(parents=True)
    (folder / "params.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    sections = ("ingest", "auxiliary_taxonomy", "synonyms")
    sources = {values[section]["folder"] for section in sections}
    for source in sources - {"."}:
        link = folder / source
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to((workspace.folder / source).resolve())


def run_stage(folder: Path, stage: str) -> float:
    """Run a stage, as `pairs --mix base`, in a folder; return its processor seconds."""
    print(f"{folder.name}: {stage}", flush=True)
    name, *arguments = stage.split()
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(CODE)}
    command = [sys.executable, "-m", stage_module(name), *arguments]
    before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before
