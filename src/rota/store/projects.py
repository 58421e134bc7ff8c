"""Reads the jobs of a project, and who changed them after its file was applied.

A project is a label on its jobs (core/manifest). Applying a file adds an entry to the audit log;
all later entries about a job are manual changes.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.store.driver import Connection
from rota.store.job_views import READ, JobRow
from rota.store.statement import statement

THING: Final = "manifest"


class Member(NamedTuple):
    id: UUID


class Applied(NamedTuple):
    id: int


class Touched(NamedTuple):
    """The last manual change of a job."""

    id: UUID
    at: datetime
    actor: str
    action: str


MEMBERS = statement("projects/members", Member)
APPLIED = statement("projects/applied", Applied)
TOUCHED = statement("projects/touched", Touched)


async def members(conn: Connection, *, tenant_id: int, project: str) -> list[UUID]:
    """Return the jobs of a project that are not deleted."""
    rows = await MEMBERS.all(conn, tenant_id=tenant_id, project=project)
    return [row.id for row in rows]


async def read(conn: Connection, *, tenant_id: int, ids: Sequence[UUID]) -> dict[str, JobRow]:
    """Return jobs as the API shows them, by name."""
    rows = await READ.all(conn, tenant_id=tenant_id, ids=ids, with_graph=True)
    return {row.name: row for row in rows}


async def touched(
    conn: Connection, *, tenant_id: int, project: str, ids: Sequence[UUID]
) -> dict[UUID, Touched]:
    """Return the jobs that were changed since the file was applied; none if it never was."""
    applied = await APPLIED.one(conn, tenant_id=tenant_id, project=project)
    if applied is None or not ids:
        return {}
    rows = await TOUCHED.all(
        conn,
        tenant_id=tenant_id,
        ids=ids,
        thing_ids=[f"job_{id_.hex}" for id_ in ids],
        since=applied.id,
    )
    return {row.id: row for row in rows}
