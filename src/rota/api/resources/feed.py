"""Streams changes live as server-sent events.

A client resumes from the id of an event (`Last-Event-ID`) on any API process. A stream ends after a
while; clients reconnect automatically.
"""

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.problems import ProblemError
from rota.api.schemas.field_types import format_time
from rota.api.streams import EVENT_STREAM, STREAM_TIMEOUT_S
from rota.core.access import Permission
from rota.core.errors import InvalidInput
from rota.engine.observability.feed import FeedItem, LiveFeed, parse_position


@operation(
    "GET",
    "/v1/feed",
    tag="feed",
    permission=Permission.READ,
    scope="none",
    media=EVENT_STREAM,
    problems=("malformed_request",),
)
async def follow_feed(call: Call) -> Reply:
    """Stream changes of runs and jobs as events.

    The events are: runs created, started, progressed and ended, and jobs changed.
    """
    feed = call.service.feed
    if feed is None:
        raise ProblemError(
            "unavailable",
            "the live feed is not available in this process; retry later",
            headers={"Retry-After": "60"},
        )
    after = call.headers.get("last-event-id")
    if after is not None:
        try:
            parse_position(after)
        except InvalidInput:
            raise ProblemError(
                "malformed_request", "invalid Last-Event-ID; use the id of an event of this feed"
            ) from None
    return Reply(response=call.stream(stream_events(call, feed, after)))


async def stream_events(call: Call, feed: LiveFeed, after: str | None) -> AsyncIterator[bytes]:
    clock = call.service.clock
    end = clock.monotonic() + STREAM_TIMEOUT_S
    yield b": the feed begins\n\n"
    async with feed.open(call.tenant_id, after=after) as stream:
        while clock.monotonic() < end and (batch := await stream.next()):
            # One write per batch: 250 writes would wake the reader 250 times.
            yield b"".join(map(encode_event, batch))


def encode_event(event: FeedItem) -> bytes:
    data: dict[str, Any] = {"type": event.type, "at": format_time(event.at)}
    if event.job_id is not None:
        data["job_id"] = identifiers.format_job_id(event.job_id)
        data["job_name"] = event.job_name
    if event.run_id is not None:
        data["run_id"] = identifiers.format_run_id(event.run_id)
    if event.graph_run_id is not None:
        data["graph_run_id"] = identifiers.format_run_id(event.graph_run_id)
    for name in ("state", "attempt", "progress", "message"):
        value = getattr(event, name)
        if value is not None:
            data["status" if name == "state" else name] = value
    if event.missed:
        data["missed"] = dict(event.missed)
    body = msgspec.json.encode(data)
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (event.id.encode(), event.type.encode(), body)
