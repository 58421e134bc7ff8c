"""Checks the host name of a request.

Another site can make its own name resolve to this machine's address (DNS rebinding); the browser
then treats the API as part of that site. `Host` contains the name that the browser used. Only names
can be rebound, so IP addresses are always accepted, and so are loopback names.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from rota.api.addresses import parse_address
from rota.api.problems import ProblemError

HOSTS_REMEMBERED_MAX: Final = 1_000
ANY_HOST: Final = "*"
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::\d{1,5})?")


class AllowedHosts:
    """`names` are exact names, `*.example.com` for all names below one, or `*` for every name."""

    def __init__(self, names: Iterable[str]) -> None:
        allowed = [name.lower().rstrip(".") for name in names]
        self._allows_every = ANY_HOST in allowed
        self._exact = frozenset(allowed) | {"localhost"}
        self._suffixes = (".localhost", *(name[1:] for name in allowed if name.startswith("*.")))
        self._remembered: dict[bytes, ProblemError | None] = {}

    def check(self, hosts: Sequence[bytes]) -> ProblemError | None:
        """Return the refusal of a request with these `Host` headers, or None."""
        if len(hosts) != 1:
            detail = f"the request has {len(hosts)} Host headers; send exactly one"
            return ProblemError("malformed_request", detail)
        host = hosts[0]
        if host not in self._remembered:
            if len(self._remembered) >= HOSTS_REMEMBERED_MAX:
                self._remembered.clear()
            self._remembered[host] = self._judge(host.decode("latin-1"))
        return self._remembered[host]

    def _judge(self, host: str) -> ProblemError | None:
        match = _HOST.fullmatch(host)
        if match is None:
            detail = f"Host: {host[:100]!r} is invalid; send a host name or address"
            return ProblemError("malformed_request", detail)
        name = match[1].lower().rstrip(".")
        if self._allows_every or name in self._exact or name.endswith(self._suffixes):
            return None
        if parse_address(name) is not None:
            return None
        detail = (
            f"Host: {name[:100]!r} is not allowed; use an address of this server, or add the "
            "name to api.allowed_hosts"
        )
        return ProblemError("unknown_host", detail)
