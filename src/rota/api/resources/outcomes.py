"""Lists the recent outcomes of several jobs."""

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.shapes.outcomes import JobOutcomes, Outcomes, OutcomesQuery, OutcomeView
from rota.api.shapes.pieces import moment, moment_or_none
from rota.api.views import message_of, split_reason
from rota.core.access import Permission
from rota.store import outcomes
from rota.store.outcomes import RunOutcome


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
    ids = [identifiers.read("job_id", text) for text in dict.fromkeys(query.job_id)]
    found = await outcomes.read_recent_outcomes(
        call.conn, tenant_id=call.tenant_id, job_ids=ids, limit=query.each
    )
    data = [
        JobOutcomes(job_id=identifiers.job(id_), runs=[outcome_view(row) for row in found[id_]])
        for id_ in ids
    ]
    return Reply(Outcomes(data=data))


def outcome_view(row: RunOutcome) -> OutcomeView:
    reason, _ = split_reason(row.reason)
    return OutcomeView(
        run_id=identifiers.run(row.id),
        status=row.state.value,
        scheduled_at=moment(row.scheduled_at),
        start_time=moment_or_none(row.started_at),
        end_time=moment_or_none(row.finished_at),
        error_message=message_of(reason),
        reason=reason,
    )
