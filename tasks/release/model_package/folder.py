"""The artifact folder of the registered model, from the files of a finished run.

In: the files that `RunFiles.below` names. Out: the folder that `models/serving/package.py` reads:
`featurizer.json` and `vocabulary.parquet`, `weights.safetensors` and, unless the network is a bag,
`encoder.onnx` (`export.py`), `titles.parquet` (distinct, sorted), `index.npy` (their vectors, then
those of the exemplars), `{aliases,occupations,groups,exemplars,overrides}.parquet`, `words.parquet`
(words of titles), `{qualifiers,abbreviations}.csv`, with many occupations the prototypes
(`prototypes.py`), `settings.json`, `encoder.json` for training into its space, and `SHA256SUMS` of
them all. The index holds all aliases, those of the tests too: a title of the taxonomy must be
found. Equal files give equal bytes.
"""

from __future__ import annotations

import csv
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from models.reproducibility import atomic_write, write_bytes
from models.serving.index import StoredVectors
from models.text.featurizer import Featurizer
from models.text.texts import Coded
from models.text.words import TitleWords
from tasks.io.files import write_json
from tasks.io.frames import read_frame, write_frame
from tasks.io.schemas import EXEMPLARS, GROUPS, OCCUPATIONS, OVERRIDES, PRIOR, SPLIT_ALIASES
from tasks.release.model_package import phrases
from tasks.release.model_package.prototypes import write_prototypes
from tasks.release.model_package.run_files import VERSION, RunFiles
from tasks.release.model_package.runtime import write_checksums

KNOWN = {**OCCUPATIONS, "crosswalk_codes": pl.List(pl.String), "bias": pl.Float32}
ALIASES = {
    **dict.fromkeys(("occupation_id", "written", "language", "split"), pl.String),
    "title": pl.Int64,
    "preferred": pl.Boolean,
}
CROSSWALK = ["code", "standard", "other_code"]
TITLES = {"title": pl.String}
UNITS = {"unit": pl.String}
WORDS = {"word": pl.String, **dict.fromkeys(("titles", "ends", "begins"), pl.Int64)}


def build_artifact(
    sources: RunFiles, folder: Path, which: Literal["weights", "initial"] = "weights"
) -> None:
    """Embed all aliases, export the network, and write the folder.

    `initial` is the untrained network, without exemplars.
    """
    from safetensors.torch import save  # torch and onnx take seconds

    from tasks.release.model_package.export import bag_weights, export_encoder, share_tables
    from tasks.release.model_package.quantized_network import QuantizedNetwork

    trained = which == "weights"
    network = QuantizedNetwork.of(sources.model, sources.register.precision, which)
    aliases = read_frame(sources.aliases, SPLIT_ALIASES)
    title = Coded.of(aliases["cleaned"].to_list())
    titles = title.names
    prior = read_frame(sources.calibrated / "prior.parquet", PRIOR)
    exemplars = read_frame(sources.calibrated / "exemplars.parquet", EXEMPLARS)
    overrides = sources.read_overrides()
    if not trained:
        prior, exemplars, overrides = prior.clear(), exemplars.clear(), overrides.clear()
    index = network.index([*titles, *sorted(set(exemplars["title"]))]).numpy()
    write_index(StoredVectors.of(index), folder)
    hashes = {"model": sources.artifact_hash(), "taxonomy": sources.taxonomy_hash()}
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
    write_frame(_occupations(sources, prior), folder / "occupations.parquet", KNOWN)
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


def _occupations(sources: RunFiles, prior: pl.DataFrame) -> pl.DataFrame:
    """Return the taxonomy's occupations with the crosswalk's codes and the prior's bias."""
    occupations, bias = sources.read_occupations(), prior.select("occupation_id", "bias")
    others: list[list[str]] = [[] for _ in range(len(occupations))]
    if sources.crosswalk:
        ids, codes = (occupations[name].to_list() for name in ("occupation_id", "codes"))
        others = crosswalk_codes(sources.crosswalk, ids, codes)
    column = pl.Series("crosswalk_codes", others, pl.List(pl.String))
    joined = occupations.join(bias, on="occupation_id", how="left", maintain_order="left")
    return joined.with_columns(column, pl.col("bias").fill_null(0))


def crosswalk_codes(
    file: Path, occupation_ids: Sequence[str], codes: Sequence[Sequence[str]]
) -> list[list[str]]:
    """Return of each occupation its other codes, as `standard: code`, in the order of the file.

    `file` has a pair a row, `code, standard, other_code`. `code` is an occupation_id or a code of
    the hierarchy above; the narrowest that the file has for a standard counts. So a file from
    ISCO-08 to another standard serves every occupation of ESCO. A ValueError names the line where a
    value is missing, or says that no row is of this taxonomy.
    """
    pairs: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for code, standard, other in _crosswalk_rows(file):
        pairs[code][standard].append(other)
    others = []
    for name, above in zip(occupation_ids, codes, strict=True):
        narrowest: dict[str, list[str]] = {}
        for code in (*above, name):
            narrowest |= pairs.get(code, {})
        others.append([f"{key}: {value}" for key, values in narrowest.items() for value in values])
    if not any(others):
        raise ValueError(
            f"{file}: none of its {len(pairs)} codes is an occupation_id or a code of this "
            f"taxonomy, such as {occupation_ids[0]!r}; is it another taxonomy's crosswalk?"
        )
    return others


def _crosswalk_rows(file: Path) -> Iterator[tuple[str, str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.DictReader(lines)
        if missing := [name for name in CROSSWALK if name not in (rows.fieldnames or ())]:
            raise ValueError(f"{file}: no column {', '.join(missing)}; it has {rows.fieldnames}")
        for number, row in enumerate(rows, start=2):
            code, standard, other = ((row[name] or "").strip() for name in CROSSWALK)
            if not (code and standard and other):
                raise ValueError(f"{file}, line {number}: a value is missing in {row}")
            yield code, standard, other
