"""Quarantines jobs that cannot be scheduled, so that they do not stop the others (F08).

This covers a schedule that cannot be parsed or does not advance, and a tick that the database
rejects. The job keeps its cursor, is held with the reason, and an event reports it. It does not
fire until a user resumes it.

A job whose documents only newer code can read is not quarantined: it stays unchanged until a
scheduler of a version that can read them holds its shard (docs/adr/0033-stored-documents.md).
"""

from collections.abc import Iterable
from typing import Final

from rota.core.log_events import Emit, JobQuarantined, JobSetAside
from rota.engine.scheduling.agenda import Agenda, ScheduleFault
from rota.store import quarantine
from rota.store.driver import Connection

REASON_LENGTH_MAX: Final = 1000


def report_newer_documents(agenda: Agenda, *, emit: Emit) -> None:
    """Report the jobs that wait for a newer version."""
    for due, reason in agenda.take_newer_faults():
        emit(JobSetAside(job_id=due.job_id, reason=reason[:REASON_LENGTH_MAX]))


async def quarantine_jobs(conn: Connection, faults: Iterable[ScheduleFault], *, emit: Emit) -> None:
    """Quarantine each of these jobs with its reason. A job that was edited since is left alone."""
    for due, fault in faults:
        reason = fault[:REASON_LENGTH_MAX]
        if await quarantine.quarantine_job(
            conn, job_id=due.job_id, version=due.version, reason=reason
        ):
            emit(JobQuarantined(job_id=due.job_id, reason=reason))
