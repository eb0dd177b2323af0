"""The second taxonomy: what is read, what a test asks, and that it may be absent."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from frames_of import queries_that_ask
from params_of import write_params

from tasks.io.frames import check, read_frame, write_frame
from tasks.io.mixes import BEFORE_FEEDBACK
from tasks.io.schemas import ALIASES, AUXILIARY_TITLES, QUERIES, REJECTED
from tasks.io.section import ParamsError
from tasks.pipeline.auxiliary_taxonomy import NoiseParams, auxiliary_taxonomy, main, noisy_copies
from tasks.tables.source_files import IngestError


def aliases(rows: list[tuple[str, str]]) -> pl.DataFrame:
    named = [(occupation, title, "en", False) for occupation, title in rows]
    return pl.DataFrame(named, schema=dict(ALIASES), orient="row")


def test_distinct_titles_that_no_query_asks() -> None:
    read = [("b", "Chef"), ("b", "Cook  (hot)"), ("a", "cook (hot)"), ("a", "Baker!"), ("a", "\t")]
    made, counts = auxiliary_taxonomy(aliases(read), {"baker"})
    check(made, AUXILIARY_TITLES, "titles")
    titles = [("chef", "chef", ["b"], False), ("cook (hot)", "cook hot", ["a", "b"], False)]
    assert made.rows() == titles
    assert counts == {"rows": 4, "queried": 1, "titles": 2}


def test_noisy_copies() -> None:
    """Padded, misspelt or both, of all occupations of their title; no title, and never asked."""
    named = [("a", "cook"), ("b", "cook"), ("b", "baker")]
    titles, _ = auxiliary_taxonomy(aliases(named), set())
    words = [("wanted", ""), ("our", "")]

    def drawn(queried: set[str], **shares: float) -> dict[str, list[str]]:
        params = NoiseParams(copies=40, **{"padded": 0.0, "misspelt": 0.0} | shares)
        copies = noisy_copies(titles, queried, words, (0.3, 0.1), params, 1)
        check(copies, AUXILIARY_TITLES, "copies")
        assert copies["noisy"].all()
        return dict(copies.select("title", "occupation_ids").iter_rows())

    padded = {f"{word} cook": ["a", "b"] for word in ("wanted", "our")}
    padded |= {f"{word} baker": ["b"] for word in ("wanted", "our")}
    assert drawn(set(), padded=1.0) == padded
    assert drawn({"our cook"}, padded=0.5).keys() == padded.keys() - {"our cook"}
    assert drawn(set()) == {}
    misspelt = drawn(set(), misspelt=1.0)
    assert len(misspelt) > 40
    assert not {"cook", "baker", ""} & misspelt.keys()
    both = drawn(set(), padded=1.0, misspelt=1.0)
    assert len(both) > 60
    assert not padded.keys() >= both.keys()


def run_in(root: Path, **changes: Any) -> None:
    """Run the stage where "nurse" is asked; by default beside a table of three good rows."""
    section = {"folder": ".", "reader": "table", "files": {"titles": "other.csv"}}
    section |= {"columns": {"occupation_id": "id", "title": "title"}, "languages": []}
    section |= {"delimiter": "", "encoding": "", "max_rejected_share": 0.2}
    section |= {"noise": {"copies": 0, "padded": 0.5, "misspelt": 0.5}}
    write_params(root, auxiliary_taxonomy=section | changes)
    for stage in BEFORE_FEEDBACK:
        write_frame(queries_that_ask(["Nurse"]), root / f"data/{stage}/queries.parquet", QUERIES)
    main()


def titles(*, noisy: bool = False) -> list[str]:
    frame = read_frame(Path("data/auxiliary_taxonomy/titles.parquet"), AUXILIARY_TITLES)
    return frame.filter(pl.col("noisy") == noisy)["title"].to_list()


@pytest.mark.thorough
def test_the_stage(here: Path) -> None:
    table = here / "other.csv"
    table.write_text("id,title\n1,cook\n1,nurse\n2,pilot\n", encoding="utf-8")
    run_in(here)
    assert titles() == ["cook", "pilot"]
    assert titles(noisy=True) == []
    run_in(here, noise={"copies": 3, "padded": 0.0, "misspelt": 1.0})
    assert titles() == ["cook", "pilot"]
    assert titles(noisy=True)
    table.write_text("id,title\n1,cook\n,nurse\n", encoding="utf-8")
    message = r"1 of 2 rows .* more than auxiliary_taxonomy\.max_rejected_shar"
    with pytest.raises(IngestError, match=message):
        run_in(here)
    refused = read_frame(Path("data/auxiliary_taxonomy/rejected.parquet"), REJECTED)
    assert refused["reason"].to_list() == ["empty occupation_id"]


@pytest.mark.thorough
def test_without_one(here: Path) -> None:
    run_in(here, reader="none", files={}, columns={})
    assert titles() == []
    with pytest.raises(ParamsError, match="'sql' is no reader of taxonomies"):
        run_in(here, reader="sql")
    with pytest.raises(ParamsError, match=r"\.\./other\.csv"):
        run_in(here, files={"titles": "../other.csv"})
