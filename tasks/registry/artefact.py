"""The artefact folder of the registered model, from the files of a finished run.

In, below the root: `params.yaml`, `data/train/K/SEED/model/` (K is `mix`, SEED the first of
`seeds`), `data/split/aliases.parquet`, `data/ingest/occupations.parquet`. Out: the folder that
`tasks/registry/serving.py` reads, without pickle: `featurizer.json, encoder.onnx`, `index.npy` (the
embeddings of the sorted distinct titles), `aliases.parquet`, `occupations.parquet`,
`settings.json` (format, score rule, number of answers), and for training into its space
`encoder.json, weights.safetensors`. The index holds all aliases of the taxonomy, those of the tests
too: a consumer who gives a title of the taxonomy must find it. Equal files give equal bytes.
"""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from models.answer.index import AliasIndex
from models.repeatable.whole_file import write_bytes
from tasks.evaluation.systems import EvaluateParams
from tasks.files.frames import read_frame, write_frame, write_json
from tasks.files.schemas import OCCUPATIONS, SPLIT_ALIASES
from tasks.params.section import Count, RunParams, Section, load, load_run
from tasks.registry import serving_file
from tasks.registry.provenance import content_hash, taxonomy_hash

FORMAT = 3
ALIASES = dict.fromkeys(("occupation_id", "title", "written", "split"), pl.String)


class RegisterParams(Section):
    """Section `register`: the registry's name of the model and its default number of answers."""

    NAME: ClassVar[str] = "register"
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
    top_k: Count


@dataclass(frozen=True)
class Sources:
    """The parameters and files that an artefact is made of."""

    run: RunParams
    evaluate: EvaluateParams
    register: RegisterParams
    model: Path
    aliases: Path
    occupations: Path

    @classmethod
    def below(cls, root: Path) -> Sources:
        """Find those of the mix and the first seed in `root`'s parameters."""
        params = root / "params.yaml"
        chosen = load_run(params)
        return cls(
            chosen,
            load(EvaluateParams, params),
            load(RegisterParams, params),
            root / "data" / "train" / chosen.mix / str(chosen.seeds[0]) / "model",
            root / "data" / "split" / "aliases.parquet",
            root / "data" / "ingest" / "occupations.parquet",
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What `settings.json` holds."""
        rule = {"kind": self.evaluate.rule.kind, "temperature": self.evaluate.rule.temperature}
        return {
            "format": FORMAT,
            "calibration": None,
            "rule": rule,
            "top_k": self.register.top_k,
        }

    def read_aliases(self) -> pl.DataFrame:
        """Read `data/split/aliases.parquet`, checked."""
        return read_frame(self.aliases, SPLIT_ALIASES)

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
        here = (Path(__file__).with_name(f"{name}.py") for name in ("export", "serving_file"))
        files = [
            *(self.model / f"{name}.json" for name in ("featurizer", "encoder")),
            self.model / "weights.safetensors",
            self.aliases,
            self.occupations,
            *serving_file.sources(),
            *here,
        ]
        return content_hash(files, json.dumps(self.settings, sort_keys=True))

    def taxonomy_hash(self) -> str:
        """Hash what models must have in common to be compared."""
        return taxonomy_hash(self.read_aliases(), self.read_occupations())


def build_artefact(
    sources: Sources, folder: Path, which: Literal["weights", "initial"] = "weights"
) -> None:
    """Embed all aliases, export the network, and write the folder.

    Args:
        sources: of a finished run.
        folder: to be written.
        which: the trained network, or the same untrained.
    """
    from models.network.embedding import embed_titles  # torch and onnx take seconds
    from models.network.model_files import load_model
    from tasks.registry.export import export_encoder

    featurizer, encoder = load_model(sources.model, which)
    aliases = sources.read_aliases()
    titles = AliasIndex.of(aliases["cleaned"].to_list(), aliases["occupation_id"].to_list()).titles
    numbers = io.BytesIO()
    np.save(numbers, embed_titles(encoder, featurizer, titles).cpu().numpy(), allow_pickle=False)
    folder.mkdir(parents=True, exist_ok=True)
    write_bytes(numbers.getvalue(), folder / "index.npy")
    write_json(sources.settings, folder / "settings.json")
    written = aliases.select("occupation_id", title="cleaned", written="title", split="split")
    write_frame(written, folder / "aliases.parquet", ALIASES)
    write_frame(sources.read_occupations(), folder / "occupations.parquet", OCCUPATIONS)
    export_encoder(encoder, folder / "encoder.onnx")
    for name in ("featurizer.json", "encoder.json"):
        shutil.copyfile(sources.model / name, folder / name)
    shutil.copyfile(sources.model / f"{which}.safetensors", folder / "weights.safetensors")
