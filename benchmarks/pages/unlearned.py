"""Networks that did not learn, so that no page shows their first weights as a result of training.

A study writes the step of each network's best look at the validation data (`best_step`). Where that
is 0, the weights that were kept are those that training began with.
"""

from __future__ import annotations

from collections import defaultdict

from benchmarks.results import BEST_STEP, Line, Lines

MARK = "unlearned"
"""The key that `marked` adds to a row."""
UNLEARNED = "did not learn"


def marked(rows: Lines) -> list[Line]:
    """Return rows with a further key `MARK`: which of their networks did not learn, else empty.

    A mean over seeds names the seeds; a comparison is of networks that learned or it is none.
    """
    seeds: defaultdict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for row in rows:
        if row["test"] == "training" and row["metric"] == BEST_STEP:
            seeds[row["dataset"], row["system"]][row["seed"]] = float(row["value"]) == 0
    return [{**row, MARK: _mark(row, seeds)} for row in rows]


def _mark(row: Line, seeds: dict[tuple[str, str], dict[str, bool]]) -> str:
    known = (seeds.get((row["dataset"], system), {}) for system in row["system"].split("-"))
    lost = [own for own in known if any(own.values())]
    if not lost or (row["seed"] and not any(own.get(row["seed"]) for own in lost)):
        return ""
    if row["seed"] or any(all(own.values()) for own in lost):
        return UNLEARNED
    named = sorted({seed for own in lost for seed, is_lost in own.items() if is_lost}, key=int)
    return f"seed{'s' * (len(named) > 1)} {', '.join(named)} {UNLEARNED}"
