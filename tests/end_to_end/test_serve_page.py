"""The page of `rolecall serve` in headless Chromium: answers while one types, by keyboard alone.

Without Chromium these tests are skipped: `apt-get update && apt-get install -y chromium`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest
from chromium import MISSING, PROGRAM, Tab, check_policy, chromium, until
from served_toy import toy_normalizer

from models.serving.confidence import Calibration
from tasks.apps.web.application import application
from tasks.apps.web.guard import Hosts, listening, server

pytestmark = [pytest.mark.slow, pytest.mark.skipif(PROGRAM is None, reason=MISSING)]

SURE = Calibration(0.05, [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], 10)
FOCUSED = "document.activeElement.innerText || document.activeElement.id"
TYPED = """
const field = document.getElementById("title");
for (const letter of "bread maker") {
  field.value += letter;
  field.dispatchEvent(new Event("input"));
}
"""
WRITTEN = "document.getElementById('title').value"
HIDDEN = "document.getElementById('answer').hidden"
ENTER = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}


@contextmanager
def serving() -> Iterator[str]:
    """Serve the toy taxonomy in a thread; yield the address."""
    app = application(toy_normalizer(SURE), "models:/toy/3", 0.5, Hosts.of("127.0.0.1"))
    with listening("127.0.0.1", 0) as listener:
        running = server(app)
        thread = Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            running.should_exit = True
            thread.join(30)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as served:
        yield served


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    folder: Path = tmp_path_factory.mktemp("browser")
    with chromium(folder / "profile", folder / "downloads") as opened:
        yield opened


def opened(tab: Tab, address: str) -> Tab:
    tab.events.clear()
    tab.ask("Page.navigate", url=address)
    until(lambda: tab.value("location.href") == address)
    until(lambda: tab.value("document.readyState") == "complete")
    return tab


def shown(tab: Tab, selector: str) -> list[str]:
    return list(tab.value(f"[...document.querySelectorAll('{selector}')].map((e) => e.innerText)"))


def asked(tab: Tab) -> list[str]:
    return [url for url in tab.requests if url.endswith("/normalize")]


def test_a_title_is_answered_while_it_is_typed(browser: Tab, address: str) -> None:
    tab = opened(browser, address)
    assert tab.value(FOCUSED) == "title", "one can type at once"
    tab.press(*"bread maker")
    until(lambda: tab.text("label") == "Baker")
    until(lambda: "bread maker" in shown(tab, "#details dd")[1].lower())
    assert tab.text("message").startswith("Baker, confidence ")
    major, minor = shown(tab, ".hierarchy li")[:2]
    assert major.startswith("7 Craft workers") and minor[:2] == "75"
    assert "SOC: 51-3011" in shown(tab, "#details dd")
    assert [text.split("\n")[0] for text in shown(tab, ".words li")] == ["bread", "maker"]
    assert shown(tab, "#why p")[0].startswith("Baker, by its title")
    (other,) = shown(tab, ".alternatives a")
    assert other.split("\n")[0] in ("Nurse", "Keeper")
    assert tab.value("location.search") == "?title=bread%20maker"
    assert {url.partition("?")[0] for url in tab.requests} == {address, f"{address}normalize"}
    assert not tab.faults


def test_keys_in_quick_succession_make_one_request(browser: Tab, address: str) -> None:
    tab = opened(browser, address)
    tab.value(TYPED)
    until(lambda: tab.text("label") == "Baker")
    assert len(asked(tab)) == 1


def test_by_keyboard_alone(browser: Tab, address: str) -> None:
    tab = opened(browser, f"{address}?title=keeper")
    until(lambda: len(shown(tab, ".alternatives a")) == 1)
    tab.press("ArrowDown")
    alternative = tab.value(FOCUSED)
    assert alternative.split("\n")[0] in ("Nurse", "Keeper")
    tab.press("ArrowDown")
    assert tab.value(FOCUSED) == alternative, "the last one stays"
    tab.press("ArrowUp")
    assert tab.value(FOCUSED) == "title"
    tab.press("ArrowDown", "/")
    assert (tab.value(FOCUSED), tab.value(WRITTEN)) == ("title", "keeper")
    tab.press("Escape")
    assert tab.value(WRITTEN) == ""
    assert tab.value(HIDDEN) is True
    tab.press(*"keeper")
    until(lambda: tab.value(HIDDEN) is False)
    tab.press("ArrowDown")
    tab.ask("Input.dispatchKeyEvent", type="keyDown", **ENTER)
    until(lambda: "/occupation?id=" in tab.value("location.href"))
    until(lambda: shown(tab, "h1") and shown(tab, "h1")[0] in ("Nurse", "Keeper"))


def test_an_abstention_says_why(browser: Tab, address: str) -> None:
    tab = opened(browser, address)
    tab.press("?", "?")
    until(lambda: tab.text("message").startswith("No answer, no letters: the title holds digits"))
    assert tab.value(HIDDEN) is True


def test_a_title_is_text_and_no_script_runs(browser: Tab, address: str) -> None:
    title = quote("<img src=x onerror=window.ran=1> baker", safe="")
    tab = opened(browser, f"{address}?title={title}")
    until(lambda: tab.value(HIDDEN) is False)
    check_policy(tab)
    assert shown(tab, "img") == []


def test_labels_for_screen_readers_and_a_dark_scheme(browser: Tab, address: str) -> None:
    tab = opened(browser, f"{address}?title=baker")
    until(lambda: tab.text("label") == "Baker")
    assert tab.value("document.querySelector('label').control.id") == "title"
    assert tab.value("document.getElementById('message').getAttribute('role')") == "status"
    meters = "[...document.querySelectorAll('meter')].every((m) => m.getAttribute('aria-label'))"
    assert tab.value(meters) is True
    papers = []
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        tab.ask("Emulation.setEmulatedMedia", features=features)
        papers.append(tab.value("getComputedStyle(document.body).backgroundColor"))
    assert papers == ["rgb(251, 251, 250)", "rgb(20, 23, 27)"]


def test_a_service_that_has_ended_is_said(browser: Tab) -> None:
    with serving() as served:
        tab = opened(browser, served)
    tab.press("b")
    until(lambda: tab.text("message").startswith("The service does not answer."))
