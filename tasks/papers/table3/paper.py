"""The figures of Neculoiu et al. 2016, Table 3, to compare with.

Accuracy (success@1) on its proprietary taxonomy of 19,927 titles; the tests have 19,928, 7,909,
1,949 and 1,000 queries. Absolute figures do not compare with ours: the effects are to be compared.
"""

from __future__ import annotations

TESTS = ("typos", "composition", "extra_words", "annotations")
_ROWS = {
    "ngram": (0.99, 0.61, 1.00, 0.83),  # Extra Words was mined with it: 1.00 by construction
    "base": (0.95, 0.55, 0.40, 0.69),
    "typos": (0.99, 0.54, 0.36, 0.77),
    "synonyms": (1.00, 0.83, 0.29, 0.76),
    "extra_words": (1.00, 0.84, 0.76, 0.87),
    "verdicts": (1.00, 0.79, 0.82, 0.84),
}
ACCURACY = {
    (system, test): value
    for system, values in _ROWS.items()
    for test, value in zip(TESTS, values, strict=True)
}
"""By system and test."""
OWN_TEST = {"typos": "typos", "synonyms": "composition", "extra_words": "extra_words"}
"""The test that probes for what a mix adds (section 4.2); all tests are those of `verdicts`."""


def errors_removed(before: float, gain: float) -> float | None:
    """Return the share of errors that a gain removes: 1 at best, negative if worse.

    It is gain / (1 − before), and None where nothing was wrong before. Both are shares of the same
    queries, 0 to 1.
    """
    return None if before >= 1 else gain / (1 - before)


def paper_errors_removed(system: str, over: str, test: str) -> float | None:
    """Return the same from the paper's figures; None where it has none.

    On Typos, `typos` over `base`: (0.99 − 0.95) / (1 − 0.95) = 0.80.
    """
    before, after = ACCURACY.get((over, test)), ACCURACY.get((system, test))
    return None if before is None or after is None else errors_removed(before, after - before)
