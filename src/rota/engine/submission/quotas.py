"""Enforces the quotas of tenants: jobs, schedule periods and waiting runs (T1).

The quotas come with rows that are read anyway, so a tenant without quotas costs nothing. Jobs are
counted by one caller at a time. Waiting runs are not: concurrent callers may together exceed the
quota by what they request. Ticks are never refused here, because the number of jobs and their
periods already bound the runs of schedules.
"""

import json
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Final

from rota.contract.quotas import read_stored_quotas
from rota.core.errors import InvalidSchedule, QuotaExceeded
from rota.core.quotas import Quotas
from rota.core.states import JobState
from rota.core.time import durations
from rota.core.time.budget import CADENCE_STEPS_MAX, CADENCE_STEPS_PER_REQUEST_MAX, SearchBudget
from rota.core.time.cadence import find_shortest_period
from rota.core.time.schedule import Schedule
from rota.store import tenant_locks, tenants
from rota.store.driver import Connection
from rota.store.jobs import StoredJob
from rota.store.threads import compute_in_thread

NO_QUOTAS: Final = Quotas()
# Seconds. Waiting runs decrease over time at an unknown rate.
RETRY_AFTER_S: Final = 5.0


@lru_cache(maxsize=1024)
def read_quotas(text: str | None) -> Quotas:
    """Return the quotas of a row."""
    return NO_QUOTAS if text is None else read_stored_quotas(json.loads(text))


async def check_job_quota(conn: Connection, quotas: Quotas, *, tenant_id: int, more: int) -> None:
    """Refuse more unfinished jobs than `max_jobs`, in the transaction that creates them.

    Finished jobs do not count, so immediate one-time jobs do not use up the quota.
    """
    quota = quotas.max_jobs
    if quota is None or not more:
        return
    await tenant_locks.lock_resource(conn, tenant_id=tenant_id, resource="jobs")
    existing = await tenants.count_jobs(conn, tenant_id=tenant_id, limit=quota)
    if existing + more > quota:
        usage = f"it has {existing} unfinished jobs and the request adds {more}"
        raise QuotaExceeded("max_jobs", quota, usage)


async def check_run_quota(conn: Connection, quotas: Quotas, *, tenant_id: int, more: int) -> None:
    """Refuse more waiting runs than `max_queued`. With `more=0`, check the runs that exist."""
    quota = quotas.max_queued
    if quota is None:
        return
    waiting = await tenants.count_queued(conn, tenant_id=tenant_id, limit=quota + 1)
    if waiting + more > quota:
        usage = f"{waiting} runs are waiting and the request adds {more}"
        raise QuotaExceeded("max_queued", quota, usage, retry_after=RETRY_AFTER_S)


async def check_run_quota_of_jobs(conn: Connection, jobs: Iterable[StoredJob]) -> None:
    """Enforce `max_queued` for one more run of each job; a job that is listed twice gets two."""
    tenant_ids: Counter[tuple[int, str | None]] = Counter(
        (job.tenant_id, job.quotas) for job in jobs
    )
    for (tenant_id, quotas), more in tenant_ids.items():
        await check_run_quota(conn, read_quotas(quotas), tenant_id=tenant_id, more=more)


async def check_schedule_quotas(
    conn: Connection, job: StoredJob, schedule: Schedule | None, now: datetime
) -> None:
    """Enforce the quotas for a new schedule of a job. A finished job counts again."""
    quotas = read_quotas(job.quotas)
    await check_period_quota(quotas, [schedule], now)
    if job.state is JobState.FINISHED:
        await check_job_quota(conn, quotas, tenant_id=job.tenant_id, more=1)


async def check_period_quota(
    quotas: Quotas, schedules: Iterable[Schedule | None], now: datetime
) -> None:
    """Refuse schedules whose ticks are closer together than `min_period`.

    Runs outside the event loop, because each schedule is searched for many ticks. All schedules
    share one budget.
    """
    wanted = [schedule for schedule in schedules if schedule is not None]
    if quotas.min_period is not None and wanted:
        await compute_in_thread(partial(_refuse_dense, quotas.min_period, wanted, now))


def _refuse_dense(min_period: timedelta, schedules: Iterable[Schedule], now: datetime) -> None:
    left = SearchBudget(CADENCE_STEPS_PER_REQUEST_MAX)
    for schedule in schedules:
        budget = SearchBudget(CADENCE_STEPS_MAX)
        shortest = find_shortest_period(schedule, now, budget)
        left.spend(budget.spent)
        if shortest is not None and shortest < min_period:
            # Waiting does not help, so the error names the schedule and not the quota.
            minimum, found = durations.to_iso(min_period), durations.to_iso(shortest)
            wanted = f"ticks must be at least {minimum} apart (the tenant's min_period)"
            raise InvalidSchedule("schedule", f"two ticks {found} apart", wanted)
