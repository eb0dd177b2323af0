"""Other pages may read the reconciliation service; the rest only where the owner allows it."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from served_toy import toy_normalizer

from tasks.apps.web.application import application
from tasks.apps.web.guard import Hosts

ALLOW = "access-control-allow-origin"
OTHER, OURS = "https://evil.example", "https://tools.example.org"
PAGE = {"Accept": "text/html"}
RECONCILIATION = (
    "/",
    "/?queries={}",
    "/reconcile",
    "/suggest/entity",
    "/properties",
    "/occupation",
)


def client(*origins: str) -> TestClient:
    app = application(toy_normalizer(), "models:/toy/3", 0.5, Hosts.of("127.0.0.1"), origins)
    return TestClient(app, base_url="http://localhost")


@pytest.mark.parametrize("path", RECONCILIATION)
def test_openrefine_reads_at_any_origin(path: str) -> None:
    assert client().get(path, headers={"Origin": OTHER}).headers[ALLOW] == "*"


@pytest.mark.parametrize("origins", [(), (OURS,)])
def test_page_and_titles_are_for_their_own_origin(origins: tuple[str, ...]) -> None:
    """A foreign page gets no permission, so its browser sends no titles."""
    service, other = client(*origins), {"Origin": OTHER}
    for path in ("/", "/docs", "/openapi.json", "/none"):
        assert ALLOW not in service.get(path, headers=PAGE | other).headers, path
    answer = service.post("/normalize", json={"titles": ["baker"]}, headers=other)
    assert answer.status_code == 200 and ALLOW not in answer.headers
    wanted = {"Access-Control-Request-Method": "POST", **other}
    before = service.options(
        "/normalize", headers=wanted | {"Access-Control-Request-Headers": "content-type"}
    )
    assert before.status_code == 400 and ALLOW not in before.headers


def test_an_allowed_origin_reads_everything() -> None:
    service, ours = client(OURS), {"Origin": OURS}
    for path in ("/normalize", "/"):
        wanted = {"Access-Control-Request-Method": "POST", **ours}
        before = service.options(path, headers=wanted)
        assert before.status_code == 200 and before.headers[ALLOW] in (OURS, "*")
    answer = service.post("/normalize", json={"titles": ["baker"]}, headers=ours)
    assert answer.headers[ALLOW] == OURS and "Origin" in answer.headers["vary"]
    assert service.get("/", headers=PAGE | ours).headers[ALLOW] == OURS


@pytest.mark.parametrize("origin", ["tools.example.org", "https://tools.example.org/", ""])
def test_what_no_browser_sends_is_refused(origin: str) -> None:
    with pytest.raises(ValueError, match="is no origin, such as https://tools"):
        client(origin)
