"""Copies of titles as people write them: between superfluous words, misspelt, or both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tasks.pipeline.augmentation.noise import corrupt_by_rate, letters_of
from tasks.pipeline.augmentation.superfluous import Superfluous, pad

if TYPE_CHECKING:
    from jaxtyping import Bool


def noisy_titles(
    titles: Sequence[str],
    words: Superfluous,
    padded: Bool[np.ndarray, " title"],
    misspelt: Bool[np.ndarray, " title"],
    rates: tuple[float, float],
    rng: np.random.Generator,
) -> list[str]:
    """Pad some of the titles, where there are words to do it with, and then misspell some.

    Args:
        titles: any.
        words: to put around them; may be none.
        padded: which are padded.
        misspelt: which are misspelt.
        rates: shares of characters that are substituted and deleted.
        rng: of this use.

    Returns:
        One string a title, in order; what is neither stays as it is.
    """
    some = np.array(titles, object)
    if words.before:
        some[padded] = pad(some[padded].tolist(), words, rng)
    some[misspelt] = corrupt_by_rate(some[misspelt].tolist(), *rates, letters_of(titles), rng)
    noisy: list[str] = some.tolist()
    return noisy
