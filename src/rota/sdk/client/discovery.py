"""Finds the address of the API and the key for it.

The address is, in this order: the `url` argument, `ROTA_URL`, the address that a running `rota up`
wrote into the data folder, port 7070 of this machine. The key is, in this order: the `key`
argument, `ROTA_API_KEY`, the file `admin.key` in the data folder. The client reads that file only
for a server on this machine or for the server that the same folder names: it is the key of the
whole installation and must not be sent to another host.

The data folder is `ROTA_DATA` if set. Otherwise it is `.rota` in the working folder or in the
nearest parent that has one, up to the home folder or the root. An address counts only if its file
belongs to this user or to root: in a folder that every user can write to, any user could name a
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

DEFAULT_URL: Final = "http://127.0.0.1:7070"
DATA_FOLDER: Final = ".rota"
KEY_FILE: Final = "admin.key"
SCHEMES: Final = ("http", "https")
ROOT_USER_ID: Final = 0
WANTED_URL: Final = "expected an address such as http://127.0.0.1:7070 or https://rota.example.com"
WANTED_KEY: Final = "expected one line of printable ASCII characters without spaces"


class AddressSource(Enum):
    """Where an address came from."""

    ARGUMENT = auto()
    VARIABLE = auto()
    FILE = auto()
    DEFAULT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiAddress:
    """The address of the API and its source. `note` says why the default applies."""

    url: str
    source: AddressSource
    published: PublishedAddress | None = None
    note: str = ""

    def describe(self, argument: str = "url=") -> str:
        """Describe the source; `argument` is the option by which the reader sets an address."""
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
class ApiEndpoint:
    """A server and a key; `hint` says where the key came from, or where the client looked."""

    address: ApiAddress
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
        """The prefix of every path if the API is not at the root of its host."""
        return urlsplit(self.url).path.rstrip("/")


def find_endpoint(
    url: str | None, key: str | None, *, environment: Mapping[str, str]
) -> ApiEndpoint:
    """Find the server and the key from arguments, environment variables and files."""
    folders = list_data_folders(environment)
    address = find_address(url, folders, environment)
    if key is not None:
        return ApiEndpoint(address=address, key=check_key(key), hint="the key was given as key=")
    if variable := environment.get("ROTA_API_KEY"):
        hint = "the key came from ROTA_API_KEY"
        return ApiEndpoint(address=address, key=check_key(variable), hint=hint)
    return find_key_file(address, folders)


def find_address(
    url: str | None, folders: list[Path], environment: Mapping[str, str]
) -> ApiAddress:
    if url:
        return ApiAddress(url=check_url(url), source=AddressSource.ARGUMENT)
    if variable := environment.get("ROTA_URL"):
        return ApiAddress(url=check_url(variable), source=AddressSource.VARIABLE)
    found = [address for folder in folders if (address := read_address(folder / ADDRESS_FILE))]
    # A folder that ROTA_DATA names is trusted.
    is_named = read_data_variable(environment) is not None
    trusted = [address for address in found if is_named or is_trusted(address.owner_id)]
    # Prefer the nearest running server, then the nearest stale file, so that the error names it.
    for address in sorted(trusted, key=lambda address: not address.is_running):
        try:
            url = check_url(address.url)
            return ApiAddress(url=url, source=AddressSource.FILE, published=address)
        except InvalidInput:
            continue
    note = f"no {DATA_FOLDER} of this folder or its parents names a running server"
    if is_named:
        note = f"{folders[0]} names no running server"
    if found:
        note = f"{found[0].file} belongs to another user"
    return ApiAddress(url=DEFAULT_URL, source=AddressSource.DEFAULT, note=note)


def find_key_file(address: ApiAddress, folders: list[Path]) -> ApiEndpoint:
    """Read the key from a data folder, for the server that the folder names or one on this machine.

    If no key is found, the hint names each place searched.
    """
    if address.published is not None:
        folders = [address.published.file.parent]
    elif not is_local(address.url):
        hint = f"no key was found: no key= was given and ROTA_API_KEY is not set ({DATA_FOLDER}/"
        hint += f"{KEY_FILE} is used only for a server on this machine)"
        return ApiEndpoint(address=address, key=None, hint=hint)
    files = [folder / KEY_FILE for folder in folders]
    for file in files:
        if (found := read_key(file)) is not None:
            return ApiEndpoint(address=address, key=found, hint=f"the key came from {file}")
    missing = ", ".join(f"{file} {describe_missing_key(file)}" for file in files)
    missing = missing or f"there is no {DATA_FOLDER} in this folder or its parents"
    hint = f"no key was found: no key= was given, ROTA_API_KEY is not set, {missing}"
    return ApiEndpoint(address=address, key=None, hint=hint)


def read_data_variable(environment: Mapping[str, str]) -> str | None:
    return environment.get("ROTA_DATA") or environment.get("ROTA_DATABASE__DATA") or None


def list_data_folders(environment: Mapping[str, str]) -> list[Path]:
    """The possible data folders of `rota up`, nearest first: in the working folder and its parents
    up to the home folder. A parent's folder counts if it belongs to this user or to root.
    """
    if (named := read_data_variable(environment)) is not None:
        return [Path(named).absolute()]
    if os.name != "posix":
        return [Path(DATA_FOLDER)]
    try:
        here = Path.cwd()
    except OSError:  # the working folder was deleted
        return []
    home = Path(environment.get("HOME") or "/")
    found = [here / DATA_FOLDER]
    for parent in () if here == home else here.parents:
        folder = parent / DATA_FOLDER
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


def check_url(url: str) -> str:
    """Check an address and remove its trailing slash. Errors hide a URL that has a password."""
    try:
        parts = urlsplit(url.strip())
        is_good = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise InvalidInput("url", url, WANTED_URL) from None
    if "@" in parts.netloc:
        wanted = "must not contain a user or password; pass the key as key="
        raise InvalidInput("url", "***", wanted)
    if not is_good or parts.query or parts.fragment:
        raise InvalidInput("url", url, WANTED_URL)
    return url.strip().rstrip("/")


def check_key(key: str) -> str:
    """Check that a key can be sent in a header. Errors hide the key."""
    key = key.strip()
    if not key or not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidInput("key", "***", WANTED_KEY)
    return key


def is_local(url: str) -> bool:
    """Whether the server is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_key(file: Path) -> str | None:
    """The key in the file; None if the file is missing, unreadable or holds no valid key."""
    try:
        return check_key(file.read_text(encoding="ascii"))
    except (OSError, UnicodeDecodeError, InvalidInput):
        return None


def describe_missing_key(file: Path) -> str:
    """Why a file gave no key."""
    try:
        file.read_bytes()
    except FileNotFoundError:
        return "does not exist"
    except OSError as error:
        return f"cannot be read ({(error.strerror or str(error)).lower()})"
    return "holds no key"
