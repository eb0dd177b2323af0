"""The sections `attention` and `charagram` of `docs/RESULTS.md`: tables beside the papers'."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.chosen_rows import as_shares, distinct, of
from benchmarks.markdown_tables import Rows, figure, markdown, pivot
from benchmarks.paper_figures import (
    BAO,
    BAO_LENGTHS,
    CELL_ORDERS,
    WIETING_CELLS,
    WIETING_WORDS,
    wieting_cell,
    wieting_sentences,
)

LSTMS = ("lstm", "attentive_lstm", "bilstm", "attentive_bilstm")
BAGS = ("ngram_bag", "char_lstm", "convolution", "word_average")
BASELINES = ("word_overlap", "majority")
MEASURES = ("pearson", "spearman", "mean_squared_error", "accuracy")
COUNTS = ("pairs", "left_out", "pairs_in_training", "trial_examples", "examples", "cell_examples")
Found = dict[tuple[str, str, str], dict[str, str]]


def attention(rows: Rows) -> Iterator[str]:
    """Table I and what attention adds for each data set, Table II, the seeds, and the trials."""
    yield (
        "Tables I and II of Bao et al. 2018 in English. The paper's word vectors were trained "
        "beforehand on Wikipedia and take 6.1 GB; ours start at random and learn from the data "
        "set alone. So the paper's figures do not compare with ours, and the gain from attention "
        "over the same network without it does. Scores are in [0, 1]. Training and validation "
        "pairs that are test pairs as well are left out. Each system has the same six trials, "
        "chosen among by Pearson's r on validation pairs, which ends the training too. A figure "
        "without a seed is the mean over the seeds, and its bracket the 95 % bootstrap interval of "
        "that mean, over test pairs: what other seeds would change is seen from the seeds' own "
        "figures. A gain is of two systems on the same draws of pairs. On MSRP the threshold comes "
        "from the validation pairs; all four figures of the paper lie below the majority class."
    )
    for dataset in distinct(rows, "dataset"):
        here = [row for row in rows if row["dataset"] == dataset]
        yield f"### {dataset}: Table I beside the paper's"
        yield _counted(here)
        yield _table1(here)
        yield f"### {dataset}: what attention adds"
        yield _gains(here)
        if any("max_length:" in row["system"] for row in here):
            yield f"### {dataset}: Table II, words read of a sentence"
            yield "The paper's are of SICK translated into Chinese and Tibetan; r."
            yield _lengths(here)
        yield f"### {dataset}: each seed"
        seeded = [row for row in as_column(of(here, *MEASURES)) if row["seed"]]
        seeded = [row for row in seeded if row["system"] in LSTMS]
        seeded.sort(key=lambda row: (LSTMS.index(row["system"]), MEASURES.index(row["column"])))
        yield pivot(seeded, ("system", "seed"), "column")
        yield f"### {dataset}: trials"
        yield _trials(here, LSTMS)


def charagram(rows: Rows) -> Iterator[str]:
    """Tables 1 and 3, gains, Figure 1, Table 5, and the trials."""
    yield (
        "Tables 1, 3 and 5 and Figure 1 of Wieting et al. 2016 with *word-pair training*: every "
        "network learns from the word links of PPDB-XL and from nothing else. The paper's networks "
        "for words learn from four times as many links, for fifty epochs; its networks for "
        "sentences learn from 9 million *phrase* pairs, of which we have none, and are judged by "
        "22 sets, of which we have 19. So its figures stand beside ours without comparing with "
        "them: what is compared are our systems with each other, after equally many examples. Each "
        "has the same six trials, chosen among by 1,000 held-out links, which also say which look "
        "at a network has its best weights; no pair that judges chooses anything (the paper's "
        "networks for words are tuned on SimLex). A figure is the mean over the seeds, its bracket "
        "the 95 % bootstrap interval of that mean over pairs."
    )
    found = _pooled(rows)
    yield _counted(rows)
    yield "### Table 1: SimLex-999, Spearman's ρ"
    yield "`unlinked` are the pairs that are no link of PPDB-XL."
    yield _words(found)
    yield "### Table 3: sentences, Pearson's r, by networks trained on words"
    yield (
        "`sts` is the mean over the sets above it, and so is the paper's figure in that line. "
        "`word_overlap` learns nothing."
    )
    yield _sentences(found)
    yield "### The bag of n-grams less each other system"
    gains = [row for row in rows if row["metric"].startswith("gain_") and not row["seed"]]
    yield pivot(as_shares(gains), ("system",), "test")
    yield "### Figure 1: ρ on SimLex-999 by examples seen"
    looks = [row for row in of(rows, "spearman") if row["test"].startswith("examples_")]
    yield pivot(as_shares(looks), ("system", "seed"), "test")
    if any("/most:" in row["system"] for row in rows):
        yield "### Table 5: number and lengths of the n-grams"
        yield "The paper's figure behind each of ours, in parentheses."
        yield _cells(rows)
    yield "### Trials"
    yield _trials(rows, BAGS)


def as_column(rows: Rows) -> list[dict[str, str]]:
    """With three decimals, and the metric's name as `column`."""
    shown = zip(rows, as_shares(rows), strict=True)
    return [{**short, "column": row["metric"]} for row, short in shown]


