"""Lists the recent outcomes of several jobs."""

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.outcomes import JobOutcomes, Outcomes, OutcomesQuery, OutcomeView
from rota.api.views import format_message, split_reason
from rota.core.access import Permission
from rota.store import run_views
from rota.store.run_views import RunOutcome


@operation(
    "GET",
    "/v1/jobs/outcomes",
    tag="jobs",
    permission=Permission.READ,
    query=OutcomesQuery,
    answer=Outcomes,
)
async def list_outcomes(call: Call) -> Reply:
    """List the recent runs of several jobs: running, ended, or skipped with the reason.

    The jobs are in the order of the query; a job that does not exist has no runs.
    """
    query: OutcomesQuery = call.query
    ids = [identifiers.parse_id("job_id", text) for text in dict.fromkeys(query.job_id)]
    found = await run_views.read_recent_outcomes(
        call.conn, tenant_id=call.tenant_id, job_ids=ids, limit=query.each
    )
    data = [
        JobOutcomes(
            job_id=identifiers.format_job_id(id_),
            runs=[build_outcome_view(row) for row in found[id_]],
        )
        for id_ in ids
    ]
    return Reply(Outcomes(data=data))


def build_outcome_view(row: RunOutcome) -> OutcomeView:
    reason, _ = split_reason(row.reason)
    return OutcomeView(
        run_id=identifiers.format_run_id(row.id),
        status=row.state.value,
        scheduled_at=format_time(row.scheduled_at),
        start_time=format_optional_time(row.started_at),
        end_time=format_optional_time(row.finished_at),
        error_message=format_message(reason),
        reason=reason,
    )
