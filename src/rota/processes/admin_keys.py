"""Creates the bootstrap admin key and one-time setup links, on the server's machine.

Database access is the only requirement: it implies full control anyway. A link is a login ticket of
an internal key that expires with the login.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

from rota.api.dashboard import logins as cookies
from rota.config.database import DatabaseSettings
from rota.config.settings import Settings
from rota.core import api_keys
from rota.core.access import Role
from rota.core.errors import InvalidSetting
from rota.core.ids import build_id
from rota.processes.key_files import write_key_file
from rota.runtime.events import AdminKeyExpires
from rota.runtime.service import ServiceContext
from rota.store import interning, keys, logins
from rota.store.driver import Connection, ConnectionSource
from rota.store.embedded import EmbeddedOptions, start
from rota.store.embedded.home import EmbeddedHome
from rota.store.keys import EXPIRY_WARNING, NewKey
from rota.store.pool import DatabaseAccess, open_connection, read_database_time
from rota.store.transaction import transaction

KEY_FILE: Final = "admin.key"
SETUP_KEY: Final = "setup link"
LINK_LIFETIME: Final = timedelta(minutes=15)
# The lifetime of the link plus that of a login.
SETUP_KEY_LIFETIME: Final = LINK_LIFETIME + logins.LOGIN_LIFETIME
WATCH_INTERVAL: Final = timedelta(days=1)


class SetupLink(NamedTuple):
    """`path` is relative to the address of the API."""

    path: str
    expires_at: datetime


async def renew_admin_key(settings: Settings) -> Path:
    """Create a new bootstrap admin key, revoke the previous one, and return the file of the key."""
    async with open_existing_database(settings.database, name="rota keys renew-admin") as conn:
        key = await keys.renew_admin_key(conn, key_id=await _new_id(conn), bits=os.urandom(32))
    return write_key_file(settings.database.data, key, name=KEY_FILE)


async def create_setup_link(settings: Settings, *, tenant: str = "default") -> SetupLink:
    """Create a one-time link that logs in to the dashboard as platform admin."""
    async with (
        open_existing_database(settings.database, name="rota setup-link") as conn,
        transaction(conn),
    ):
        key_id, ticket = (
            await _new_id(conn),
            cookies.encode_secret(os.urandom(cookies.SECRET_BYTES)),
        )
        new = NewKey(
            id=key_id,
            tenant_id=(await interning.find_tenant_ids(conn, [tenant]))[tenant],
            name=SETUP_KEY,
            role=Role.PLATFORM,
            key=api_keys.create_key(os.urandom(32)),
            lifetime=SETUP_KEY_LIFETIME,
        )
        await keys.create_key(conn, new)
        ends = await logins.create_ticket(
            conn, digest=cookies.digest_secret(ticket), key_id=key_id, lifetime=LINK_LIFETIME
        )
    return SetupLink(f"/login#ticket={ticket}", ends)


@asynccontextmanager
async def open_existing_database(
    settings: DatabaseSettings, *, name: str
) -> AsyncIterator[Connection]:
    """Connect to the database of an existing installation; create and migrate nothing."""
    async with AsyncExitStack() as stack:
        url = settings.url
        if url is None:
            if not EmbeddedHome(path=settings.data.resolve()).data.is_dir():
                wanted = "no installation found there: run `rota up` first, or set --data"
                raise InvalidSetting("database.data", str(settings.data), wanted)
            options = EmbeddedOptions(binaries=settings.binaries)
            embedded = await asyncio.to_thread(start, settings.data, options=options)
            stack.callback(embedded.close)
            url = embedded.url
        access = DatabaseAccess(url=url, name=name, connect_timeout=settings.connect_timeout)
        yield await stack.enter_async_context(open_connection(access))


async def _new_id(conn: Connection) -> UUID:
    return build_id(await read_database_time(conn), os.urandom(10))


@dataclass(frozen=True, slots=True)
class AdminKeyWatch:
    """Warns once a day that the bootstrap admin key is about to expire."""

    source: ConnectionSource
    context: ServiceContext

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            expiring = await keys.read_expiring_admin_keys(conn, within=EXPIRY_WARNING)
        for key in expiring:
            event = AdminKeyExpires(key_id=f"key_{key.id.hex}", expires_at=key.expires_at)
            self.context.emit(event)
        return WATCH_INTERVAL.total_seconds()
