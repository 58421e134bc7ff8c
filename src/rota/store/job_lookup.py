"""Finds jobs by name."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from rota.store.driver import Connection
from rota.store.statement import statement


class NamedJob(NamedTuple):
    id: UUID
    name: str


FIND_JOBS_BY_NAME = statement("jobs/find_by_name", NamedJob)


async def find_job_ids(
    conn: Connection, *, tenant_id: int, names: Sequence[str]
) -> dict[str, UUID]:
    """Return the ids of the jobs that currently have these names."""
    rows = await FIND_JOBS_BY_NAME.all(conn, tenant_id=tenant_id, names=names)
    return {row.name: row.id for row in rows}
