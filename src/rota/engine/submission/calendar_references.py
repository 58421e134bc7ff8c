"""Locks and qualifies the calendars that schedules reference (S15).

A tick that was computed with calendars is right as long as these do not change, so they are locked
until the tick is committed. rescheduling.py moves stored ticks when a calendar changes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rota.contract.schedule import write_schedule
from rota.core.submissions import encode_canonical
from rota.core.time.calendars import Calendar
from rota.core.time.schedule import Schedule
from rota.store import calendars
from rota.store.driver import Connection


def render_shared_schedule(schedule: Schedule, tenant_id: int) -> str:
    """Return the canonical form, by which schedules are interned. Jobs of all tenants share these
    forms, so calendar names are qualified with the tenant.
    """
    names = tuple(calendars.qualify_name(tenant_id, name) for name in schedule.calendars)
    return encode_canonical(write_schedule(replace(schedule, calendars=names)))


async def lock_calendars(
    conn: Connection,
    tenant_id: int,
    schedules: Iterable[Schedule | None],
    known: Mapping[str, Calendar],
) -> None:
    """Lock the calendars of schedules, as the caller knows them, until the transaction ends."""
    used = {name for schedule in schedules if schedule is not None for name in schedule.calendars}
    if used:
        mine = {name: known[name] for name in sorted(used) if name in known}
        await calendars.lock_calendars(conn, tenant_id=tenant_id, known=mine)
