"""What a block of titles found, as columns of their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from models.answer.search import Hits
from models.served.catalogue import Catalogue
from models.served.wanted import Wanted

if TYPE_CHECKING:
    from jaxtyping import Float64


def found_columns(hits: Hits, catalogue: Catalogue, wanted: Wanted, near: float) -> dict[str, Any]:
    """Return the columns that need no calibration.

    Args:
        hits: two occupations each at least, if there are two.
        catalogue: of the index that was searched.
        wanted: by who asked.
        near: a second occupation whose score lacks no more is told from the first by words.
    """
    best = hits.occupations
    scores = np.take_along_axis(hits.scores, best, axis=1).astype(float)
    margins = scores[:, 0] - scores[:, 1] if scores.shape[1] > 1 else np.full(len(scores), np.nan)
    top = slice(wanted.top_k)
    written = catalogue.written(best, hits.titles)
    own, rival = catalogue.differences(best, hits.titles, margins <= near)
    return {
        "abstained": False,
        "occupation_id": catalogue.occupations[best[:, 0]],
        "occupation_label": catalogue.labels[best[:, 0]],
        "codes": [codes[: wanted.levels or None] for codes in catalogue.codes[best[:, 0]]],
        "other_codes": catalogue.other_codes[best[:, 0]].tolist(),
        "matched_title": written[:, 0],
        "score": scores[:, 0],
        "score_margin": margins,
        "own_words": own,
        "rival_words": rival,
        "top_occupation_ids": catalogue.occupations[best[:, top]].tolist(),
        "top_titles": written[:, top].tolist(),
        "top_scores": scores[:, top].tolist(),
    }


def sure_columns(
    hits: Hits, sure: Float64[np.ndarray, "query level"], catalogue: Catalogue, wanted: Wanted
) -> dict[str, Any]:
    """Return the columns of confidence, `sure` at each level, the occupation last."""
    codes = catalogue.codes[hits.occupations[:, 0]]
    shown = [
        levels[: len(own)][: wanted.levels or None]
        for levels, own in zip(sure.tolist(), codes, strict=True)
    ]
    return {"confidence": sure[:, -1], "code_confidences": shown}
