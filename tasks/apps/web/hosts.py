"""Which names of a host a request may give: a foreign page cannot reach us by a name of its own.

A page on `http://evil.example` may let its name point at 127.0.0.1 (DNS rebinding) and would then
read our answers as its own. Its requests still carry its name in the header `Host`.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self

HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^:\[\]/@\s]+))(?::\d+)?", re.IGNORECASE)
EVERYWHERE = ("", "0.0.0.0", "::")


@dataclass(frozen=True)
class Hosts:
    """The names that are ours.

    Attributes:
        names: in lower case; loopback addresses are always ours.
        any_address: whether any IP address is, since the service listens at all of the machine's.
    """

    names: frozenset[str]
    any_address: bool

    @classmethod
    def of(cls, host: str, more: Iterable[str] = ()) -> Self:
        """Return the names for the address that the service listens at, and those of its owner."""
        everywhere = host in EVERYWHERE
        own = {socket.gethostname(), socket.getfqdn()} if everywhere else {host}
        return cls(frozenset(name.lower() for name in {"localhost", *own, *more}), everywhere)

    def __contains__(self, header: object) -> bool:
        """Tell whether a header `Host`, with or without a port, names us."""
        match = HOST.fullmatch(header) if isinstance(header, str) else None
        if not match:
            return False
        name = (match[1] or match[2]).lower()
        try:
            address = ip_address(name)
        except ValueError:  # a name, not an address
            return name in self.names
        return self.any_address or address.is_loopback or name in self.names
