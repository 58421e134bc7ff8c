"""Operations for the upcoming load and the kinds of jobs."""

from datetime import timedelta
from typing import Final

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.resources.endpoint_steps import parse_instant
from rota.api.schemas.field_types import format_time
from rota.api.schemas.load import BusyJob, Kinds, KindView, LoadPart, LoadQuery, LoadView
from rota.api.views import load_json
from rota.core.access import Permission
from rota.core.time.tick_density import DensitySpan
from rota.engine.observability import load_forecast
from rota.store import kinds

BUCKET_WIDTHS: Final = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
DEFAULT_RANGE: Final = timedelta(days=1)


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
    width = BUCKET_WIDTHS[query.bucket]
    now = call.now
    since = parse_instant(query.since, "since") or now - timedelta(
        seconds=now.second, microseconds=now.microsecond
    )
    until = parse_instant(query.until, "until") or since + DEFAULT_RANGE
    span = DensitySpan(since=since, until=until, width=width)
    async with call.open_tenant_transaction():
        compute = await load_forecast.prepare_forecast(call.conn, span, tenant_id=call.tenant_id)
    found = await call.compute(compute)
    return Reply(
        LoadView(
            since=format_time(since),
            until=format_time(until),
            width_s=width.total_seconds(),
            buckets=[LoadPart(start=format_time(at), ticks=found.parts[at]) for at in found.parts],
            jobs=found.jobs,
            unknown=found.unknown,
            busiest=[
                BusyJob(
                    job_id=identifiers.format_job_id(job.job_id),
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
                    payload_schema=load_json(row.payload_schema),
                )
                for row in found
            ]
        )
    )
