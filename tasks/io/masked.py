"""Addresses without their secrets, in everything that is printed, logged or stored."""

from __future__ import annotations

import re

USERS = (
    re.compile(r"(?<=://)[^\s/:@'\"]*:[^\s/'\"]*@"),  # user:password
    re.compile(r"(?<=http://|ttps://)[^\s/:@'\"]+@"),  # a token in place of the user
)
QUERY = re.compile(r"(\b[\w+.-]+://[^\s?'\"<>]*)\?[^\s'\"<>]+")  # a token, a signature
_CONCEALED: dict[str, str] = {}


def masked(text: str) -> str:
    """Return a text whose addresses have `***` in place of users, passwords and queries."""
    return QUERY.sub(r"\1?***", masked_user(text)) if "://" in text else text


def masked_user(text: str) -> str:
    """Return a text whose addresses have `***` in place of users and passwords alone."""
    for user in USERS:
        text = user.sub("***@", text)
    return text


def concealed(address: str) -> str:
    """Mask an address that somebody will store; `revealed` undoes it in this process."""
    without = masked(address)
    _CONCEALED[without] = address
    return without


def revealed(address: str) -> str:
    """Return the address that `concealed` masked in this process, or any other as it is."""
    return _CONCEALED.get(address, address)
