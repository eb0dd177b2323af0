"""Characters substituted and deleted at random, for many titles at once.

Neculoiu et al. 2016, section 4.2: training pairs at 20 % and 5 % of the characters, test strings
at 5 % of either kind. Works on one array of code points with a title number for each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from string import ascii_lowercase
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Bool, Int


def letters_of(titles: Sequence[str]) -> str:
    """List the letters to substitute with: those at least 0.1 % of all letters in `titles`.

    Fewer than two such letters cannot replace each other: then a to z.
    """
    counts = Counter(character for character in "".join(titles) if character.isalpha())
    letters = sorted(c for c, n in counts.items() if n >= 1e-3 * counts.total())
    return "".join(letters) if len(letters) > 1 else ascii_lowercase


def letters_by_language(titles: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Give each title the letters of its language's titles."""
    spoken = defaultdict(list)
    for title, language in zip(titles, languages, strict=True):
        spoken[language].append(title)
    letters = {language: letters_of(own) for language, own in spoken.items()}
    return [letters[language] for language in languages]


def corrupt_by_rate(
    titles: Sequence[str],
    substituted: float,
    deleted: float,
    letters: str | Sequence[str],
    rng: np.random.Generator,
) -> list[str]:
    """Substitute each character with probability `substituted`, delete it with `deleted`.

    `letters` are those to substitute with: of all titles, or of each.
    """
    points, owner = _flatten(titles)
    draw = rng.random(points.size)
    return _apply(
        points, owner, len(titles), draw < deleted, draw < deleted + substituted, letters, rng
    )


def corrupt_by_count(
    titles: Sequence[str], share: float, letters: str | Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Change max(1, round(share · length)) characters of each title, by either kind in equal parts.

    Half-way cases round to even. An empty title stays empty. `letters` as in `corrupt_by_rate`.
    """
    points, owner = _flatten(titles)
    lengths = np.bincount(owner, minlength=len(titles))
    changes = np.maximum(1, np.rint(share * lengths)).astype(np.int64)
    order = np.lexsort((rng.random(points.size), owner))
    place = np.empty(points.size, np.int64)
    place[order] = np.arange(points.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    chosen = place < changes[owner]
    delete = chosen & (rng.random(points.size) < 0.5)
    return _apply(points, owner, len(titles), delete, chosen, letters, rng)


def _flatten(
    titles: Sequence[str],
) -> tuple[Int[np.ndarray, " character"], Int[np.ndarray, " character"]]:
    points = np.frombuffer("".join(titles).encode("utf-32-le", "surrogatepass"), np.uint32)
    return points, np.repeat(np.arange(len(titles)), [len(title) for title in titles])


def _apply(
    points: Int[np.ndarray, " character"],
    owner: Int[np.ndarray, " character"],
    count: int,
    delete: Bool[np.ndarray, " character"],
    change: Bool[np.ndarray, " character"],
    letters: str | Sequence[str],
    rng: np.random.Generator,
) -> list[str]:
    """Delete where `delete`, substitute where `change` and not `delete`, and cut into strings."""
    own = [letters] * count if isinstance(letters, str) else letters
    number = {alphabet: n for n, alphabet in enumerate(dict.fromkeys(own))}
    sizes = np.array([len(alphabet) for alphabet in number], np.int64)
    alphabets, of_letter = _flatten(list(number))
    which = np.array([number[alphabet] for alphabet in own], np.int64)[owner]
    # the letter that stands there already is skipped, so that a substitution changes something
    there = np.isin(which << 32 | points, of_letter << 32 | alphabets)
    drawn = rng.integers(0, sizes[which] - there)
    first = (np.cumsum(sizes) - sizes)[which]
    drawn += first + (there & (alphabets[first + drawn] >= points))
    changed = np.where(change & ~delete, alphabets[drawn], points)[~delete]
    lengths = np.bincount(owner[~delete], minlength=count)
    text = changed.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    ends = np.cumsum(lengths)
    return [text[end - length : end] for end, length in zip(ends, lengths, strict=True)]
