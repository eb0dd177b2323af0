"""One address for people and for programs; the name; pages with nothing from outside."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient
from served_toy import toy_normalizer

from tasks.apps.web.application import application, readable
from tasks.apps.web.guard import Hosts

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = application(toy_normalizer(), "models:/<toy>/3", 0.5, Hosts.of("127.0.0.1"))
    return TestClient(app, base_url="http://localhost")


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
    for word in (
        "POST /normalize",
        "min_confidence",
        "best_confident_code",
        "runner_up_pull",
        "413",
    ):
        assert word in text, word
    assert "integer from 1 to 1000 or null" in text and "curl http://localhost/normalize" in text


def test_the_name() -> None:
    assert readable("models:/rolecall-esco/12") == "Rolecall: rolecall-esco version 12"
    assert readable("/data/models/mine/") == "Rolecall: mine"
