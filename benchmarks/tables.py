"""Tables of a study's page: rows of its CSV, laid out as lines and columns.

A study writes the step of each network's best look at the validation data (`best_step`). Where that
is 0, the network did not learn, and no page shows its figures as a result of training.

A study's YAML lists the tables. A row is taken if each of its columns matches the table's pattern.
A named group of a pattern becomes a column of its own: `odd/(?P<setting>.*)` filters and shortens.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from benchmarks.results import BEST_STEP, Line, Lines
from tasks.io.command import markdown_table

TESTS = ("typos", "composition", "extra_words", "annotations", "heldout_alias", "valid")
METRICS = ("success_at_1", "success_at_5", "success_at_10", "mrr", "titles_per_second")
FIRST = ("ngram", "tfidf", "untrained")
SHARES = (
    *("abstained", "accuracy", "calibration_error", "corrected", "discordance", "fell_back"),
    *("gain_", "mean_average", "mean_s", "mistakes", "mrr", "two_digits"),
    *("pearson", "promoted", "same_answer", "share_with", "spearman", "success_at", "valid_"),
)
"""Prefixes of the metrics with three decimals on a page; others stand as in the file."""
MARK = "unlearned"  # the key that `marked` adds to a row
UNLEARNED = "did not learn"
Printed = Mapping[str, Mapping[str, float]]  # figures of a paper: column to line to value


@dataclass(frozen=True)
class Table:
    """One table of a page, for each data set; `dataset` to `metric` are patterns of its rows."""

    title: str
    dataset: str = ".*"
    system: str = ".*"
    test: str = "[^/]*"
    metric: str = ".*"
    index: Sequence[str] = ("system",)  # columns that make a line
    column: str = "test"  # whose values are the table's columns
    after: Sequence[str] = ()  # columns behind them
    beside: str = ""  # name of the paper's figures that stand beside ours
    ends: bool = True  # whether there are intervals

    def parts(
        self,
        rows: Lines,
        systems: Sequence[str],
        paper: Mapping[str, Printed],
        names: Mapping[str, str] | None = None,
    ) -> Iterator[str]:
        """Yield heading and table of each data set that has rows; `names` has other names."""
        orders = {"system": (*FIRST, *systems), "test": TESTS, "metric": METRICS}

        def order(row: Line, columns: Sequence[str]) -> list[object]:
            return [_order(row[name], orders.get(name, ())) for name in columns]

        printed = paper[self.beside] if self.beside else {}
        for dataset in datasets(rows):
            taken = map(self._matched, over_seeds(where(rows, dataset=dataset)))
            chosen = [row for row in taken if row is not None]
            if chosen:
                heads = sorted(chosen, key=lambda row: order(row, [self.column]))
                chosen.sort(key=lambda row: order(row, self.index))
                yield f"### {dataset}: {self.title}"
                yield self._written(chosen, distinct(heads, self.column), printed, names or {})

    def _matched(self, row: Line) -> Line | None:
        """Return the row with the columns that named groups add; None if it is not taken."""
        added: dict[str, str] = {}
        for name in ("dataset", "system", "test", "metric"):
            match = re.fullmatch(getattr(self, name), row[name])
            if match is None:
                return None
            added |= match.groupdict()
        return {**row, **added}

    def _written(
        self, rows: Lines, columns: Sequence[str], printed: Printed, names: Mapping[str, str]
    ) -> str:
        lines: dict[tuple[str, ...], list[Line]] = {}
        for row in rows:
            lines.setdefault(tuple(row[name] for name in self.index), []).append(row)
        head = [*self.index]
        for name in columns:
            head += [name, *["paper"] * (name in printed)]
        body = []
        for key, group in lines.items():
            cells = {row[self.column]: figure(row, ends=self.ends) for row in group}
            line = ["-".join(names.get(part, part) for part in own.split("-")) for own in key]
            for name in columns:
                line.append(cells.get(name, ""))
                if name in printed:
                    value = printed[name].get(key[0])
                    line.append("" if value is None else f"{value:g}")
            line += [", ".join(distinct(group, name)) for name in self.after]
            body.append(line)
        return markdown_table([*head, *self.after], body)


def figure(row: Line, *, ends: bool = True) -> str:
    """Write `0.532 [0.511, 0.553]`, or the value alone, and say what did not learn."""
    value, low, high = (_short(row[name], row["metric"]) for name in ("value", "low", "high"))
    text = f"{value} [{low}, {high}]" if low and ends else value
    mark = row.get(MARK) if row["metric"].startswith(SHARES) else ""
    return UNLEARNED if mark == UNLEARNED else f"{text} ({mark})" if mark else text


def marked(rows: Lines) -> list[Line]:
    """Return rows with a further key `MARK`: which of their networks did not learn, else empty."""
    seeds: defaultdict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for row in rows:
        if row["test"] == "training" and row["metric"] == BEST_STEP:
            seeds[row["dataset"], row["system"]][row["seed"]] = float(row["value"]) == 0
    return [{**row, MARK: _mark(row, seeds)} for row in rows]


def over_seeds(rows: Lines) -> list[Line]:
    """Return rows without those of single seeds that have a mean over seeds."""
    key = itemgetter("dataset", "system", "test", "metric")
    means = {key(row) for row in rows if not row["seed"]}
    return [row for row in rows if not row["seed"] or key(row) not in means]


def where(rows: Lines, **values: str) -> list[Line]:
    """Return the rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def distinct(rows: Lines, column: str) -> list[str]:
    """Return the values of a column in the order of their first row."""
    return list(dict.fromkeys(row[column] for row in rows))


def datasets(rows: Lines) -> list[str]:
    """Return the data sets of rows, the sample first."""
    return sorted(distinct(rows, "dataset"), key=lambda name: (name != "sample", name))


def _short(number: str, metric: str) -> str:
    if number and metric.startswith(SHARES):
        return f"{float(number):.3f}"
    integer, point, decimals = number.removeprefix("-").partition(".")
    sign = "-" if number.startswith("-") else ""
    return f"{sign}{int(integer):,}{point}{decimals}" if integer else number


def _order(name: str, known: Sequence[str]) -> tuple[int, list[tuple[float, str]]]:
    """Put known names in their order, then the rest by name, numbers in it by their value."""
    if name in known:
        return known.index(name), []
    parts = re.split(r"(\d+(?:\.\d+)?)", name)
    return len(known), [(float(p), "") if p[:1].isdigit() else (-1.0, p) for p in parts]


def _mark(row: Line, seeds: dict[tuple[str, str], dict[str, bool]]) -> str:
    known = (seeds.get((row["dataset"], system), {}) for system in row["system"].split("-"))
    lost = [own for own in known if any(own.values())]
    if not lost or (row["seed"] and not any(own.get(row["seed"]) for own in lost)):
        return ""
    if row["seed"] or any(all(own.values()) for own in lost):
        return UNLEARNED
    named = sorted({seed for own in lost for seed, is_lost in own.items() if is_lost}, key=int)
    return f"seed{'s' * (len(named) > 1)} {', '.join(named)} {UNLEARNED}"
