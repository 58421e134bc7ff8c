"""Where the API is and which key opens it. Room: sdk/client.

What is given wins, then `ROTA_URL` and `ROTA_API_KEY`, then what `rota up` makes: this machine's
port 7070 and the file `admin.key` in the data folder. The file is read only for a server on this
machine: it is the key of the whole installation, and no business of another host.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from rota.core.errors import InvalidInput

URL: Final = "http://127.0.0.1:7070"
FOLDER: Final = ".rota"
KEY_FILE: Final = "admin.key"
SCHEMES: Final = ("http", "https")
WANTED_URL: Final = "an address such as http://127.0.0.1:7070 or https://rota.example.com is needed"
WANTED_KEY: Final = "a key is one line of printable ASCII characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A server and a key; `key_from` says where the key came from, or that there is none."""

    url: str
    key: str | None = field(repr=False)
    key_from: str

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def prefix(self) -> str:
        """What stands before every path, if the API is not at the root of its host."""
        return urlsplit(self.url).path.rstrip("/")

    @property
    def hint(self) -> str:
        """For whoever is refused for the key."""
        places = f"key=, else ROTA_API_KEY, else {FOLDER}/{KEY_FILE} for a server on this machine"
        return f"{self.key_from}; keys are looked for in {places}"


def find(url: str | None, key: str | None, *, environment: Mapping[str, str]) -> Place:
    """The server and the key, from arguments, variables and files."""
    where = checked_url(url or environment.get("ROTA_URL") or URL)
    if key is not None:
        return Place(url=where, key=checked_key(key), key_from="the key was given as key=")
    if said := environment.get("ROTA_API_KEY"):
        return Place(url=where, key=checked_key(said), key_from="the key came from ROTA_API_KEY")
    file = Path(data_folder(environment)) / KEY_FILE
    if is_here(where) and (found := read_key(file)) is not None:
        return Place(url=where, key=found, key_from=f"the key came from {file}")
    return Place(url=where, key=None, key_from="no key was found")


def data_folder(environment: Mapping[str, str]) -> str:
    return environment.get("ROTA_DATA") or environment.get("ROTA_DATABASE__DATA") or FOLDER


def checked_url(url: str) -> str:
    """The address without a slash at its end. It is not shown if it could hold a password."""
    try:
        parts = urlsplit(url.strip())
        is_good = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise InvalidInput("url", url, WANTED_URL) from None
    if "@" in parts.netloc:
        raise InvalidInput("url", "***", "an address has no user and password; the key is key=")
    if not is_good or parts.query or parts.fragment:
        raise InvalidInput("url", url, WANTED_URL)
    return url.strip().rstrip("/")


def checked_key(key: str) -> str:
    """The key goes into a header, and it is not shown if it cannot."""
    key = key.strip()
    if not key or not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidInput("key", "***", WANTED_KEY)
    return key


def is_here(url: str) -> bool:
    """Whether the server is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_key(file: Path) -> str | None:
    """The key in the file; None if there is none that we may read."""
    try:
        return checked_key(file.read_text(encoding="ascii"))
    except (OSError, UnicodeDecodeError, InvalidInput):
        return None
