"""The short way for many jobs that differ in name, time and payload only. Room: flow/submit.

What they share is checked, read and sent once; of each, only what is its own. Here is no rule of
its own: what is not plainly good, or may concern one of them and not another, is left to the long
way (submitting.py), which comes to the same rows and says what is wrong and where.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from rota.core.binding import MARK, payload_text
from rota.core.errors import InvalidInput, NameTaken
from rota.core.overlap import ONE_BY_ONE
from rota.core.submission import JobSpec, check_name
from rota.core.time import moments
from rota.core.time.calendars import Calendar
from rota.core.time.schedule import HORIZON
from rota.flow.submit import submitting
from rota.flow.submit.allowing import allow_jobs, allow_period
from rota.flow.submit.drafting import Draft, Drafting, once_text
from rota.flow.submit.going_by import hold_calendars
from rota.flow.submit.interned import Interned
from rota.flow.submit.submitting import Submitted
from rota.store import alike, jobs
from rota.store.driver import Connection
from rota.store.jobs import NewJob
from rota.store.transaction import joined, transaction


class Alike(NamedTuple):
    """Jobs like `spec`, which is the first of them. Without `times` all go by its schedule."""

    spec: JobSpec
    names: Sequence[str]
    payloads: Sequence[object]
    times: Sequence[object] | None = None


# What is stored as the schedule of each, its first tick, and when that is due.
_Tables = tuple[Sequence[str | None], Sequence[datetime], Sequence[datetime]]


class Drafted(NamedTuple):
    """The first of them, found good, and what is each one's own."""

    model: Draft
    each: alike.Columns


def draft(
    given: Alike,
    *,
    now: datetime,
    new_id: Callable[[], UUID],
    calendars: Mapping[str, Calendar],
) -> Drafted | None:
    """Check them all, or say that the long way must be gone."""
    drafting = Drafting(now, calendars)
    try:
        model = drafting.draft(given.spec, new_id())
        if not _is_plain(model):
            return None
        names = [check_name(name, "name") for name in given.names]
        payloads = [payload_text(each, kind=model.spec.kind) for each in given.payloads]
        times = None if given.times is None else [moments.parse(at) for at in given.times]
    except InvalidInput:
        return None
    if len(set(names)) < len(names) or any(text and MARK in text for text in payloads):
        return None
    tables = _own_times(given.spec, times, now) if times else _shared(drafting, model, len(names))
    if tables is None:
        return None
    schedules, tick_ats, fire_ats = tables
    ids = [model.id, *(new_id() for _ in names[1:])]
    return Drafted(
        model,
        alike.Columns(
            ids=ids,
            names=names,
            schedules=schedules,
            payloads=payloads,
            tick_ats=tick_ats,
            fire_ats=fire_ats,
        ),
    )


async def submit(
    conn: Connection, drafted: Drafted, *, now: datetime, calendars: Mapping[str, Calendar]
) -> list[Submitted]:
    """Write all of these jobs or none."""
    model, each = drafted
    async with joined(conn):
        ids = await submitting.intern(conn, [model], Interned())
        tenant_id, quotas = ids.tenants[model.spec.tenant], ids.quotas[model.spec.tenant]
        allow_period(quotas, model.schedule, now)
        await allow_jobs(conn, quotas, tenant_id=tenant_id, more=len(each.ids))
        await hold_calendars(conn, tenant_id, [model.schedule], calendars)
        await _write(conn, submitting.new_job(model, ids, ()), each)
    return [Submitted(id_, None, at) for id_, at in zip(each.ids, each.tick_ats, strict=True)]


async def _write(conn: Connection, model: NewJob, each: alike.Columns) -> None:
    """To look for every name first costs more than a savepoint for all of them."""
    try:
        async with transaction(conn):
            await alike.insert(conn, model, each)
    except NameTaken:
        await jobs.refuse_taken(conn, [(model.tenant_id, name) for name in each.names])
        raise


def _is_plain(model: Draft) -> bool:
    """Whether nothing about it depends on its name or its payload, and its ticks are to come."""
    spec = model.spec
    return (
        model.first is not None
        and model.graph_text is None
        and spec.unique is None
        and not model.exactly_once
        and not spec.limits
        and spec.overlap not in ONE_BY_ONE
    )


def _own_times(spec: JobSpec, times: Sequence[datetime], now: datetime) -> _Tables | None:
    """Each runs once, at its time, and nothing else is said about when."""
    last = now + HORIZON
    if spec.schedule is None or spec.schedule.keys() != {"at"}:
        return None
    if not all(now < at <= last for at in times):
        return None
    return [once_text(at) for at in times], times, times


def _shared(drafting: Drafting, model: Draft, number: int) -> _Tables | None:
    """All have the ticks of the first, if those do not depend on which job it is."""
    first = model.first
    if first is None or not drafting.is_shared(model.spec.schedule):
        return None
    return [model.schedule_text] * number, [first.tick.at] * number, [first.due_at] * number
