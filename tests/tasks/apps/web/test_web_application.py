"""One address for people and programs, pages with nothing from outside, and `POST /normalize`."""

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient
from web_client import SURE, web_client

from models.serving.answer import Answer
from tasks.apps.web.application import readable
from tasks.apps.web.titles import Answered

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def client() -> TestClient:
    return web_client(SURE, model="models:/<toy>/3")


def test_a_browser_gets_the_page_and_openrefine_the_manifest(client: TestClient) -> None:
    assert client.get("/", headers=BROWSER).text.startswith("<!DOCTYPE html>")
    for accept in ("application/json, text/javascript, */*; q=0.01", "*/*", "application/json"):
        assert client.get("/", headers={"Accept": accept}).json()["versions"] == ["0.2"]
    jsonp = client.get("/", params={"callback": "a"}, headers=BROWSER)
    assert jsonp.json()["versions"] == ["0.2"]
    asked = client.get("/", params={"queries": '{"q": {"query": "baker"}}'}, headers=BROWSER)
    assert asked.json()["q"]["result"]


@pytest.mark.parametrize("path", ["/", "/docs", "/occupation?id=baker"])
def test_pages_load_nothing_and_run_nothing_else(client: TestClient, path: str) -> None:
    answer = client.get(path, headers=BROWSER)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and "unsafe-eval" not in policy
    if path != "/occupation?id=baker":  # which OpenRefine frames
        assert "frame-ancestors 'none'" in policy and "unsafe-inline" not in policy
        assert answer.headers["vary"].startswith("Accept")
    assert "<toy>" not in answer.text and "{{" not in answer.text
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", answer.text)


def test_the_api_page_names_every_field(client: TestClient) -> None:
    text = client.get("/docs").text
    named = ("POST /normalize", "min_confidence", "best_confident_code", "runner_up_pull", "413")
    assert [word for word in named if word not in text] == []
    assert "integer from 1 to 1000 or null" in text and "curl http://localhost/normalize" in text


def test_the_name() -> None:
    assert readable("models:/rolecall-esco/12") == "Rolecall: rolecall-esco version 12"
    assert readable("/data/models/mine/") == "Rolecall: mine"


def test_answers_are_as_described(client: TestClient) -> None:
    titles = ["Bread maker", None, "???", "keeper"]
    answer = client.post("/normalize", json={"titles": titles, "top_k": 3, "explain": True})
    assert answer.status_code == 200
    values = Answered.model_validate(answer.json(), strict=True).model_dump()
    assert values == answer.json()
    assert values["model"] == "models:/<toy>/3"
    rows = values["answers"]
    assert [row["raw_title"] for row in rows] == titles
    assert [row["reason"] for row in rows] == [None, "null", "no letters", None]
    assert rows[0]["occupation_label"] == "Baker" and len(rows[0]["alternatives"]) == 2
    assert [word["word"] for word in rows[0]["explanation"]["words"]] == ["bread", "maker"]
    body = {"titles": ["baker"], "language": "en"}
    plain = client.post("/normalize", json=body).json()["answers"][0]
    assert "explanation" not in plain and set(Answer._fields) <= set(plain)
    assert client.post("/normalize", json={"titles": []}).json()["answers"] == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "body.titles: Field required"),
        ({"titles": "baker"}, "body.titles: Input should be a valid list"),
        ({"titles": ["a", 7]}, "body.titles.1: Input should be a valid string"),
        ({"titles": ["a"] * 1001}, "body.titles: List should have at most 1000"),
        ({"titles": ["a"], "top_k": 0}, "body.top_k: Input should be greater than or equal to 1"),
        ({"titles": ["a"], "top_k": "3"}, "body.top_k: Input should be a valid integer"),
        ({"titles": ["a"] * 11, "top_k": 1000}, "11 titles with top_k = 1000"),
        ({"titles": ["a"] * 21, "explain": True}, "21 titles with explain; 20 at most"),
        ({"titles": ["a"], "min_confidence": 2}, "body.min_confidence: Input should be less"),
        ({"titles": ["a"], "code_depth": 9}, "code_depth = 9; this taxonomy has 2 levels"),
        ({"titles": ["a"], "topk": 3}, "body.topk: Extra inputs are not permitted"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refusals(client: TestClient, body: dict[str, Any], said: str) -> None:
    answer = client.post("/normalize", json=body)
    assert answer.status_code == 400 and said in answer.json()["message"]


def test_bodies_that_are_no_json(client: TestClient) -> None:
    json_type = {"Content-Type": "application/json"}
    for content in (b"", b"{", b"\xff", b"[" * 10**5):
        answer = client.post("/normalize", content=content, headers=json_type)
        assert answer.status_code == 400 and answer.json()["message"], content[:20]
    body = b'{"titles": ["\\ud800 baker"]}'
    surrogate = client.post("/normalize", content=body, headers=json_type)
    assert surrogate.json()["answers"][0]["raw_title"] == "\ud800 baker"
    assert client.post("/normalize", data={"titles": "baker"}).status_code == 415
    assert client.put("/normalize").status_code == 405
    assert client.get("/nothing").json()["message"] == "GET /nothing: Not Found"


def test_the_schema(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    assert [*schema["paths"]] == ["/normalize"]
    operation = schema["paths"]["/normalize"]["post"]
    assert sorted(operation["responses"]) == ["200", "400", "413", "415"]
    fields = schema["components"]["schemas"]["Answer"]["properties"]
    assert fields["confidence"]["description"].startswith("the chance that it is right")
    assert set(Answer._fields) < set(fields)
