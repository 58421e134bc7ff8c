"""Lists event sources and their errors.

The settings of the schedulers define the sources, because these contain addresses and passwords of
other systems.
"""

from typing import Literal

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.schemas.field_types import format_optional_time
from rota.api.schemas.sources import Sources, SourceView
from rota.core.access import Permission
from rota.store import event_sources
from rota.store.event_sources import SourceRow


@operation("GET", "/v1/sources", tag="events", permission=Permission.READ, answer=Sources)
async def list_sources(call: Call) -> Reply:
    """List event sources with their readers, progress and last errors."""
    found = await event_sources.list_sources(call.conn, tenant_id=call.tenant_id)
    return Reply(Sources(data=[build_source_view(row) for row in found]))


def build_source_view(row: SourceRow) -> SourceView:
    return SourceView(
        name=row.name,
        kind=row.kind,
        state=find_state(row),
        reader=row.reader,
        position=row.position,
        lag=row.lag,
        taken=row.taken,
        refused=row.refused,
        read_at=format_optional_time(row.read_at),
        taken_at=format_optional_time(row.taken_at),
        failures=row.failures,
        error=row.error,
        error_at=format_optional_time(row.error_at),
    )


def find_state(row: SourceRow) -> Literal["reading", "failing", "idle"]:
    if row.failures:
        return "failing"
    return "idle" if row.reader is None else "reading"
