"""The served model against loops over aliases, whose embeddings are those of torch."""

import json
import logging
import math
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import mlflow_import  # noqa: F401  before models.serving.pyfunc
import numpy as np
import pandas as pd
import pytest
import tiny_run
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.encoders.ngram_bag import NgramBagSettings
from models.network.embedding import embed_titles
from models.network.encoder import Encoder
from models.network.kinds import fit_featurizer, make_encoder, save_model
from models.serving.answer import columns
from models.serving.clean import REASONS
from models.serving.pyfunc import ServedNormalizer, WrongRequest
from models.serving.scores import ScoreRule
from models.serving.search import Search
from models.text.featurizer import Featurizer
from models.text.titles import clean_title, normalize_title
from tasks.evaluation.systems import index_of, network
from tasks.pipeline.split import distinct_titles
from tasks.release.model_package.folder import build_artifact
from tasks.release.model_package.run_files import RunFiles
from tasks.release.registry.register import signature

pytestmark = pytest.mark.thorough

SCRIPTS = """
Ελληνικά медсестра מפתח مطور नर्स พยาบาล 护士 かんごし カンゴシ 간호사 ծրագրավորող პროგრამისტი ነርስ
ᓄᓇᕗᑦ ᠠᠵᠢᠯ தமிழ் తెలుగు ಕನ್ನಡ മലയാളം ਨਰਸ নার্স ລາວ ខ្មែរ မြန်မာ བོད 𐤀𐤁 𝓷𝓾𝓻𝓼𝓮 ﬁreman straße İstanbul
"""
REVIEWS = tuple(SCRIPTS.split())
ODD = (
    *("", " ", None, float("nan"), 7, 2.5, b"x", "\u200b", "NaN", "e\u0301", "a\0b"),
    *("👩\u200d⚕️", "👩\u200d⚕️ nurse", "\ud800", "\udfff coder", "x" * 10_000, "nurse " * 2_000),
    *("١٢٣", "24/7", "C++", "c++  DEVELOPER"),
)


class Loop:
    """The oracle: one alias after the other, with embeddings of torch."""

    def __init__(self, trained: tuple[Featurizer, Encoder], rule: ScoreRule) -> None:
        self.featurizer, self.encoder = trained
        self.rule = rule
        self.titles = sorted(set(tiny_run.aliases()["cleaned"]))
        rows = tiny_run.occupations().iter_rows(named=True)
        self.occupations = {row["occupation_id"]: row for row in rows}
        self.written: dict[tuple[str, str], str] = {}
        columns = tiny_run.aliases().select("occupation_id", "title", "cleaned")
        for owner, title, cleaned in columns.iter_rows():
            self.written.setdefault((owner, cleaned), title)  # the first spelling
        self.held: dict[str, list[str]] = {}
        for owner, cleaned in sorted(self.written):
            self.held.setdefault(owner, []).append(cleaned)
        self.index = self.embed(self.titles)
        self.limit = self.featurizer.vocabularies[0].units.max_length

    def embed(self, titles: list[str]) -> np.ndarray:
        cleaned = [clean_title(title) for title in titles]
        return embed_titles(self.encoder, self.featurizer, cleaned).numpy()

    def owners(self, raw_title: object) -> set[str]:
        readings = {clean_title(str(raw_title)), normalize_title(str(raw_title))}
        return {owner for owner, held in self.held.items() if readings.intersection(held)}

    def scored(self, embedding: np.ndarray) -> dict[str, tuple[float, str]]:
        """Return score and closest title of each occupation."""
        near = dict(zip(self.titles, (self.index @ embedding).tolist(), strict=True))
        scored = {}
        for owner, held in self.held.items():
            closest = max(held, key=near.__getitem__)
            score = self.score([near[alias] for alias in held])
            scored[owner] = score, self.written[owner, closest]
        return scored

    def score(self, values: list[float]) -> float:
        if self.rule.kind == "best":
            return max(values)
        t = self.rule.temperature
        total = math.fsum(math.exp(value / t) for value in values)
        return t * (math.log(total) - 0.5 * math.log(len(values)))


