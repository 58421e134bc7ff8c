"""The schedules of a tenant, for a picture of the load to come. Room: store."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.store.driver import Connection
from rota.store.statement import statement

MOST: Final = 10_000


class Scheduled(NamedTuple):
    """A job with ticks to come; its schedule as JSON text. `fired` only if the ticks are capped;
    `tick_at` is the first tick that was not decided yet.
    """

    job_id: UUID
    job: str
    schedule: str
    fired: int | None
    tick_at: datetime


SCHEDULES = statement("load_views/schedules", Scheduled)


async def schedules(conn: Connection, *, tenant_id: int) -> list[Scheduled]:
    """At most `MOST` of them and one more, which tells that there are more."""
    return await SCHEDULES.all(conn, tenant_id=tenant_id, most=MOST + 1)
