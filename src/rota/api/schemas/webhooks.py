"""Schemas of webhook subscriptions: endpoints and their deliveries."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.api.schemas.field_types import Cursor, Duration, Labels, Limit, Moment, Name
from rota.contract.documents import SECRET_META

EventPattern = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        description="An event type such as `run.failed`, a pattern such as `run.*`, or `*`.",
    ),
]
EventPatterns = Annotated[list[EventPattern], Meta(min_length=1, max_length=30)]
Includes = Annotated[list[Literal["payload", "result"]], Meta(max_length=2)]
WebhookUrl = Annotated[str, Meta(min_length=1, max_length=4000)]
BodyFormat = Literal["standard", "cloudevents"]
EndpointState = Literal["enabled", "disabled"]
DeliveryState = Literal["pending", "sending", "held", "delivered", "failed", "dropped"]
Severity = Literal["info", "warning", "page"]
URL_TEXT = (
    "Where events are sent. It must be public: the same rules as for `http` jobs apply. `https`, "
    "unless `allow_http` is set."
)
EVENTS_TEXT = "Event types or patterns; an event must match one of them."
INCLUDE_TEXT = (
    "Fields to send in addition, masked: payload and result of the run. Requires the role admin."
)
FORMAT_TEXT = "Form of the body: `{type, timestamp, data}` (`standard`) or a CloudEvent."
SECRET_TEXT = "Signing secret: `whsec_` and the base64 of 24 to 64 random bytes."  # noqa: S105
TokenText = Annotated[str, Meta(min_length=1, max_length=500)]
PerMinute = Annotated[int, Meta(ge=1, le=60_000)]


class WebhookFilter(Struct, kw_only=True, forbid_unknown_fields=True):
    """Conditions that an event must meet, all of them. `*` in a name matches any characters."""

    job: Annotated[
        Name | None,
        Meta(description="Name of the job, or a pattern such as `nightly *`. Default: any."),
    ] = None
    task: Annotated[Name | None, Meta(description="Task, or a pattern. Default: any.")] = None
    queue: Annotated[Name | None, Meta(description="Queue, or a pattern. Default: any.")] = None
    labels: Annotated[
        Labels, Meta(description="Labels that the job must have. Default: none.")
    ] = {}
    severity: Annotated[
        Severity | None,
        Meta(description="Lowest severity of incident events. Default: any."),
    ] = None


class WebhookDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A subscription: events are sent to a URL as signed requests."""

    url: Annotated[WebhookUrl, Meta(description=URL_TEXT)]
    events: Annotated[EventPatterns, Meta(description=EVENTS_TEXT)]
    name: Annotated[
        Name | None,
        Meta(description="Unique in the tenant. Default: the host of the URL."),
    ] = None
    filter: Annotated[
        WebhookFilter | None, Meta(description="Which events are sent. Default: all.")
    ] = None
    include: Annotated[Includes, Meta(description=f"{INCLUDE_TEXT} Default: none.")] = []
    format: Annotated[BodyFormat, Meta(description=f"{FORMAT_TEXT} Default: `standard`.")] = (
        "standard"
    )
    allow_http: Annotated[
        bool,
        Meta(description="Allow a URL without TLS, readable on the way. Default: `false`."),
    ] = False
    secret: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        Meta(description=f"{SECRET_TEXT} Default: a random one.", extra=SECRET_META),
    ] = None


class WebhookEdit(Struct, kw_only=True, forbid_unknown_fields=True):
    """Changes the given fields."""

    url: Annotated[WebhookUrl | UnsetType, Meta(description=f"{URL_TEXT} Default: unchanged.")] = (
        UNSET
    )
    events: Annotated[
        EventPatterns | UnsetType, Meta(description=f"{EVENTS_TEXT} Default: unchanged.")
    ] = UNSET
    name: Annotated[
        Name | UnsetType, Meta(description="Unique in the tenant. Default: unchanged.")
    ] = UNSET
    filter: Annotated[
        WebhookFilter | UnsetType | None,
        Meta(description="Replaces the whole filter; null removes it. Default: unchanged."),
    ] = UNSET
    include: Annotated[
        Includes | UnsetType, Meta(description=f"{INCLUDE_TEXT} Default: unchanged.")
    ] = UNSET
    format: Annotated[
        BodyFormat | UnsetType, Meta(description=f"{FORMAT_TEXT} Default: unchanged.")
    ] = UNSET
    allow_http: Annotated[
        bool | UnsetType, Meta(description="Allow a URL without TLS. Default: unchanged.")
    ] = UNSET


