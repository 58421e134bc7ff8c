"""Where jobs may read and write, by name. Room: executors/sync.

The operator of the worker says in the settings what a name stands for; a payload knows the name and
a path below it. Secrets are in here and nowhere else: they are not in the repr, and `clean` takes
them out of whatever a library says.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import SplitResult, unquote, urlsplit

from rota.core.errors import InvalidSetting
from rota.core.tenancy import DEFAULT_TENANTS
from rota.executors.sync.tree import names_of

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}", re.ASCII)
FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]{43}", re.ASCII)
QUERY = re.compile(r"\?[^\s\"']+")
FILES, S3, GCS, AZURE, SFTP = "file", "s3", "gs", "az", "sftp"
SCHEMES = (FILES, S3, GCS, AZURE, SFTP)
STORES = (S3, GCS, AZURE)
SSH_PORT = 22
LONGEST_SAID = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder, a bucket or a part of it, or a folder of another machine.

    `account` is the access key's id (S3), the storage account (Azure); `secret` is the key's secret
    (S3), the account's key (Azure), the service account as JSON (GCS), the passphrase of `key_file`
    or the password (SFTP). Without a secret an object store is asked with the credentials that the
    worker's environment gives.
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
        if NAME.fullmatch(self.name) is None:
            wanted = "names of a-z, 0-9, dot, dash and underscore"
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
        """The machine, or the bucket."""
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

    def clean(self, said: object) -> str:
        """What a library said, on one line, cut, and without what nobody may see."""
        text = " ".join(str(said).split())
        for hidden in filter(None, (self.secret, self.account)):
            text = text.replace(hidden, "***")
        return QUERY.sub("?…", text)[:LONGEST_SAID]

    def _wrong(self, setting: str, value: object, wanted: str) -> InvalidSetting:
        return InvalidSetting(f"executors.places.{self.name}.{setting}", value, wanted)

    def _parts(self) -> SplitResult:
        try:
            parts = urlsplit(self.url)
            _ = parts.port if parts.scheme == SFTP else None
        except ValueError:
            raise self._wrong("url", "***", f"a URL of {', '.join(SCHEMES)}") from None
        # The URL is shown nowhere, so that a password in it can be refused without being told.
        if parts.scheme not in SCHEMES:
            raise self._wrong("url", parts.scheme, f"a URL of {', '.join(SCHEMES)}")
        if parts.password is not None:
            raise self._wrong("url", "***", "a URL without a password; `secret` is for that")
        if parts.query or parts.fragment:
            raise self._wrong("url", "***", "a URL without a question mark or a hash")
        if ".." in names_of(unquote(parts.path)) or "\0" in unquote(parts.path):
            raise self._wrong("url", parts.path, "a path without ..")
        return parts

    def _check_folder(self, parts: SplitResult) -> None:
        if parts.netloc not in {"", "localhost"} or not unquote(parts.path).startswith("/"):
            raise self._wrong("url", self.url, "a folder such as file:///srv/photos")
        self._only(())

    def _check_sftp(self, parts: SplitResult) -> None:
        if not parts.hostname or not parts.username:
            wanted = "a URL with user and host such as sftp://backup@host:22/folder"
            raise self._wrong("url", parts.hostname, wanted)
        if not self.host_keys or not all(map(FINGERPRINT.fullmatch, self.host_keys)):
            wanted = (
                'the fingerprints of the host\'s keys, as ["SHA256:…"]; ssh-keygen -lf tells them'
            )
            raise self._wrong("host_keys", list(self.host_keys), wanted)
        if self.key_file is None and self.secret is None:
            raise self._wrong("key_file", None, "a private key, or a password in `secret`")
        self._only(("key_file", "host_keys", "secret"))

    def _check_store(self, parts: SplitResult) -> None:
        if not parts.netloc or "@" in parts.netloc:
            raise self._wrong(
                "url", parts.scheme, f"a bucket such as {parts.scheme}://bucket/folder"
            )
        if self.endpoint is not None and not re.match(r"https?://[^\s@?#]+\Z", self.endpoint):
            raise self._wrong("endpoint", "***", "a URL such as https://minio.example:9000")
        if parts.scheme == S3 and (self.account is None) != (self.secret is None):
            raise self._wrong("account", "***", "both account and secret, or neither of them")
        if parts.scheme == AZURE and self.account is None:
            raise self._wrong("account", None, "the name of the storage account")
        self._only(("endpoint", "region", "account", "secret"))

    def _only(self, known: Iterable[str]) -> None:
        """A setting that would be ignored is a mistake: somebody believes it has an effect."""
        given: Mapping[str, object] = {
            "endpoint": self.endpoint,
            "region": self.region,
            "account": self.account,
            "secret": self.secret,
            "key_file": self.key_file,
            "host_keys": self.host_keys,
        }
        for setting, value in given.items():
            if value and setting not in known:
                raise self._wrong(
                    setting, "***", f"nothing: it has no meaning for {self.scheme}://"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A folder below a place; `path` has no leading slash and no `..`."""

    place: Place
    path: str

    @property
    def shown(self) -> str:
        return f"{self.place.name}:/{self.path}"

    def overlaps(self, other: "Location") -> bool:
        """Whether one holds the other, as far as their names tell."""
        mine, theirs = self.whole(), other.whole()
        if self.where() != other.where():
            return False
        return mine == theirs or mine in theirs.parents or theirs in mine.parents

    def whole(self) -> PurePosixPath:
        return PurePosixPath("/", *names_of(self.place.path), *names_of(self.path))

    def where(self) -> tuple[object, ...]:
        place = self.place
        port = place.port if place.scheme == SFTP else 0
        return place.scheme, place.host.lower(), port, place.endpoint, place.account
