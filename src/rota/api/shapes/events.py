"""Events from outside and hooks as JSON. Room: api/shapes."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rota.api.shapes.pieces import Cursor, Duration, Limit, Moment, Name
from rota.contract.documents import SECRET
from rota.contract.event import EventText, EventType

Outcome = Literal["matched", "gathered", "filtered", "paused", "failed"]
Style = Literal["standard", "github"]
JobId = Annotated[str, Meta(pattern="^job_[0-9a-f]{32}$")]


class EventTaken(Struct, kw_only=True, frozen=True):
    """A `duplicate` came before, and made nothing again. `run_ids` are the runs that it is part of;
    one that is gathered with others is not made yet.
    """

    event_id: str
    source: str
    id: str
    duplicate: bool
    run_ids: list[str]


class EventsTaken(Struct, kw_only=True, frozen=True):
    taken: int
    duplicates: int
    events: list[EventTaken]


class MatchView(Struct, kw_only=True, frozen=True):
    """What an event was for a job that waits for its type, and why."""

    job_id: str
    job_name: str | None
    outcome: Outcome
    run_id: str | None
    why: str | None
    replay: str | None


class EventView(Struct, kw_only=True, frozen=True):
    """`attributes` are those beside the usual ones, as CloudEvents has them."""

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
    type: Annotated[EventType | None, Meta(description="Of this type.")] = None
    source: Annotated[EventText | None, Meta(description="From this source.")] = None
    since: Annotated[Moment | None, Meta(description="That arrived at this time or later.")] = None
    until: Annotated[Moment | None, Meta(description="That arrived before this time.")] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class EventFilter(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which events; at least one of these must be said."""

    type: Annotated[EventType | None, Meta(description="Of this type.")] = None
    source: Annotated[EventText | None, Meta(description="From this source.")] = None
    since: Annotated[Moment | None, Meta(description="That arrived at this time or later.")] = None
    until: Annotated[Moment | None, Meta(description="That arrived before this time.")] = None
    job_id: Annotated[
        JobId | None, Meta(description="Ask this job only, and not all that wait for the type.")
    ] = None


class EventsReplayDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """First a dry run, which answers how many and a token; then the same with the token."""

    filter: Annotated[
        EventFilter, Meta(description="Which events; at least one of its fields must be said.")
    ]
    dry_run: Annotated[
        bool, Meta(description="Only count them, and answer the token to do it.")
    ] = False
    token: Annotated[
        Annotated[str, Meta(min_length=1, max_length=500)] | None,
        Meta(description="The token of a dry run with the same filter."),
    ] = None


class Replayed(Struct, kw_only=True, frozen=True):
    """`matched` is what the filter finds, `done` how many were matched again, `runs` the runs that
    were made of them at once.
    """

    matched: int
    done: int
    runs: int
    token: str | None


class HookDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A place where somebody without a key hands in events, by signing them."""

    name: Annotated[Name, Meta(description="Unique in the tenant; the source is hooks/ and it.")]
    type: Annotated[EventType, Meta(description="The type of the events that come of it.")]
    style: Annotated[
        Style,
        Meta(description="How requests are signed: Standard Webhooks, or X-Hub-Signature-256."),
    ] = "standard"
    secret: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        Meta(
            description="A secret that the sender has made. Default: drawn at random.",
            extra=SECRET,
        ),
    ] = None


class RotateDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    secret: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        Meta(
            description="A secret that the sender has made. Default: drawn at random.",
            extra=SECRET,
        ),
    ] = None
    former_for: Annotated[
        Duration, Meta(description="How long the secret before is good as well.")
    ] = "P1D"


class HookView(Struct, kw_only=True, frozen=True):
    hook_id: str
    name: str
    type: str
    style: Style
    url: str
    version: int
    created_at: str
    used_at: str | None


class HookMade(HookView, kw_only=True, frozen=True):
    """With its secret, which is shown this once."""

    secret: str
