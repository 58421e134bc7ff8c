"""Defines the named connections that the operator of a worker lets jobs use.

A payload contains a name and never an address. The settings of the worker define the URL of each
name. A URL is never shown, because it may contain a password.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from rota.core.errors import InvalidInput, InvalidSetting
from rota.core.tenancy import DEFAULT_TENANT, DEFAULT_TENANTS, build_resource_error, select_open

CONNECTION_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
MASK: Final = "***"
# Shorter passwords occur in too many texts to be replaced.
MASKED_MIN_CHARACTERS: Final = 3


class Dialect(StrEnum):
    """The SQL dialect of a connection."""

    POSTGRESQL = "postgresql"
    MYSQL = "mysql"
    SQLITE = "sqlite"
    DUCKDB = "duckdb"


DIALECTS: Final[Mapping[str, Dialect]] = MappingProxyType(
    {
        "postgresql": Dialect.POSTGRESQL,
        "postgres": Dialect.POSTGRESQL,
        "mysql": Dialect.MYSQL,
        "mariadb": Dialect.MYSQL,
        "sqlite": Dialect.SQLITE,
        "duckdb": Dialect.DUCKDB,
    }
)
STORE_SCHEMES: Final = ("s3", "gs", "az")
FILE_DIALECTS: Final = frozenset({Dialect.SQLITE, Dialect.DUCKDB})


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlConnection:
    """One named connection; its URL may contain a password."""

    name: str
    url: str = field(repr=False)
    read_only: bool = False
    tenants: tuple[str, ...] = DEFAULT_TENANTS

    def __post_init__(self) -> None:
        if CONNECTION_NAME.fullmatch(self.name) is None:
            wanted = "expected a name of a-z, 0-9, dash and underscore, at most 63 characters"
            raise InvalidSetting("executors.connections", self.name, wanted)
        known = (*DIALECTS, *STORE_SCHEMES)
        if self.scheme not in known:
            raise self._invalid("url", f"expected a URL with one of the schemes {', '.join(known)}")
        if self.dialect in FILE_DIALECTS and not self.path.startswith("/"):
            wanted = f"expected an absolute path, as in {self.scheme}:///srv/data/shop.db"
            raise self._invalid("url", wanted)
        if self.is_store and not self.host:
            raise self._invalid("url", f"expected a bucket, as in {self.scheme}://bucket/folder")

    def _invalid(self, setting: str, wanted: str) -> InvalidSetting:
        return InvalidSetting(f"executors.connections.{self.name}.{setting}", MASK, wanted)

    @property
    def target(self) -> str:
        """The name under which circuit breakers track this connection."""
        return f"connection:{self.name}"

    @property
    def parts(self) -> SplitResult:
        try:
            return urlsplit(self.url)
        except ValueError:
            return urlsplit("")

    @property
    def scheme(self) -> str:
        return self.parts.scheme

    @property
    def dialect(self) -> Dialect | None:
        """The SQL dialect; None for an object store."""
        return DIALECTS.get(self.scheme)

    @property
    def is_store(self) -> bool:
        return self.scheme in STORE_SCHEMES

    @property
    def host(self) -> str:
        return self.parts.hostname or ""

    @property
    def port(self) -> int | None:
        try:
            return self.parts.port
        except ValueError:
            raise self._invalid("url", "port must be 1–65535") from None

    @property
    def user(self) -> str | None:
        return None if self.parts.username is None else unquote(self.parts.username)

    @property
    def password(self) -> str | None:
        return None if self.parts.password is None else unquote(self.parts.password)

    @property
    def path(self) -> str:
        return unquote(self.parts.path)

    @property
    def options(self) -> dict[str, str]:
        return dict(parse_qsl(self.parts.query))


class SqlConnections:
    """The connections of a worker that a tenant may use."""

    def __init__(
        self, connections: Iterable[SqlConnection] = (), *, tenant: str = DEFAULT_TENANT
    ) -> None:
        self._all = {connection.name: connection for connection in connections}
        self._tenant = tenant
        self._named = select_open(self._all, tenant)

    def for_tenant(self, tenant: str) -> "SqlConnections":
        """Return the connections of the same worker that this tenant may use."""
        return self if tenant == self._tenant else SqlConnections(self._all.values(), tenant=tenant)

    def find(self, name: object, *, field: str = "connection") -> SqlConnection:
        """Return a connection by name; refuse a name that the tenant may not use."""
        if isinstance(name, str) and name in self._named:
            return self._named[name]
        setting = "executors.connections.NAME.tenants"
        raise build_resource_error(
            field, name, tenant=self._tenant, available=self._named, setting=setting
        )

    def find_database(self, name: object, *, field: str = "connection") -> SqlConnection:
        connection = self.find(name, field=field)
        if connection.dialect is None:
            wanted = "expected a connection to a database, not to an object store"
            raise InvalidInput(field, name, wanted)
        return connection


def mask_secrets(connection: SqlConnection, text: str) -> str:
    """Return a driver's text without the password and the URL of the connection."""
    for secret in (connection.url, connection.password, connection.parts.password):
        if secret is not None and len(secret) >= MASKED_MIN_CHARACTERS:
            text = text.replace(secret, MASK)
    return text
