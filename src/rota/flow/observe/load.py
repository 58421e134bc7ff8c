"""What will fire when, over all jobs of a tenant. Room: flow/observe.

Jobs whose schedules read the same are planned together: most of a herd is one expression. Planning
is arithmetic, so it is done in a thread and everybody else is answered meanwhile.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import InvalidInput, NewerDocument
from rota.core.time import plain
from rota.core.time.calendars import Calendar
from rota.core.time.crowding import Alike, Span, crowding
from rota.core.time.schedule import Schedule
from rota.store import calendars, load_views
from rota.store.driver import Connection
from rota.store.load_views import MOST, Scheduled

LONGEST: Final = timedelta(days=35)
MOST_PARTS: Final = 10_800
MOST_SHOWN: Final = 200
# To read a schedule takes 0.1 ms. Of more than this, some stand for the others.
MOST_READ: Final = 1000


class Busy(NamedTuple):
    """A job and how many ticks it has in the span."""

    job_id: UUID
    job: str
    ticks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """`parts` are those with ticks, by their start; `busiest` the jobs with most ticks. `unknown`
    is how many jobs have ticks that nobody can tell yet: they follow the end of a run.
    """

    parts: Mapping[datetime, int]
    jobs: int
    unknown: int
    busiest: Sequence[Busy]
    is_estimate: bool


async def ahead(conn: Connection, span: Span, *, tenant_id: int) -> Load:
    """The ticks of all jobs of a tenant in a span."""
    if not timedelta(0) < span.until - span.since <= LONGEST:
        raise InvalidInput(
            "until", span.until, f"a time after since, by {LONGEST.days} days at most"
        )
    if span.parts > MOST_PARTS:
        raise InvalidInput("bucket", span.width, f"one that makes at most {MOST_PARTS:,} parts")
    found = await load_views.schedules(conn, tenant_id=tenant_id)
    known = await calendars.read_all(conn, tenant_id=tenant_id)
    return await asyncio.to_thread(_load, found, span, known)


def _readable(text: str) -> Schedule | None:
    """A stored schedule; None if only newer code can tell its ticks."""
    try:
        return plain.read_stored(json.loads(text))
    except NewerDocument:
        return None


def _load(found: Sequence[Scheduled], span: Span, known: Mapping[str, Calendar]) -> Load:
    alike: dict[tuple[str, int], list[Scheduled]] = {}
    for each in found[:MOST]:
        alike.setdefault((each.schedule, each.fired or 0), []).append(each)
    stride = -(-len(alike) // MOST_READ)
    read = [
        (schedule, fired, members)
        for (text, fired), members in list(alike.items())[:: stride or 1]
        if (schedule := _readable(text)) is not None
    ]
    groups = [
        Alike(schedule=schedule, number=len(members), fired=fired)
        for schedule, fired, members in read
    ]
    crowd = crowding([each.times(stride) for each in groups], span, calendars=known)
    busy = [
        Busy(member.job_id, member.job, ticks)
        for (_, _, members), ticks in zip(read, crowd.each, strict=True)
        if ticks
        for member in members
    ]
    pairs = zip(groups, (members for _, _, members in read), strict=True)
    return Load(
        parts={span.since + part * span.width: crowd.parts[part] for part in sorted(crowd.parts)},
        jobs=len(busy) * max(stride, 1),
        unknown=sum(len(members) for group, members in pairs if group.schedule.follows_end)
        * max(stride, 1),
        busiest=sorted(busy, key=lambda each: (-each.ticks, each.job))[:MOST_SHOWN],
        is_estimate=crowd.is_estimate or stride > 1 or len(found) > MOST,
    )
