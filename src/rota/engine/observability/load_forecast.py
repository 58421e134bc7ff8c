"""Forecasts how many ticks fire when, over all jobs of a tenant.

Jobs with equal schedules are counted together: most jobs of a large group share one expression. A
cron `H` and jitter depend on the job, so such a schedule is parsed for each job, with the
scheduler's seed. Counting takes CPU time, so it runs in a thread while other requests are served.
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
from rota.core.time.schedule import Schedule
from rota.core.time.tick_density import DensitySpan, ScheduleGroup, compute_tick_density
from rota.store import calendars, job_views
from rota.store.driver import Connection
from rota.store.job_views import SCHEDULES_MAX, ScheduledJob

FORECAST_SPAN_MAX: Final = timedelta(days=35)
FORECAST_BUCKETS_MAX: Final = 10_800
BUSIEST_JOBS_MAX: Final = 200
# Parsing a schedule takes 0.1 ms. Above this number, a sample represents the others.
SCHEDULES_READ_MAX: Final = 1000
# The same for jobs that share a schedule whose ticks depend on the job.
SEEDED_READ_MAX: Final = 500


class JobTickCount(NamedTuple):
    """A job and its number of ticks in the span, estimated if there are too many to count."""

    job_id: UUID
    job: str
    ticks: int
    is_estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadForecast:
    """`parts` maps the start of each non-empty part to its ticks; `busiest` lists the jobs with the
    most ticks. `unknown` counts jobs whose ticks cannot be known yet, because they follow the end
    of a run.
    """

    parts: Mapping[datetime, int]
    jobs: int
    unknown: int
    busiest: Sequence[JobTickCount]
    is_estimate: bool


async def prepare_forecast(
    conn: Connection, span: DensitySpan, *, tenant_id: int
) -> Callable[[Check], LoadForecast]:
    """Read all jobs of a tenant; return a function that computes their ticks in a span. It may take
    seconds, so it must not run on the event loop.
    """
    if not timedelta(0) < span.until - span.since <= FORECAST_SPAN_MAX:
        raise InvalidInput(
            "until", span.until, f"must be after since, by at most {FORECAST_SPAN_MAX.days} days"
        )
    if span.parts > FORECAST_BUCKETS_MAX:
        raise InvalidInput(
            "bucket", span.width, f"too small: at most {FORECAST_BUCKETS_MAX:,} buckets"
        )
    found = await job_views.read_schedules(conn, tenant_id=tenant_id)
    known = await calendars.read_calendars(conn, tenant_id=tenant_id)
    return partial(_compute_load, found, span, known)


class _Group(NamedTuple):
    """Jobs that have the same ticks. Each of `members` represents `stride` jobs."""

    schedule: Schedule
    members: Sequence[ScheduledJob]
    stride: int

    @property
    def jobs(self) -> int:
        return len(self.members) * self.stride

    @property
    def counted(self) -> ScheduleGroup:
        first = self.members[0]
        if first.fired is None:
            return ScheduleGroup(schedule=self.schedule, size=self.jobs)
        return ScheduleGroup(
            schedule=self.schedule, size=self.jobs, fired=first.fired, next_at=first.tick_at
        )


def _read_schedule(job: ScheduledJob) -> Schedule | None:
    """Return the schedule of a job; None if only newer code can read it."""
    try:
        return read_stored_schedule(json.loads(job.schedule), seed=str(job.job_id))
    except NewerDocument:
        return None


def _group_jobs(found: Sequence[ScheduledJob]) -> Iterator[_Group]:
    """Yield the schedules, each parsed once for all jobs that share its ticks."""
    alike: dict[tuple[object, ...], list[ScheduledJob]] = {}
    for job in found:
        # The position of a job in its schedule matters only if the schedule has a maximum of runs.
        position = () if job.fired is None else (job.fired, job.tick_at)
        alike.setdefault((job.schedule, *position), []).append(job)
    stride = -(-len(alike) // SCHEDULES_READ_MAX) or 1
    for members in list(alike.values())[::stride]:
        schedule = _read_schedule(members[0])
        if schedule is None:
            continue
        if not schedule.depends_on_seed:
            yield _Group(schedule, members, stride)
            continue
        further = -(-len(members) // SEEDED_READ_MAX)
        for member in members[::further]:
            yield _Group(_read_schedule(member) or schedule, [member], stride * further)


def _compute_load(
    found: Sequence[ScheduledJob],
    span: DensitySpan,
    known: Mapping[str, Calendar],
    check: Check | None = None,
) -> LoadForecast:
    groups = []
    for group in _group_jobs(found[:SCHEDULES_MAX]):
        if check is not None:
            check()
        groups.append(group)
    crowd = compute_tick_density(
        [group.counted for group in groups], span, calendars=known, check=check
    )
    pairs = list(zip(groups, crowd.groups, strict=True))
    busy = [
        JobTickCount(member.job_id, member.job, count.ticks, count.is_estimate)
        for group, count in pairs
        if count.ticks
        for member in group.members
    ]
    is_sampled = len(found) > SCHEDULES_MAX or any(group.stride > 1 for group in groups)
    return LoadForecast(
        parts={span.since + part * span.width: crowd.parts[part] for part in sorted(crowd.parts)},
        jobs=sum(group.jobs for group, count in pairs if count.ticks),
        unknown=sum(group.jobs for group in groups if group.schedule.follows_end),
        busiest=sorted(busy, key=lambda job: (-job.ticks, job.job))[:BUSIEST_JOBS_MAX],
        is_estimate=crowd.is_estimate or is_sampled,
    )
