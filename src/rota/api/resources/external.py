"""Operations for external runs, which a process outside Rota executes: `rota exec`.

They use a platform connection, because a tenant's connection may not write sessions. So they check
the tenant of the run before anything else.
"""

from typing import Final

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.resources.endpoint_steps import write_audit_entry
from rota.api.schemas.external import (
    ExternalDraft,
    ExternalEnd,
    ExternalRun,
    ExternalRunReport,
    ExternalRunState,
)
from rota.core.access import Permission
from rota.core.errors import LeaseLost, NotFound
from rota.core.executor import Stream
from rota.core.states import CLAIMED_STATES
from rota.core.submissions import check_visible_name
from rota.engine.submission import external_runs
from rota.engine.submission.external_runs import (
    EXTERNAL_LEASE,
    ExternalOutput,
    ExternalProcess,
    ExternalReport,
)
from rota.store import run_views

STREAMS: Final = {"stdout": Stream.STDOUT, "stderr": Stream.STDERR}


@operation(
    "POST",
    "/v1/runs/external",
    tag="runs",
    permission=Permission.DEFINE,
    body=ExternalDraft,
    answer=ExternalRun,
    status=201,
    scope="platform",
    problems=("quota_exceeded", "conflict"),
    example={"job": "backup", "host": "db1", "payload": {"argv": ["/usr/local/bin/backup"]}},
)
async def begin_external_run(call: Call) -> Reply:
    """Start an external run, which the caller executes.

    The run is `running` at once. The caller reports at least once every `lease_seconds`, and ends
    the run.
    """
    draft: ExternalDraft = call.body
    outside = ExternalProcess(
        tenant=call.principal.tenant,
        tenant_id=call.tenant_id,
        job=check_visible_name(draft.job, "job"),
        host=check_visible_name(draft.host, "host"),
        payload=draft.payload,
        labels=draft.labels,
    )
    begun = await external_runs.start_external_run(
        call.conn, outside, now=call.now, new_id=call.service.new_id
    )
    call.link_runs([begun.run_id])
    run_id = identifiers.format_run_id(begun.run_id)
    await write_audit_entry(
        call, "run.begin", "run", run_id, {"job": outside.job, "host": outside.host}
    )
    return Reply(
        ExternalRun(
            job_id=identifiers.format_job_id(begun.job_id),
            run_id=run_id,
            lease_seconds=int(EXTERNAL_LEASE.total_seconds()),
            log_url=f"/v1/runs/{run_id}/logs",
        )
    )


@operation(
    "POST",
    "/v1/runs/{run_id}/external",
    tag="runs",
    permission=Permission.DEFINE,
    body=ExternalRunReport,
    answer=ExternalRunState,
    scope="platform",
    problems=("conflict",),
    example={"output": [{"seq": 0, "text": "12 tables\n"}]},
)
async def tell_external_run(call: Call) -> Reply:
    """Report that an external run continues, with its new output."""
    report = await read_report(call, call.body)
    cancel = await external_runs.record_report(call.conn, report, now=call.now)
    status = "cancelling" if cancel else "running"
    answer = ExternalRunState(run_id=call.params["run_id"], cancel=cancel, status=status)
    return Reply(answer)


@operation(
    "POST",
    "/v1/runs/{run_id}/external/end",
    tag="runs",
    permission=Permission.DEFINE,
    body=ExternalEnd,
    answer=ExternalRunState,
    scope="platform",
    problems=("conflict",),
    example={"exit_code": 0},
)
async def end_external_run(call: Call) -> Reply:
    """End an external run with its exit code."""
    draft: ExternalEnd = call.body
    report = await read_report(call, draft)
    why = draft.why or f"exit code {draft.exit_code}"
    state = await external_runs.finish_external_run(
        call.conn,
        report,
        exit_code=draft.exit_code,
        reason=why.replace("\x00", "\ufffd"),
        now=call.now,
    )
    answer = ExternalRunState(run_id=call.params["run_id"], cancel=False, status=state.value)
    return Reply(answer)


async def read_report(call: Call, draft: ExternalRunReport) -> ExternalReport:
    """Read a report of an external run; the run must belong to the caller's tenant."""
    run_id = identifiers.parse_id("run_id", call.params["run_id"])
    row = await run_views.get_run(call.conn, tenant_id=call.tenant_id, run_id=run_id)
    if row is None:
        raise NotFound("run", call.params["run_id"])
    if (
        row.kind != external_runs.EXTERNAL_KIND
        or row.session_id is None
        or row.state not in CLAIMED_STATES
    ):
        raise LeaseLost(thing="run", id=call.params["run_id"])
    output = [
        ExternalOutput(
            piece.seq, STREAMS[piece.stream], piece.text.encode(errors="replace").decode()
        )
        for piece in draft.output
    ]
    return ExternalReport(run_id, row.session_id, output)
