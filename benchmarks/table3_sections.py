"""The section `table3` of `docs/RESULTS.md`: tables and effects beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.chosen_rows import as_shares, distinct, of, place
from benchmarks.markdown_tables import Rows, figure, markdown, pivot
from tasks.paper import ACCURACY, OWN_TEST, TESTS, paper_errors_removed


def table3(rows: Rows) -> Iterator[str]:
    """Each data set beside the paper, then gains, errors removed, and verdicts on stage 4."""
    yield (
        "Table 3 of Neculoiu et al. 2016 on open data: each model has the training of the one "
        "before and one more source of pairs, 4c what people corrected as well. The paper's "
        "figures are of its own taxonomy and inputs: its effects compare with ours, its absolute "
        "figures do not. Brackets are 95 % bootstrap intervals over queries; means over seeds "
        "where there are several."
    )
    for dataset in distinct(rows, "dataset"):
        here = _over_seeds([row for row in rows if row["dataset"] == dataset])
        here.sort(key=lambda row: TESTS.index(row["test"]) if row["test"] in TESTS else len(TESTS))
        whole = [row for row in here if "/" not in row["test"]]
        yield f"### {dataset}: success@1 beside the paper's"
        yield _bounds(whole)
        yield _beside_paper([row for row in whole if row["metric"] == "success_at_1"])
        for title, chosen, index, column in (
            ("mean reciprocal rank", of(whole, "mrr"), ("system",), "test"),
            ("success@1 by source", _by_source(here), ("test",), "system"),
            (
                "gains, paired by query",
                as_shares(of(whole, "gain_success_at_1")),
                ("system", "seed"),
                "test",
            ),
        ):
            if chosen:
                yield f"### {dataset}: {title}"
                yield pivot(chosen, index, column)
        yield f"### {dataset}: errors removed on the stage's own test"
        yield _errors_removed(whole)
        yield f"### {dataset}: whether stage 4 keeps up with stage 3"
        yield _kept_up(here)


def _over_seeds(rows: Rows) -> list[dict[str, str]]:
    """A mean over seeds in the place of what it is the mean of."""
    names = ("system", "test", "metric")
    means = {tuple(row[name] for name in names) for row in rows if not row["seed"]}
    return [
        row for row in rows if not row["seed"] or tuple(row[name] for name in names) not in means
    ]


def _bounds(rows: Rows) -> str:
    steps, pairs = (
        " or ".join(dict.fromkeys(figure(row) for row in of(rows, metric)))
        for metric in ("steps", "batch_pairs")
    )
    return (
        f"Training is bounded: at most {steps} updates of {pairs} similar pairs, every model alike."
    )


def _beside_paper(rows: Rows) -> str:
    sizes = {row["test"]: row["n"] for row in rows}
    found = {(row["system"], row["test"]): figure(row) for row in rows}
    head = ["system"]
    for test, n in sizes.items():
        head += [f"{test} (n {int(n):,})", *["paper"] * (test in TESTS)]
    lines = []
    for system in sorted(distinct(rows, "system"), key=lambda name: place({"system": name})):
        line = [system]
        for test in sizes:
            paper = ACCURACY.get((system, test))
            printed = "" if paper is None else f"{paper:.2f}"
            line += [found.get((system, test), ""), *[printed] * (test in TESTS)]
        lines.append(line)
    return markdown(head, lines)


def _by_source(rows: Rows) -> list[dict[str, str]]:
    """success@1 in the slices by source of the tests that have several."""
    parts = [row for row in of(rows, "success_at_1") if "/source:" in row["test"]]
    sources: dict[str, set[str]] = {}
    for row in parts:
        test, _, part = row["test"].partition("/")
        sources.setdefault(test, set()).add(part)
    return [row for row in parts if len(sources[row["test"].partition("/")[0]]) > 1]


def _errors_removed(rows: Rows) -> str:
    """Gain, whether its interval lies above 0, and the share of errors beside the paper's."""
    removed = _by_comparison(rows, "errors_removed")
    lines = []
    for key, gain in _by_comparison(rows, "gain_success_at_1").items():
        stage, _, over = gain["system"].partition("-")
        if OWN_TEST.get(stage) == gain["test"]:
            paper = paper_errors_removed(stage, over, gain["test"])
            share = f"{float(removed[key]['value']):.2f}" if key in removed else ""
            above = "yes" if float(gain["low"]) > 0 else "no"
            printed = "" if paper is None else f"{paper:.2f}"
            lines.append([*key, figure(gain), above, share, printed])
    head = ("system", "test", "seed", "gain", "above 0", "errors removed", "paper")
    return markdown(head, lines)


def _kept_up(rows: Rows) -> str:
    ends = _by_comparison(rows, "holm_low_success_at_1")
    gains = _by_comparison(rows, "gain_success_at_1")
    lines = []
    for key, verdict in _by_comparison(rows, "non_inferior").items():
        gain = figure(gains[key]) if key in gains else ""
        passed = "yes" if float(verdict["value"]) else "no"
        lines.append([*key, gain, figure(ends[key]), verdict["n"], passed])
    return markdown(("system", "test", "seed", "gain", "Holm's lower end", "n", "keeps up"), lines)


def _by_comparison(rows: Rows, metric: str) -> dict[tuple[str, str, str], dict[str, str]]:
    chosen = as_shares(of(rows, metric))
    return {(row["system"], row["test"], row["seed"]): row for row in chosen}
