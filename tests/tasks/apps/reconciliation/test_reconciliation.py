"""The service on a toy taxonomy: the contract, matches, suggestions, and refusals."""

import json
from typing import Any

import pytest
import reconciliation_contract as contract
from fastapi.testclient import TestClient
from served_toy import toy_normalizer
from web_client import SURE, web_client

from tasks.apps.reconciliation.taxonomy_service import BATCH, CANDIDATES, CONDITIONS
from tasks.apps.web.guard import MOST_BYTES


@pytest.fixture(scope="module")
def client() -> TestClient:
    return web_client(SURE)


def asked(client: TestClient, **queries: Any) -> dict[str, list[dict[str, Any]]]:
    answer = client.post("/", data={"queries": json.dumps(queries)})
    assert answer.status_code == 200, answer.text
    contract.check("reconciliation-result-batch", answer.json())
    return {name: one["result"] for name, one in answer.json().items()}


def test_the_manifest(client: TestClient) -> None:
    answer = client.get("/", headers={"Origin": "http://elsewhere"})
    contract.check("manifest", answer.json())
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json()["batchSize"] == BATCH
    assert answer.json()["name"] == "Rolecall: toy version 3"
    assert client.get("/reconcile").json() == answer.json()
    for name in ("view", "preview"):
        page = client.get(answer.json()[name]["url"].replace("{{id}}", "baker"))
        assert page.status_code == 200 and "51-3011" in page.text


def test_a_batch(client: TestClient) -> None:
    found = asked(
        client,
        q0={"query": "Bread maker", "type": "occupation", "limit": 3, "type_strict": "should"},
        q1={"query": "???"},
        q2={"query": "warden"},
        q3={"query": "ward sister", "limit": 1.0},
        q4={"query": ""},
        q5={"query": " \t"},
        q6={},
    )
    assert [*found] == [f"q{number}" for number in range(7)]
    assert found["q4"] == found["q5"] == found["q6"] == []
    best = found["q0"][0]
    assert (best["id"], best["name"], best["match"]) == ("baker", "Baker", True)
    assert best["description"] in ("Bread maker", "BREAD maker") and len(found["q0"]) == 3
    assert [one["match"] for one in found["q0"][1:]] == [False, False]
    scores = [one["score"] for one in found["q0"]]
    assert scores == sorted(scores, reverse=True)
    assert found["q1"] == []
    assert [(one["id"], one["score"]) for one in found["q2"]] == [("warden", 100)]  # an id
    assert [one["id"] for one in found["q3"]] == ["nurse"]


def test_what_is_asked_in_the_address_is_answered_alike(client: TestClient) -> None:
    queries = {"a": {"query": "keeper"}}
    answer = client.get("/", params={"queries": json.dumps(queries)}).json()
    assert answer["a"]["result"] == asked(client, **queries)["a"]


def test_a_match_is_as_sure_as_the_threshold() -> None:
    for threshold, match in ((0.0, True), (1.0, False)):
        (best, *_) = asked(web_client(SURE, threshold), q={"query": "bread"})["q"]
        assert best["match"] is match
    unsure = web_client(None, 0.0)
    assert not any(one["match"] for one in asked(unsure, q={"query": "baker s"})["q"])


def test_conditions_leave_out_what_has_another_value(client: TestClient) -> None:
    def with_code(value: object) -> list[str]:
        query = {"query": "keeper", "properties": [{"pid": "level_1", "v": value}]}
        return [one["id"] for one in asked(client, q=query)["q"]]

    assert with_code("7") == ["baker"] and with_code(7) == ["baker"]
    assert set(with_code(["7", {"id": "2"}])) == {"baker", "nurse"}
    assert with_code("9") == []


def test_what_the_schemas_allow_is_read(client: TestClient) -> None:
    """Any number as limit; unknown members of a query, a property or a value; typed values."""
    typed = [
        {"pid": "level_1", "v": [7, 2.0, True, {"id": "2", "more": {}}], "weight": 3},
        {"pid": "pay", "v": {"id": "x", "name": "y"}},
    ]
    members = {
        **{"limit 0": ({"limit": 0}, 0), "less": ({"limit": -3.5}, 0), "half": ({"limit": 1.5}, 1)},
        **{"none": ({"limit": None}, 2), "unknown": ({"lang": "en", "properties": []}, 2)},
        **{"typed": ({"properties": typed}, 2), "id": ({"query": "baker", "limit": 0}, 0)},
        "nothing": ({"properties": [{"pid": "level_1", "v": []}]}, 0),
        "types": ({"type": ["occupation", "other"], "type_strict": "all"}, 2),
    }
    queries = {name: {"query": "keeper", **more} for name, (more, _) in members.items()}
    counts = {name: len(candidates) for name, candidates in asked(client, **queries).items()}
    assert counts == {name: count for name, (_, count) in members.items()}
    label = {"id": "label", "settings": {"limit": 1}, "x": 1}
    extended = {"ids": [], "properties": [label], "y": 2}
    answer = client.post("/", data={"extend": json.dumps(extended)})
    assert answer.status_code == 200 and answer.json()["rows"] == {}


