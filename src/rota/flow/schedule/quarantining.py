"""Sets a job aside that cannot be scheduled, so that it does not stop the others (F08).

Room: flow/schedule. A schedule that cannot be read or does not advance, or a tick that the database
refuses for a reason of its own: the job keeps its cursor, is held with the reason, and somebody is
told. Nothing is fired for it until somebody resumes it.

A job whose documents only newer code knows is not quarantined: it keeps its place, untouched, until
a scheduler of a version that knows them holds its shard (docs/adr/0033-stored-documents.md).
"""

from collections.abc import Iterable
from typing import Final

from rota.core.events import Emit, JobQuarantined, JobSetAside
from rota.flow.schedule.agenda import Agenda, Fault
from rota.store import holding
from rota.store.driver import Connection

LONGEST_REASON: Final = 1000


def tell_newer(agenda: Agenda, *, emit: Emit) -> None:
    """Tell of the jobs that wait for a newer version."""
    for due, reason in agenda.take_newer():
        emit(JobSetAside(job_id=due.job_id, reason=reason[:LONGEST_REASON]))


async def set_aside(conn: Connection, faults: Iterable[Fault], *, emit: Emit) -> None:
    """Quarantine each of these for its reason. One that was edited since is left alone."""
    for due, fault in faults:
        reason = fault[:LONGEST_REASON]
        if await holding.quarantine(conn, job_id=due.job_id, version=due.version, reason=reason):
            emit(JobQuarantined(job_id=due.job_id, reason=reason))
