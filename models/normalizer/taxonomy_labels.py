"""The taxonomy's ids, labels, codes and spellings of what an index numbers, and answers of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from models.normalizer.predict_params import PredictParams
from models.search.index import AliasIndex
from models.search.ood_score import WORDS
from models.search.search import Hits

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int, Int64, Shaped


@dataclass(frozen=True)
class TaxonomyLabels:
    """Arrays of text, by the codes of an index.

    Attributes:
        occupations: occupation_id of each.
        labels: preferred title of each.
        codes: hierarchy above each, broad to narrow, as a list.
        crosswalk_codes: of other standards, as a list.
        keys: occupation · titles + title of each membership, ascending.
        spellings: of each membership, the taxonomy's first.
        titles: how many titles the index has.
    """

    occupations: Shaped[np.ndarray, " occupation"]
    labels: Shaped[np.ndarray, " occupation"]
    codes: Shaped[np.ndarray, " occupation"]
    crosswalk_codes: Shaped[np.ndarray, " occupation"]
    keys: Int64[np.ndarray, " membership"]
    spellings: Shaped[np.ndarray, " membership"]
    titles: int

    @classmethod
    def of(
        cls,
        index: AliasIndex,
        aliases: Mapping[str, Sequence[Any]],
        occupations: Mapping[str, Sequence[Any]],
    ) -> Self:
        """Read the taxonomy behind an index of all aliases.

        `aliases` has the columns `title` (cleaned), `occupation_id` and `written`; `occupations`
        has `occupation_id, occupation_label, codes, crosswalk_codes`.
        """
        place = {name: row for row, name in enumerate(occupations["occupation_id"])}
        rows = [place[name] for name in index.occupations]
        names = zip(aliases["title"], aliases["occupation_id"], strict=True)
        written = dict(reversed([*zip(names, aliases["written"], strict=True)]))
        memberships = index.memberships
        owners = np.repeat(np.arange(len(index.occupations)), memberships.sizes)
        spelled = [
            written[index.titles[title], index.occupations[owner]]
            for title, owner in zip(memberships.titles.tolist(), owners.tolist(), strict=True)
        ]
        labels, codes, crosswalk_codes = (
            _texts([occupations[name][row] for row in rows])
            for name in ("occupation_label", "codes", "crosswalk_codes")
        )
        return cls(
            _texts(index.occupations),
            labels,
            codes,
            crosswalk_codes,
            owners * len(index.titles) + memberships.titles,
            _texts(spelled),
            len(index.titles),
        )

    def written(
        self, occupations: Int[np.ndarray, "query k"], titles: Int[np.ndarray, "query k"]
    ) -> Shaped[np.ndarray, "query k"]:
        """Return the taxonomy's spelling of each (occupation, title) of the index."""
        keys = occupations * self.titles + titles
        spelled: Shaped[np.ndarray, "query k"] = self.spellings[np.searchsorted(self.keys, keys)]
        return spelled

    def confident_codes(
        self,
        sure: Float64[np.ndarray, "query level"],
        answers: Int[np.ndarray, " query"],
        least: float,
    ) -> Shaped[np.ndarray, " query"]:
        """Return the narrowest code of each answer, or its id, that is sure enough; or None."""
        depth = sure.shape[1] - 1
        confident = _texts([None] * len(answers))
        for row, level in enumerate((sure >= least).sum(axis=1).tolist()):
            own = self.codes[answers[row]]
            if level > depth:
                confident[row] = self.occupations[answers[row]]
            elif level and own:
                confident[row] = own[min(level, len(own)) - 1]
        return confident

    def answer_columns(
        self,
        hits: Hits,
        sure: Float64[np.ndarray, "query level"] | None,
        params: PredictParams,
        near: float,
    ) -> dict[str, Any]:
        """Return the columns of hits with two occupations if there are two.

        `sure` is the confidence at each level, the occupation last; without it no column has any.
        Distinguishing words stand where the second occupation scores less by `near` at most.
        """
        best = hits.occupations
        scores = np.take_along_axis(hits.scores, best, axis=1).astype(float)
        margins = (
            scores[:, 0] - scores[:, 1] if scores.shape[1] > 1 else np.full(len(scores), np.nan)
        )
        top = slice(params.top_k)
        written = self.written(best, hits.titles)
        words, runner_up = self.differences(best, hits.titles, margins <= near)
        codes = [own[: params.code_depth or None] for own in self.codes[best[:, 0]]]
        confidences: dict[str, Any] = {}
        if sure is not None:
            levels = zip(sure.tolist(), codes, strict=True)
            confidences["confidence"] = sure[:, -1]
            confidences["code_confidences"] = [level[: len(own)] for level, own in levels]
        return confidences | {
            "abstained": False,
            "occupation_id": self.occupations[best[:, 0]],
            "occupation_label": self.labels[best[:, 0]],
            "codes": codes,
            "crosswalk_codes": self.crosswalk_codes[best[:, 0]].tolist(),
            "matched_title": written[:, 0],
            "score": scores[:, 0],
            "score_margin": margins,
            "distinguishing_words": words,
            "runner_up_words": runner_up,
            "top_occupation_ids": self.occupations[best[:, top]].tolist(),
            "top_titles": written[:, top].tolist(),
            "top_scores": scores[:, top].tolist(),
        }

    def differences(
        self,
        occupations: Int[np.ndarray, "query k"],
        titles: Int[np.ndarray, "query k"],
        close: Bool[np.ndarray, " query"],
    ) -> tuple[list[list[str]], list[list[str]]]:
        """Return the distinguishing words of the first occupation and of the second.

        They are of the closest aliases, or of the labels where both have the same alias; rows that
        are not `close` have none.
        """
        own: list[list[str]] = [[] for _ in close]
        runner_up: list[list[str]] = [[] for _ in close]
        for row in np.flatnonzero(close).tolist():
            first, second = self.labels[occupations[row, :2]]
            if titles[row, 0] != titles[row, 1]:
                first, second = self.written(occupations[row, :2], titles[row, :2])
            own[row] = _distinguishing(first, second)
            runner_up[row] = _distinguishing(second, first)
        return own, runner_up


def _distinguishing(one: str, other: str) -> list[str]:
    """Return the words of one text that another has not, in lower case, each once."""
    theirs = set(WORDS.findall(other.lower()))
    return [word for word in dict.fromkeys(WORDS.findall(one.lower())) if word not in theirs]


def _texts(values: Sequence[Any]) -> Shaped[np.ndarray, " value"]:
    """Hold values as they are: an array of text would give each the room of the longest."""
    return np.fromiter(values, object, len(values))
