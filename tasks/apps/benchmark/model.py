"""A registered model as a system of the benchmark, loaded as a consumer loads it.

It gives embeddings alone: index, score rule and abstentions of its own taxonomy play no part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from models.reproducibility.progress import Progress
from models.search.search import Similarities
from tasks.apps.benchmark.folder import BenchmarkError
from tasks.io.tracking import registry
from tasks.release.registry.loading import HELP, versioned

if TYPE_CHECKING:
    from jaxtyping import Float32

ARTEFACT = "settings.json"
BLOCK = 1024  # titles embedded between two looks at the clock


class Model(NamedTuple):
    """Its name (an alias by the version that it stands for), and its network."""

    name: str
    embed: Callable[[Sequence[str]], Float32[np.ndarray, "title dim"]]


def load_model(address: str, root: Path) -> Model:
    """Load a model.

    `address`: `models:/NAME/VERSION`, `models:/NAME@ALIAS`, a folder that MLflow wrote, or the
    artefact folder in it.

    Raises:
        BenchmarkError: there is none, or it has no embeddings.
    """
    if (Path(address) / ARTEFACT).is_file():
        from tasks.release.model_package.reading import read_normalizer

        return Model(address, read_normalizer(Path(address)).embed)
    with registry(root) as client:
        import mlflow

        try:
            address = versioned(client, address)
            served = mlflow.pyfunc.load_model(address).unwrap_python_model()
        except (mlflow.MlflowException, OSError) as error:
            fault = str(error).strip().splitlines()[0]
            raise BenchmarkError(f"no model {address}: {fault}; {HELP}") from None
    if not hasattr(served, "embed"):
        raise BenchmarkError(
            f"{address} gives no embeddings: it is no model of this project; {HELP}"
        )
    return Model(address, served.embed)


def cosine(model: Model, titles: Sequence[str]) -> Similarities:
    """Embed cleaned titles once, and compare cleaned queries with them; all have unit norm."""
    progress, blocks = Progress("model: titles embedded", len(titles)), []
    for start in range(0, len(titles), BLOCK):
        blocks.append(model.embed(titles[start : start + BLOCK]))
        progress(start + BLOCK)
    embeddings = np.concatenate(blocks)
    return lambda queries: model.embed(queries) @ embeddings.T
