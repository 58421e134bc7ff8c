"""Schemas of events and hooks."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rota.api.schemas.field_types import Cursor, Duration, Limit, Moment, Name
from rota.contract.documents import SECRET_META
from rota.contract.event import EventText, EventType

MatchOutcome = Literal["matched", "gathered", "filtered", "paused", "failed"]
SignatureStyle = Literal["standard", "github"]
JobId = Annotated[str, Meta(pattern="^job_[0-9a-f]{32}$")]


class EventReceipt(Struct, kw_only=True, frozen=True):
    """One accepted event. A `duplicate` was received before and creates no runs. `run_ids` are the
    runs that contain the event; a run that collects several events does not exist yet.
    """

    event_id: str
    source: str
    id: str
    duplicate: bool
    run_ids: list[str]


class EventReceipts(Struct, kw_only=True, frozen=True):
    taken: int
    duplicates: int
    events: list[EventReceipt]


class MatchView(Struct, kw_only=True, frozen=True):
    """How an event matched a job that waits for its type, and why."""

    job_id: str
    job_name: str | None
    outcome: MatchOutcome
    run_id: str | None
    why: str | None
    replay: str | None


class EventView(Struct, kw_only=True, frozen=True):
    """A received event. `attributes` are its CloudEvents extension attributes."""

    event_id: str
    type: str
    source: str
    id: str
    time: str
    subject: str | None
    received_at: str
    data: Any
    attributes: dict[str, Any]
    matches: list[MatchView]


class EventsQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    type: Annotated[EventType | None, Meta(description="Filter by type. Default: all.")] = None
    source: Annotated[EventText | None, Meta(description="Filter by source. Default: all.")] = None
    since: Annotated[
        Moment | None, Meta(description="Received at or after this time. Default: any.")
    ] = None
    until: Annotated[
        Moment | None, Meta(description="Received before this time. Default: any.")
    ] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class EventFilter(Struct, kw_only=True, forbid_unknown_fields=True):
    """Selects events. At least one field is required."""

    type: Annotated[EventType | None, Meta(description="Filter by type. Default: all.")] = None
    source: Annotated[EventText | None, Meta(description="Filter by source. Default: all.")] = None
    since: Annotated[
        Moment | None, Meta(description="Received at or after this time. Default: any.")
    ] = None
    until: Annotated[
        Moment | None, Meta(description="Received before this time. Default: any.")
    ] = None
    job_id: Annotated[
        JobId | None,
        Meta(description="Match this job only. Default: all jobs that wait for the type."),
    ] = None


class EventsReplayDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """Send a dry run first, which returns the count and a token; then repeat it with the token."""

    filter: Annotated[
        EventFilter, Meta(description="Selects events; at least one field is required.")
    ]
    dry_run: Annotated[
        bool, Meta(description="Only count, and return a confirmation token. Default: `false`.")
    ] = False
    token: Annotated[
        Annotated[str, Meta(min_length=1, max_length=500)] | None,
        Meta(
            description="Token of a dry run with the same filter; required unless `dry_run`. "
            "Default: none."
        ),
    ] = None


class EventReplayResult(Struct, kw_only=True, frozen=True):
    """`matched` events fit the filter, `done` were replayed, and `runs` were created at once."""

    matched: int
    done: int
    runs: int
    token: str | None


class HookDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A webhook endpoint. Senders sign their events and need no API key."""

    name: Annotated[
        Name,
        Meta(
            description="Unique in the tenant. The source of its events is `hooks/` and this name."
        ),
    ]
    type: Annotated[EventType, Meta(description="Type of its events.")]
    style: Annotated[
        SignatureStyle,
        Meta(
            description="How requests are signed: Standard Webhooks, or X-Hub-Signature-256 "
            "(`github`). Default: `standard`."
        ),
    ] = "standard"
    secret: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        Meta(
            description="A secret chosen by the sender. Default: a random one.",
            extra=SECRET_META,
        ),
    ] = None


class RotateDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    secret: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        Meta(
            description="A secret chosen by the sender. Default: a random one.",
            extra=SECRET_META,
        ),
    ] = None
    former_for: Annotated[
        Duration, Meta(description="How long the previous secret stays valid. Default: 1 day.")
    ] = "P1D"


class HookView(Struct, kw_only=True, frozen=True):
    hook_id: str
    name: str
    type: str
    style: SignatureStyle
    url: str
    version: int
    created_at: str
    used_at: str | None


class CreatedHook(HookView, kw_only=True, frozen=True):
    """A new hook with its secret, which is shown only once."""

    secret: str
