"""Exemplars: inputs whose occupation people gave or a network predicted, and a prior.

An occupation is as likely as its aliases are close, times its chance among inputs. An exemplar is
one more alias of its occupation. With the score s of the aliases, a temperature t and exemplars of
similarity x that weigh w,

    s' = t·log( exp((s + bias)/t) + Σ w·exp(x/t) ),

so exemplars work at once, without training, and an occupation without any keeps its score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from models.search.index import AliasIndex
from models.search.occupation_scores import exp_below

if TYPE_CHECKING:
    from jaxtyping import Float, Float32, Int64

REVIEW, LABEL, MODEL = "review", "label", "model"
"""Who names the occupation: people in a review, the label that came with the data, or a network."""


@dataclass(frozen=True)
class Exemplars:
    """The bias and the exemplars of the occupations of an index.

    Attributes:
        titles: distinct cleaned exemplars, sorted; their similarities follow those of the index.
        bias: of each occupation's score.
        title_numbers: place in `titles` of each (exemplar, occupation), sorted by occupation.
        occupations: those that have exemplars, ascending.
        starts: where the exemplars of each of these begin.
        weights: of each (exemplar, occupation); an alias weighs 1.
        temperature: t, above 0.
    """

    titles: list[str]
    bias: Float32[np.ndarray, " occupation"]
    title_numbers: Int64[np.ndarray, " link"]
    occupations: Int64[np.ndarray, " named"]
    starts: Int64[np.ndarray, " named"]
    weights: Float32[np.ndarray, " link"]
    temperature: float

    @classmethod
    def of(
        cls,
        index: AliasIndex,
        bias: Mapping[str, float],
        exemplars: Mapping[str, Sequence[Any]],
        temperature: float,
    ) -> Exemplars:
        """Collect the exemplars of the occupations of an index; those of others are left out.

        An occupation that `bias` lacks has 0. `exemplars` has the columns `title` (cleaned),
        `occupation_id` and `weight` (above 0); a title of several occupations has several rows.
        """
        code = {name: number for number, name in enumerate(index.occupations)}
        columns = (exemplars[name] for name in ("title", "occupation_id", "weight"))
        rows = sorted(
            (code[name], title, weight)
            for title, name, weight in zip(*columns, strict=True)
            if name in code
        )
        distinct = sorted(set(exemplars["title"]))
        place = {title: number for number, title in enumerate(distinct)}
        named, starts = np.unique(np.array([row[0] for row in rows], np.int64), return_index=True)
        return cls(
            distinct,
            np.array([bias.get(name, 0.0) for name in index.occupations], np.float32),
            np.array([place[row[1]] for row in rows], np.int64),
            named,
            starts.astype(np.int64),
            np.array([row[2] for row in rows], np.float32),
            temperature,
        )

    def __call__(
        self,
        scores: Float[np.ndarray, "query occupation"],
        closeness: Float32[np.ndarray, "query exemplar"],
    ) -> Float[np.ndarray, "query occupation"]:
        """Return s' of every occupation from its aliases' score and all exemplars' similarities."""
        biased: Float[np.ndarray, "query occupation"] = scores + self.bias
        if not len(self.title_numbers):
            return biased
        t = self.temperature
        nearest = closeness.max(axis=1, keepdims=True)
        votes = exp_below(nearest, closeness.copy("K"), t)[:, self.title_numbers] * self.weights
        total = np.add.reduceat(votes, self.starts, axis=1)
        with np.errstate(divide="ignore"):  # an exemplar too far away to count adds exp(-inf)
            mass = t * np.log(total) + nearest
        biased[:, self.occupations] = t * np.logaddexp(biased[:, self.occupations] / t, mass / t)
        return biased


def posterior(
    scores: Float[np.ndarray, "query occupation"], temperature: float
) -> Float[np.ndarray, "query occupation"]:
    """Return the chances of the occupations that the scores speak of: softmax(s/t)."""
    powers = exp_below(scores.max(axis=1, keepdims=True), scores.copy("K"), temperature)
    chances: Float[np.ndarray, "query occupation"] = powers / powers.sum(axis=1, keepdims=True)
    return chances