def serve(folder: Path, trained: tuple[Featurizer, Encoder], rule: ScoreRule) -> ServedNormalizer:
    """Make the artifact in `folder` and load it as MLflow does; three answers are its default."""
    scores = {"occupation_score": rule.kind, "soft_temperature": rule.temperature}
    evaluate = {**scores, "language_weights": {}, "run_depth": 1, "bootstrap_draws": 1}
    register = {**tiny_run.register_section("m"), "top_k": 3, "precision": "single"}
    root = tiny_run.make_run(folder / "run", evaluate=evaluate, register=register)
    featurizer, encoder = trained
    weights = encoder.state_dict()
    save_model(root / "data/train/typos/7/model", featurizer, encoder.settings, weights, weights)
    build_artifact(RunFiles.below(root), folder / "artifact")
    return loaded(folder)


def loaded(folder: Path) -> ServedNormalizer:
    served = ServedNormalizer()
    served.load_context(SimpleNamespace(artifacts={"normalizer": str(folder / "artifact")}))
    return served


def bag_of_ngrams() -> tuple[Featurizer, Encoder]:
    shape = NgramBagSettings((2, 3), 20, 1, 0, 0, "tanh", True, 8)
    featurizer = fit_featurizer(tiny_run.aliases()["cleaned"].to_list(), shape)
    torch.manual_seed(1)
    encoder = make_encoder(shape, featurizer).eval()
    with torch.no_grad():
        for weight in encoder.parameters():
            weight.mul_(3)
    return featurizer, encoder


@pytest.fixture(scope="module", params=["best, recurrent", "soft, n-grams"])
def both(request, tmp_path_factory) -> tuple[Loop, ServedNormalizer]:
    kind, encoder = request.param.split(", ")
    trained = tiny_run.network(1) if encoder == "recurrent" else bag_of_ngrams()
    rule = ScoreRule(kind, 0.06)
    return Loop(trained, rule), serve(tmp_path_factory.mktemp("normalizer"), trained, rule)


def frame(raw_titles: Sequence[object]) -> pd.DataFrame:
    return pd.DataFrame({"raw_title": pd.Series(list(raw_titles), dtype="object")})


def assert_agree(
    loop: Loop, served: ServedNormalizer, raw_titles: Sequence[object], top_k: int = 10
) -> None:
    """Every column; occupations may change ranks only within 1e-5 of score."""
    answers = served.predict(None, frame(raw_titles), {"top_k": top_k})
    codes, _, batch = served.normalizer.reader(raw_titles)
    read = iter(zip(batch.titles, loop.embed(batch.titles), strict=True))
    rows = zip(raw_titles, codes, answers.itertuples(index=False), strict=True)
    for raw_title, code, answer in rows:
        assert answer.reason == (REASONS[code] or "uncalibrated") and pd.isna(answer.confidence)
        if code:
            nothing = (answer.occupation_id, answer.occupation_label, answer.matched_title)
            assert nothing == (None, None, None) and pd.isna(answer.score) and not answer.truncated
            assert answer.codes == answer.top_occupation_ids == answer.top_titles == []
            continue
        title, embedding = next(read)
        assert answer.truncated == (len(title) > loop.limit)
        expected, owners = loop.scored(embedding), loop.owners(raw_title)
        ranked = sorted((score for score, _ in expected.values()), reverse=True)[:top_k]
        if len(owners) > 1 or (owners and str(raw_title).lower() not in loop.titles):
            assert {*answer.top_occupation_ids[: len(owners)]} <= owners  # with the best of scores
            assert answer.top_scores[0] == pytest.approx(ranked[0], abs=1e-5)
            continue
        assert answer.top_scores == pytest.approx(ranked, abs=1e-5)
        scores = [expected[name][0] for name in answer.top_occupation_ids]
        assert answer.top_scores == pytest.approx(scores, abs=1e-5)
        assert answer.top_titles == [expected[name][1] for name in answer.top_occupation_ids]
        best = answer.top_occupation_ids[0], answer.top_scores[0], answer.top_titles[0]
        assert best == (answer.occupation_id, answer.score, answer.matched_title)
        occupation = loop.occupations[answer.occupation_id]
        assert answer.occupation_label == occupation["occupation_label"]
        assert answer.codes == occupation["codes"]


