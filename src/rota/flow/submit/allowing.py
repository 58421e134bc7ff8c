"""Whether a tenant may have what is asked for: jobs, short periods, waiting runs (T1).

Room: flow/submit. The quotas come with rows that are read anyway, so a tenant without any pays
nothing. Jobs are counted one caller at a time. Waiting runs are not: several who ask at the same
moment may together pass the quota by what they ask for. Ticks are never refused here: what a
schedule makes is bounded by the number of jobs and their periods.
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
from rota.core.time.budget import CADENCE_STEPS_MAX, CADENCES_STEPS_MAX, SearchBudget
from rota.core.time.cadence import shortest_period
from rota.core.time.schedule import Schedule
from rota.store import tenants, turns
from rota.store.driver import Connection
from rota.store.jobs import Job
from rota.store.threads import compute_in_thread

UNLIMITED: Final = Quotas()
# Seconds: waiting runs become fewer by themselves, and nobody knows how fast.
AGAIN: Final = 5.0


@lru_cache(maxsize=1024)
def quotas_of(text: str | None) -> Quotas:
    """The quotas that a row carries."""
    return UNLIMITED if text is None else read_stored_quotas(json.loads(text))


async def allow_jobs(conn: Connection, quotas: Quotas, *, tenant_id: int, more: int) -> None:
    """Refuse more unfinished jobs than a tenant may have, in the transaction that makes them.

    Finished ones do not count: a job that runs once and at once is not here to stay.
    """
    most = quotas.max_jobs
    if most is None or not more:
        return
    await turns.take_turn(conn, tenant_id=tenant_id, things="jobs")
    there = await tenants.count_jobs(conn, tenant_id=tenant_id, most=most)
    if there + more > most:
        asked = f"it has {there} jobs that are not finished, and {more} more were asked for"
        raise QuotaExceeded("max_jobs", most, asked)


async def allow_runs(conn: Connection, quotas: Quotas, *, tenant_id: int, more: int) -> None:
    """Refuse more waiting runs than a tenant may have; with no more, more than it has already."""
    most = quotas.max_queued
    if most is None:
        return
    there = await tenants.count_queued(conn, tenant_id=tenant_id, most=most + 1)
    if there + more > most:
        asked = f"{there} runs wait, and {more} more were asked for"
        raise QuotaExceeded("max_queued", most, asked, retry_after=AGAIN)


async def allow_runs_of(conn: Connection, jobs: Iterable[Job]) -> None:
    """The same for one more run of each of these jobs; one that is there twice gets two."""
    tenant_ids: Counter[tuple[int, str | None]] = Counter(
        (job.tenant_id, job.quotas) for job in jobs
    )
    for (tenant_id, quotas), more in tenant_ids.items():
        await allow_runs(conn, quotas_of(quotas), tenant_id=tenant_id, more=more)


async def allow_schedule(
    conn: Connection, job: Job, schedule: Schedule | None, now: datetime
) -> None:
    """Whether a job may get this schedule. One that was finished counts again."""
    quotas = quotas_of(job.quotas)
    await allow_periods(quotas, [schedule], now)
    if job.state is JobState.FINISHED:
        await allow_jobs(conn, quotas, tenant_id=job.tenant_id, more=1)


async def allow_periods(
    quotas: Quotas, schedules: Iterable[Schedule | None], now: datetime
) -> None:
    """Refuse schedules whose ticks follow each other faster than a tenant may have them.

    Off the event loop: each schedule is searched for many ticks. All of them share one budget.
    """
    wanted = [schedule for schedule in schedules if schedule is not None]
    if quotas.min_period is not None and wanted:
        await compute_in_thread(partial(_refuse_dense, quotas.min_period, wanted, now))


def _refuse_dense(min_period: timedelta, schedules: Iterable[Schedule], now: datetime) -> None:
    left = SearchBudget(CADENCES_STEPS_MAX)
    for schedule in schedules:
        budget = SearchBudget(CADENCE_STEPS_MAX)
        shortest = shortest_period(schedule, now, budget)
        left.spend(budget.spent)
        if shortest is not None and shortest < min_period:
            # Waiting does not help, so it is the schedule that is wrong.
            least, found = durations.iso(min_period), durations.iso(shortest)
            wanted = f"ticks at least {least} apart, which is the min_period of this tenant"
            raise InvalidSchedule("schedule", f"two ticks only {found} apart", wanted)
