"""Reads the schedules of a tenant, to chart the upcoming load."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.store.driver import Connection
from rota.store.statement import statement

SCHEDULES_MAX: Final = 10_000


class ScheduledJob(NamedTuple):
    """A job with future ticks; its schedule as JSON text. `fired` is set only if the number of
    ticks is limited; `tick_at` is the first undecided tick.
    """

    job_id: UUID
    job: str
    schedule: str
    fired: int | None
    tick_at: datetime


SCHEDULES = statement("load_views/schedules", ScheduledJob)


async def read_schedules(conn: Connection, *, tenant_id: int) -> list[ScheduledJob]:
    """Return at most `MOST` schedules plus one, which shows that there are more."""
    return await SCHEDULES.all(conn, tenant_id=tenant_id, most=SCHEDULES_MAX + 1)
