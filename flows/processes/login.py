"""The password of Prefect's servers: who has it may run commands here, and nobody else.

Without one Prefect answers every page that a browser shows, and a deployment holds a command.
"""

from __future__ import annotations

import secrets
from pathlib import Path

HOST = "127.0.0.1"
USER = "rolecall"


def new_password() -> str:
    """Draw a user's name and password, as Prefect takes them."""
    return f"{USER}:{secrets.token_urlsafe(24)}"


def kept_password(file: Path) -> str:
    """Return the password in `file`, which only its owner can read; make it if it is missing."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.touch(0o600)
    file.chmod(0o600)
    with file.open("r+", encoding="utf-8") as text:
        password = text.read().strip() or new_password()
        text.seek(0)
        text.write(password + "\n")
    return password


def client_settings(port: int, password: str) -> dict[str, str]:
    """Return Prefect's settings of a client of the server at a port."""
    return {
        "PREFECT_API_URL": f"http://{HOST}:{port}/api",
        "PREFECT_API_AUTH_STRING": password,
    }


def server_settings(port: int, password: str) -> dict[str, str]:
    """Return Prefect's settings of that server, whose own pages alone may read its answers."""
    return {
        "PREFECT_SERVER_API_AUTH_STRING": password,
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": f"http://{HOST}:{port},http://localhost:{port}",
    }
