"""A registered model as a system of the benchmark.

It gives embeddings alone: index, score rule and abstentions of its own taxonomy play no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.normalizer.model_parts import Embed
from models.reproducibility.progress import Progress
from models.search.search import Similarities
from tasks.release.model_package.reading import read_normalizer
from tasks.release.registry.opening import opened

ARTEFACT = "settings.json"
BLOCK = 1024  # titles embedded between two looks at the clock


def load_model(address: str, root: Path) -> tuple[str, Embed]:
    """Return a model's address, an alias by the version that it stands for, and its network.

    `address`: as `opened` takes it, or the artefact folder in a folder that MLflow wrote.

    Raises:
        ValueError: there is none, or it holds no normalizer of this format.
    """
    if (Path(address) / ARTEFACT).is_file():
        return address, read_normalizer(Path(address)).embed
    with opened(address, root) as (version, normalizer):
        return version, normalizer.embed


def cosine(embed: Embed, titles: Sequence[str]) -> Similarities:
    """Embed cleaned titles once, and compare cleaned queries with them; all have unit norm."""
    progress, blocks = Progress("model: titles embedded", len(titles)), []
    for start in range(0, len(titles), BLOCK):
        blocks.append(embed(titles[start : start + BLOCK]))
        progress(start + BLOCK)
    embeddings = np.concatenate(blocks)
    return lambda queries: embed(queries) @ embeddings.T