class WebhookView(Struct, kw_only=True, frozen=True):
    """An endpoint without its secret. `url` is shortened for viewers. `pending` counts deliveries
    that wait, `held` those that wait because the endpoint is disabled; both up to 100,001.
    `failing_since` is the first failed attempt since the last success.
    """

    webhook_id: str
    name: str
    url: str
    events: list[str]
    filter: WebhookFilter
    include: list[str]
    format: BodyFormat
    allow_http: bool
    state: EndpointState
    disabled_reason: Literal["manual", "gone", "failing"] | None
    disabled_at: str | None
    failures: int
    failing_since: str | None
    last_success_at: str | None
    last_failure_at: str | None
    last_error: str | None
    pending: int
    held: int
    version: int
    former_secret_until: str | None
    created_at: str
    created_by: str
    updated_at: str
    warnings: list[str] = []


class CreatedWebhook(WebhookView, kw_only=True, frozen=True):
    """An endpoint with its secret, which is shown only once."""

    secret: str


class WebhookRotateDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """During the overlap both secrets sign, so receivers can change at any time in between."""

    secret: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        Meta(description=f"{SECRET_TEXT} Default: a random one.", extra=SECRET_META),
    ] = None
    former_for: Annotated[
        Duration,
        Meta(description="How long the previous secret signs as well. Default: 24 hours."),
    ] = "PT24H"


class WebhookEnableDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """If deliveries are held, send a dry run first and repeat it with its token."""

    held: Annotated[
        Literal["replay", "newest", "drop"] | None,
        Meta(
            description="What happens to held deliveries: send all (`replay`), send only the "
            "newest, or drop them. Required if there are any. Default: none."
        ),
    ] = None
    per_minute: Annotated[
        PerMinute,
        Meta(description="Pace of `replay`, in deliveries per minute. Default: 600."),
    ] = 600
    dry_run: Annotated[
        bool, Meta(description="Only count, and return a confirmation token. Default: `false`.")
    ] = False
    token: Annotated[
        TokenText | None,
        Meta(description="Token of a dry run with the same `held`. Default: none."),
    ] = None


class EnabledWebhook(Struct, kw_only=True, frozen=True):
    """`matched` deliveries were held, `done` of them were changed, and `token` confirms."""

    webhook: WebhookView
    matched: int
    done: int
    token: str | None


class WebhookReplayDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """Send a dry run first, which returns the count and a token; then repeat it with the token."""

    states: Annotated[
        Annotated[list[Literal["failed", "dropped", "delivered"]], Meta(min_length=1)] | None,
        Meta(description="Which deliveries to send again. Default: `failed`."),
    ] = None
    events: Annotated[
        EventPatterns | None, Meta(description="Event types or patterns. Default: all.")
    ] = None
    since: Annotated[
        Moment | None, Meta(description="Events at or after this time. Default: any.")
    ] = None
    until: Annotated[Moment | None, Meta(description="Events before this time. Default: any.")] = (
        None
    )
    per_minute: Annotated[
        PerMinute, Meta(description="Pace, in deliveries per minute. Default: 600.")
    ] = 600
    dry_run: Annotated[
        bool, Meta(description="Only count, and return a confirmation token. Default: `false`.")
    ] = False
    token: Annotated[
        TokenText | None,
        Meta(
            description="Token of a dry run with the same filter; required unless `dry_run`. "
            "Default: none."
        ),
    ] = None


class ReplayedDeliveries(Struct, kw_only=True, frozen=True):
    """`matched` deliveries fit the filter, this call scheduled `done`, and `token` confirms."""

    matched: int
    done: int
    token: str | None


class DeliveriesQuery(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    state: Annotated[
        Literal["all", "pending", "held", "delivered", "failed", "dropped"],
        Meta(description="Filter by state. Default: `all`."),
    ] = "all"
    type: Annotated[
        EventPattern | None, Meta(description="Filter by event type. Default: all.")
    ] = None
    limit: Limit = 50
    cursor: Cursor | None = None


class DeliveryView(Struct, kw_only=True, frozen=True):
    """One event for one endpoint. `event_id` is the `webhook-id` of its requests. `status` and
    `error` are those of the last attempt.
    """

    delivery_id: str
    event_id: str
    type: str
    state: DeliveryState
    attempts: int
    next_attempt_at: str | None
    created_at: str
    finished_at: str | None
    status: int | None
    error: str | None


class DeliveryAttempt(Struct, kw_only=True, frozen=True):
    at: str
    status: int | None
    error: str | None
    duration_ms: int


class DeliveryDetails(DeliveryView, kw_only=True, frozen=True):
    """Adds the request body, the beginning of the last response, and the last 20 attempts."""

    content_type: str
    body: Any
    response: str | None
    history: list[DeliveryAttempt]
