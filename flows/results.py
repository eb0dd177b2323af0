"""The outcome of a run as text: two metrics over all queries, with intervals, and facts.

They come from `table.csv` of `data/lexical/` and of `data/evaluate/MIX/SEED/`, the model that
`params.yaml` names.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.environment import read_params
from tasks.io.command import listed

METRICS = ("success_at_1", "mrr")
HEAD = ("test", "system", *METRICS, "n")
REPORT = Path("data/gate/report.html")  # with the gate's decision on top
Row = tuple[str, ...]


def result_rows(root: Path) -> list[Row]:
    """Return one row per (test, system), the baselines' first: the columns of `HEAD`."""
    params = read_params(root)
    rows = dict[tuple[str, str], dict[str, str]]()
    for folder in ("lexical", f"evaluate/{params['mix']}/{params['seeds'][0]}"):
        file = root / "data" / folder / "table.csv"
        with file.open(encoding="utf-8", newline="") as text:
            for line in csv.DictReader(text):
                if line["slice"] == "all" and line["metric"] in METRICS:
                    row = rows.setdefault((line["test"], line["system"]), {"n": line["n"]})
                    row[line["metric"]] = _interval(line)
    tests = [*dict.fromkeys(test for test, _ in rows)]
    ordered = sorted(rows.items(), key=lambda row: tests.index(row[0][0]))
    return [(*key, *(row.get(name, "") for name in HEAD[2:])) for key, row in ordered]


def _interval(line: dict[str, str]) -> str:
    ends = [f"{float(line[end]):.3f}" for end in ("low", "high") if line[end]]
    return f"{float(line['value']):.3f}" + (f" [{', '.join(ends)}]" if len(ends) == 2 else "")


def as_text(rows: Sequence[Row], head: Row = HEAD) -> str:
    """Align columns with spaces, for a terminal."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    padded = ("  ".join(map(str.ljust, row, widths)) for row in (head, *rows))
    return "\n".join(line.rstrip() for line in padded)


def as_facts(facts: Mapping[str, str], width: int = 8) -> str:
    """Write one line per fact, its name first: the last lines of a command."""
    return "\n".join(f"{f'{name} ':<{width}}{fact}" for name, fact in facts.items())


def pushed(done: bool) -> str:
    """Return the fact whether the data were pushed."""
    return "pushed to DVC's remote" if done else "not pushed (see the warning above)"


def bulk_facts(manifest: Mapping[str, Any], output: Path) -> dict[str, str]:
    """Describe a bulk run by its manifest."""
    from tasks.io.bulk_output import refused_of  # it brings Polars

    result = manifest["result"]
    abstained = [f"{count:,} {reason}" for reason, count in manifest["abstained"].items()]
    outcome = {
        "rows": f"{manifest['rows']:,}, parts: {len(manifest['parts'])}",
        "answers": f"{manifest['answered']:,}",
        "without": ", ".join(abstained) or "none",
        "model": "{model}, {model_version}; taxonomy {taxonomy_version}".format_map(result),
    }
    if manifest["refused"]:
        outcome["refused"] = f"{manifest['refused']:,} rows, with reasons: {refused_of(output)}"
    if files := result.get("left_out"):
        outcome["left out"] = f"{listed(files, 5)}: without a column of titles"
    return {**outcome, "output": str(output)}
