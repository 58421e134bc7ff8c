"""Defines events in Rota's own form and as CloudEvents.

(source, id) identifies an event within a tenant: an event with the same pair is a duplicate.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rota.contract.field_types import Moment
from rota.core.event_rules.event import (
    DEFAULT_EVENT_SOURCE,
    EVENT_ATTRIBUTE_CHARACTERS_MAX,
    EVENT_TYPE_LENGTH_MAX,
    EVENTS_PER_REQUEST_MAX,
)

EventType = Annotated[str, Meta(min_length=1, max_length=EVENT_TYPE_LENGTH_MAX)]
EventText = Annotated[str, Meta(min_length=1, max_length=EVENT_ATTRIBUTE_CHARACTERS_MAX)]


class EventAttributes(Struct, kw_only=True, forbid_unknown_fields=True):
    """The attributes of one event, except its type."""

    source: Annotated[
        EventText | UnsetType,
        Meta(description=f"Where the event comes from. Default: `{DEFAULT_EVENT_SOURCE}`."),
    ] = UNSET
    id: Annotated[
        EventText | UnsetType,
        Meta(
            description=(
                "Id of the event; an event with the same source and id is a duplicate. "
                "Default: a new id."
            )
        ),
    ] = UNSET
    time: Annotated[
        Moment | UnsetType, Meta(description="When the event happened. Default: when it arrives.")
    ] = UNSET
    subject: Annotated[
        EventText | UnsetType, Meta(description="What the event is about. Default: none.")
    ] = UNSET
    data: Annotated[Any | UnsetType, Meta(description="Event data, any JSON. Default: null.")] = (
        UNSET
    )


class EventDraft(EventAttributes, kw_only=True, forbid_unknown_fields=True):
    type: Annotated[EventType, Meta(description="What happened, such as `order.paid`.")]


class EventsDraft(EventAttributes, kw_only=True, forbid_unknown_fields=True):
    """One event, or several in `events`."""

    type: Annotated[
        EventType | UnsetType,
        Meta(
            description="What happened, such as `order.paid`. Default: none; then `events` is "
            "required."
        ),
    ] = UNSET
    events: Annotated[
        Annotated[list[EventDraft], Meta(min_length=1, max_length=EVENTS_PER_REQUEST_MAX)]
        | UnsetType,
        Meta(
            description="Several events; all of them are accepted, or none. Default: the single "
            "event in the other fields."
        ),
    ] = UNSET


class CloudEvent(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """The attributes that CloudEvents 1.0 defines; extension attributes are read separately."""

    specversion: Literal["1.0"]
    id: EventText
    source: EventText
    type: EventType
    time: Moment | None = None
    subject: EventText | None = None
    data: Any = None
    data_base64: str | None = None
