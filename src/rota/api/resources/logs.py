"""Returns the output of a run: a page, or a live stream.

The stream uses server-sent events. The id of an event is the position of its line, so a
disconnected client resumes with `Last-Event-ID`. A stream ends when the run has ended and all
output was sent, and in any case after a while: clients reconnect automatically, and no connection
stays open for ever.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from uuid import UUID

import msgspec

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.problems import ProblemError
from rota.api.schemas.field_types import format_time
from rota.api.schemas.runs import LogLine, Logs, LogsQuery
from rota.api.streams import EVENT_STREAM, STREAM_TIMEOUT_S
from rota.core.access import Permission
from rota.core.errors import NotFound
from rota.core.executor import Stream
from rota.core.states import FINAL_STATES
from rota.store import run_views
from rota.store.driver import Connection
from rota.store.logs import StoredLogLine
from rota.store.row_level_security import tenant_scope
from rota.store.run_views import RunRow

KEEPALIVE_INTERVAL_S: Final = 15.0
ATTEMPT_NUMBER_MAX: Final = 2**15 - 1
LINE_NUMBER_MAX: Final = 2**31 - 1
_LOG_POSITION: Final = re.compile(r"(\d{1,5})\.(\d{1,9})")
STREAM_NAMES: Final = {stream.value: stream.name.lower() for stream in Stream}


@operation(
    "GET",
    "/v1/runs/{run_id}/logs",
    tag="runs",
    permission=Permission.READ,
    query=LogsQuery,
    answer=Logs,
    other_media=(EVENT_STREAM,),
    problems=("malformed_request",),
    scope="none",
)
async def get_logs(call: Call) -> Reply:
    """Get the output of a run in order; with `follow=true` as a stream of events."""
    run_id = identifiers.parse_id("run_id", call.params["run_id"])
    place = parse_log_position(call.headers.get("last-event-id") or call.query.after)
    if call.query.follow:
        async with acquire_tenant_connection(call) as conn:
            await read_run(call, conn, run_id)
        return Reply(response=call.stream(stream_lines(call, run_id, place)))
    async with acquire_tenant_connection(call) as conn:
        row = await read_run(call, conn, run_id)
        lines = await run_views.read_log_lines(
            conn, tenant_id=call.tenant_id, run_id=run_id, after=place, limit=call.query.limit
        )
    last = f"{lines[-1].attempt}.{lines[-1].seq}" if lines else call.query.after
    is_complete = row.state in FINAL_STATES and len(lines) < call.query.limit
    return Reply(
        Logs(data=[build_log_line(line) for line in lines], cursor=last, is_complete=is_complete)
    )


def parse_log_position(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = _LOG_POSITION.fullmatch(text)
    if match is None:
        raise ProblemError(
            "malformed_request", "invalid Last-Event-ID; use the id of an event of this stream"
        )
    # A position beyond the maximum means after the last line.
    return min(int(match[1]), ATTEMPT_NUMBER_MAX), min(int(match[2]), LINE_NUMBER_MAX)


@asynccontextmanager
async def acquire_tenant_connection(call: Call) -> AsyncIterator[Connection]:
    """Acquire a tenant-scoped connection for one read."""
    async with call.acquire_connection() as conn, tenant_scope(conn, call.tenant_id):
        yield conn


async def read_run(call: Call, conn: Connection, run_id: UUID) -> RunRow:
    row = await run_views.get_run(conn, tenant_id=call.tenant_id, run_id=run_id)
    if row is None:
        raise NotFound("run", call.params["run_id"])
    return row


async def stream_lines(
    call: Call, run_id: UUID, position: tuple[int, int] | None
) -> AsyncIterator[bytes]:
    """Send lines as they arrive. All followers of a run share one reader."""
    clock = call.service.clock
    end = clock.monotonic() + STREAM_TIMEOUT_S
    sent_at = clock.monotonic()
    with call.service.log_tails.follow(call.tenant_id, run_id, after=position) as follower:
        while clock.monotonic() < end and not follower.is_cut_off:
            lines = await follower.next_lines()
            if lines:
                sent_at = clock.monotonic()
                yield b"".join(map(encode_line, lines))
            elif follower.is_over:
                yield b"event: end\ndata: {}\n\n"
                return
            elif clock.monotonic() - sent_at > KEEPALIVE_INTERVAL_S:
                sent_at = clock.monotonic()
                yield b": still here\n\n"


def encode_line(line: StoredLogLine) -> bytes:
    data = msgspec.json.encode(build_log_line(line))
    return b"id: %d.%d\nevent: line\ndata: %s\n\n" % (line.attempt, line.seq, data)


def build_log_line(line: StoredLogLine) -> LogLine:
    return LogLine(
        attempt_number=line.attempt,
        seq=line.seq,
        stream=STREAM_NAMES.get(line.stream, "other"),
        at=format_time(line.logged_at),
        text=line.chunk.decode(errors="replace"),
    )
