"""Operations for silences: times in which messages about incidents are held back."""

from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.paging import ListPage
from rota.api.resources.endpoint_steps import parse_instant, write_audit_entry
from rota.api.resources.incidents import read_place, write_place
from rota.api.schemas.field_types import format_time
from rota.api.schemas.incidents import SilenceDraft, SilenceQuery, SilenceView
from rota.contract.expectation_values import to_selector, write_selector
from rota.contract.expectations import SubjectMatch
from rota.core.access import Permission
from rota.core.alerts.silencing import SILENCE_MAX
from rota.core.errors import InvalidInput
from rota.core.submissions import check_visible_name, encode_canonical
from rota.core.time import durations
from rota.engine.alerting.silence_keeper import refresh_silences
from rota.store import calendars, silences
from rota.store.silences import NewSilence, SilenceRow

# The end of a silence that follows a calendar until it is deleted.
NO_END: Final = datetime(9999, 1, 1, tzinfo=UTC)
REASON_LENGTH_MAX: Final = 1000


def build_silence_view(row: SilenceRow, now: datetime) -> SilenceView:
    state = "ended" if row.ends_at <= now else "active" if row.starts_at <= now else "pending"
    return SilenceView(
        silence_id=identifiers.format_id("sil", row.id),
        match=msgspec.json.decode(row.match, type=SubjectMatch, strict=False),
        starts_at=format_time(row.starts_at),
        ends_at=None if row.ends_at >= NO_END else format_time(row.ends_at),
        calendar=row.calendar,
        reason=row.reason,
        state=state,
        created_by=row.created_by,
        created_at=format_time(row.created_at),
        ended_by=row.ended_by,
    )


def find_end(draft: SilenceDraft, starts_at: datetime, now: datetime) -> datetime:
    """Return when a silence ends; refuse one without an end, or with one that is too late."""
    if draft.ends_at is not None and draft.duration is not None:
        raise InvalidInput("ends_at", draft.ends_at, "give either `ends_at` or `for`")
    if draft.duration is not None:
        maximum = NO_END - starts_at if draft.calendar is not None else SILENCE_MAX
        length = durations.parse(
            draft.duration, field="for", minimum=timedelta(seconds=1), maximum=maximum
        )
        return starts_at + length
    ends_at = parse_instant(draft.ends_at, "ends_at")
    if ends_at is None:
        if draft.calendar is not None:
            return NO_END
        raise InvalidInput("for", None, "required, or give `ends_at` or `calendar`, such as 20m")
    if ends_at <= max(starts_at, now):
        raise InvalidInput("ends_at", draft.ends_at, "must be in the future and after `starts_at`")
    if draft.calendar is None and ends_at - starts_at > SILENCE_MAX:
        longest = durations.to_words(SILENCE_MAX)
        raise InvalidInput("ends_at", draft.ends_at, f"must be at most {longest} after `starts_at`")
    return ends_at


@operation(
    "GET",
    "/v1/silences",
    tag="incidents",
    permission=Permission.READ,
    query=SilenceQuery,
    answer=ListPage[SilenceView],
    problems=("malformed_request",),
)
async def list_silences(call: Call) -> Reply:
    """List silences, latest end first."""
    query: SilenceQuery = call.query
    filters = ["silences", str(query.ended)]
    found = await silences.list_silences(
        call.conn,
        tenant_id=call.tenant_id,
        now=call.now,
        with_ended=query.ended,
        before=read_place(query.cursor, filters),
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    more = None
    if len(found) > query.limit:
        more = write_place(filters, shown[-1].ends_at, shown[-1].id)
    data = [build_silence_view(row, call.now) for row in shown]
    return Reply(ListPage[SilenceView](data=data, next_cursor=more))


@operation(
    "POST",
    "/v1/silences",
    tag="incidents",
    permission=Permission.OPERATE,
    body=SilenceDraft,
    answer=SilenceView,
    status=201,
    problems=("quota_exceeded",),
    example={"match": {"labels": {"app": "shop"}}, "for": "20m", "reason": "deploy"},
)
async def create_silence(call: Call) -> Reply:
    """Silence incidents.

    Checks go on and incidents stay visible. When the silence ends while an incident is still open,
    its message is sent.
    """
    draft: SilenceDraft = call.body
    match = write_selector(to_selector(draft.match))
    starts_at = parse_instant(draft.starts_at, "starts_at") or call.now
    starts_at = max(starts_at, call.now)
    ends_at = find_end(draft, starts_at, call.now)
    if draft.calendar is not None:
        known = await calendars.read_calendars(call.conn, tenant_id=call.tenant_id)
        if draft.calendar not in known:
            raise InvalidInput("calendar", draft.calendar, "no such calendar; create it first")
    row = await silences.create_silence(
        call.conn,
        NewSilence(
            id=call.service.new_id(),
            tenant_id=call.tenant_id,
            match=encode_canonical(match),
            starts_at=starts_at,
            ends_at=ends_at,
            calendar=draft.calendar,
            reason=check_visible_name(draft.reason, "reason", max_length=REASON_LENGTH_MAX),
            created_by=call.actor,
        ),
        now=call.now,
    )
    await refresh_silences(call.conn, call.tenant_id, now=call.now, by=call.actor)
    view = build_silence_view(row, call.now)
    details = {"match": match, "reason": row.reason}
    await write_audit_entry(call, "silence.create", "silence", view.silence_id, details)
    return Reply(view, headers={"Location": f"/v1/silences/{view.silence_id}"})


@operation(
    "DELETE",
    "/v1/silences/{silence_id}",
    tag="incidents",
    permission=Permission.OPERATE,
    status=204,
)
async def end_silence(call: Call) -> Reply:
    """End a silence now.

    Messages about incidents that are still open are sent.
    """
    silence_id = identifiers.parse_id("silence_id", call.params["silence_id"])
    row = await silences.end_silence(
        call.conn, silence_id, tenant_id=call.tenant_id, by=call.actor, now=call.now
    )
    await refresh_silences(call.conn, call.tenant_id, now=call.now, by=call.actor)
    await write_audit_entry(
        call,
        "silence.end",
        "silence",
        identifiers.format_id("sil", row.id),
        {"reason": row.reason},
    )
    return Reply()
