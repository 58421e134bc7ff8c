"""Databases for tests: one migrated template per server, cloned for each test."""

import itertools
import os
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from rota.store.schema_migration import migrate

TEMPLATE = "rota_template"
_numbers = itertools.count()


def with_database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


async def make_template(url: str) -> None:
    """Migrate the template unless another worker of the same test run has done so."""
    admin = await asyncpg.connect(url)
    try:
        await admin.execute("select pg_advisory_lock(1)")
        if not await admin.fetchval("select 1 from pg_database where datname = $1", TEMPLATE):
            await admin.execute("create database rota_making")
            conn = await asyncpg.connect(with_database(url, "rota_making"))
            await migrate(conn)
            await conn.close()
            await admin.execute(f"alter database rota_making rename to {TEMPLATE}")
    finally:
        await admin.close()


async def clone_url(url: str) -> str:
    name = f"test_{os.getpid()}_{next(_numbers)}"
    await create(url, name, template=TEMPLATE)
    return with_database(url, name)


async def create(url: str, name: str, *, template: str = "template0") -> str:
    admin = await asyncpg.connect(url)
    try:
        await admin.execute(f"create database {name} template {template} strategy file_copy")
    finally:
        await admin.close()
    return with_database(url, name)


# Tries to drop a database that autovacuum looks after.
DROPS_MAX = 50


async def drop(url: str, database: str) -> None:
    name = urlsplit(database).path.strip("/")
    admin = await asyncpg.connect(url)
    try:
        for left in reversed(range(DROPS_MAX)):
            try:
                await admin.execute(f"drop database if exists {name} with (force)")
            except asyncpg.InsufficientPrivilegeError:
                # An autovacuum worker is there, which only a superuser may end.
                if not left:
                    raise
                await admin.execute("select pg_sleep(0.2)")
            else:
                return
    finally:
        await admin.close()
