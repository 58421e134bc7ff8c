"""Operation for the problems that exist now (I12)."""

from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.schemas.field_types import format_optional_time
from rota.api.schemas.problem_list import (
    ProblemActionView,
    ProblemList,
    ProblemListQuery,
    ProblemSubjectView,
    ProblemView,
)
from rota.core.access import Permission, Principal, is_allowed
from rota.core.problem_codes import DetectedProblem
from rota.engine.observability.problems import ProblemScope, find_problems


@operation(
    "GET",
    "/v1/problems",
    tag="service",
    permission=Permission.READ,
    scope="none",
    query=ProblemListQuery,
    answer=ProblemList,
)
async def list_problems(call: Call) -> Reply:
    """List what is wrong now, the most severe first, each with its cause and its remedy.

    Covers schedulers, workers, waiting runs, pauses, quarantined jobs, dead letters of the last 24
    hours, event sources, webhook endpoints, alert channels, quotas and open incidents. A platform
    key lists the problems of all tenants, unless `all_tenants=false`; jobs, dead letters and quotas
    are always those of its own tenant. The list is up to 5 seconds old, unless `fresh=true`.
    """
    scope = ProblemScope(
        tenant_id=call.tenant_id,
        tenant=call.principal.tenant,
        covers_all=call.is_for_all_tenants,
    )
    found = await call.service.problems.read(
        (scope.tenant_id, scope.covers_all),
        lambda: read_problems(call, scope),
        now=call.service.clock.now,
        is_fresh=call.query.fresh,
    )
    return Reply(
        ProblemList(data=[build_problem_view(problem, call.principal) for problem in found])
    )


async def read_problems(call: Call, scope: ProblemScope) -> list[DetectedProblem]:
    is_clock_wrong = call.service.clock_is_wrong()
    if scope.covers_all:
        call.service.pool.refuse_in_outage()
        async with call.acquire_connection() as conn:
            return await find_problems(conn, scope, is_clock_wrong=is_clock_wrong)
    async with call.open_tenant_transaction():
        return await find_problems(call.conn, scope, is_clock_wrong=is_clock_wrong)


def build_problem_view(problem: DetectedProblem, principal: Principal) -> ProblemView:
    """Build the view; an action that the caller may not take is left out."""
    action = problem.action
    if action is not None and not is_allowed(principal, action.permission):
        action = None
    return ProblemView(
        code=problem.code,
        sentence=problem.sentence,
        cause=problem.cause,
        since=format_optional_time(problem.since),
        severity=problem.severity.value,
        subject=ProblemSubjectView(
            kind=str(problem.subject.kind), id=problem.subject.id, name=problem.subject.name
        ),
        remedy=problem.remedy,
        action=None
        if action is None
        else ProblemActionView(
            label=action.label,
            method=action.method,
            path=action.path,
            body=None if action.body is None else dict(action.body),
            needs_token=action.needs_token,
        ),
        links=dict(problem.links),
    )
