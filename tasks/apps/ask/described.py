"""Answers with everything that a person wants to see of them, as plain values.

In: a normalizer and raw titles. Out: for each title the columns of `Answer`, and beside them
`raw_title`, `meaning` of the reason, `code_labels` (names of `codes`, empty if unknown), the
`alternatives` with their labels and codes, and the `explanation`, unless it is not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from models.normalizer.answers import abstention
from models.normalizer.answers.columns import UNCALIBRATED, Answer
from models.normalizer.answers.explanation import explain
from models.normalizer.normalizer import Normalizer

MEANINGS: Mapping[str, str] = {
    abstention.NULL: "the title is missing",
    abstention.NOT_TEXT: "the title is no text",
    abstention.EMPTY: "the title holds white space only",
    abstention.NO_LETTERS: "the title holds digits, punctuation or emoji only",
    abstention.UNKNOWN_LETTERS: "the training titles have none of its letters",
    abstention.NOT_A_JOB_TITLE: "it reads less like a job title than nearly all inputs do, says "
    "no more than a status, a contract or a place, or reviewers marked it as not a job title",
    abstention.UNKNOWN_WORDS: "no title of the taxonomy has one of its words: it is in a "
    "language that the model does not know, or no words at all",
    abstention.UNSURE: "the confidence of the best answer is below the minimum",
    UNCALIBRATED: "the model has no calibration, so its answers have no confidence",
}
"""The meaning of each reason of an answer, in words."""


def described(
    normalizer: Normalizer,
    raw_titles: Sequence[str | None],
    params: Mapping[str, Any],
    *,
    explained: bool = True,
) -> Iterator[dict[str, Any]]:
    """Yield the description of each title's answer, in their order.

    Args:
        normalizer: of a registered model.
        raw_titles: None is a missing one.
        params: of `Normalizer.predict`, by name.
        explained: whether to say which words drew the title; that costs a search for each word.

    Raises:
        ValueError: a parameter is out of range.
    """
    place = {name: row for row, name in enumerate(normalizer.index.occupations)}
    for raw_title, answer in zip(raw_titles, normalizer.predict(raw_titles, **params), strict=True):
        values = {"raw_title": raw_title, **answer._asdict()}
        values["meaning"] = MEANINGS.get(answer.reason or "")
        values["code_labels"] = [normalizer.groups.get(code, "") for code in answer.codes]
        language = params.get("language", "")
        values["alternatives"] = [*_alternatives(normalizer, answer, place, language)]
        if explained:
            values["explanation"] = _explanation(normalizer, raw_title, answer, language)
        yield values


def _alternatives(
    normalizer: Normalizer, answer: Answer, place: Mapping[str, int], language: str
) -> Iterator[dict[str, Any]]:
    """Yield the occupations behind the first one."""
    labels = normalizer.taxonomy_labels
    rows = zip(answer.top_occupation_ids, answer.top_titles, answer.top_scores, strict=True)
    for name, title, score in [*rows][1:]:
        yield {
            "occupation_id": name,
            "occupation_label": labels.label(place[name], language or answer.matched_language),
            "codes": labels.codes[place[name]],
            "matched_title": title,
            "score": score,
        }


def _explanation(
    normalizer: Normalizer, raw_title: str | None, answer: Answer, language: str
) -> dict[str, Any]:
    if answer.abstained:
        return {"why": f"no answer: {MEANINGS[str(answer.reason)]}", "words": []}
    explanation = explain(normalizer, raw_title, language)
    return {"why": explanation.why, "words": [part._asdict() for part in explanation.parts]}
