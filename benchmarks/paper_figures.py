"""Figures of Bao et al. 2018, Wieting et al. 2016 and Bhat et al. 2019, to stand beside our own.

Correlations and shares are in [-1, 1] and [0, 1] here; some are printed times 100. The papers had
more to train on than this project has, or another task: the sections of `docs/RESULTS.md` say what
compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

BAO = {
    ("lstm", "pearson"): 0.7121,
    ("bilstm", "pearson"): 0.6326,
    ("attentive_lstm", "pearson"): 0.7832,
    ("attentive_bilstm", "pearson"): 0.7518,
    ("lstm", "mean_squared_error"): 0.032,
    ("bilstm", "mean_squared_error"): 0.0388,
    ("attentive_lstm", "mean_squared_error"): 0.026,
    ("attentive_bilstm", "mean_squared_error"): 0.031,
    ("lstm", "accuracy"): 0.6041,
    ("bilstm", "accuracy"): 0.6168,
    ("attentive_lstm", "accuracy"): 0.6568,
    ("attentive_bilstm", "accuracy"): 0.6319,
}
"""Table I by system and metric: SICK in English, and MSRP ("p", a share of pairs put right)."""
BAO_LENGTHS = {
    ("lstm", 15): (0.2919, 0.2325),
    ("lstm", 20): (0.3062, 0.2585),
    ("lstm", 25): (None, 0.3451),
    ("attentive_lstm", 15): (0.4334, 0.3258),
    ("attentive_lstm", 20): (0.4646, 0.3566),
    ("attentive_lstm", 25): (0.4547, 0.3627),
}
"""Table II by system and length: r on SICK translated into Chinese and into Tibetan."""
WIETING_WORDS = {"convolution": 0.3064, "char_lstm": 0.5454, "ngram_bag": 0.6333}
"""Table 1: ρ on SimLex-999, on which these were tuned as well."""
WIETING_SYSTEMS = ("convolution", "char_lstm", "word_average", "ngram_bag")
WIETING_SENTENCES = {
    "sts2012/MSRpar": (50.6, 23.6, 42.9, 59.7),
    "sts2012/MSRvid": (72.2, 47.2, 76.1, 79.6),
    "sts2012/SMTeuroparl": (50.9, 38.5, 45.5, 57.2),
    "sts2012/OnWN": (61.8, 53.0, 70.7, 68.7),
    "sts2012/SMTnews": (46.8, 38.3, 57.2, 65.2),
    "sts2013/headlines": (68.1, 54.4, 72.3, 75.0),
    "sts2013/OnWN": (54.4, 33.5, 70.5, 67.8),
    "sts2013/FNWN": (26.4, 10.6, 47.5, 42.3),
    "sts2013/SMT": (42.0, 24.2, 40.3, 43.6),
    "sts2014/deft-forum": (45.6, 19.4, 50.2, 62.7),
    "sts2014/deft-news": (73.5, 54.6, 73.2, 77.0),
    "sts2014/headlines": (67.4, 53.7, 69.1, 74.3),
    "sts2014/images": (68.7, 53.6, 80.0, 77.6),
    "sts2014/OnWN": (66.8, 46.1, 79.9, 77.0),
    "sts2014/tweet-news": (66.2, 53.6, 76.8, 79.1),
    "sts2015/answers-forums": (47.2, 27.3, 67.4, 61.5),
    "sts2015/answers-students": (75.0, 63.1, 78.3, 78.5),
    "sts2015/belief": (65.7, 22.6, 76.0, 77.2),
    "sts2015/headlines": (72.2, 61.7, 74.5, 78.7),
    "sts2015/images": (70.0, 52.8, 82.2, 84.4),
    "sick": (62.9, 50.3, 72.0, 70.0),
    "twitter": (48.6, 39.9, 52.7, 53.6),
}
"""Table 11, r times 100, in the order of `WIETING_SYSTEMS`."""
WIETING_CELLS = {
    100: ((6.2, 7.0, 7.7, 9.1, 8.8), (40.2, 33.8, 32.5, 31.2, 29.8)),
    1000: ((15.2, 33.0, 38.7, 43.2, 43.9), (50.1, 60.3, 58.6, 56.6, 55.6)),
    50000: ((14.4, 52.4, 67.8, 69.2, 69.5), (45.7, 64.7, 66.6, 63.0, 61.3)),
}
"""Table 5 times 100, by n-grams of each order: words and sentences, for each of `CELL_ORDERS`."""
CELL_ORDERS = ("2", "23", "234", "2345", "23456")
BHAT_COLUMNS = (
    "BLEU, French",
    "BLEU, German",
    "nearest_if_right",
    "nearest_if_wrong",
    "gold_if_wrong",
    "success_at_1",
    "success_at_2",
    "success_at_5",
    "success_at_10",
)
BHAT = {
    "von_mises_fisher": (31.8, 25.0, 0.96, 0.91, 0.39, 0.2355, 0.2891, 0.3223, 0.3477),
    "most_informative": (32.0, 25.1, 0.87, 0.80, 0.28, 0.2318, 0.2804, 0.3145, 0.3385),
    "random": (32.2, 24.8, 0.88, 0.83, 0.21, 0.2339, 0.2828, 0.3116, 0.3342),
    "difference": (32.0, 25.4, 0.91, 0.88, 0.41, 0.2389, 0.2959, 0.3296, 0.3549),
    "projection": (32.3, 25.3, 0.88, 0.86, 0.42, 0.24, 0.2989, 0.3322, 0.356),
}
"""Tables 1 and 2 by loss: translation into English, and what is next to a predicted word."""


def wieting_sentences(system: str, tests: Sequence[str]) -> float | None:
    """Mean of Table 11 over `tests`; None where it has no such system or test."""
    if system not in WIETING_SYSTEMS or not tests or set(tests) - set(WIETING_SENTENCES):
        return None
    place = WIETING_SYSTEMS.index(system)
    return mean(WIETING_SENTENCES[test][place] for test in tests) / 100


def wieting_cell(test: str, orders: str, most: int) -> float:
    """Table 5: `test` is `simlex` or `sts`."""
    words, sentences = WIETING_CELLS[most]
    found = words if test == "simlex" else sentences
    return found[CELL_ORDERS.index(orders)] / 100
