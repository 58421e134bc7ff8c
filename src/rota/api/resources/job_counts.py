"""How many jobs the caller's tenant has, by status. Room: api/resources."""

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.shapes.job_counts import JobCountsView, JobCountView
from rota.api.shapes.pieces import moment_or_none
from rota.core.access import Permission
from rota.store import overview


@operation(
    "GET",
    "/v1/statistics/jobs",
    tag="statistics",
    permission=Permission.READ,
    answer=JobCountsView,
)
async def get_job_counts(call: Call) -> Reply:
    """Number of jobs by status, and when the next one of each status fires.

    Counts the newest 10,000 jobs of your tenant. Deleted jobs do not count.
    """
    found = await overview.count_jobs(call.conn, tenant_id=call.tenant_id)
    return Reply(
        JobCountsView(
            data=[
                JobCountView(
                    status=each.state.value,
                    count=each.number,
                    next_fire_time=moment_or_none(each.next_at),
                )
                for each in found
            ],
            is_complete=sum(each.number for each in found) < overview.COUNTED_JOBS_MAX,
        )
    )
