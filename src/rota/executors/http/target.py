"""Parses a URL so strictly that only one interpretation is left.

Attackers bypass guards with URLs that the guard and the client parse differently: backslashes or
`@` in the authority, numbers as addresses, letters that normalise to digits. The parser refuses
every ambiguous URL, and both the guard and the connection use its result. The URL text is sent
unchanged, because signed URLs do not survive normalisation.
"""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urljoin

from rota.contract.payloads.http import URL_CHARACTERS_MAX
from rota.core.errors import InvalidInput

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

HOST_NAME_MAX_CHARACTERS = 253
DEFAULT_PORT_OF_SCHEME = {"http": 80, "https": 443}
URL_EXPECTED = "expected an http or https URL such as https://example.org/path"

URL_PATTERN = re.compile(
    r"(?P<scheme>[A-Za-z]+)://(?P<host>\[[^\]/?#@%]*\]|[^\[\]:/?#@]*)(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<rest>[/?#].*)?",
    re.ASCII,
)
# Printable ASCII; AMBIGUOUS lists the characters that some parsers convert or stop at.
PRINTABLE_ASCII = re.compile(r"[!-~]+", re.ASCII)
AMBIGUOUS_CHARACTERS = re.compile(r'[\\"<>^`{|}]', re.ASCII)
HOST_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?", re.ASCII)
# Some parsers read a host with such a last label as a number: 127.1, 0x7f.1, 2130706433.
NUMERIC_LABEL = re.compile(r"(?:[0-9]+|0[xX][0-9A-Fa-f]*)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpTarget:
    """Where to connect, and the URL to send. `host` is a lower-case name or an address."""

    url: str
    scheme: str
    host: str
    port: int
    address: Address | None

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def host_and_port(self) -> str:
        """Host and port, by which the circuit breaker tells targets apart."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def display_url(self) -> str:
        """The URL for messages and logs, without the query, which may hold keys."""
        return self.url.partition("?")[0]


def read_target(url: str, field: str = "url") -> HttpTarget:
    if not 1 <= len(url) <= URL_CHARACTERS_MAX:
        raise InvalidInput(
            field, url, f"{URL_EXPECTED}, of at most {URL_CHARACTERS_MAX} characters"
        )
    if PRINTABLE_ASCII.fullmatch(url) is None or AMBIGUOUS_CHARACTERS.search(url):
        wanted = "must be plain ASCII: percent-encode the path and write the host in xn-- form"
        raise InvalidInput(field, url, wanted)
    found = URL_PATTERN.fullmatch(url)
    if found is None:
        raise InvalidInput(field, url, f"{URL_EXPECTED}, without user name and password")
    scheme = found["scheme"].lower()
    if scheme not in DEFAULT_PORT_OF_SCHEME:
        raise InvalidInput(field, url, URL_EXPECTED)
    port = int(found["port"] or DEFAULT_PORT_OF_SCHEME[scheme])
    if not 1 <= port <= 65535:
        raise InvalidInput(field, url, "port must be 1–65535")
    host, address = _read_host(found["host"], url, field)
    without_fragment = url.partition("#")[0]
    return HttpTarget(url=without_fragment, scheme=scheme, host=host, port=port, address=address)


def resolve_redirect(source: HttpTarget, location: str) -> HttpTarget:
    """Parse the target of a redirect, which may be relative, as strictly as the first target."""
    return read_target(urljoin(source.url, location), "location")


def _read_host(text: str, url: str, field: str) -> tuple[str, Address | None]:
    try:
        if text.startswith("["):
            address: Address = ipaddress.IPv6Address(text[1:-1])
            return str(address), address
        name = text.lower().removesuffix(".")
        if NUMERIC_LABEL.fullmatch(name.rpartition(".")[2]):
            # Strict: four decimal numbers without leading zeros.
            address = ipaddress.IPv4Address(text)
            return str(address), address
    except ipaddress.AddressValueError:
        wanted = "host must be a name, or an address in standard notation"
        raise InvalidInput(field, url, wanted) from None
    if len(name) > HOST_NAME_MAX_CHARACTERS or not all(
        HOST_LABEL.fullmatch(label) for label in name.split(".")
    ):
        raise InvalidInput(field, url, "host name must consist of letters, digits, - and dots")
    return name, None
