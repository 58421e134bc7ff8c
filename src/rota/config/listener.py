"""Declares the settings that protect the API's socket: clients, proxies, host names."""

from datetime import timedelta
from typing import Annotated, Literal

from msgspec import Struct

from rota.config.declarations import MINUTE, SECOND, choice, number, span, text


class ListenerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The part of `[api]` that applies before a request is authenticated."""

    client_connections: Annotated[
        int,
        number(
            16,
            100_000,
            "Maximum client connections of the process. The process's limit on open files may"
            " lower it. Default: 5000.",
        ),
    ] = 5_000
    client_connections_per_address: Annotated[
        int,
        number(
            1,
            100_000,
            "Maximum client connections per address; an IPv6 /64 network counts as one address."
            " Trusted proxies are exempt. Default: 500.",
        ),
    ] = 500
    head_timeout: Annotated[
        timedelta,
        span(
            SECOND / 10,
            MINUTE,
            "Time limit for receiving the request line and headers, including the TLS handshake."
            ' Default: "10s".',
        ),
    ] = 10 * SECOND
    allowed_hosts: Annotated[
        tuple[str, ...],
        text(
            "a list of host names such as rota.example.com, *.example.com or *",
            "Host names that clients may use. IP addresses and loopback names are always accepted."
            " Default: no other names if `api.host` is a loopback address, else all names.",
            max_length=100,
        ),
    ] = ()
    trusted_proxies: Annotated[
        tuple[str, ...],
        text(
            "a list of addresses and networks such as 10.0.0.0/8",
            "Proxies whose header with the client's address Rota trusts. Default: none.",
            max_length=100,
        ),
    ] = ()
    proxy_header: Annotated[
        Literal["x-forwarded-for", "forwarded"],
        choice(
            "Header in which trusted proxies send the client's address. Others are ignored."
            ' Default: "x-forwarded-for".'
        ),
    ] = "x-forwarded-for"
    hook_per_second: Annotated[
        int,
        number(1, 1_000_000, "Signed requests per second that one hook accepts. Default: 100."),
    ] = 100
