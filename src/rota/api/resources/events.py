"""Operations for events: send, list, get and replay."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from msgspec import UNSET
from starlette.requests import Request

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.commit_batching import NotBatchable
from rota.api.operations import operation
from rota.api.paging import ListPage, read_cursor, write_cursor
from rota.api.pipeline import decode_body
from rota.api.problems import ProblemError
from rota.api.resources.endpoint_steps import parse_instant, write_audit_entry
from rota.api.schemas.events import (
    EventReceipt,
    EventReceipts,
    EventReplayResult,
    EventsQuery,
    EventsReplayDraft,
    EventView,
    MatchView,
)
from rota.api.schemas.field_types import format_time
from rota.contract import cloudevents
from rota.contract.event import EventAttributes, EventsDraft
from rota.core.access import Permission
from rota.core.errors import InvalidInput
from rota.core.event_rules.event import EVENT_ATTRIBUTES, NewEvent, check_event
from rota.core.event_rules.replay import ReplayFilter
from rota.core.time import moments
from rota.engine.events import event_replay, ingestion
from rota.engine.events.event_replay import build_range
from rota.engine.events.ingestion import IngestedEvent
from rota.store import events, hints
from rota.store.events import EventRow

# A thousand events of typical size.
EVENTS_BODY_BYTES_MAX: Final = 8_000_000


def read_events(raw: bytes, request: Request) -> list[NewEvent]:
    """Read the events of a request, in Rota's format or one of three CloudEvents formats."""
    media = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media == cloudevents.BATCH_MEDIA_TYPE:
        return cloudevents.read_batch(decode_body(raw, request, list[Any]))
    if media == cloudevents.STRUCTURED_MEDIA_TYPE:
        return [cloudevents.read_structured(decode_body(raw, request, dict[str, Any]))]
    if cloudevents.is_binary(request.headers):
        data = decode_body(raw, request, Any, required=False) if raw else None
        return [cloudevents.read_binary(request.headers, data)]
    if media.startswith("application/cloudevents"):
        wanted = f"{cloudevents.STRUCTURED_MEDIA_TYPE} or {cloudevents.BATCH_MEDIA_TYPE}"
        raise ProblemError("unsupported_media_type", f"send CloudEvents as {wanted}")
    return convert_events(decode_body(raw, request, EventsDraft))


def convert_events(draft: EventsDraft) -> list[NewEvent]:
    has_single = any(getattr(draft, name) is not UNSET for name in EVENT_ATTRIBUTES)
    if draft.events is UNSET:
        if draft.type is UNSET:
            raise InvalidInput("type", None, "required; or send several events in `events`")
        return [convert_event(draft.type, draft, "time")]
    if has_single:
        raise InvalidInput("events", "both", "expected either one event, or several in `events`")
    return [
        convert_event(event.type, event, f"events[{index}].time")
        for index, event in enumerate(draft.events)
    ]


def convert_event(kind: str, draft: EventAttributes, field: str) -> NewEvent:
    attributes = {
        name: value
        for name in ("source", "id", "subject", "data")
        if (value := getattr(draft, name)) is not UNSET
    }
    time = None if draft.time is UNSET else moments.parse(draft.time, field=field)
    return NewEvent(type=kind, time=time, **attributes)


async def send_event_batched(call: Call) -> Reply:
    """Send a single event in a shared commit with concurrent requests."""
    if len(call.body) != 1:
        raise NotBatchable
    event = check_event(call.body[0], event_id=call.service.new_id(), now=call.now)
    taken, reply = await call.service.batchers.events.submit(call, event, reply_event)
    if taken.run_ids and not taken.is_duplicate:
        call.hints.add(hints.RUNS_CHANNEL)
        call.link_runs(taken.run_ids)
    return reply


@operation(
    "POST",
    "/v1/events",
    tag="events",
    permission=Permission.OPERATE,
    body=EventsDraft,
    read=read_events,
    other_bodies={
        cloudevents.STRUCTURED_MEDIA_TYPE: {"type": "object"},
        cloudevents.BATCH_MEDIA_TYPE: {"type": "array"},
    },
    answer=EventReceipts,
    status=202,
    body_bytes_max=EVENTS_BODY_BYTES_MAX,
    problems=("quota_exceeded",),
    handle_batched=send_event_batched,
    example={
        "type": "order.paid",
        "source": "shop",
        "id": "4711",
        "data": {"order": 4711, "amount": 150},
    },
)
async def send_events(call: Call) -> Reply:
    """Send events: each starts a run of every job that waits for it.

    An event with the same source and id is a duplicate and starts no runs. CloudEvents 1.0 are
    accepted as application/cloudevents+json, as application/cloudevents-batch+json, and with `ce-`
    headers.
    """
    events: list[NewEvent] = call.body
    try:
        taken = await ingestion.ingest_events(
            call.conn, call.tenant_id, events, now=call.now, new_id=call.service.new_id
        )
    except InvalidInput as error:
        if len(events) == 1:
            error.field = error.field.removeprefix("events[0].")
        raise
    if taken.new_run_ids:
        call.hints.add(hints.RUNS_CHANNEL)
        call.link_runs(taken.new_run_ids)
    return Reply(build_received_view(taken.events))


def reply_event(event: IngestedEvent) -> Reply:
    return Reply(build_received_view([event]))


