"""Sources of events: where they are read, and what is wrong with them. Room: api/resources.

They are set up in the settings of the schedulers, because they hold addresses and passwords of
other systems; here they are only shown.
"""

from typing import Literal

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.shapes.pieces import moment_or_none
from rota.api.shapes.sources import Sources, SourceView
from rota.core.access import Permission
from rota.store import sources
from rota.store.sources import SourceRow


@operation("GET", "/v1/sources", tag="events", permission=Permission.READ, answer=Sources)
async def list_sources(call: Call) -> Reply:
    """The sources that events come from: who reads them, how far, and what went wrong last."""
    found = await sources.listed(call.conn, tenant_id=call.tenant_id)
    return Reply(Sources(data=[source_view(row) for row in found]))


def source_view(row: SourceRow) -> SourceView:
    return SourceView(
        name=row.name,
        kind=row.kind,
        state=state_of(row),
        reader=row.reader,
        position=row.position,
        lag=row.lag,
        taken=row.taken,
        refused=row.refused,
        read_at=moment_or_none(row.read_at),
        taken_at=moment_or_none(row.taken_at),
        failures=row.failures,
        error=row.error,
        error_at=moment_or_none(row.error_at),
    )


def state_of(row: SourceRow) -> Literal["reading", "failing", "idle"]:
    if row.failures:
        return "failing"
    return "idle" if row.reader is None else "reading"
