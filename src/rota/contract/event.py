"""An event from outside: in Rota's own form and as a CloudEvent. Room: contract.

(source, id) is its identity within a tenant: the same pair again is the same event.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.contract.pieces import Moment
from rota.core.arrivals.event import MOST_EVENTS, MOST_TEXT, MOST_TYPE, SOURCE

EventType = Annotated[str, Meta(min_length=1, max_length=MOST_TYPE)]
EventText = Annotated[str, Meta(min_length=1, max_length=MOST_TEXT)]


class EventAttributes(Struct, kw_only=True, forbid_unknown_fields=True):
    """What one event may say, beside its type."""

    source: Annotated[
        EventText | UnsetType, Meta(description=f"Where it comes from. Default: `{SOURCE}`.")
    ] = UNSET
    id: Annotated[
        EventText | UnsetType,
        Meta(
            description=(
                "Its id: the same source and id again are the same event. Default: a new id."
            )
        ),
    ] = UNSET
    time: Annotated[
        Moment | UnsetType, Meta(description="When it happened. Default: when it arrives.")
    ] = UNSET
    subject: Annotated[
        EventText | UnsetType, Meta(description="What it is about. Default: none.")
    ] = UNSET
    data: Annotated[
        Any | UnsetType, Meta(description="Any JSON that describes what happened. Default: null.")
    ] = UNSET


class EventDraft(EventAttributes, kw_only=True, forbid_unknown_fields=True):
    type: Annotated[EventType, Meta(description="What happened, as in order.paid.")]


class EventsDraft(EventAttributes, kw_only=True, forbid_unknown_fields=True):
    """One event, or several in `events`."""

    type: Annotated[
        EventType | UnsetType,
        Meta(description="What happened, as in order.paid. Default: none; `events` is required."),
    ] = UNSET
    events: Annotated[
        Annotated[list[EventDraft], Meta(min_length=1, max_length=MOST_EVENTS)] | UnsetType,
        Meta(description="Several events: all are taken, or none. Default: the one event."),
    ] = UNSET


class CloudEvent(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """The attributes that CloudEvents 1.0 defines; extensions stand beside them."""

    specversion: Literal["1.0"]
    id: EventText
    source: EventText
    type: EventType
    time: Moment | None = None
    subject: EventText | None = None
    data: Any = None
    data_base64: str | None = None
