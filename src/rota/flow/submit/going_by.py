"""Schedules that go by calendars: how they are shared, and kept while a tick is written (S15).

Room: flow/submit. A tick that is computed by calendars is right as long as they do not change; so
they are held from then until the tick is committed. What a change of theirs does to the ticks that
were written before is rescheduling.py.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rota.contract.schedule import write_schedule
from rota.core.submission import canonical
from rota.core.time.calendars import Calendar
from rota.core.time.schedule import Schedule
from rota.store import calendars
from rota.store.driver import Connection


def shared_text(schedule: Schedule, tenant_id: int) -> str:
    """The canonical form, by which schedules are interned. Jobs of all tenants share them, so their
    calendars go by names that no two tenants have.
    """
    names = tuple(calendars.qualified(tenant_id, name) for name in schedule.calendars)
    return canonical(write_schedule(replace(schedule, calendars=names)))


async def hold_calendars(
    conn: Connection,
    tenant_id: int,
    schedules: Iterable[Schedule | None],
    known: Mapping[str, Calendar],
) -> None:
    """Keep the calendars of schedules as the caller knows them, until the transaction ends."""
    named = {name for schedule in schedules if schedule is not None for name in schedule.calendars}
    if named:
        mine = {name: known[name] for name in sorted(named) if name in known}
        await calendars.hold(conn, tenant_id=tenant_id, known=mine)
