"""A normalizer without a network: its embedding counts pairs of letters in 64 places."""

import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from models.serving.confidence import Calibration
from models.serving.index import StoredVectors
from models.serving.model import Normalizer
from models.serving.qualifiers import Qualifiers
from models.serving.scores import ScoreRule
from models.text.titles import LONGEST, clean_title
from models.text.words import TitleWords

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
OCCUPATIONS = [("baker", "Baker", ["7", "75"], ["SOC: 51-3011"], 0.0)]
OCCUPATIONS += [("nurse", "Nurse", ["2"], [], 0.0), ("warden", "Keeper", [], [], 0.0)]
SPOKEN = [
    ("nurse", "nurse responsible for general care", "en", True),
    ("nurse", "registered nurse", "en", False),
    ("nurse", "Krankenpfleger", "de", True),
    ("nurse", "Nurse", "de", False),
    ("nurse", "nurse", "en", False),
    ("barista", "barista", "en", True),
    ("barista", "Barista", "de", True),
    ("barista", "coffee maker", "en", False),
    ("baker", "baker", "en", True),
    ("baker", "bread maker", "en", False),
    ("miller", "Müller", "", True),
]
SPOKEN_LABELS = {"nurse": SPOKEN[0][1], "barista": "barista", "baker": "baker", "miller": "Müller"}
"""A taxonomy in two languages and an unknown one; the English labels are the own ones."""
NOTHING: dict[str, list[object]] = {
    name: [] for name in ("title", "occupation_id", "weight", "source")
}
NO_OVERRIDES: dict[str, list[object]] = {"normalized": [], "occupation_id": [], "correct": []}
RULE = ScoreRule("best", 0.06)
TORN = "bread sister " * 4 + "b"
"""A little nearer to a baker than to a nurse; of two equals the processor's rounding picks one."""


def overrides_of(*rows: tuple[str, str | None], correct: bool = True) -> dict[str, list[object]]:
    """Overrides of (normalized title, occupation_id)."""
    return table("normalized occupation_id correct", [(*row, correct) for row in rows])


class LetterPairs:
    """A network whose embeddings count pairs of letters; it truncates nothing."""

    def embed(self, titles: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return embeddings, and which titles are truncated."""
        return embed(titles), np.array([len(title) >= LONGEST for title in titles], bool)

    def __call__(self, titles: Sequence[str]) -> np.ndarray:
        """Return embeddings."""
        return embed(titles)


def embed(titles: Sequence[str]) -> np.ndarray:
    """Return counts, to unit norm."""
    counts = np.zeros((len(titles), 64), np.float32)
    for row, title in zip(counts, titles, strict=True):
        framed = f" {title} ".encode("utf-8", "surrogatepass")
        for start in range(len(framed) - 1):
            row[zlib.crc32(framed[start : start + 2]) % 64] += 1
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def table(names: str, rows: Sequence[tuple[object, ...]]) -> dict[str, list[object]]:
    return dict(zip(names.split(), map(list, zip(*rows, strict=True)), strict=True))


def toy_normalizer(calibration: Calibration | None = None) -> Normalizer:
    cleaned = [clean_title(title) for _, title, _ in ALIASES]
    labels = {(name, label) for name, label, *_ in OCCUPATIONS}
    rows = [
        (name, clean_title(title), title, "en", (name, title) in labels, split)
        for name, title, split in ALIASES
    ]
    return Normalizer(
        "".join(sorted(set().union(*cleaned))),
        LetterPairs(),
        table("occupation_id title written language preferred split", rows),
        table("occupation_id occupation_label codes crosswalk_codes bias", list(OCCUPATIONS)),
        NOTHING,
        NO_OVERRIDES,
        StoredVectors.of(embed(sorted(set(cleaned)))),
        RULE,
        calibration,
        Qualifiers({"seniority": ["head"], "contract": ["nights"]}),
        {"model_version": "m1", "taxonomy_version": "t1"},
        2,
        TitleWords.of(cleaned),
        {"7": "Craft workers"},
    )


def toy_normalizer_of_languages() -> Normalizer:
    rows = [(o, clean_title(t), t, spoken, first, "train") for o, t, spoken, first in SPOKEN]
    labels = [(name, label, [], [], 0.0) for name, label in SPOKEN_LABELS.items()]
    return replace(
        toy_normalizer(),
        aliases=table("occupation_id title written language preferred split", rows),
        occupations=table("occupation_id occupation_label codes crosswalk_codes bias", labels),
        embeddings=StoredVectors.of(embed(sorted({row[1] for row in rows}))),
        words=TitleWords.of(row[1] for row in rows),
    )
