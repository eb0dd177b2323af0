"""The work of induction grows with the number of titles, not with its square."""

from __future__ import annotations

import polars as pl
import pytest
from params_of import synonyms_params

from models.text.titles import normalize_title
from tasks.io.command import ROOT
from tasks.pipeline.synonyms import induction


def copied(titles: pl.DataFrame, copies: int) -> pl.DataFrame:
    """Return the titles so often; copies share no word and no occupation."""
    words = pl.col("normalized").str.split(" ").list
    return pl.concat(
        titles.with_columns(
            pl.format("{}#{}", "occupation_id", pl.lit(copy)),
            normalized=words.eval(pl.element() + f"q{copy}").list.join(" "),
        )
        for copy in range(copies)
    )


def test_pairs_and_candidates_grow_with_the_taxonomy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four copies of the sample four times as many remainders are paired, and come out."""
    read = pl.read_csv(ROOT / "data/sample/aliases.csv")
    names = [normalize_title(title) for title in read["title"]]
    titles = read.select("occupation_id", normalized=pl.Series(names))
    compared: list[int] = []
    paired = induction._paired

    def counted(remainders: pl.DataFrame) -> pl.DataFrame:
        groups = remainders.group_by("occupation_id", "shared").len()["len"]
        compared.append(int((groups.cast(pl.Int64) ** 2).sum()))
        return paired(remainders)

    monkeypatch.setattr(induction, "_paired", counted)
    work, found = [], []
    for copies in (1, 4):
        many = copied(titles, copies)
        compared.clear()
        found.append(induction.induce(many, set(many["normalized"]), synonyms_params()))
        work.append(sum(compared))
    assert work[0] > len(titles)
    assert work[1] == 4 * work[0]
    assert found[1].counts == {rule: 4 * count for rule, count in found[0].counts.items()}
    assert len(found[1].passed) == 4 * len(found[0].passed) > 0
