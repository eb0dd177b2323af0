"""The sections `zoo` and `frozen_space` of `docs/RESULTS.md`: tables a data set."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.chosen_rows import as_shares, distinct, of, place
from benchmarks.markdown_tables import Rows, markdown, pivot
from benchmarks.paper_figures import BHAT, BHAT_COLUMNS

COSTS = {
    ("training", "parameters"): "parameters",
    ("training", "megabytes"): "MB",
    ("training", "seconds"): "seconds of training",
    ("training", "titles_per_second"): "titles/s, training",
    ("training", "times_recurrent"): "times recurrent",
    ("encoding", "titles_per_second"): "titles/s, encoding",
    ("encoding", "times_recurrent"): "times recurrent, encoding",
}
"""Columns of the table of costs, by test and metric."""
BRIEF = ("parameters", "seconds of training", "titles/s, encoding")
"""Those that stand beside the tests as well."""
SPACES = ("von_mises_fisher", "most_informative", "random", "difference", "projection")
IN_OWN_SPACE = ("max", "mix", "semihard", "free")
ORDER = ("earlier", *SPACES, *IN_OWN_SPACE)
SUCCESS = ("success_at_1", "success_at_2", "success_at_5", "success_at_10")
SIMILARITIES = ("nearest_if_right", "nearest_if_wrong", "gold_if_wrong")
OWN = "own_index/"


def zoo(rows: Rows) -> Iterator[str]:
    """Quality, differences to the best one, costs, and what bounds the making of ids."""
    yield (
        "Every encoder with several losses, trained on the pairs of stage 3 (no feedback) for "
        "equal steps, after equal trials that validation queries judged. success@1 of the tests, "
        "means over seeds; brackets are 95 % bootstrap intervals over queries, and say nothing of "
        "other seeds. `valid` are the queries that all choices were made by. Seconds and speeds "
        "are those of one thread."
    )
    for dataset in distinct(rows, "dataset"):
        here = sorted((row for row in rows if row["dataset"] == dataset), key=place)
        pooled = [row for row in here if not row["seed"]]
        success, costs = of(pooled, "success_at_1"), _costs(here)
        tests = [{**row, "column": row["test"]} for row in success]
        tests += [row for row in costs if row["column"] in BRIEF]
        yield f"### {dataset}: success@1"
        yield pivot(tests, ("system",), "column")
        yield _counts(success)
        chosen = [row["system"] for row in of(pooled, "is_best") if float(row["value"])]
        yield f"### {dataset}: difference to {', '.join(chosen)}, the best on validation queries"
        yield pivot(as_shares(of(pooled, "gain_over_best")), ("system",), "test")
        yield f"### {dataset}: what each costs"
        yield pivot(costs, ("system",), "column")
        yield f"### {dataset}: titles a second from text to ids, and of each step alone"
        yield from _featurizing(here)
        yield from _trials(dataset, here)


def frozen_space(rows: Rows) -> Iterator[str]:
    """The paper's tables: success and similarities, the price of compatibility, and speed."""
    yield (
        "Networks trained on the pairs of stage 3 into the space of an earlier model, with losses "
        "of Bhat et al. 2019; beside them trainable targets, `free` with the profile's own loss, "
        "and the `earlier` model. Queries are looked up among the alias embeddings that the "
        "earlier model stored; under `own_index` among aliases embedded anew. Means over seeds; "
        "brackets are 95 % bootstrap intervals over queries."
    )
    for dataset in distinct(rows, "dataset"):
        here = sorted((row for row in rows if row["dataset"] == dataset), key=_frozen_place)
        pooled = [row for row in here if not row["seed"]]
        success = of(pooled, "success_at_1")
        stored = [row for row in success if not row["test"].startswith(OWN)]
        own = [row for row in success if row["test"].startswith(OWN)]
        yield f"### {dataset}: success@1 among the stored embeddings"
        yield pivot(stored, ("system",), "test")
        yield _counts(stored)
        yield f"### {dataset}: success@1 among aliases embedded anew"
        yield pivot(own, ("system",), "test")
        for metric, other in (
            ("gain_over_free", "`free` with its own index"),
            ("gain_over_earlier", "the earlier model"),
            ("gain_over_von_mises_fisher", "`von_mises_fisher`"),
        ):
            yield f"### {dataset}: difference to {other}, stored embeddings"
            found = [row for row in of(pooled, metric) if not row["test"].startswith(OWN)]
            yield pivot(as_shares(found), ("system",), "test")
        yield f"### {dataset}: Table 2 of the paper"
        yield (
            "Cosine to the nearest alias of all, where the answer is right and where it is wrong, "
            "and there to the nearest alias of a right occupation; success@k. Among the stored "
            f"embeddings; of {', '.join(f'`{system}`' for system in IN_OWN_SPACE)} among their own."
        )
        yield from _table2(pooled)
        yield (
            "The paper's own, Tables 1 and 2: translation into English, where a word is looked up "
            "among 50,000 stored embeddings. What compares is the order of the losses."
        )
        lines = [[system, *map(str, values)] for system, values in BHAT.items()]
        yield markdown(("system", *BHAT_COLUMNS), lines)
        yield f"### {dataset}: Figure 2 of the paper, similar pairs a second on one thread"
        yield pivot(of(here, "examples_per_second"), ("system",), "test")
        yield from _trials(dataset, here)


