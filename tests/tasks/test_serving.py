"""The serving file against `models/normalizer.py`, its oracle in torch."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import mlflow_import  # noqa: F401  before tasks.serving
import numpy as np
import pandas as pd
import pytest
import tiny_run
from hypothesis import given, settings
from hypothesis import strategies as st

from models.normalizer import Normalizer, NormalizerSettings
from models.normalizer_files import save_normalizer
from tasks.export import export_encoder
from tasks.serving import COLUMNS, PARAMS, ServedNormalizer
from tasks.serving_file import self_contained

SCRIPTS = """
Ελληνικά медсестра מפתח مطور नर्स พยาบาล 护士 かんごし カンゴシ 간호사 ծրագրավորող პროგრამისტი ነርስ
ᓄᓇᕗᑦ ᠠᠵᠢᠯ தமிழ் తెలుగు ಕನ್ನಡ മലയാളം ਨਰਸ নার্স ລາວ ខ្មែរ မြန်မာ བོད 𐤀𐤁 𝓷𝓾𝓻𝓼𝓮 ﬁreman straße İstanbul
"""
WORDS = tuple(SCRIPTS.split())
ODD = (
    *("", " ", None, float("nan"), 7, 2.5, b"x", "\u200b", "NaN", "e\u0301", "a\0b"),
    *("👩\u200d⚕️", "👩\u200d⚕️ nurse", "\ud800", "\udfff coder", "x" * 10_000, "nurse " * 2_000),
    *("١٢٣", "24/7", "C++", "c++  DEVELOPER"),
)


@pytest.fixture(scope="module", params=["best", "soft"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Normalizer, ServedNormalizer]:
    folder = tmp_path_factory.mktemp("normalizer")
    normalizer = Normalizer.build(
        *tiny_run.network(1),
        tiny_run.aliases().select("occupation_id", "title", "split").to_arrow(),
        tiny_run.occupations().to_arrow(),
        NormalizerSettings(request.param, 0.06, 3),
    )
    return normalizer, serve(normalizer, folder)


def serve(normalizer: Normalizer, folder: Path) -> ServedNormalizer:
    save_normalizer(normalizer, folder)
    export_encoder(normalizer.encoder, folder / "encoder.onnx")
    served = ServedNormalizer()
    served.load_context(SimpleNamespace(artifacts={"normalizer": str(folder)}))
    return served


def frame(raw_titles: list[object]) -> pd.DataFrame:
    return pd.DataFrame({"raw_title": pd.Series(raw_titles, dtype="object")})


def assert_agree(
    normalizer: Normalizer, served: ServedNormalizer, raw_titles: list[object], top_k: int = 10
) -> None:
    """Every column; occupations may change places only within 1e-5 of score."""
    answers = served.predict(None, frame(raw_titles), {"top_k": top_k})
    assert list(answers.columns) == list(COLUMNS) and len(answers) == len(raw_titles)
    for expected, found in zip(
        normalizer.predict(raw_titles, top_k), answers.itertuples(index=False), strict=True
    ):
        assert (expected.reason, expected.cut) == (found.reason, found.cut)
        assert (expected.score is None) == pd.isna(found.score) and pd.isna(found.confidence)
        np.testing.assert_allclose(found.top_scores, expected.top_scores, atol=1e-5)
        if expected.top_occupation_ids != found.top_occupation_ids:
            assert_near_tie(expected, found)
            continue
        first = ("occupation_id", "occupation_label", "codes", "top_occupation_ids")
        assert [getattr(expected, c) for c in first] == [getattr(found, c) for c in first]
        assert expected.top_titles == found.top_titles
        if expected.score is not None:
            assert found.score == found.top_scores[0]
            assert found.matched_title == found.top_titles[0]


def assert_near_tie(expected: object, found: object) -> None:
    one = dict(zip(expected.top_occupation_ids, expected.top_scores, strict=True))  # type: ignore[attr-defined]
    two = dict(zip(found.top_occupation_ids, found.top_scores, strict=True))  # type: ignore[attr-defined]
    last = expected.top_scores[-1]  # type: ignore[attr-defined]
    for name in one.keys() | two.keys():
        assert one.get(name, last) == pytest.approx(two.get(name, last), abs=1e-5)
    places = zip(expected.top_occupation_ids, found.top_occupation_ids, strict=True)  # type: ignore[attr-defined]
    for mine, other in places:
        assert one[mine] == pytest.approx(one.get(other, last), abs=1e-5)


def test_agrees_on_odd_titles_scripts_and_aliases(
    both: tuple[Normalizer, ServedNormalizer],
) -> None:
    titles = tiny_run.aliases()["title"].to_list()
    assert_agree(*both, [*ODD, *WORDS, *titles, *(title.upper() + "!" for title in titles)])


@given(raw_titles=st.lists(st.text(max_size=25), max_size=4))
@settings(deadline=None, max_examples=60)
def test_agrees_on_any_text(
    both: tuple[Normalizer, ServedNormalizer], raw_titles: list[object]
) -> None:
    assert_agree(*both, raw_titles, 3)


@given(titles=st.lists(st.text(max_size=30), min_size=1, max_size=5))
@settings(deadline=None, max_examples=30)
def test_embeddings_agree(both: tuple[Normalizer, ServedNormalizer], titles: list[str]) -> None:
    normalizer, served = both
    np.testing.assert_allclose(served.embed(titles), normalizer.embed(titles), atol=1e-5)


def test_no_rows_give_no_rows_with_all_columns(both: tuple[Normalizer, ServedNormalizer]) -> None:
    assert list(both[1].predict(None, frame([])).columns) == list(COLUMNS)
    assert both[1].embed([]).shape == (0, 8)


def test_the_index_of_the_input_is_kept(both: tuple[Normalizer, ServedNormalizer]) -> None:
    asked = pd.DataFrame({"raw_title": ["nurse", None], "other": [1, 2]}, index=["b", "a"])
    assert both[1].predict(None, asked).index.tolist() == ["b", "a"]
    assert both[1].predict(None, ["nurse", None]).occupation_id.isna().tolist() == [False, True]


def test_params(both: tuple[Normalizer, ServedNormalizer]) -> None:
    served, asked = both[1], frame(["nurse"])
    for params in (None, {}, {"top_k": None, "min_confidence": None}, {"min_confidence": 0.0}):
        assert len(served.predict(None, asked, params).top_titles[0]) == 3
    assert len(served.predict(None, asked, {"top_k": 1}).top_titles[0]) == 1
    with pytest.raises(ValueError, match=r"unknown params \['topk'\]"):
        served.predict(None, asked, {"topk": 1})
    with pytest.raises(ValueError, match="top_k = 0"):
        served.predict(None, asked, {"top_k": 0})
    with pytest.raises(ValueError, match="not calibrated"):
        served.predict(None, asked, {"min_confidence": 0.2})
    with pytest.raises(ValueError, match="column raw_title is missing"):
        served.predict(None, pd.DataFrame({"title": ["nurse"]}))
    assert PARAMS == ("top_k", "min_confidence")


def test_columns_are_those_of_an_answer(both: tuple[Normalizer, ServedNormalizer]) -> None:
    assert both[0].predict([None])[0]._fields == COLUMNS


def test_the_file_knows_nothing_of_this_repository() -> None:
    text = self_contained()
    imports = {
        line.split()[1].split(".")[0]
        for line in text.splitlines()
        if line.startswith(("import ", "from "))
    }
    allowed = {"mlflow", "numpy", "onnxruntime", "pandas", "pyarrow"} | sys.stdlib_module_names
    assert imports - {"jaxtyping"} <= allowed
    assert "    from jaxtyping" in text  # where only a type checker reads it


@pytest.mark.slow
def test_agrees_on_2000_titles_with_the_papers_network(tmp_path: Path) -> None:
    """Four layers of 64, the sample's aliases as index, its inputs and noise as queries."""
    import polars as pl
    import torch

    from models.kinds import fit_featurizer, make_encoder

    sample = pl.read_csv(tiny_run.ROOT / "data/sample/aliases.csv")
    inputs = pl.read_csv(tiny_run.ROOT / "data/sample/inputs.csv")["raw_title"].to_list()
    titles = sample.columns[1]
    aliases = sample.select("occupation_id", title=pl.col(titles), split=pl.lit("train"))
    names = aliases["occupation_id"].unique().sort()
    occupations = pl.DataFrame({"occupation_id": names, "occupation_label": names}).with_columns(
        codes=pl.lit([], dtype=pl.List(pl.String))
    )
    shape = replace(
        tiny_run.SETTINGS, max_length=100, dim_character=64, layers=4, hidden=64, dim=128
    )
    featurizer = fit_featurizer(aliases["title"].to_list(), shape)
    torch.manual_seed(1)
    encoder = make_encoder(shape, featurizer).eval()
    with torch.no_grad():
        for weight in encoder.parameters():
            weight.mul_(2)  # as after training: titles differ
    normalizer = Normalizer.build(
        featurizer, encoder, aliases.to_arrow(), occupations.to_arrow(),
        NormalizerSettings("best", 0.06, 5),
    )  # fmt: skip
    draw = random.Random(5)
    known = [*ODD, *WORDS, *(f"{a} {b}" for a in WORDS for b in ("nurse", "🔥"))]
    known += draw.sample(inputs, 1200)
    known += draw.sample(aliases["title"].to_list(), 2000 - len(known))
    assert len(known) == 2000
    assert_agree(normalizer, serve(normalizer, tmp_path), known)
