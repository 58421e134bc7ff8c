"""Counts the jobs of the caller's tenant by status."""

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.schemas.field_types import format_optional_time
from rota.api.schemas.job_counts import JobCountsView, JobCountView
from rota.core.access import Permission
from rota.store import job_views


@operation(
    "GET",
    "/v1/statistics/jobs",
    tag="statistics",
    permission=Permission.READ,
    answer=JobCountsView,
)
async def get_job_counts(call: Call) -> Reply:
    """Count jobs by status, with the next tick of each status.

    Counts the newest 10,000 jobs of your tenant. Deleted jobs do not count.
    """
    found = await job_views.count_jobs(call.conn, tenant_id=call.tenant_id)
    return Reply(
        JobCountsView(
            data=[
                JobCountView(
                    status=row.state.value,
                    count=row.number,
                    next_fire_time=format_optional_time(row.next_at),
                )
                for row in found
            ],
            is_complete=sum(row.number for row in found) < job_views.COUNTED_JOBS_MAX,
        )
    )
