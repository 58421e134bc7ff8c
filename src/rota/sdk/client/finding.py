"""Where the API is and which key opens it. Room: sdk/client.

The address: what is given, then `ROTA_URL`, then the address that a running `rota up` wrote into
the data folder, then this machine's port 7070. The key: what is given, then `ROTA_API_KEY`, then
the file `admin.key` in the data folder. That file is read only for a server on this machine, or for
the one that the same folder names: it is the key of the whole installation, and no business of
another host.

The data folder is `ROTA_DATA` if that is set. Otherwise it is `.rota` in the working folder or the
nearest parent that has one, up to the home folder or the root. An address counts only if its file
belongs to this user or to root: in a folder that everybody can write to, anybody could name a
server that collects keys.
"""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from rota.core.errors import InvalidInput
from rota.runtime.address_file import ADDRESS_FILE, PublishedAddress, read_address

URL: Final = "http://127.0.0.1:7070"
FOLDER: Final = ".rota"
KEY_FILE: Final = "admin.key"
SCHEMES: Final = ("http", "https")
ROOT_USER_ID: Final = 0
WANTED_URL: Final = "an address such as http://127.0.0.1:7070 or https://rota.example.com is needed"
WANTED_KEY: Final = "a key is one line of printable ASCII characters"


class AddressSource(Enum):
    """Where an address came from."""

    ARGUMENT = auto()
    VARIABLE = auto()
    FILE = auto()
    DEFAULT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address of the API, and where it came from. `note` says why no better one was found."""

    url: str
    source: AddressSource
    published: PublishedAddress | None = None
    note: str = ""

    def describe(self, argument: str = "url=") -> str:
        """Where it came from, for people; `argument` is how they give an address."""
        match self.source:
            case AddressSource.ARGUMENT:
                return f"given as {argument}"
            case AddressSource.VARIABLE:
                return "from ROTA_URL"
            case AddressSource.FILE if self.published is not None:
                ended = f", but process {self.published.pid}, which wrote it, has ended"
                return f"from {self.published.file}{'' if self.published.is_running else ended}"
            case _:
                return f"the default, because {self.note}" if self.note else "the default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A server and a key; `hint` says where the key came from, or where none was found."""

    address: Address
    key: str | None = field(repr=False)
    hint: str

    @property
    def url(self) -> str:
        return self.address.url

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def prefix(self) -> str:
        """What stands before every path, if the API is not at the root of its host."""
        return urlsplit(self.url).path.rstrip("/")


def find(url: str | None, key: str | None, *, environment: Mapping[str, str]) -> Place:
    """The server and the key, from arguments, variables and files."""
    folders = data_folders(environment)
    address = find_address(url, folders, environment)
    if key is not None:
        return Place(address=address, key=checked_key(key), hint="the key was given as key=")
    if said := environment.get("ROTA_API_KEY"):
        return Place(address=address, key=checked_key(said), hint="the key came from ROTA_API_KEY")
    return find_key_file(address, folders)


def find_address(url: str | None, folders: list[Path], environment: Mapping[str, str]) -> Address:
    if url:
        return Address(url=checked_url(url), source=AddressSource.ARGUMENT)
    if said := environment.get("ROTA_URL"):
        return Address(url=checked_url(said), source=AddressSource.VARIABLE)
    found = [each for folder in folders if (each := read_address(folder / ADDRESS_FILE))]
    # Whoever sets ROTA_DATA vouches for the folder.
    is_vouched_for = data_variable(environment) is not None
    trusted = [each for each in found if is_vouched_for or is_trusted(each.owner_id)]
    # The nearest server that runs; else the nearest that left its file behind, to say so.
    for each in sorted(trusted, key=lambda each: not each.is_running):
        try:
            return Address(url=checked_url(each.url), source=AddressSource.FILE, published=each)
        except InvalidInput:
            continue
    note = f"no {FOLDER} of this folder or its parents names a running server"
    if is_vouched_for:
        note = f"{folders[0]} names no running server"
    if found:
        note = f"{found[0].file} belongs to another user"
    return Address(url=URL, source=AddressSource.DEFAULT, note=note)


def find_key_file(address: Address, folders: list[Path]) -> Place:
    """The key in a data folder, for the server that the same folder names or one on this machine.

    Without a key, the hint names each place that was looked at.
    """
    if address.published is not None:
        folders = [address.published.file.parent]
    elif not is_here(address.url):
        hint = f"no key was found: no key= was given and ROTA_API_KEY is not set ({FOLDER}/"
        hint += f"{KEY_FILE} is only for a server on this machine)"
        return Place(address=address, key=None, hint=hint)
    files = [folder / KEY_FILE for folder in folders]
    for file in files:
        if (found := read_key(file)) is not None:
            return Place(address=address, key=found, hint=f"the key came from {file}")
    missing = ", ".join(f"{file} {lack_of(file)}" for file in files)
    missing = missing or f"there is no {FOLDER} in this folder or its parents"
    hint = f"no key was found: no key= was given, ROTA_API_KEY is not set, {missing}"
    return Place(address=address, key=None, hint=hint)


def data_variable(environment: Mapping[str, str]) -> str | None:
    return environment.get("ROTA_DATA") or environment.get("ROTA_DATABASE__DATA") or None


def data_folders(environment: Mapping[str, str]) -> list[Path]:
    """Where `rota up` may keep its data, the nearest first: the working folder and its parents, not
    beyond the home folder. A parent's counts if it belongs to this user or to root.
    """
    if (named := data_variable(environment)) is not None:
        return [Path(named).absolute()]
    if os.name != "posix":
        return [Path(FOLDER)]
    try:
        here = Path.cwd()
    except OSError:  # the working folder was deleted
        return []
    home = Path(environment.get("HOME") or "/")
    found = [here / FOLDER]
    for parent in () if here == home else here.parents:
        folder = parent / FOLDER
        if is_own_folder(folder):
            found.append(folder)
        if parent == home:
            break
    return [folder for folder in found if folder.is_dir()] or found


def is_own_folder(folder: Path) -> bool:
    try:
        return folder.is_dir() and is_trusted(folder.stat().st_uid)
    except OSError:
        return False


def is_trusted(owner_id: int) -> bool:
    return owner_id in {os.geteuid(), ROOT_USER_ID}


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


def lack_of(file: Path) -> str:
    """Why a file gave no key."""
    try:
        file.read_bytes()
    except FileNotFoundError:
        return "does not exist"
    except OSError as error:
        return f"cannot be read ({(error.strerror or str(error)).lower()})"
    return "holds no key"
