"""Schemas of incidents, silences, messages and channels."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from rota.api.schemas.field_types import Cursor, Duration, Json, Limit, Moment, Name
from rota.contract.expectations import SeverityName, SubjectMatch

NotificationState = Literal["pending", "sending", "sent", "failed", "suppressed", "digested"]


class IncidentQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    state: Annotated[
        Literal["open", "acknowledged", "resolved", "silenced"] | None,
        Meta(
            description="Filter by state; `silenced` are open ones whose messages a silence holds "
            "back. Default: all."
        ),
    ] = None
    severity: Annotated[
        SeverityName | None, Meta(description="Filter by severity. Default: all.")
    ] = None
    job: Annotated[
        Annotated[str, Meta(min_length=1, max_length=100)] | None,
        Meta(description="Filter by the id of a job. Default: all."),
    ] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class IncidentSubject(Struct, kw_only=True, frozen=True):
    """What an incident is about."""

    kind: str
    id: str
    name: str


class IncidentExpectation(Struct, kw_only=True, frozen=True):
    """The violated expectation, the worst if there are several."""

    id: str
    name: str


class ThreadEntryView(Struct, kw_only=True, frozen=True):
    """An entry of the thread of an incident. `by` is null for Rota itself."""

    at: str
    type: str
    by: str | None
    text: str | None


class IncidentNotification(Struct, kw_only=True, frozen=True):
    """A message about an incident."""

    notification_id: str
    channel: str
    kind: str
    state: str
    created_at: str
    sent_at: str | None
    attempts: int
    error: str | None


class IncidentView(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """An incident. `thread` and `notifications` are present for a single incident only."""

    incident_id: str
    title: str
    condition: str
    severity: Annotated[str, Meta(description="`info`, `warning` or `page`.")]
    state: Annotated[str, Meta(description="`open`, `acknowledged` or `resolved`.")]
    subject: IncidentSubject
    job_id: str | None
    run_id: str | None
    opened_at: str
    last_seen_at: str
    acknowledged_at: str | None
    acknowledged_by: str | None
    resolved_at: str | None
    resolved_by: str | None
    resolution: Annotated[str | None, Meta(description="Why the incident ended.")]
    count: Annotated[int, Meta(description="How many bad runs the incident stands for.")]
    silenced_until: str | None
    is_flapping: bool
    inhibited_by: Annotated[
        str | None,
        Meta(description="Code of the cause that explains the incident; no message names it."),
    ]
    is_platform: Annotated[
        bool, Meta(description="Whether it is about the installation; only platform keys see it.")
    ]
    expectation: IncidentExpectation
    facts: dict[str, Json]
    thread: list[ThreadEntryView] | None = None
    notifications: list[IncidentNotification] | None = None


class IncidentNote(Struct, kw_only=True, forbid_unknown_fields=True):
    """A comment that is added to the thread of an incident."""

    text: Annotated[str, Meta(min_length=1, max_length=4000, description="The comment.")]


class IncidentAction(Struct, kw_only=True, forbid_unknown_fields=True):
    """A change of an incident."""

    note: Annotated[
        Annotated[str, Meta(min_length=1, max_length=4000)] | None,
        Meta(description="A comment for the thread. Default: none."),
    ] = None


class SilenceQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    ended: Annotated[bool, Meta(description="Also list ended silences. Default: false.")] = False
    limit: Limit = 50
    cursor: Cursor | None = None


class SilenceDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """Holds back messages about matching incidents; checks go on. Give `for` or `ends_at`, at most
    30 days, or a calendar.
    """

    reason: Annotated[
        str, Meta(min_length=1, max_length=1000, description="Why messages are held back.")
    ]
    match: Annotated[
        SubjectMatch,
        Meta(description="What the silence applies to. Default: everything of the tenant."),
    ] = field(default_factory=SubjectMatch)
    starts_at: Annotated[
        Moment | None, Meta(description="When the silence begins. Default: now.")
    ] = None
    ends_at: Annotated[
        Moment | None,
        Meta(description="When the silence ends. Default: `for` after its start."),
    ] = None
    duration: Annotated[
        Duration | None,
        Meta(description="How long the silence lasts, instead of `ends_at`. Default: none."),
    ] = field(name="for", default=None)
    calendar: Annotated[
        Name | None,
        Meta(
            description="Name of a calendar: the silence holds in its windows, until it is "
            "deleted. Default: none."
        ),
    ] = None


class SilenceView(Struct, kw_only=True, frozen=True):
    """A silence. `ends_at` is null for one that follows a calendar without an end."""

    silence_id: str
    match: SubjectMatch
    starts_at: str
    ends_at: str | None
    calendar: str | None
    reason: str
    state: Annotated[str, Meta(description="`pending`, `active` or `ended`.")]
    created_by: str
    created_at: str
    ended_by: str | None


class NotificationQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    channel: Annotated[
        Name | None, Meta(description="Filter by the name of a channel. Default: all.")
    ] = None
    state: Annotated[
        NotificationState | None, Meta(description="Filter by state. Default: all.")
    ] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class NotificationView(Struct, kw_only=True, frozen=True):
    """A message about incidents to one channel."""

    notification_id: str
    channel: str
    kind: str
    severity: str
    state: Annotated[
        str,
        Meta(
            description="`pending`, `sending`, `sent` or `failed`. `digested`: a digest counts it "
            "instead. `suppressed`: not sent, `error` says why."
        ),
    ]
    title: str | None
    incident_ids: Annotated[
        list[str], Meta(description="The incidents that the message names; at most 20.")
    ]
    incident_count: int
    created_at: str
    next_at: Annotated[str | None, Meta(description="When the next attempt is due.")]
    sent_at: str | None
    attempts: int
    error: str | None
    digest_id: str | None


class ChannelView(Struct, kw_only=True, frozen=True):
    """A channel that a process reported. Its address is never shown."""

    name: str
    kind: str
    is_default: Annotated[
        bool, Meta(description="Whether it gets messages of expectations without a route.")
    ]
    health: Annotated[
        str,
        Meta(
            description="`ok` or `failing`. `unknown`: no process has reported the channel for "
            "5 minutes."
        ),
    ]
    recovery: bool
    minimum_severity: str
    last_sent_at: str | None
    failing_since: str | None
    last_error: str | None
    reported_at: str


class ChannelList(Struct, kw_only=True, frozen=True):
    data: list[ChannelView]
