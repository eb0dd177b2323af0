"""Sections of `params.yaml` that several tests need, small; keywords change their values."""

from pathlib import Path
from typing import Any

import yaml

from tasks.io.command import ROOT
from tasks.pipeline.ingest.stage import InputsParams
from tasks.pipeline.ingest.taxonomy import TaxonomyParams
from tasks.pipeline.pairs.drawn_pairs import PairsParams
from tasks.pipeline.synonyms.stage import SynonymsParams


def write_params(folder: Path | None = None, **changes: Any) -> dict[str, Any]:
    """Lay values over those of the folder's `params.yaml`, else of the project's, and write all."""
    path = (folder or Path()) / "params.yaml"
    before = path if path.exists() else ROOT / "params.yaml"
    values: dict[str, Any] = yaml.safe_load(before.read_text(encoding="utf-8"))
    for name, value in changes.items():
        values[name] = values[name] | value if isinstance(value, dict) else value
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    return values


def taxonomy_params(reader: str, files: dict[str, str], **changes: Any) -> TaxonomyParams:
    """Section `ingest.taxonomy`; how a table is written is found."""
    values = {"reader": reader, "files": files, "columns": {}, "languages": []}
    return TaxonomyParams(**values | {"delimiter": "", "encoding": ""} | changes)


def inputs_params(reader: str = "none", file: str | list[str] = "", **changes: Any) -> InputsParams:
    """Section `ingest.inputs`; how a table is written is found."""
    values = {"reader": reader, "file": file, "columns": {}, "delimiter": "", "encoding": ""}
    return InputsParams(**values | changes)


def pairs_params(**changes: Any) -> PairsParams:
    """Section `pairs`: few rounds, and blocks of 204 similar pairs with four others each."""
    shares = {"typo": 0.5, "synonym": 0.3, "extra_words": 0.3, "feedback": 0.2}
    values = {"positives_per_anchor": 3, "across_languages": 1.0, "pairs_per_verdict": 3}
    values |= {"dissimilar_per_similar": 4, "row_group": 1024}
    fixed = {"shares": shares, "variant_positive": "title", "contradicted_pairs": "dropped"}
    return PairsParams(**values | fixed | changes)


def synonyms_params(**changes: Any) -> SynonymsParams:
    """Section `synonyms`: the paper's rules, and a test of any size."""
    values = {"reader": "table", "folder": "", "file": "", "columns": {}, "max_rejected_share": 0.0}
    values |= {"max_shared_words": 2, "max_part_words": 2, "min_contexts": 1}
    values |= {"test_share": 0.25, "max_test": 900, "valid_titles": 0, "gate_titles": 0}
    return SynonymsParams(**values | changes)