def _pooled(rows: Rows) -> Found:
    """What has no seed, by system, test and metric."""
    return {(row["system"], row["test"], row["metric"]): row for row in rows if not row["seed"]}


def _cell(found: Found, system: str, test: str, metric: str) -> str:
    row = found.get((system, test, metric))
    return "" if row is None else figure(as_shares([row])[0])


def _paper(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _counted(rows: Rows) -> str:
    """Sizes of what was trained on, and bounds."""
    found = _pooled(rows)
    head = [name for name in COUNTS if ("data", "training", name) in found]
    return markdown(head, [[figure(found["data", "training", name]) for name in head]])


def _table1(rows: Rows) -> str:
    found = _pooled(rows)
    metrics = [name for name in MEASURES if any(row["metric"] == name for row in rows)]
    head = ["system"]
    for metric in metrics:
        head += [metric, *["paper"] * (("lstm", metric) in BAO)]
    lines = []
    for system in (*BASELINES, *LSTMS):
        line = [system]
        for metric in metrics:
            line.append(_cell(found, system, "test", metric))
            line += [_paper(BAO.get((system, metric)))] * (("lstm", metric) in BAO)
        if any(line[1:]):
            lines.append(line)
    return markdown(head, lines)


def _gains(rows: Rows) -> str:
    """Of the measures that the paper prints gains for, each seed's and the pooled one."""
    lines = []
    for row in as_column(of(rows, "gain_pearson", "gain_accuracy")):
        metric = row["column"].removeprefix("gain_")
        attentive, _, last = row["system"].partition("-")
        paper = BAO[attentive, metric] - BAO[last, metric]
        above = "yes" if float(row["low"]) > 0 else "no"
        lines.append([row["system"], row["seed"], metric, figure(row), above, _paper(paper)])
    return markdown(("system", "seed", "metric", "gain", "above 0", "paper"), lines)


def _lengths(rows: Rows) -> str:
    found = _pooled(rows)
    parts = [name.partition("/max_length:") for name in distinct(rows, "system")]
    lengths = sorted({int(length) for _, mark, length in parts if mark})
    lines = []
    for system in LSTMS[:2]:
        for length in lengths:
            name = f"{system}/max_length:{length}"
            ours = [_cell(found, name, "test", metric) for metric in MEASURES[:3]]
            paper = BAO_LENGTHS.get((system, length), (None, None))
            lines.append([system, str(length), *ours, *map(_paper, paper)])
    head = ("system", "words", *MEASURES[:3], "paper: Chinese", "paper: Tibetan")
    return markdown(head, lines)


def _words(found: Found) -> str:
    lines = [
        [
            system,
            _cell(found, system, "simlex", "spearman"),
            _cell(found, system, "simlex/unlinked", "spearman"),
            _paper(WIETING_WORDS.get(system)),
        ]
        for system in BAGS
    ]
    return markdown(("system", "all pairs", "unlinked", "paper"), lines)


def _sentences(found: Found) -> str:
    tests = [test for system, test, metric in found if (system, metric) == (BAGS[0], "pearson")]
    sets = sorted(test for test in tests if test.startswith("sts2"))
    lines = []
    for test in [*sets, "sts", "sick"]:
        line = [test, _cell(found, "word_overlap", test, "pearson")]
        for system in BAGS:
            paper = wieting_sentences(system, sets if test == "sts" else [test])
            line += [_cell(found, system, test, "pearson"), _paper(paper)]
        lines.append(line)
    columns = [name for system in BAGS for name in (system, "paper")]
    return markdown(("test", "word_overlap", *columns), lines)


def _cells(rows: Rows) -> str:
    found = {
        (row["system"], row["test"]): figure(short)
        for row, short in zip(rows, as_shares(rows), strict=True)
        if row["metric"] in ("spearman", "pearson")
    }
    lines = []
    for test in ("simlex", "sts"):
        for most in WIETING_CELLS:
            names = [f"ngram_bag/orders:{orders}/most:{most}" for orders in CELL_ORDERS]
            paper = [_paper(wieting_cell(test, orders, most)) for orders in CELL_ORDERS]
            ours = [found.get((name, test), "") for name in names]
            both = [f"{our} ({its})" for our, its in zip(ours, paper, strict=True)]
            lines.append([test, f"{most:,}", *both])
    head = [", ".join(orders) for orders in CELL_ORDERS]
    return markdown(("test", "n-grams of each order", *head), lines)


def _trials(rows: Rows, systems: Sequence[str]) -> str:
    """Validation scores, a column for each system; the chosen trial of each says so."""
    tried = [row for row in rows if row["test"].startswith("trial:")]
    chosen = {(row["test"], row["system"]) for row in of(tried, "chosen") if row["value"] == "1"}
    scores = [row for row in tried if row["metric"] != "chosen"]
    marked = [
        {**row, "value": f"{row['value']}{' (chosen)' * ((row['test'], row['system']) in chosen)}"}
        for row in sorted(scores, key=lambda row: systems.index(row["system"]))
    ]
    return pivot(marked, ("test", "metric"), "system", ("n", "seed"))
