"""The nearest neighbours that the report shows, against loops over all of them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from frames_of import queries_of, titles_of

from tasks.reporting import nearest as module
from tasks.reporting.markup import join
from tasks.reporting.nearest import frequent_ngrams, unknown_words
from tasks.reporting.sections.lookalikes import lookalikes

UNITS = ("ake", "bak", "der", "ker", "urs", "zzz")
VECTORS = np.array([[1, 0], [9, 1], [-1, 0], [1, 1], [0, 2], [0, 0]], np.float32)


def rows_of(page: str, caption: str) -> dict[str, list[str]]:
    """Return the cells of a table's body, without markup, by the first cell of the row."""
    whole = page[page.index(caption) :]
    body = whole[whole.index("<tbody>") : whole.index("</tbody>")]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in body.split("</tr>")[:-1]]
    return {row[0]: [re.sub("<[^>]*>", "", cell) for cell in row[1:]] for row in rows}


def names(cell: str) -> list[str]:
    return [re.sub(r" [−\d.]+$", "", entry) for entry in cell.split(", ")]


def test_learned_vectors_of_ngrams_by_hand(change):
    """Compare `ake` (1, 0): `bak` 9/√82 = 0.994, `ker` 1/√2 = 0.707, `urs`, zeros 0, `der` -1."""
    page = lookalikes(change(units=UNITS, unit_vectors=VECTORS))
    rows = rows_of(page, "n-grams (Table 10)")
    assert rows["ake"] == ["bak 0.994, ker 0.707, urs 0.000, zzz 0.000, der −1.000"]
    assert set(rows) == {"ake", "bak", "der", "ker", "urs"}  # no title holds `zzz`
    assert "learned vectors" in page
    assert "of the 6 in the vocabulary" in page


def test_a_space_is_shown_and_short_orders_only_where_there_is_no_other(change):
    both = lookalikes(change(units=("er", "d b", "ker"), unit_vectors=np.eye(3)))
    assert rows_of(both, "(Table 10)") == {"ker": ["er 0.000, d␣b 0.000"]}
    short = lookalikes(change(units=("er", "r "), unit_vectors=np.eye(2)))
    assert set(rows_of(short, "(Table 10)")) == {"er", "r␣"}


def test_rows_are_about_the_longest_vectors(change, monkeypatch):
    """Take lengths 1, √82, 1, √2, 2 and 0: of the two longest, whatever the seed draws."""
    monkeypatch.setattr(module, "LONGEST", 2)
    page = lookalikes(change(units=UNITS, unit_vectors=VECTORS))
    assert set(rows_of(page, "n-grams (Table 10)")) == {"bak", "urs"}


def test_without_vectors_ngrams_are_embedded_as_titles(material):
    page = lookalikes(material)
    assert "as if they were titles" in page
    pool = [n for n in frequent_ngrams(material.index["title"].to_list(), (3, 4)) if " " not in n]
    vectors = material.embed(pool)
    rows = rows_of(page, "n-grams (Table 10)")
    assert len(rows) == module.ROWS
    for ngram, (cell,) in rows.items():
        own = [escaped(entry) for entry in pool].index(ngram)
        best = max(float(vectors[own] @ vector) for at, vector in enumerate(vectors) if at != own)
        name, similarity = cell.split(", ")[0].rsplit(" ", 1)
        near = [escaped(entry) for entry in pool].index(name)
        assert float(similarity) == pytest.approx(best, abs=6e-4)
        assert float(vectors[own] @ vectors[near]) == pytest.approx(best, abs=1e-6)


def escaped(text: str) -> str:
    return str(join([text]))


def test_frequent_ngrams_against_a_count(monkeypatch):
    monkeypatch.setattr(module, "FREQUENT", 2)
    titles = ["baker", "bread baker", "braker"]
    counts = Counter(
        f" {title} "[start : start + 3] for title in titles for start in range(len(title))
    )
    assert counts["ker"] == counts["er "] == counts["ake"] == 3
    assert set(frequent_ngrams(titles, [3])) < {"ake", "er ", "ker"}
    assert len(frequent_ngrams(titles, [3])) == 2


