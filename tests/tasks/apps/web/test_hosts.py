"""Names of the service: loopback and its owner's, and no foreign one."""

from __future__ import annotations

import socket

import pytest

from tasks.apps.web.hosts import Hosts

LOOPBACK = ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:80", "127.8.9.1", "[::1]:8000"]
FOREIGN = [
    *("evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example"),
    *("", "localhost:", "a b", "localhost:8000@evil", "[::1", "user@localhost", "2130706433", None),
]


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.7", "0.0.0.0", "box"])
def test_loopback_names_are_always_ours(host: str) -> None:
    assert [name for name in LOOPBACK if name not in Hosts.of(host)] == []


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.7", "0.0.0.0", "::"])
def test_foreign_names_never_are(host: str) -> None:
    assert [name for name in FOREIGN if name in Hosts.of(host)] == []


def test_the_address_that_it_listens_at_and_further_names() -> None:
    hosts = Hosts.of("10.0.0.7", ["Titles.example"])
    assert "10.0.0.7:8000" in hosts and "titles.example" in hosts
    assert "10.0.0.8" not in hosts and "192.168.1.1" not in hosts


def test_everywhere_means_any_address_and_the_name_of_the_machine() -> None:
    hosts = Hosts.of("0.0.0.0")
    assert "192.168.1.1:8000" in hosts and "[fe80::1]" in hosts and socket.gethostname() in hosts