def build_received_view(events: Sequence[IngestedEvent]) -> EventReceipts:
    duplicates = sum(event.is_duplicate for event in events)
    return EventReceipts(
        taken=len(events) - duplicates,
        duplicates=duplicates,
        events=[
            EventReceipt(
                event_id=identifiers.format_id("evt", event.event_id),
                source=event.source,
                id=event.id,
                duplicate=event.is_duplicate,
                run_ids=[identifiers.format_run_id(run_id) for run_id in event.run_ids],
            )
            for event in events
        ],
    )


@operation(
    "GET",
    "/v1/events",
    tag="events",
    permission=Permission.READ,
    query=EventsQuery,
    answer=ListPage[EventView],
    problems=("malformed_request", "not_found"),
)
async def list_events(call: Call) -> Reply:
    """List received events, newest first."""
    query: EventsQuery = call.query
    which = ReplayFilter(
        type=query.type,
        source=query.source,
        since=parse_instant(query.since, "since"),
        until=parse_instant(query.until, "until"),
    )
    filters = ["events", which.to_values()]
    wanted = build_range(which)
    place = read_cursor(query.cursor, filters)
    if place is not None:
        after = identifiers.parse_id("event_id", place[0])
        wanted = replace(wanted, before=min(wanted.before, after))
    rows = await events.list_events(
        call.conn, wanted, tenant_id=call.tenant_id, limit=query.limit + 1
    )
    shown = rows[: query.limit]
    more = None
    if len(rows) > query.limit:
        more = write_cursor(filters, [identifiers.format_id("evt", shown[-1].id)])
    names = await read_job_names(call, shown)
    data = [build_event_view(row, names) for row in shown]
    return Reply(ListPage[EventView](data=data, next_cursor=more))


@operation(
    "GET", "/v1/events/{event_id}", tag="events", permission=Permission.READ, answer=EventView
)
async def get_event(call: Call) -> Reply:
    """Get an event with its result for each job.

    For a job that did not run, the result says why.
    """
    event_id = identifiers.parse_id("event_id", call.params["event_id"])
    row = await events.read_event(call.conn, event_id, tenant_id=call.tenant_id)
    return Reply(build_event_view(row, await read_job_names(call, [row])))


@operation(
    "POST",
    "/v1/events:replay",
    tag="events",
    permission=Permission.OPERATE,
    body=EventsReplayDraft,
    answer=EventReplayResult,
    problems=("conflict", "quota_exceeded", "not_found"),
    example={"filter": {"type": "order.paid"}, "dry_run": True},
)
async def replay_events(call: Call) -> Reply:
    """Replay events: match them again with the current jobs and start new runs.

    A dry run returns the count and a confirmation token.
    """
    draft: EventsReplayDraft = call.body
    fields = draft.filter
    which = ReplayFilter(
        type=fields.type,
        source=fields.source,
        since=parse_instant(fields.since, "filter.since"),
        until=parse_instant(fields.until, "filter.until"),
        job_id=None if fields.job_id is None else identifiers.parse_id("job_id", fields.job_id),
    )
    if draft.dry_run:
        counted = await event_replay.count_events(
            call.conn, which, tenant_id=call.tenant_id, now=call.now
        )
        return Reply(EventReplayResult(matched=counted.found, done=0, runs=0, token=counted.token))
    if draft.token is None:
        raise InvalidInput(
            "token", None, "required; send the token of a dry run with the same filter"
        )
    done = await event_replay.replay_events(
        call.conn, which, tenant_id=call.tenant_id, token=draft.token, now=call.now
    )
    details = {"events": done.events, "runs": len(done.new_run_ids)}
    await write_audit_entry(call, "events.replay", "event", "many", details)
    if done.new_run_ids:
        call.hints.add(hints.RUNS_CHANNEL)
    answer = EventReplayResult(
        matched=done.events, done=done.events, runs=len(done.new_run_ids), token=None
    )
    return Reply(answer)


async def read_job_names(call: Call, rows: list[EventRow]) -> Mapping[UUID, str]:
    """Read the names of the jobs that the events matched."""
    ids = {UUID(match["job_id"]) for row in rows for match in json.loads(row.matches)}
    return await events.read_job_names(call.conn, sorted(ids), tenant_id=call.tenant_id)


def build_event_view(row: EventRow, names: Mapping[UUID, str]) -> EventView:
    body = json.loads(row.body)
    return EventView(
        event_id=identifiers.format_id("evt", row.id),
        type=row.type,
        source=row.source,
        id=body["id"],
        time=body["time"],
        subject=body["subject"],
        received_at=format_time(row.received_at),
        data=body["data"],
        attributes={name: value for name, value in body.items() if name not in EVENT_ATTRIBUTES},
        matches=[build_match_view(match, names) for match in json.loads(row.matches)],
    )


def build_match_view(match: dict[str, Any], names: Mapping[UUID, str]) -> MatchView:
    job_id = UUID(match["job_id"])
    return MatchView(
        job_id=identifiers.format_job_id(job_id),
        job_name=names.get(job_id),
        outcome=match["outcome"],
        run_id=None if "run_id" not in match else identifiers.format_run_id(UUID(match["run_id"])),
        why=match.get("why"),
        replay=match.get("replay"),
    )