def _costs(rows: Rows) -> list[dict[str, str]]:
    """With a `column`; what was measured of an encoder stands on the lines of all its losses."""
    found = []
    for system in distinct([row for row in rows if "+" in row["system"]], "system"):
        own = {
            (row["test"], row["metric"]): row
            for row in rows
            if row["system"] in (system, system.partition("+")[0])
        }
        for name, column in COSTS.items():
            if name in own:
                plain = {"system": system, "column": column, "low": "", "high": ""}
                found.append({**own[name], **plain})
    return found


def _featurizing(rows: Rows) -> Iterator[str]:
    found = [row for row in rows if row["test"].split("/")[0] == "featurizing"]
    found.sort(key=lambda row: row["test"])
    yield pivot(found, ("system",), "test")
    slowest = []
    for system in sorted({row["system"] for row in found}):
        whole, *steps = sorted(
            (row for row in found if row["system"] == system),
            key=lambda row: (row["test"] != "featurizing", float(row["value"])),
        )
        share = float(whole["value"]) / float(steps[0]["value"])
        slowest.append(
            f"`{system}` by {steps[0]['test'].partition('/')[2]} ({share:.0%} of its time)"
        )
    yield (
        "`cleaning`, `hashing` and `lookup` are steps of the work, the slowest of which bounds it: "
        f"{', '.join(slowest)}. Looking up among a vocabulary waits for memory that is read out of "
        "order, one step of a binary search behind the other; hashing passes over arrays in order, "
        "whose limit is `memory`, the arrays of units copied once; cleaning is a Python call a "
        "title."
    )


def _table2(pooled: Rows) -> Iterator[str]:
    wanted = (*SIMILARITIES, *SUCCESS)
    found = []
    for row in of(pooled, *wanted):
        if row["test"].startswith(OWN) == (row["system"] in IN_OWN_SPACE):
            found.append({**row, "test": row["test"].removeprefix(OWN)})
    found.sort(key=lambda row: (row["test"], _frozen_place(row), wanted.index(row["metric"])))
    shown = [{**row, "column": row["metric"], "low": "", "high": ""} for row in found]
    for test in distinct(shown, "test"):
        here = [row for row in shown if row["test"] == test]
        yield pivot(as_shares(here), ("test", "system"), "column")


def _trials(dataset: str, rows: Rows) -> Iterator[str]:
    yield f"### {dataset}: trials, success@1 of validation queries"
    found = [
        {**row, "test": row["test"].removeprefix("trial:")}
        for row in of(rows, "valid_success_at_1")
        if row["test"].startswith("trial:")
    ]
    taken = {(row["system"], row["test"]) for row in of(rows, "chosen") if float(row["value"])}
    lines = [
        {**row, "chosen": "yes" if (row["system"], f"trial:{row['test']}") in taken else ""}
        for row in found
    ]
    yield pivot(as_shares(lines), ("system", "test"), "metric", ("chosen",))


def _counts(rows: Rows) -> str:
    counts = dict.fromkeys(f"{row['test']} {row['n']}" for row in rows)
    return f"Queries: {', '.join(counts)}."


def _frozen_place(row: dict[str, str]) -> int:
    return ORDER.index(row["system"]) if row["system"] in ORDER else len(ORDER)
