"""A URL, read so strictly that nobody can read it in another way. Room: executors/http.

Guards are got around with URLs that the guard and the client understand differently: backslashes or
`@` in the authority, numbers for addresses, letters that turn into digits. Whatever could be read
in two ways is refused here, and the one reading that is left is used for the judgement and for the
connection. The text itself is sent as it was given: signed URLs do not survive a normalisation.
"""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urljoin

from rota.contract.payloads.http import URL_CHARACTERS_MAX
from rota.core.errors import InvalidInput

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

LONGEST_NAME = 253
PORTS = {"http": 80, "https": 443}
WANTED = "an http or https URL such as https://example.org/path"

SHAPE = re.compile(
    r"(?P<scheme>[A-Za-z]+)://(?P<host>\[[^\]/?#@%]*\]|[^\[\]:/?#@]*)(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<rest>[/?#].*)?",
    re.ASCII,
)
# Printable ASCII without the characters that some readers turn into others or stop at.
PLAIN = re.compile(r"[!-~]+", re.ASCII)
AMBIGUOUS = re.compile(r'[\\"<>^`{|}]', re.ASCII)
LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?", re.ASCII)
# A last label like this makes the host a number to some reader: 127.1, 0x7f.1, 2130706433.
NUMBER = re.compile(r"(?:[0-9]+|0[xX][0-9A-Fa-f]*)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where to connect, and the text to send. `host` is a name in lower case or an address."""

    url: str
    scheme: str
    host: str
    port: int
    address: Address | None

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def place(self) -> str:
        """What does or does not answer, whatever is asked of it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def shown(self) -> str:
        """For messages and logs: without the query, where people put their keys."""
        return self.url.partition("?")[0]


def read_target(url: str, field: str = "url") -> Target:
    if not 1 <= len(url) <= URL_CHARACTERS_MAX:
        raise InvalidInput(field, url, f"{WANTED}, of at most {URL_CHARACTERS_MAX} characters")
    if PLAIN.fullmatch(url) is None or AMBIGUOUS.search(url):
        wanted = "plain ASCII: percent-encode the path, and write the host in its xn-- form"
        raise InvalidInput(field, url, wanted)
    found = SHAPE.fullmatch(url)
    if found is None:
        raise InvalidInput(field, url, f"{WANTED}, without user and password")
    scheme = found["scheme"].lower()
    if scheme not in PORTS:
        raise InvalidInput(field, url, WANTED)
    port = int(found["port"] or PORTS[scheme])
    if not 1 <= port <= 65535:
        raise InvalidInput(field, url, "a port from 1 to 65535")
    host, address = _read_host(found["host"], url, field)
    without_fragment = url.partition("#")[0]
    return Target(url=without_fragment, scheme=scheme, host=host, port=port, address=address)


def redirected(source: Target, location: str) -> Target:
    """The target of a redirect, which may be relative; it is read as strictly as the first."""
    return read_target(urljoin(source.url, location), "location")


def _read_host(text: str, url: str, field: str) -> tuple[str, Address | None]:
    try:
        if text.startswith("["):
            address: Address = ipaddress.IPv6Address(text[1:-1])
            return str(address), address
        name = text.lower().removesuffix(".")
        if NUMBER.fullmatch(name.rpartition(".")[2]):
            # Strict: four decimal numbers without leading zeros.
            address = ipaddress.IPv4Address(text)
            return str(address), address
    except ipaddress.AddressValueError:
        raise InvalidInput(field, url, "a host name, or an address in its usual form") from None
    if len(name) > LONGEST_NAME or not all(LABEL.fullmatch(label) for label in name.split(".")):
        raise InvalidInput(field, url, "a host name of letters, digits, - and dots")
    return name, None
