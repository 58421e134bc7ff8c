"""Operations for the upcoming load and the kinds of jobs."""

from datetime import timedelta
from typing import Final

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.resources.shared import instant
from rota.api.shapes.load import BusyJob, Kinds, KindView, LoadPart, LoadQuery, LoadView
from rota.api.shapes.pieces import moment
from rota.api.views import loaded
from rota.core.access import Permission
from rota.core.time.tick_density import DensitySpan
from rota.engine.observability import load_forecast
from rota.store import kinds

WIDTHS: Final = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
USUAL: Final = timedelta(days=1)


@operation(
    "GET",
    "/v1/schedules/load",
    tag="schedules",
    permission=Permission.READ,
    # It computes outside its transaction.
    scope="none",
    query=LoadQuery,
    answer=LoadView,
)
async def get_load(call: Call) -> Reply:
    """Count the upcoming ticks of all jobs by minute or hour.

    Request a single minute to see which jobs its ticks belong to.
    """
    query: LoadQuery = call.query
    width = WIDTHS[query.bucket]
    now = call.now
    since = instant(query.since, "since") or now - timedelta(
        seconds=now.second, microseconds=now.microsecond
    )
    until = instant(query.until, "until") or since + USUAL
    span = DensitySpan(since=since, until=until, width=width)
    async with call.in_tenant():
        compute = await load_forecast.prepare_forecast(call.conn, span, tenant_id=call.tenant_id)
    found = await call.compute(compute)
    return Reply(
        LoadView(
            since=moment(since),
            until=moment(until),
            width_s=width.total_seconds(),
            buckets=[LoadPart(start=moment(at), ticks=found.parts[at]) for at in found.parts],
            jobs=found.jobs,
            unknown=found.unknown,
            busiest=[
                BusyJob(
                    job_id=identifiers.job(job.job_id),
                    job_name=job.job,
                    ticks=job.ticks,
                    is_estimate=job.is_estimate,
                )
                for job in found.busiest
            ],
            is_estimate=found.is_estimate,
        )
    )


@operation("GET", "/v1/kinds", tag="cluster", permission=Permission.READ, answer=Kinds)
async def list_kinds(call: Call) -> Reply:
    """List the kinds of jobs that workers serve, with the schemas of their payloads."""
    found = await kinds.list_kinds(call.conn)
    return Reply(
        Kinds(
            data=[
                KindView(
                    kind=row.name,
                    workers=row.workers,
                    payload_schema=loaded(row.payload_schema),
                )
                for row in found
            ]
        )
    )
