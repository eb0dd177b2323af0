"""Success@1 beside the paper's, errors removed, whether 4 keeps up; the README's table."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.pages.page_tables import PIPELINE, TESTS, Table, over_seeds
from benchmarks.pages.plots import curves, svg
from benchmarks.pages.tables import datasets, figure, is_figure, markdown, of, where
from benchmarks.results import Line, Lines, Results
from benchmarks.study import study
from tasks.table3.paper import ACCURACY, OWN_TEST, paper_errors_removed
from tasks.table3.paper import TESTS as PAPER_TESTS

README = (
    ("this network", "sample", "4c"),
    ("TF-IDF", "sample", "tfidf"),
    ("n-gram matcher", "sample", "ngram"),
    ("the paper's network", "paper", "4c"),
)
"""Columns of the table in the README: head, data set and system."""
PLOTTED = ("0", "1", "2", "3", "4")
"""The mixes that the paper has figures of."""
PRINTED = {
    test: {system: value for (system, own), value in ACCURACY.items() if own == test}
    for test in PAPER_TESTS
}


def readme(results: Results) -> str:
    """Write success@1 of what a user may choose between, a line a test in plain words."""
    cells = {
        (head, row["test"]): figure(row, ends=False)
        for head, dataset, system in README
        for row in over_seeds(where(results[PIPELINE], dataset=dataset, system=system))
        if row["metric"] == "success_at_1"
    }
    heads = [head for head, *_ in README]
    lines = [
        [meaning, test, *(cells.get((head, test), "") for head in heads)]
        for test, meaning in study(PIPELINE).face["plain"].items()
    ]
    return markdown(("what comes in", "test", *heads), lines)


def plot(results: Results) -> str:
    """Draw success@1 of every mix on the paper's tests, each data set that has all of them."""
    rows = over_seeds(of(results[PIPELINE], "success_at_1"))
    panels = {}
    for test in PAPER_TESTS:
        lines: dict[str, dict[str, float]] = {}
        for dataset in datasets(rows):
            own = where(rows, dataset=dataset, test=test)
            lines[dataset] = {row["system"]: float(row["value"]) for row in own}
        lines["Neculoiu et al. 2016"] = PRINTED[test]
        panels[test] = [
            (name, [values.get(mix) for mix in PLOTTED])
            for name, values in lines.items()
            if values.keys() >= {*PLOTTED}
        ]
    label = "mix of sources that the network is trained on"
    return svg("table3", lambda whole: curves(whole, PLOTTED, panels, label, "success@1"))


def tables(results: Results) -> Iterator[str]:
    """Yield what needs more than a choice of rows."""
    beside = Table(
        title="success@1 beside the paper's",
        metric="success_at_1",
        pipeline="ngram|tfidf",
        beside=PRINTED,
        counts=True,
    )
    yield from beside.parts(study(PIPELINE), results)
    for dataset in datasets(results[PIPELINE]):
        rows = over_seeds(where(results[PIPELINE], dataset=dataset))
        steps, pairs = (
            " or ".join(map(figure, of(rows, name))) for name in ("steps", "batch_pairs")
        )
        yield f"Training on {dataset}: at most {steps} updates of {pairs} similar pairs, all alike."
        if of(rows, "errors_removed"):
            yield f"### {dataset}: errors removed on the test of the mix's own source"
            yield _errors_removed(rows)
            yield f"### {dataset}: whether mixes 4 and 4c keep up with 3"
            yield _kept_up(rows)


def _errors_removed(rows: Lines) -> str:
    """Write gain, whether its interval lies above 0, and the share of errors beside the paper's.

    Above 0 or not is an effect of training over several seeds, never that of one.
    """
    removed = _by_comparison(rows, "errors_removed")
    lines = []
    for key, gain in _by_comparison(rows, "gain_success_at_1").items():
        mix, _, over = gain["system"].partition("-")
        if OWN_TEST.get(mix) == gain["test"]:
            paper = paper_errors_removed(mix, over, gain["test"])
            is_one = is_figure(gain)
            share = f"{float(removed[key]['value']):.2f}" if is_one and key in removed else ""
            above = ("yes" if float(gain["low"]) > 0 else "no") if is_one and not key[2] else ""
            lines.append(
                [*key, figure(gain), above, share, "" if paper is None else f"{paper:.2f}"]
            )
    head = ("system", "test", "seed", "gain", "above 0", "errors removed", "paper")
    return markdown(head, lines)


def _kept_up(rows: Lines) -> str:
    ends = _by_comparison(rows, "holm_low_success_at_1")
    gains = _by_comparison(rows, "gain_success_at_1")
    lines = []
    for key, verdict in _by_comparison(rows, "non_inferior").items():
        gain = figure(gains[key]) if key in gains else ""
        passed = ("yes" if float(verdict["value"]) else "no") if is_figure(verdict) else ""
        lines.append([*key, gain, figure(ends[key]), verdict["n"], passed])
    return markdown(("system", "test", "seed", "gain", "Holm's lower end", "n", "keeps up"), lines)


def _by_comparison(rows: Lines, metric: str) -> dict[tuple[str, str, str], Line]:
    """Return rows by system, test and seed; the tests in the paper's order."""
    ranks = {test: rank for rank, test in enumerate(TESTS)}
    ordered = sorted(
        of(rows, metric),
        key=lambda row: (row["system"], ranks.get(row["test"].partition("/")[0], 9), row["test"]),
    )
    return {(row["system"], row["test"], row["seed"]): row for row in ordered}