def test_agrees_on_odd_titles_scripts_and_aliases(both: tuple[Loop, ServedNormalizer]) -> None:
    titles = tiny_run.aliases()["title"].to_list()
    assert_agree(*both, [*ODD, *REVIEWS, *titles, *(title.upper() + "!" for title in titles)])


@given(raw_titles=st.lists(st.text(max_size=25), max_size=4))
@settings(deadline=None, max_examples=60)
def test_agrees_on_any_text(both: tuple[Loop, ServedNormalizer], raw_titles: list[str]) -> None:
    assert_agree(*both, raw_titles, 3)
    loop, served = both
    embeddings = loop.embed(raw_titles).reshape(-1, 8)
    np.testing.assert_allclose(served.embed(raw_titles), embeddings, atol=1e-5)


def test_the_gate_searches_what_evaluation_measures(both: tuple[Loop, ServedNormalizer]) -> None:
    """The served network within the training titles, and torch with the same index and rule."""
    loop, served = both
    index = index_of(distinct_titles(tiny_run.aliases()))
    assert len(index.titles) < len(served.normalizer.index.titles)
    titles = [clean_title(title) for title in (*loop.titles, *REVIEWS)]
    measured = Search(index, network(loop.featurizer, loop.encoder, index.titles), loop.rule)
    hits = served.normalizer.within(index)(titles, 3)
    np.testing.assert_allclose(hits.scores, measured(titles, 3).scores, atol=1e-5)


def test_frame_and_signature_follow_from_the_declaration(both) -> None:
    """Names, their order and types, of a frame with answers, of one without, and of MLflow's."""
    declared = columns()
    dtypes = {str: "object", float: "Float64", bool: "bool"}
    types = {str: "string", float: "double", bool: "boolean"}
    expected = {n: "object" if c.is_list else dtypes[c.type] for n, c in declared.items()}
    for raw_titles in (["nurse", None], [None], []):
        answers = both[1].predict(None, frame(raw_titles))
        shown = {str(name): str(dtype) for name, dtype in answers.dtypes.items()}
        assert shown == expected and list(shown) == list(declared)
        for name, column in declared.items():
            for value in answers[name]:
                members = value if column.is_list else [] if pd.isna(value) else [value]
                assert all(isinstance(member, column.type) for member in members), name
    outputs = signature(5).outputs.to_dict()
    assert [spec.pop("name") for spec in outputs] == list(declared)
    for spec, column in zip(outputs, declared.values(), strict=True):
        alone = {"type": types[column.type]}
        whole = {"type": "array", "items": alone} if column.is_list else alone
        assert spec == whole | {"required": False}


def test_the_index_of_the_input_is_kept(both: tuple[Loop, ServedNormalizer]) -> None:
    """With names that stand twice too, and without any row; pandas has nulls of its own."""
    served = both[1]
    nulls = frame([pd.NA, pd.NaT, np.nan, None, "NaN"])
    assert served.predict(None, nulls).reason.tolist() == ["null"] * 4 + ["not a job title"]
    for names in (["b", "a"], ["a", "a"]):
        titles = pd.DataFrame({"raw_title": ["nurse", None], "other": [1, 2]}, index=names)
        answers = served.predict(None, titles)
        assert answers.index.tolist() == names
        assert answers.reason.tolist() == ["uncalibrated", "null"]
    assert served.predict(None, ["nurse", None]).occupation_id.isna().tolist() == [False, True]
    assert len(served.predict(None, frame([]))) == 0


def test_params(both: tuple[Loop, ServedNormalizer]) -> None:
    served, nurse = both[1], frame(["nurse"])
    for params in (None, {}, {"top_k": None, "min_confidence": None}, {"min_confidence": 0.0}):
        assert len(served.predict(None, nurse, params).top_titles[0]) == 3
    assert len(served.predict(None, nurse, {"top_k": 1}).top_titles[0]) == 1
    assert served.predict(None, nurse, {"language": "en"}).matched_language.tolist() == ["en"]
    defaults = {param["name"]: param["default"] for param in signature(5).params.to_dict()}
    assert defaults == {"top_k": 5, "min_confidence": 0.0, "code_depth": 0, "language": ""}


