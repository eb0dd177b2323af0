"""Asks a registry's server for a sign of life, before MLflow waits minutes for it."""

from __future__ import annotations

import socket
from threading import Thread
from urllib.error import HTTPError
from urllib.parse import SplitResult, urlsplit
from urllib.request import Request, urlopen

from tasks.io.masked import masked

SECONDS = 4.0
PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}  # of databases


def check_answer(uri: str) -> None:
    """Return if `uri` is a file, or a server that answers anything at all within `SECONDS`.

    Raises:
        ValueError: it does not; the message names the masked address and what to do.
    """
    faults = ["no answer"]
    request = Thread(target=_ask, args=(uri, faults), daemon=True)  # a name may resolve slowly
    request.start()
    request.join(SECONDS + 1)
    if faults:
        raise ValueError(
            f"the tracking server {masked(uri)} cannot be used ({faults[-1]}): start it, correct "
            "MLFLOW_TRACKING_URI, or unset it to use the registry of this clone"
        )


def _ask(uri: str, faults: list[str]) -> None:
    """Clear `faults` when the server answers, or add why it does not."""
    try:
        address = urlsplit(uri)
        scheme = address.scheme.partition("+")[0]
        if scheme in ("http", "https"):
            _ask_web(address)
        elif scheme in PORTS and address.hostname:
            place = (address.hostname, address.port or PORTS[scheme])
            socket.create_connection(place, SECONDS).close()
        faults.clear()
    except (OSError, ValueError) as error:
        faults.append(masked(str(getattr(error, "reason", error))))


def _ask_web(address: SplitResult) -> None:
    """Read the first line of an answer; a refusal is one."""
    host = address.netloc.rpartition("@")[2]
    health = f"{address.scheme}://{host}{address.path.rstrip('/')}/health"
    try:
        urlopen(Request(health), timeout=SECONDS).close()
    except HTTPError:
        return
