"""Declares the settings of the observability listener: probes and metrics of every process."""

import ipaddress
from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import Struct

from rota.config.declarations import choice, text

LISTEN_WANTED: Final = '"auto", "off", or an address and port such as 0.0.0.0:7071'
PORT_MAX: Final = 65_535


class ObserveSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The listener for probes and metrics that every process has. It needs no key."""

    listen: Annotated[
        str,
        text(
            LISTEN_WANTED,
            "Where the process answers `/livez`, `/readyz`, `/startupz` and `/metrics`, over plain"
            " HTTP. `auto` takes the first free port from 7071 to 7099 on the loopback address."
            ' Default: "auto".',
            min_length=1,
            max_length=253,
        ),
    ] = "auto"
    public: Annotated[
        bool,
        choice(
            "Allow `observe.listen` to be an address that other machines can reach. The listener"
            " has no authentication: restrict it with a firewall or a network policy."
            " Default: false."
        ),
    ] = False
    advertise: Annotated[
        str,
        text(
            '"auto", or a host name or address that Prometheus can reach',
            "Host under which `GET /v1/targets` lists this process. `auto` is the address of"
            " `observe.listen`, or the host name of the machine if that is a wildcard."
            ' Default: "auto".',
            min_length=1,
            max_length=253,
        ),
    ] = "auto"


def parse_listen(listen: str) -> tuple[str, int] | None:
    """Return host and port of a fixed address; None if the text has another form."""
    host, _, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or int(port) > PORT_MAX:
        return None
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def find_listen_contradictions(observe: ObserveSettings) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the address: the setting, and what it must be."""
    if observe.listen in {"auto", "off"}:
        return
    address = parse_listen(observe.listen)
    if address is None:
        yield "observe.listen", LISTEN_WANTED
    elif not is_loopback(address[0]) and not observe.public:
        wanted = (
            "an address on loopback such as 127.0.0.1:7071, or set observe.public = true: other "
            "machines could read it without a key"
        )
        yield "observe.listen", wanted
