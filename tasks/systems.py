"""The networks as systems: queries in, similarities to the index out (`tasks/alias_index.py`)."""

from __future__ import annotations

from pathlib import Path

from models.embedding import embed_titles
from models.encoder import Encoder
from models.featurizer import Featurizer
from models.model_files import load_model
from tasks.alias_index import Similarities


def network(featurizer: Featurizer, encoder: Encoder, titles: list[str]) -> Similarities:
    """Cosine similarity of embeddings."""
    index = embed_titles(encoder, featurizer, titles).T.contiguous()
    return lambda queries: (embed_titles(encoder, featurizer, list(queries)) @ index).numpy()


def network_systems(model: Path, stage: str, titles: list[str]) -> dict[str, Similarities]:
    """The network's two rows: `untrained`, as training began, and `stage`, as it ended."""
    return {
        "untrained": network(*load_model(model, "initial"), titles),
        stage: network(*load_model(model), titles),
    }
