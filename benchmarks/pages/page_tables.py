"""The tables that a study's `study.yaml` describes: which rows, what is a line, what a column.

A row is taken if each of its columns matches its pattern; a named group of a pattern becomes a
column of its own, so that `own_index/(?P<test>.*)` is a filter and a shorter name at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.pages.tables import Printed, datasets, distinct, pivot, where
from benchmarks.results import Line, Lines, Results
from benchmarks.study import Study

PIPELINE = "table3"
"""The study that has the figures of the lexical systems and of the pipeline's own networks."""
METRICS = (
    *("success_at_1", "success_at_5", "success_at_10", "mean_average_precision", "mrr"),
    "titles_per_second",
)
TESTS = ("typos", "composition", "extra_words", "annotations", "heldout_alias", "valid")
FIRST = ("ngram", "tfidf", "untrained")


@dataclass(frozen=True)
class Table:
    """One table of a page, for each data set by itself unless this is an index or the column.

    Attributes:
        title: of its heading; none in a summary.
        note: what a reader has to know.
        dataset: pattern of the rows' data sets, as are the next three of their columns.
        index: columns that make a line.
        column: whose values are the columns.
        columns: heading to the pattern of `TEST METRIC`, for columns that are several things.
        after: columns behind them.
        pipeline: pattern of systems whose rows come from the study `PIPELINE`.
        beside: figures of a paper that stand beside ours, or their key in `paper`.
        ends: whether intervals are shown.
        seeds: whether each seed has figures of its own, else their mean stands for them.
        counts: whether the number of queries of each test is said.
    """

    title: str = ""
    note: str = ""
    dataset: str = ".*"
    system: str = ".*"
    test: str = "[^/]*"
    metric: str = ".*"
    index: Sequence[str] = ("system",)
    column: str = "test"
    columns: dict[str, str] = field(default_factory=dict)
    after: Sequence[str] = ()
    pipeline: str = ""
    beside: str | Printed | None = None
    ends: bool = True
    seeds: bool = False
    counts: bool = False

    def parts(self, study: Study, results: Results) -> Iterator[str]:
        """Yield heading, note and table of each data set that has rows of it."""
        rows = results[study.name]
        whole = "dataset" in (*self.index, self.column)
        for dataset in [""] if whole else datasets(rows):
            own = rows if whole else where(rows, dataset=dataset)
            if self.pipeline:
                lexical = with_lexical(results[PIPELINE], dataset, own)
                own += [row for row in lexical if re.fullmatch(self.pipeline, row["system"])]
            own = own if self.seeds else over_seeds(own)
            chosen = [row for row in map(self._matched, own) if row is not None]
            if chosen:
                if self.title:
                    yield f"### {dataset}: {self.title}" if dataset else f"### {self.title}"
                yield self.note
                yield self._table(chosen, study)
                if self.counts:
                    sizes = dict.fromkeys(f"{row['test']} {row['n']}" for row in chosen)
                    yield f"Queries: {', '.join(sizes)}."

    def _matched(self, row: Line) -> Line | None:
        """Return the row with the columns that named groups add; None if it is not taken."""
        added: dict[str, str] = {}
        for name in ("dataset", "system", "test", "metric"):
            match = re.fullmatch(getattr(self, name), row[name])
            if match is None:
                return None
            added |= match.groupdict()
        if self.columns:
            what = f"{row['test']} {row['metric']}"
            heads = (head for head, own in self.columns.items() if re.fullmatch(own, what))
            added["what"] = next(heads, "")
        return {**row, **added} if added.get("what", "-") else None

    def _table(self, rows: Lines, study: Study) -> str:
        column = "what" if self.columns else self.column
        known = {
            "system": [*FIRST, *study.face.get("systems", [])],
            "test": TESTS,
            "metric": METRICS,
            "what": list(self.columns),
        }

        def placed(*names: str) -> list[Line]:
            return sorted(rows, key=lambda r: [_place(r[n], known.get(n, ())) for n in names])

        lines, heads = placed(*self.index), distinct(placed(column), column)
        beside = study.face["paper"][self.beside] if isinstance(self.beside, str) else self.beside
        return pivot(
            lines, self.index, column, self.after, beside=beside, heads=heads, ends=self.ends
        )


def with_lexical(rows: Lines, dataset: str, asked: Lines) -> list[Line]:
    """Return the pipeline's rows of a data set; if it has no lexical ones, with another's.

    Args:
        rows: of the study `PIPELINE`.
        dataset: whose lexical systems are wanted.
        asked: rows of this data set; another one's lexical systems answered the same queries if
            they were as many in every test.
    """
    own = where(rows, dataset=dataset)
    if any(row["system"] == "tfidf" for row in own):
        return own
    counts = {(row["test"], row["n"]) for row in asked}
    tests = {test for test, _ in counts}
    for other in datasets(rows):
        known = (row for row in where(rows, dataset=other) if row["system"] in FIRST[:2])
        lexical = [row for row in known if row["test"] in tests]
        if lexical and all((row["test"], row["n"]) in counts for row in lexical):
            return own + [{**row, "dataset": dataset} for row in lexical]
    return own


def over_seeds(rows: Lines) -> list[Line]:
    """Return rows with a mean over seeds in the place of what it is the mean of."""
    names = ("dataset", "system", "test", "metric")
    means = {tuple(row[name] for name in names) for row in rows if not row["seed"]}
    return [
        row for row in rows if not row["seed"] or tuple(row[name] for name in names) not in means
    ]


def _place(name: str, known: Sequence[str]) -> tuple[int, list[tuple[float, str]]]:
    """Put known names in their order, then the rest by name, numbers in it by their value."""
    if name in known:
        return known.index(name), []
    parts = re.split(r"(\d+(?:\.\d+)?)", name)
    return len(known), [(float(p), "") if p[:1].isdigit() else (-1.0, p) for p in parts]
