"""What will fire when, over all jobs of a tenant. Room: flow/observe.

Jobs whose schedules read the same are counted together: most of a herd is one expression. A cron
`H` and jitter depend on the job, so such a schedule is read for each job, with the seed that the
scheduler uses. Counting is arithmetic, so it is done in a thread and everybody else is answered
meanwhile.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from rota.contract.schedule import read_stored_schedule
from rota.core.errors import InvalidInput, NewerDocument
from rota.core.time.budget import Check
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
SCHEDULES_READ_MAX: Final = 1000
# The same for jobs that share a schedule whose ticks depend on the job.
SEEDED_READ_MAX: Final = 500


class Busy(NamedTuple):
    """A job and how many ticks it has in the span; perhaps too many to count each."""

    job_id: UUID
    job: str
    ticks: int
    is_estimate: bool


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


async def ahead(conn: Connection, span: Span, *, tenant_id: int) -> Callable[[Check], Load]:
    """Read all jobs of a tenant, and return what computes their ticks in a span. That may take
    seconds: it is not to be done on the event loop.
    """
    if not timedelta(0) < span.until - span.since <= LONGEST:
        raise InvalidInput(
            "until", span.until, f"a time after since, by {LONGEST.days} days at most"
        )
    if span.parts > MOST_PARTS:
        raise InvalidInput("bucket", span.width, f"one that makes at most {MOST_PARTS:,} parts")
    found = await load_views.schedules(conn, tenant_id=tenant_id)
    known = await calendars.read_all(conn, tenant_id=tenant_id)
    return partial(_load, found, span, known)


class _Group(NamedTuple):
    """Jobs that have the same ticks. Each of `members` stands for `stride` jobs."""

    schedule: Schedule
    members: Sequence[Scheduled]
    stride: int

    @property
    def jobs(self) -> int:
        return len(self.members) * self.stride

    @property
    def counted(self) -> Alike:
        first = self.members[0]
        if first.fired is None:
            return Alike(schedule=self.schedule, number=self.jobs)
        return Alike(
            schedule=self.schedule, number=self.jobs, fired=first.fired, next_at=first.tick_at
        )


def _read(job: Scheduled) -> Schedule | None:
    """The schedule of a job; None if only newer code can tell its ticks."""
    try:
        return read_stored_schedule(json.loads(job.schedule), seed=str(job.job_id))
    except NewerDocument:
        return None


def _grouped(found: Sequence[Scheduled]) -> Iterator[_Group]:
    """The schedules, each read once for all jobs that share its ticks."""
    alike: dict[tuple[object, ...], list[Scheduled]] = {}
    for each in found:
        # Where a job stands in its schedule matters to a capped one only.
        place = () if each.fired is None else (each.fired, each.tick_at)
        alike.setdefault((each.schedule, *place), []).append(each)
    stride = -(-len(alike) // SCHEDULES_READ_MAX) or 1
    for members in list(alike.values())[::stride]:
        schedule = _read(members[0])
        if schedule is None:
            continue
        if not schedule.depends_on_seed:
            yield _Group(schedule, members, stride)
            continue
        further = -(-len(members) // SEEDED_READ_MAX)
        for member in members[::further]:
            yield _Group(_read(member) or schedule, [member], stride * further)


def _load(
    found: Sequence[Scheduled],
    span: Span,
    known: Mapping[str, Calendar],
    check: Check | None = None,
) -> Load:
    groups = []
    for group in _grouped(found[:MOST]):
        if check is not None:
            check()
        groups.append(group)
    crowd = crowding([each.counted for each in groups], span, calendars=known, check=check)
    pairs = list(zip(groups, crowd.each, strict=True))
    busy = [
        Busy(member.job_id, member.job, count.ticks, count.is_estimate)
        for group, count in pairs
        if count.ticks
        for member in group.members
    ]
    is_sampled = len(found) > MOST or any(group.stride > 1 for group in groups)
    return Load(
        parts={span.since + part * span.width: crowd.parts[part] for part in sorted(crowd.parts)},
        jobs=sum(group.jobs for group, count in pairs if count.ticks),
        unknown=sum(group.jobs for group in groups if group.schedule.follows_end),
        busiest=sorted(busy, key=lambda each: (-each.ticks, each.job))[:MOST_SHOWN],
        is_estimate=crowd.is_estimate or is_sampled,
    )
