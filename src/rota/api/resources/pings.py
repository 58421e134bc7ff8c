"""Operations for pings: URLs to which work outside of Rota reports, as healthchecks.io has them."""

import json
from typing import Any

from starlette.responses import Response

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.resources.endpoint_steps import write_audit_entry
from rota.api.resources.hooks import read_raw
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.pings import CreatedPing, PingQuery, PingView
from rota.api.schemas.runs import PageQuery
from rota.contract.expectation_values import write_policy
from rota.contract.pings import PingDraft, read_alert, read_timing, write_timing
from rota.core.access import Permission
from rota.core.pings import TOKEN_BITS, PingSignal, PingToken, create_token, parse_signal
from rota.core.submissions import check_visible_name, encode_canonical
from rota.core.time import durations
from rota.engine.submission.ping_signals import PingRequest, receive_ping
from rota.store import pings
from rota.store.pings import NewPing, PingRow

# More than is stored: a longer body is cut, not refused, so that no signal is lost.
PING_BODY_BYTES_MAX = 10_000_000


def make_token(call: Call) -> PingToken:
    return create_token(call.service.random_bytes(TOKEN_BITS // 8))


def build_ping_fields(row: PingRow) -> dict[str, Any]:
    if row.began_at is not None and not row.is_down:
        state = "running"
    elif row.pinged_at is None and not row.is_down:
        state = "new"
    else:
        state = "down" if row.is_down else "up"
    return {
        "ping_id": identifiers.format_id("png", row.id),
        "name": row.name,
        "handle": row.handle,
        "state": state,
        "schedule": json.loads(row.schedule),
        "grace": durations.to_iso(row.grace),
        "alert": json.loads(row.policy),
        "version": row.version,
        "created_at": format_time(row.created_at),
        "pinged_at": format_optional_time(row.pinged_at),
        "succeeded_at": format_optional_time(row.succeeded_at),
        "failed_at": format_optional_time(row.failed_at),
        "overdue_at": format_optional_time(row.overdue_at),
    }


@operation(
    "POST",
    "/v1/pings",
    tag="pings",
    permission=Permission.DEFINE,
    body=PingDraft,
    answer=CreatedPing,
    reveals_secret=True,
    status=201,
    problems=("conflict",),
    example={"name": "backup", "cron": "0 3 * * *", "timezone": "Europe/Berlin", "grace": "30m"},
)
async def create_ping(call: Call) -> Reply:
    """Create a ping URL for work that Rota does not run.

    The response contains the URL, which is shown only once. An incident opens when no success
    arrives in time, when a failure is reported, or when work that has begun does not end within
    `grace`.
    """
    draft: PingDraft = call.body
    timing = read_timing(draft, now=call.now)
    token = make_token(call)
    row = await pings.create_ping(
        call.conn,
        NewPing(
            id=call.service.new_id(),
            tenant_id=call.tenant_id,
            name=check_visible_name(draft.name, "name"),
            schedule=encode_canonical(write_timing(timing)),
            grace=timing.grace,
            policy=encode_canonical(write_policy(read_alert(draft))),
            overdue_at=timing.compute_overdue(call.now),
        ),
        token,
    )
    ping_id = identifiers.format_id("png", row.id)
    await write_audit_entry(call, "ping.create", "ping", ping_id, {"name": row.name})
    created = CreatedPing(**build_ping_fields(row), ping_url=f"/ping/{token.text}")
    return Reply(created, created_id=ping_id)


@operation(
    "GET",
    "/v1/pings",
    tag="pings",
    permission=Permission.READ,
    query=PageQuery,
    answer=ListPage[PingView],
    problems=("malformed_request",),
)
async def list_pings(call: Call) -> Reply:
    """List pings by name, without their URLs."""
    query: PageQuery = call.query
    place = read_cursor(query.cursor, ["pings"])
    rows = await pings.list_pings(
        call.conn,
        tenant_id=call.tenant_id,
        after="" if place is None else place[0],
        limit=query.limit + 1,
    )
    shown = rows[: query.limit]
    more = write_cursor(["pings"], [shown[-1].name]) if len(rows) > query.limit else None
    data = [PingView(**build_ping_fields(row)) for row in shown]
    return Reply(ListPage[PingView](data=data, next_cursor=more))


@operation("GET", "/v1/pings/{ping_id}", tag="pings", permission=Permission.READ, answer=PingView)
async def get_ping(call: Call) -> Reply:
    """Get a ping without its URL."""
    ping_id = identifiers.parse_id("ping_id", call.params["ping_id"])
    row = await pings.get_ping(call.conn, ping_id, tenant_id=call.tenant_id)
    return Reply(PingView(**build_ping_fields(row)))


@operation(
    "POST",
    "/v1/pings/{ping_id}/rotate",
    tag="pings",
    permission=Permission.DEFINE,
    answer=CreatedPing,
    reveals_secret=True,
    problems=("conflict",),
)
async def rotate_ping(call: Call) -> Reply:
    """Replace the URL of a ping.

    The former URL stops working at once.
    """
    ping_id = identifiers.parse_id("ping_id", call.params["ping_id"])
    token = make_token(call)
    row = await pings.rotate_token(call.conn, ping_id, token, tenant_id=call.tenant_id)
    shown = identifiers.format_id("png", ping_id)
    await write_audit_entry(call, "ping.rotate", "ping", shown, {"version": row.version})
    created = CreatedPing(**build_ping_fields(row), ping_url=f"/ping/{token.text}")
    return Reply(created, created_id=shown)


@operation("DELETE", "/v1/pings/{ping_id}", tag="pings", permission=Permission.DEFINE, status=204)
async def delete_ping(call: Call) -> Reply:
    """Delete a ping.

    Its URL stops working; its job and runs stay.
    """
    ping_id = identifiers.parse_id("ping_id", call.params["ping_id"])
    row = await pings.delete_ping(call.conn, ping_id, tenant_id=call.tenant_id)
    shown = identifiers.format_id("png", ping_id)
    await write_audit_entry(call, "ping.delete", "ping", shown, {"name": row.name})
    return Reply()


@operation(
    "GET",
    "/ping/{token}",
    tag="pings",
    permission=None,
    scope="none",
    query=PingQuery,
    media="text/plain",
    is_hook=True,
)
async def send_ping(call: Call) -> Reply:
    """Report a success to a ping URL.

    The token in the URL is the credential; no key is needed.
    """
    return await receive(call, PingSignal.SUCCESS, 0)


@operation(
    "POST",
    "/ping/{token}",
    tag="pings",
    permission=None,
    scope="none",
    query=PingQuery,
    read=read_raw,
    body_required=False,
    media="text/plain",
    body_bytes_max=PING_BODY_BYTES_MAX,
    is_hook=True,
    problems=("too_large",),
)
async def send_ping_with_output(call: Call) -> Reply:
    """Report a success with its output.

    The first 100,000 bytes of the body become the log of the run.
    """
    return await receive(call, PingSignal.SUCCESS, 0)


@operation(
    "GET",
    "/ping/{token}/{signal}",
    tag="pings",
    permission=None,
    scope="none",
    query=PingQuery,
    media="text/plain",
    is_hook=True,
)
async def send_ping_signal(call: Call) -> Reply:
    """Report a signal to a ping URL: `start`, `fail`, `log`, or an exit code from 0 to 255."""
    return await receive(call, *parse_signal(call.params["signal"]))


@operation(
    "POST",
    "/ping/{token}/{signal}",
    tag="pings",
    permission=None,
    scope="none",
    query=PingQuery,
    read=read_raw,
    body_required=False,
    media="text/plain",
    body_bytes_max=PING_BODY_BYTES_MAX,
    is_hook=True,
    problems=("too_large",),
)
async def send_ping_signal_with_output(call: Call) -> Reply:
    """Report a signal with its output.

    The first 100,000 bytes of the body become the log of the run.
    """
    return await receive(call, *parse_signal(call.params["signal"]))


async def receive(call: Call, signal: PingSignal, exit_code: int) -> Reply:
    request = PingRequest(
        token=call.params["token"],
        signal=signal,
        exit_code=exit_code,
        rid=call.query.rid,
        body=call.body or b"",
        on_found=call.on_verified,
    )
    async with call.acquire_connection() as conn:
        await receive_ping(conn, request, now=call.now, new_id=call.service.new_id)
    return Reply(response=Response("OK", media_type="text/plain"))
