"""Finds jobs by name."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from rota.store.driver import Connection
from rota.store.statement import statement


class Named(NamedTuple):
    id: UUID
    name: str


NAMED = statement("jobs/named", Named)


async def named(conn: Connection, *, tenant_id: int, names: Sequence[str]) -> dict[str, UUID]:
    """Return the ids of the jobs that currently have these names."""
    rows = await NAMED.all(conn, tenant_id=tenant_id, names=names)
    return {row.name: row.id for row in rows}
