"""The hits of a block of titles as columns of their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from models.normalizer.predict_params import PredictParams
from models.normalizer.taxonomy_labels import TaxonomyLabels
from models.ranking.search import Hits

if TYPE_CHECKING:
    from jaxtyping import Float64


def answer_columns(
    hits: Hits, taxonomy_labels: TaxonomyLabels, params: PredictParams, near: float
) -> dict[str, Any]:
    """Return the columns that need no calibration, of hits with two occupations if there are two.

    Distinguishing words stand where the second occupation scores less by `near` at most.
    """
    best = hits.occupations
    scores = np.take_along_axis(hits.scores, best, axis=1).astype(float)
    margins = scores[:, 0] - scores[:, 1] if scores.shape[1] > 1 else np.full(len(scores), np.nan)
    top = slice(params.top_k)
    written = taxonomy_labels.written(best, hits.titles)
    words, runner_up = taxonomy_labels.differences(best, hits.titles, margins <= near)
    return {
        "abstained": False,
        "occupation_id": taxonomy_labels.occupations[best[:, 0]],
        "occupation_label": taxonomy_labels.labels[best[:, 0]],
        "codes": [
            codes[: params.code_depth or None] for codes in taxonomy_labels.codes[best[:, 0]]
        ],
        "crosswalk_codes": taxonomy_labels.crosswalk_codes[best[:, 0]].tolist(),
        "matched_title": written[:, 0],
        "score": scores[:, 0],
        "score_margin": margins,
        "distinguishing_words": words,
        "runner_up_words": runner_up,
        "top_occupation_ids": taxonomy_labels.occupations[best[:, top]].tolist(),
        "top_titles": written[:, top].tolist(),
        "top_scores": scores[:, top].tolist(),
    }


def confidence_columns(
    hits: Hits,
    sure: Float64[np.ndarray, "query level"],
    taxonomy_labels: TaxonomyLabels,
    params: PredictParams,
) -> dict[str, Any]:
    """Return the columns of confidence, `sure` at each level, the occupation last."""
    codes = taxonomy_labels.codes[hits.occupations[:, 0]]
    of_codes = [
        levels[: len(own)][: params.code_depth or None]
        for levels, own in zip(sure.tolist(), codes, strict=True)
    ]
    return {"confidence": sure[:, -1], "code_confidences": of_codes}
