"""A normalizer without a network: its embedding counts pairs of letters in 64 places."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from models.normalizer.normalizer import Normalizer
from models.normalizer.qualifiers import Qualifiers
from models.search.calibration import Calibration
from models.search.occupation_scores import ScoreRule
from models.text.featurizer import Featurizer
from models.text.titles import clean_title
from models.text.units import UnitSettings

ALIASES = [
    ("baker", "Baker", "train"),
    ("baker", "Bread maker", "train"),
    ("baker", "BREAD maker", "gate"),
    ("nurse", "Nurse", "train"),
    ("nurse", "Ward sister", "gate"),
    ("nurse", "Keeper", "train"),
    ("warden", "Keeper", "train"),
    ("warden", "911", "gate"),
]
OCCUPATIONS = [
    ("baker", "Baker", ["7", "75"], ["SOC: 51-3011"], 0.0),
    ("nurse", "Nurse", ["2"], [], 0.0),
    ("warden", "Keeper", [], [], 0.0),
]
NOTHING: dict[str, list[object]] = {"title": [], "occupation_id": [], "weight": []}
NO_OVERRIDES: dict[str, list[object]] = {"normalized": [], "occupation_id": []}
RULE = ScoreRule("best", 0.06)


def embed(titles: Sequence[str]) -> np.ndarray:
    """Return counts, to unit norm."""
    counts = np.zeros((len(titles), 64), np.float32)
    for row, title in zip(counts, titles, strict=True):
        framed = f" {title} ".encode("utf-8", "surrogatepass")
        for start in range(len(framed) - 1):
            row[zlib.crc32(framed[start : start + 2]) % 64] += 1
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def table(names: str, rows: list[tuple[object, ...]]) -> dict[str, list[object]]:
    return dict(zip(names.split(), map(list, zip(*rows, strict=True)), strict=True))


def toy_normalizer(calibration: Calibration | None = None) -> Normalizer:
    cleaned = [clean_title(title) for _, title, _ in ALIASES]
    rows = [(name, clean_title(title), title, split) for name, title, split in ALIASES]
    return Normalizer(
        Featurizer.fit(cleaned, [UnitSettings("character", 16)]),
        embed,
        table("occupation_id title written split", rows),
        table("occupation_id occupation_label codes crosswalk_codes bias", list(OCCUPATIONS)),
        NOTHING,
        NO_OVERRIDES,
        embed(sorted(set(cleaned))),
        RULE,
        calibration,
        Qualifiers({"seniority": ["head"], "contract": ["nights"]}),
        {"model_version": "m1", "taxonomy_version": "t1"},
        2,
        {"7": "Craft workers"},
    )