@pytest.mark.thorough
def test_the_candidates_of_a_batch_are_bounded() -> None:
    """A limit of 1e9 a thousand times gave 81 MB, and took 1.8 GB of memory."""
    normalizer = toy_normalizer(SURE)
    asked_for: list[int] = []
    predict = normalizer.predict

    class Watched:
        def __getattr__(self, name: str) -> Any:
            return getattr(normalizer, name)

        def predict(self, titles: list[str], top_k: int) -> Any:
            asked_for.append(top_k)
            return predict(titles, top_k=top_k)

    client = web_client(normalizer=Watched())
    for count in (1, 1000):
        many = {str(number): {"query": "keeper", "limit": 1e9} for number in range(count)}
        asked(client, **many)
    assert asked_for == [1000, CANDIDATES // 1000]


def test_an_extension(client: TestClient) -> None:
    wanted = {"ids": ["baker", "nobody"], "properties": [{"id": "level_2"}, {"id": "standard_SOC"}]}
    answer = client.post("/", data={"extend": json.dumps(wanted)}).json()
    contract.check("data-extension-response", answer)
    assert [one["id"] for one in answer["meta"]] == ["level_2", "standard_SOC"]
    assert answer["rows"] == {
        "baker": {"level_2": [{"str": "75"}], "standard_SOC": [{"str": "51-3011"}]},
        "nobody": {"level_2": [], "standard_SOC": []},
    }
    wanted = {"ids": ["baker"] * BATCH, "properties": [{"id": "aliases"}]}
    rows = client.post("/", data={"extend": json.dumps(wanted)}).json()["rows"]
    assert [*rows] == ["baker"] and len(rows["baker"]["aliases"]) == 3, "repeated ids count once"
    proposed = client.get("/properties", params={"type": "occupation", "limit": 2}).json()
    assert [one["id"] for one in proposed["properties"]] == ["label", "aliases"]


@pytest.mark.parametrize(
    ("kind", "prefix", "found"),
    [
        ("entity", "bak", ["baker"]),
        ("entity", "NURSE", ["nurse"]),
        ("entity", "keep", ["warden", "nurse"]),
        ("entity", "maker", ["baker"]),
        ("entity", "", []),
        ("property", "level", ["level_1", "level_2"]),
        ("property", "all", ["aliases"]),
        ("type", "occ", ["occupation"]),
    ],
)
def test_suggestions(client: TestClient, kind: str, prefix: str, found: list[str]) -> None:
    answer = client.get(f"/suggest/{kind}", params={"prefix": prefix}).json()
    plural = {"entity": "entities", "property": "properties", "type": "types"}[kind]
    contract.check(f"suggest-{plural}-response", answer)
    assert [one["id"] for one in answer["result"]] == found
    behind = client.get(f"/suggest/{kind}", params={"prefix": prefix, "cursor": 1}).json()
    assert behind["result"] == answer["result"][1:]


CONDITION = {"pid": "level_1", "v": "7"}
CONDITIONED = {
    str(number): {"query": "a", "properties": [CONDITION] * count}
    for number, count in enumerate([100] * (CONDITIONS // 100) + [1])
}
REPEATED = {"ids": ["baker"], "properties": [{"id": "aliases"}] * 2}
MANY = {"ids": ["baker"], "properties": [{"id": str(number)} for number in range(101)]}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("form", "status", "said"),
    [
        ({"queries": "{"}, 400, "queries: Invalid JSON"),
        ({"queries": "[]"}, 400, "queries: Input should be"),
        ({"queries": '{"q": {"query": 7}}'}, 400, "queries.q.query: Input should be a valid str"),
        ({"queries": '{"q": {"query": "a", "limit": "3"}}'}, 400, "queries.q.limit: Input should"),
        ({"queries": '{"q": {"query": "a", "limit": NaN}}'}, 400, "queries.q.limit"),
        ({"queries": json.dumps(CONDITIONED)}, 413, "10,001 properties in all queries"),
        ({"queries": json.dumps({str(n): {"query": "a"} for n in range(1001)})}, 413, "1,001 qu"),
        ({"extend": '{"ids": "baker", "properties": []}'}, 400, "extend.ids: Input should be"),
        ({"extend": '{"ids": [], "properties": [{"id": "pay"}]}'}, 400, "unknown properties"),
        ({"extend": json.dumps(REPEATED)}, 400, "extend.properties: Value error, 'aliases' stands"),
        ({"extend": json.dumps(MANY)}, 400, "extend.properties: List should have at most 100"),
        ({"other": "1"}, 400, "no field queries or extend"),
        ({"queries": "x" * MOST_BYTES}, 413, "more than 4,194,304 bytes: send"),
    ],
)
def test_refusals(client: TestClient, form: dict[str, str], status: int, said: str) -> None:
    answer = client.post("/", data=form)
    assert answer.status_code == status and said in answer.json()["message"]


def test_other_refusals(client: TestClient) -> None:
    assert client.post("/", json={"queries": {}}).status_code == 415
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post("/", content=b"queries=\xff", headers=form).status_code == 400
    assert client.post("/", content=b"queries=%ff", headers=form).status_code == 400
    assert client.get("/occupation", params={"id": "<b>"}).status_code == 404
    assert client.get("/suggest/entity", params={"prefix": "a", "cursor": "-1"}).status_code == 400
    assert client.get("/suggest/cities", params={"prefix": "a"}).status_code == 404
