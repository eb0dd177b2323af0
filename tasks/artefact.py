"""The artefact folder of the registered model, from the files of a finished run.

In, below the root: `params.yaml`, `data/train/K/SEED/model/` (K is `stage`, SEED the first of
`seeds`), `data/split/aliases.parquet`, `data/ingest/occupations.parquet`. Out: the folder of
`models/normalizer_files.py` with `encoder.onnx`. Its index holds all aliases of the taxonomy, those
of the tests too: a consumer who gives a title of the taxonomy must find it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import models
from models.model_files import load_model
from models.normalizer import Normalizer, NormalizerSettings
from models.normalizer_files import save_normalizer
from tasks import serving_file
from tasks.export import export_encoder
from tasks.frames import read_frame
from tasks.params import AllParams, load_params
from tasks.provenance import content_hash, taxonomy_hash
from tasks.schemas import OCCUPATIONS, SPLIT_ALIASES


@dataclass(frozen=True)
class Sources:
    """The files that an artefact is made of."""

    params: AllParams
    model: Path
    aliases: Path
    occupations: Path

    @classmethod
    def below(cls, root: Path) -> Sources:
        """Those of the stage number and the first seed in `root`'s parameters."""
        params = load_params(root / "params.yaml")
        return cls(
            params,
            root / "data" / "train" / params.stage / str(params.seeds[0]) / "model",
            root / "data" / "split" / "aliases.parquet",
            root / "data" / "ingest" / "occupations.parquet",
        )

    @property
    def settings(self) -> NormalizerSettings:
        """Score rule and default number of answers."""
        evaluate = self.params.evaluate
        return NormalizerSettings(
            evaluate.occupation_score, evaluate.soft_temperature, self.params.register_.top_k
        )

    def read_aliases(self) -> pl.DataFrame:
        """`data/split/aliases.parquet`, checked."""
        return read_frame(self.aliases, SPLIT_ALIASES)

    def read_occupations(self) -> pl.DataFrame:
        """`data/ingest/occupations.parquet`, checked."""
        return read_frame(self.occupations, OCCUPATIONS)

    def artefact_hash(self) -> str:
        """Of everything that the artefact follows from, the code that makes it included.

        Raises:
            FileNotFoundError: the pipeline has not run.
        """
        code = sorted(Path(str(models.__file__)).parent.glob("normalizer*.py"))
        files = [
            *(self.model / f"{n}" for n in ("featurizer.json", "encoder.json")),
            self.model / "weights.safetensors",
            self.aliases,
            self.occupations,
            *serving_file.sources(),
            *(Path(__file__).with_name(f"{name}.py") for name in ("export", "serving_file")),
            *code,
        ]
        settings = self.settings
        return content_hash(files, json.dumps([settings.__dict__], sort_keys=True))

    def taxonomy_hash(self) -> str:
        """Models are compared only if this is equal."""
        return taxonomy_hash(self.read_aliases(), self.read_occupations())


def build_artefact(sources: Sources, folder: Path) -> None:
    """Embed all aliases, export the network, and write the folder."""
    aliases = sources.read_aliases().select("occupation_id", "title", "split")
    normalizer = Normalizer.build(
        *load_model(sources.model),
        aliases.to_arrow(),
        sources.read_occupations().to_arrow(),
        sources.settings,
    )
    save_normalizer(normalizer, folder)
    export_encoder(normalizer.encoder, folder / "encoder.onnx")
