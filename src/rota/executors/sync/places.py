"""Defines the places, by name, where jobs may read and write.

The operator of the worker defines places in the settings; a payload contains only the name of a
place and a path below it. Only this module holds their secrets: the repr omits them, and `clean`
removes them from the messages of libraries.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import SplitResult, unquote, urlsplit

from rota.core.errors import InvalidSetting
from rota.core.tenancy import DEFAULT_TENANTS
from rota.executors.sync.tree import split_path

PLACE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}", re.ASCII)
FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]{43}", re.ASCII)
URL_QUERY = re.compile(r"\?[^\s\"']+")
FILES, S3, GCS, AZURE, SFTP = "file", "s3", "gs", "az", "sftp"
SCHEMES = (FILES, S3, GCS, AZURE, SFTP)
URL_EXPECTED = f"expected a URL with one of the schemes {', '.join(SCHEMES)}"
SSH_PORT = 22
LIBRARY_MESSAGE_MAX_CHARACTERS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncPlace:
    """A folder, a bucket or a prefix in it, or a folder on an SFTP server.

    `account` is the id of the access key (S3) or the storage account (Azure). `secret` is the
    secret of the access key (S3), the account's key (Azure), the service account as JSON (GCS), the
    passphrase of `key_file` or the password (SFTP). Default for object stores: the credentials of
    the worker's environment.
    """

    name: str
    url: str
    endpoint: str | None = None
    region: str | None = None
    account: str | None = None
    secret: str | None = field(default=None, repr=False)
    key_file: str | None = None
    host_keys: tuple[str, ...] = ()
    read_only: bool = False
    tenants: tuple[str, ...] = DEFAULT_TENANTS

    def __post_init__(self) -> None:
        if PLACE_NAME.fullmatch(self.name) is None:
            wanted = "expected a name of a-z, 0-9, dot, dash and underscore"
            raise InvalidSetting("executors.places", self.name, wanted)
        parts = self._parts()
        if parts.scheme == FILES:
            self._check_folder(parts)
        elif parts.scheme == SFTP:
            self._check_sftp(parts)
        else:
            self._check_store(parts)

    @property
    def scheme(self) -> str:
        return urlsplit(self.url).scheme

    @property
    def host(self) -> str:
        """The server or the bucket."""
        return (
            urlsplit(self.url).hostname or "" if self.scheme == SFTP else urlsplit(self.url).netloc
        )

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or SSH_PORT

    @property
    def user(self) -> str | None:
        user = urlsplit(self.url).username
        return None if user is None else unquote(user)

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.url).path)

    def clean_message(self, message: object) -> str:
        """Return a library's message as one short line without secrets."""
        text = " ".join(str(message).split())
        for hidden in filter(None, (self.secret, self.account)):
            text = text.replace(hidden, "***")
        return URL_QUERY.sub("?…", text)[:LIBRARY_MESSAGE_MAX_CHARACTERS]

    def _invalid(self, setting: str, value: object, wanted: str) -> InvalidSetting:
        return InvalidSetting(f"executors.places.{self.name}.{setting}", value, wanted)

    def _parts(self) -> SplitResult:
        try:
            parts = urlsplit(self.url)
            _ = parts.port if parts.scheme == SFTP else None
        except ValueError:
            raise self._invalid("url", "***", f"{URL_EXPECTED}") from None
        # Errors never show the URL, which may contain a password.
        if parts.scheme not in SCHEMES:
            raise self._invalid("url", parts.scheme, f"{URL_EXPECTED}")
        if parts.password is not None:
            raise self._invalid("url", "***", "must not contain a password; use `secret`")
        if parts.query or parts.fragment:
            raise self._invalid("url", "***", "must not contain ? or #")
        if ".." in split_path(unquote(parts.path)) or "\0" in unquote(parts.path):
            raise self._invalid("url", parts.path, "path must not contain ..")
        return parts

    def _check_folder(self, parts: SplitResult) -> None:
        if parts.netloc not in {"", "localhost"} or not unquote(parts.path).startswith("/"):
            raise self._invalid("url", self.url, "expected a folder such as file:///srv/photos")
        self._refuse_other_settings(())

    def _check_sftp(self, parts: SplitResult) -> None:
        if not parts.hostname or not parts.username:
            wanted = "expected a URL with user and host such as sftp://backup@host:22/folder"
            raise self._invalid("url", parts.hostname, wanted)
        if not self.host_keys or not all(map(FINGERPRINT.fullmatch, self.host_keys)):
            wanted = (
                'expected the fingerprints of the host keys, as ["SHA256:…"]; '
                "ssh-keygen -lf prints them"
            )
            raise self._invalid("host_keys", list(self.host_keys), wanted)
        if self.key_file is None and self.secret is None:
            raise self._invalid("key_file", None, "expected a private key, or set `secret`")
        self._refuse_other_settings(("key_file", "host_keys", "secret"))

    def _check_store(self, parts: SplitResult) -> None:
        if not parts.netloc or "@" in parts.netloc:
            wanted = f"expected a bucket such as {parts.scheme}://bucket/folder"
            raise self._invalid("url", parts.scheme, wanted)
        if self.endpoint is not None and not re.match(r"https?://[^\s@?#]+\Z", self.endpoint):
            wanted = "expected a URL such as https://minio.example:9000"
            raise self._invalid("endpoint", "***", wanted)
        if parts.scheme == S3 and (self.account is None) != (self.secret is None):
            raise self._invalid("account", "***", "set both account and secret, or neither")
        if parts.scheme == AZURE and self.account is None:
            raise self._invalid("account", None, "expected the name of the storage account")
        self._refuse_other_settings(("endpoint", "region", "account", "secret"))

    def _refuse_other_settings(self, known: Iterable[str]) -> None:
        """Refuse settings that would have no effect: the operator expects one."""
        settings: Mapping[str, object] = {
            "endpoint": self.endpoint,
            "region": self.region,
            "account": self.account,
            "secret": self.secret,
            "key_file": self.key_file,
            "host_keys": self.host_keys,
        }
        for setting, value in settings.items():
            if value and setting not in known:
                wanted = f"{self.scheme}:// places do not use this setting; remove it"
                raise self._invalid(setting, "***", wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceFolder:
    """A folder below a place; `path` has no leading slash and no `..`."""

    place: SyncPlace
    path: str

    @property
    def shown(self) -> str:
        return f"{self.place.name}:/{self.path}"

    def overlaps(self, other: "PlaceFolder") -> bool:
        """Return whether one contains the other, judging by their names."""
        mine, theirs = self.full_path(), other.full_path()
        if self.store_key() != other.store_key():
            return False
        return mine == theirs or mine in theirs.parents or theirs in mine.parents

    def full_path(self) -> PurePosixPath:
        return PurePosixPath("/", *split_path(self.place.path), *split_path(self.path))

    def store_key(self) -> tuple[object, ...]:
        place = self.place
        port = place.port if place.scheme == SFTP else 0
        return place.scheme, place.host.lower(), port, place.endpoint, place.account