def test_misspelt_titles_against_a_loop(material):
    rows = rows_of(lookalikes(material), "Misspelt titles")
    assert set(rows) == {"bakr", "prgrammer"}
    for title, (cell,) in rows.items():
        query = material.embed([title])[0]
        near = sorted(
            material.index["title"].to_list(),
            key=lambda alias: (-float(material.embed([alias])[0] @ query), alias),
        )
        assert names(cell) == [escaped(alias) for alias in near[: module.NEAREST]]


def test_right_aliases_are_bold(material):
    """Ask `bakr`, which is a: aliases of a are bold, and no others."""
    page = lookalikes(material)
    row = next(r for r in page.split("<tr>") if ">bakr<" in r)
    right = {escaped(title) for title, held in material.index.iter_rows() if "a" in held}
    shown = {re.sub("<[^>]*>", "", entry) for entry in re.findall("<strong>.*?</strong>", row)}
    assert shown
    assert shown <= right
    plain = re.sub("<strong>.*?</strong>", "", row)
    assert not any(f"{title} <small>" in plain for title in right)


def test_unknown_words(material):
    """Normalize both sides: a known word with a comma is known."""
    assert unknown_words(["Night BAKER, bread", "xyz (m/f) xyz"], ["Bread-", "baker"]) == [
        ["night"],
        ["xyz", "m/f", "xyz"],
    ]
    rows = rows_of(lookalikes(material), "that are in no alias")
    assert rows["senior nurse (m/f)"][0] == "senior m/f"
    assert rows["night baker"][0] == "night"
    assert "bakr" not in rows


def test_pairs_that_a_word_tells_apart(change):
    """Put orders first, then the words of most pairs: `assistant` makes 2, `tree` 1."""
    held = [
        ("a", "surgeon"),
        ("b", "tree surgeon"),
        ("c", "assistant cook"),
        ("d", "cook assistant"),
        ("e", "cook"),
    ]
    pairs = change(titles=titles_of((owner, title, "train") for owner, title in held))
    page = lookalikes(pairs)
    rows = rows_of(page, "tells apart")
    assert next(iter(rows)) == "assistant cook"
    assert rows["assistant cook"][:2] == ["cook assistant", "1.000"]
    assert rows["tree surgeon"][0] == "surgeon"
    longer, shorter = pairs.embed(["tree surgeon", "surgeon"])
    assert float(rows["tree surgeon"][1]) == pytest.approx(float(longer @ shorter), abs=6e-4)
    assert "tree surgeon" not in names(rows["tree surgeon"][2])
    assert len(names(rows["tree surgeon"][2])) == 4


def test_the_draw_depends_on_the_seed_alone(material, change):
    more = queries_of(
        (f"typos-{n}", "typos", "test", f"bakr {n}", ["a"], 3, "input") for n in range(9, 40)
    )
    queries = pl.concat([material.queries, more])
    page = lookalikes(change(queries=queries))
    assert lookalikes(change(queries=queries.reverse())) == page
    assert len(rows_of(page, "Misspelt titles")) == module.ROWS
    params = replace(material.params, seed=material.params.seed + 1)
    reseeded = lookalikes(change(queries=queries, params=params))
    assert set(rows_of(reseeded, "Misspelt titles")) != set(rows_of(page, "Misspelt titles"))


def test_titles_cannot_become_markup(material):
    page = lookalikes(material)
    assert "<script" not in page
    assert "lorry &lt;b&gt;driver&lt;/b&gt;" in page


def test_poor_data_gets_a_word_each(empty, change):
    page = lookalikes(empty)
    assert "No query is a misspelt title." in page
    assert "No query has a word that is in no alias." in page
    assert "No two aliases" in page
    assert "No n-gram" in lookalikes(change(units=("zzz",), unit_vectors=np.ones((1, 2))))
