"""The worst occupations: counts against a loop, and the order."""

from __future__ import annotations

from collections import Counter

import polars as pl

from tasks.pipeline.report.sections.confusions import by_occupation, confusions


def test_counts_against_a_loop(report_data):
    """Answer annotations [a, c], [a] and [d] by b and [c] rightly; typos are not judged."""
    counted = by_occupation(report_data.run, report_data.queries, "typos")
    gold = dict(report_data.queries.select("query_id", "occupation_ids").iter_rows())
    total: Counter[str] = Counter()
    misses: Counter[str] = Counter()
    for test, query, answer in report_data.run.select("test", "query_id", "occupation_id").rows():
        if test != "typos":
            total["+".join(gold[query])] += 1
            misses["+".join(gold[query])] += answer not in gold[query]
    rows = counted.select(pl.col("gold").list.join("+"), "misses", "queries").rows()
    assert rows == [(name, misses[name], total[name]) for name in ("a", "a+c", "d")]


def test_most_misses_first_then_the_larger_share(report_data, change):
    """Ask a twice more (one right), d once more, wrong: d 2 of 2, a 2 of 3, then [a, c] 1 of 1."""
    more = [("x1", ["a"], "a"), ("x2", ["a"], "c"), ("x3", ["d"], "b")]
    last, answer = report_data.queries.tail(1), report_data.run.tail(1)
    queries, run = [report_data.queries], [report_data.run]
    for name, gold, answered in more:
        queries.append(last.with_columns(query_id=pl.lit(name), occupation_ids=pl.lit(gold)))
        run.append(answer.with_columns(query_id=pl.lit(name), occupation_id=pl.lit(answered)))
    made = change(queries=pl.concat(queries), run=pl.concat(run))
    counted = by_occupation(made.run, made.queries, "typos")
    rows = counted.select(pl.col("gold").list.join("+"), "misses", "queries").rows()
    assert rows == [("d", 2, 2), ("a", 2, 3), ("a+c", 1, 1)]
    taken = dict(counted.select(pl.col("gold").list.join("+"), "taken_for").iter_rows())
    assert [(t["occupation_id"], t["count"]) for t in taken["a"]] == [("b", 1), ("c", 1)]
    assert [(t["occupation_id"], t["count"]) for t in taken["d"]] == [("b", 2)]
    page = confusions(made)
    assert page.index("driver &amp; loader") < page.index("baker 🥖")
    assert "C++ &lt;developer&gt; (2)" in page
    assert "lorry &lt;b&gt;driver&lt;/b&gt;" in page


def test_no_wrong_answer(empty):
    assert "No occupation has a wrong first answer" in confusions(empty)
