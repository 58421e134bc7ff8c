"""Settings that protect the API's socket: clients, proxies, host names, probes. Room: config."""

from datetime import timedelta
from typing import Annotated, Literal

from msgspec import Struct

from rota.config.declaring import MINUTE, SECOND, choice, number, span, text


class ListenerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The part of `[api]` that applies before a request is authenticated."""

    client_connections: Annotated[
        int,
        number(
            16,
            100_000,
            "Client connections that the process holds open at most. The process's limit of open"
            " files may lower it. Default: 5000.",
        ),
    ] = 5_000
    client_connections_per_address: Annotated[
        int,
        number(
            1,
            100_000,
            "Client connections that one address holds open at most; an IPv6 /64 network counts as"
            " one address. Trusted proxies are exempt. Default: 500.",
        ),
    ] = 500
    head_timeout: Annotated[
        timedelta,
        span(
            SECOND / 10,
            MINUTE,
            "Time in which a request's line and headers, TLS handshake included, must be complete."
            ' Default: "10s".',
        ),
    ] = 10 * SECOND
    health_listen: Annotated[
        str,
        text(
            '"auto", "off", or an address and port such as 0.0.0.0:7071',
            "Where the health probes `/livez` and `/readyz` are also served, over plain HTTP and"
            " without a key. `auto` takes the first free port from 7071 to 7099 of this machine's"
            ' loopback address. Default: "auto".',
            min_length=1,
            max_length=253,
        ),
    ] = "auto"
    allowed_hosts: Annotated[
        tuple[str, ...],
        text(
            "a list of host names such as rota.example.com, *.example.com or *",
            "Host names under which clients may call. IP addresses and the names of loopback are"
            " always accepted. Default: no other name while `api.host` is a loopback address,"
            " every name otherwise.",
            max_length=100,
        ),
    ] = ()
    trusted_proxies: Annotated[
        tuple[str, ...],
        text(
            "a list of addresses and networks such as 10.0.0.0/8",
            "Proxies that are believed when they name the client's address. Default: none.",
            max_length=100,
        ),
    ] = ()
    proxy_header: Annotated[
        Literal["x-forwarded-for", "forwarded"],
        choice(
            "Header in which trusted proxies name the client's address. Only this one is read."
            ' Default: "x-forwarded-for".'
        ),
    ] = "x-forwarded-for"
    hook_per_second: Annotated[
        int,
        number(1, 1_000_000, "Signed requests that one hook accepts in a second. Default: 100."),
    ] = 100
