"""A headless Chromium with a profile of its own, driven over its DevTools protocol.

Keys are pressed as hardware presses them: the page gets trusted events, its default actions
happen. Requests that the page makes are noted.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from background import until
from websockets.sync.client import connect
from websockets.sync.connection import Connection

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "no Chromium: `apt-get update && apt-get install -y chromium` installs it"
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync"),
    *("--disable-component-update", "--remote-debugging-port=0", "--window-size=1200,860"),
)
SECONDS = 60
NAMED = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "Backspace": 8, "Tab": 9}
SIGNS = {"/": "Slash", "?": "Slash", " ": "Space", "-": "Minus", ".": "Period"}
HELD = {"Alt": 1, "Ctrl": 2, "Meta": 4, "Shift": 8}


class Tab:
    """A page of the browser."""

    def __init__(self, socket: Connection, *domains: str) -> None:
        self._socket, self._numbers = socket, count(1)
        self.events: list[dict[str, Any]] = []
        for domain in domains:
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Send a command and return its result; events that come meanwhile are kept."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            said = json.loads(self._socket.recv(timeout=SECONDS))
            if said.get("id") == number:
                assert "error" not in said, said
                return dict(said["result"])
            self.events.append(said)

    def open(self, file: Path) -> None:
        """Open a file and wait until it has loaded."""
        self.events.clear()
        self.ask("Page.navigate", url=file.as_uri())
        until(lambda: self.value("document.readyState") == "complete")

    def value(self, expression: str) -> Any:  # whatever the page says
        """Return what a script says, a promise awaited."""
        said = self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in said, said
        return said["result"].get("value")

    def text(self, id_: str) -> str:
        """Return what an element shows."""
        return str(self.value(f"document.getElementById({json.dumps(id_)}).innerText"))

    def press(self, *keys: str) -> None:
        """Press keys one after another: a character, a name, or `Ctrl+s`."""
        for key in keys:
            for event in pressed(key):
                self.ask("Input.dispatchKeyEvent", **event)

    @property
    def requests(self) -> list[str]:
        """Addresses that were asked for since `open`."""
        sent = (e for e in self.events if e["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]

    @property
    def faults(self) -> list[str]:
        """What the page's script or its policy complained of since `open`."""
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(event) for event in self.events if event["method"] in kinds]


def check_policy(tab: Tab) -> None:
    """No script in a page runs, and nothing is fetched."""
    add = "const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
    assert tab.value(f"{add} document.body.append(s); window.ran") is None
    fetched = "fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')"
    assert tab.value(fetched) == "refused"


def pressed(key: str) -> Iterator[dict[str, Any]]:
    """Yield the events of one key as the DevTools protocol wants them."""
    *held, name = key.split("+") if len(key) > 1 else [key]
    modifiers = sum(HELD[one] for one in held) | (HELD["Shift"] if name in "?ABCDEFG" else 0)
    if len(name) > 1:
        event = {"key": name, "code": name, "windowsVirtualKeyCode": NAMED[name]}
    else:
        sign = name.upper() if "Shift" in held else name
        code = f"Digit{name}" if name.isdigit() else SIGNS.get(name, f"Key{name.upper()}")
        event = {"key": sign, "code": code, "windowsVirtualKeyCode": ord(name.upper())}
    text = {} if len(name) > 1 or set(held) - {"Shift"} else {"text": event["key"]}
    yield {"type": "keyDown" if text else "rawKeyDown", "modifiers": modifiers, **event, **text}
    yield {"type": "keyUp", "modifiers": modifiers, **event}


@contextmanager
def chromium(profile: Path, downloads: Path) -> Iterator[Tab]:
    """Start a browser; at the end it is closed, and `profile` holds what pages stored."""
    assert PROGRAM is not None
    port = profile / "DevToolsActivePort"
    port.unlink(missing_ok=True)
    command = [PROGRAM, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: port.is_file() and port.read_text().count("\n") == 1)
        number, path = port.read_text().splitlines()
        address = f"ws://127.0.0.1:{number}"
        with connect(address + path, max_size=None, proxy=None) as socket:
            browser = Tab(socket)  # the browser itself, which has no domains of a page
            pages = browser.ask("Target.getTargets")["targetInfos"]
            page = next(one["targetId"] for one in pages if one["type"] == "page")
            behavior = {"behavior": "allow", "downloadPath": str(downloads)}
            browser.ask("Browser.setDownloadBehavior", **behavior)
            with connect(f"{address}/devtools/page/{page}", max_size=None, proxy=None) as tab:
                yield Tab(tab, "Page", "Runtime", "Network", "Log")
            browser.ask("Browser.close")
        process.wait(SECONDS)
    finally:
        process.kill()
        process.wait()