@pytest.mark.parametrize(
    ("column", "params", "message"),
    [
        ("raw_title", {"topk": 1}, r"unknown params \['topk'\]; this model knows top_k"),
        ("raw_title", {"top_k": -1}, "top_k = -1"),
        ("title", {}, "column raw_title is missing"),
    ],
)
def test_wrong_requests_carry_their_text_and_status(both, column, params, message) -> None:
    with pytest.raises(WrongRequest, match=message) as refused:
        both[1].predict(None, pd.DataFrame({column: ["nurse"]}), params)
    assert refused.value.get_http_status_code() == 400
    assert isinstance(refused.value, ValueError)


def test_a_server_refuses_unknown_params_and_nobody_else(monkeypatch, tmp_path) -> None:
    """Where MLflow serves, its warning becomes an error; other warnings stay warnings.

    There the tables are made before the first request.
    """
    log = logging.getLogger("mlflow.models.utils")
    before = list(log.filters)
    alone = serve(tmp_path, bag_of_ngrams(), ScoreRule("best", 0.06))
    assert log.filters == before and "answer_table" not in vars(alone.normalizer)
    monkeypatch.setenv("__pyfunc_model_path__", "somewhere")
    try:
        assert "answer_table" in vars(loaded(tmp_path).normalizer)
        log.warning("Something else")
        with pytest.raises(WrongRequest, match=r"unknown params \['k'\]; this model knows top_k"):
            log.warning("Unrecognized params ['k'] are ignored for inference. Supported: ...")
    finally:
        log.filters[:] = before


def test_similar_titles_of_the_taxonomy_and_of_a_list(both: tuple[Loop, ServedNormalizer]) -> None:
    loop, served = both
    found = served.similar(["Nurse!", "coder"], k=2)
    assert found["rank"].tolist() == [1, 2, 1, 2]
    assert found["title"].tolist() == ["Nurse!"] * 2 + ["coder"] * 2
    near = loop.index @ loop.embed(["Nurse!"])[0]
    assert found["similarity"][0] == pytest.approx(float(near.max()), abs=1e-5)
    assert found["similar_title"][2] == "Coder"  # as the taxonomy writes it
    own = served.similar(["coder"], k=5, among=["Nurse", "CODER"])
    assert own["similar_title"].tolist() == ["CODER", "Nurse"]
    assert len(served.similar([], k=1)) == 0


def test_an_explanation_is_plain_values(both: tuple[Loop, ServedNormalizer]) -> None:
    explanation = json.loads(json.dumps(both[1].explain("Real estate developer, urgent")))
    words = [part["word"] for part in explanation["parts"]]
    assert words == ["real", "estate", "developer", "urgent"]
    assert explanation["answer"]["occupation_label"] in explanation["why"]
    assert explanation["runner_up_label"] in explanation["why"]


@pytest.mark.usefixtures("both")
def test_mlflow_takes_categories_and_nulls_for_text() -> None:
    """As the signature says text, MLflow refuses both without a model of ours; numbers it refuses.

    Several models are loaded by now.
    """
    from mlflow.exceptions import MlflowException
    from mlflow.models import utils

    inputs = signature(5).inputs
    for column, values in (
        (pd.Categorical(["nurse", None]), ["nurse", None]),
        ([math.nan, math.nan], [None, None]),
        (pd.array([None], "Int64"), [None]),
        (["nurse", None], ["nurse", None]),
    ):
        taken = utils._enforce_schema(pd.DataFrame({"raw_title": column}), inputs)["raw_title"]
        assert [None if pd.isna(value) else value for value in taken] == values
    with pytest.raises(MlflowException, match="Can not safely convert int64"):
        utils._enforce_schema(pd.DataFrame({"raw_title": [1, 2]}), inputs)
