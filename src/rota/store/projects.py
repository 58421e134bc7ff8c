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

MANIFEST_THING: Final = "manifest"


class ProjectJobId(NamedTuple):
    id: UUID


class AppliedManifest(NamedTuple):
    id: int


class ManualChange(NamedTuple):
    """The last manual change of a job."""

    id: UUID
    at: datetime
    actor: str
    action: str


MEMBERS = statement("projects/members", ProjectJobId)
APPLIED = statement("projects/applied", AppliedManifest)
READ_MANUAL_CHANGES = statement("projects/manual_changes", ManualChange)


async def find_members(conn: Connection, *, tenant_id: int, project: str) -> list[UUID]:
    """Return the jobs of a project that are not deleted."""
    rows = await MEMBERS.all(conn, tenant_id=tenant_id, project=project)
    return [row.id for row in rows]


async def read_jobs(conn: Connection, *, tenant_id: int, ids: Sequence[UUID]) -> dict[str, JobRow]:
    """Return jobs as the API shows them, by name."""
    rows = await READ.all(conn, tenant_id=tenant_id, ids=ids, with_graph=True)
    return {row.name: row for row in rows}


async def read_manual_changes(
    conn: Connection, *, tenant_id: int, project: str, ids: Sequence[UUID]
) -> dict[UUID, ManualChange]:
    """Return the jobs that were changed since the file was applied; none if it never was."""
    applied = await APPLIED.one(conn, tenant_id=tenant_id, project=project)
    if applied is None or not ids:
        return {}
    rows = await READ_MANUAL_CHANGES.all(
        conn,
        tenant_id=tenant_id,
        ids=ids,
        thing_ids=[f"job_{id_.hex}" for id_ in ids],
        since=applied.id,
    )
    return {row.id: row for row in rows}
