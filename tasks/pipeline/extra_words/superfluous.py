"""The superfluous words of real inputs, learned and put around any title.

From an input that holds a title we learn its words before and after it, with punctuation. For a
title we first draw the numbers of words before and after, together, from one input; then a whole
sequence of so many words that was seen before a title, and likewise after it. An input whose title
ends inside a word ("nurse/carer") teaches nothing. Known phrases are drawn as if inputs had them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from models.text.titles import clean_title, normalize_title

Superfluous = list[tuple[str, str]]  # cleaned words of each input before and after its title


def known(before: Sequence[str], after: Sequence[str]) -> Superfluous:
    """Return phrases as if inputs had shown each alone, and as often one before and one after."""
    both = max(len(before), len(after)) if before and after else 0
    around = [(phrase, "") for phrase in before] + [("", phrase) for phrase in after]
    around += [(before[n % len(before)], after[n % len(after)]) for n in range(both)]
    return [(clean_title(first), clean_title(last)) for first, last in around]


def phrases_by_language() -> dict[str, Superfluous]:
    """Return our own phrases of each language: of seniority also before a title, all behind it."""
    rows = pl.read_csv(Path(__file__).with_name("phrases.csv"))
    around = {}
    for (language,), own in rows.group_by("language", maintain_order=True):
        before = own.filter(kind="seniority")["phrase"].to_list()
        around[str(language)] = known(before, own["phrase"].to_list())
    return around


def learn(titles: Sequence[str], variants: Sequence[str]) -> Superfluous:
    """Learn the words around each title in its variant, where it stands first."""
    around = [_around(*pair) for pair in zip(titles, variants, strict=True)]
    return [words for words in around if words is not None]


def distinct(learned: Superfluous) -> dict[str, int]:
    """Count how many different phrases stand before and after, and how many words in all."""
    before, after = ({pair[side] for pair in learned} - {""} for side in (0, 1))
    words = {word for phrase in before | after for word in phrase.split()}
    return {"before": len(before), "after": len(after), "words": len(words)}


def pad(titles: Sequence[str], learned: Superfluous, rng: np.random.Generator) -> list[str]:
    """Put each title between words drawn from `learned`; ValueError if nothing was learned."""
    if not learned:
        raise ValueError("no superfluous words were learned, so there are none to put around")
    draws = rng.random((3, len(titles)))
    example = (draws[0] * len(learned)).astype(np.int64)
    before = _drawn([before for before, _ in learned], example, draws[1])
    after = _drawn([after for _, after in learned], example, draws[2])
    return [" ".join(" ".join(parts).split()) for parts in zip(before, titles, after, strict=True)]


def _drawn(phrases: list[str], example: np.ndarray, draws: np.ndarray) -> list[str]:
    """Draw a phrase of as many words as each example has."""
    of_length: dict[int, list[str]] = defaultdict(list)
    for phrase in phrases:
        of_length[len(phrase.split())].append(phrase)
    likes = [of_length[len(phrases[row].split())] for row in example]
    return [alike[int(draw * len(alike))] for alike, draw in zip(likes, draws, strict=True)]


def _around(title: str, variant: str) -> tuple[str, str] | None:
    words = clean_title(variant).split()
    normal = [(at, name) for at, word in enumerate(words) if (name := normalize_title(word))]
    words_of_title = normalize_title(title).split()
    length = len(words_of_title)
    for start in range(len(normal) - length + 1):
        run = normal[start : start + length]
        if [name for _, name in run] == words_of_title and length < len(normal):
            return " ".join(words[: run[0][0]]), " ".join(words[run[-1][0] + 1 :])
    return None
