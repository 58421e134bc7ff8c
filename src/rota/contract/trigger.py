"""Reads and writes event triggers: the value of `schedule.event`.

A string alone is the event type. core/arrivals matches events against triggers.
"""

from datetime import timedelta
from typing import Annotated, Final

from msgspec import Meta, Struct, to_builtins

from rota.contract.documents import ALLOWED_KEY, read_input, read_stored
from rota.contract.times import Duration
from rota.core import expressions
from rota.core.errors import InvalidInput, InvalidSchedule, NewerDocument
from rota.core.stored_documents import to_newer_document
from rota.core.time import durations
from rota.core.time.trigger import (
    BATCH_SIZE_MAX,
    DEBOUNCE_MAX_WAIT_FACTOR,
    EVENT_TYPE_CHARACTERS_MAX,
    EXPRESSION_CHARACTERS_MAX,
    GROUPING_PERIOD_MAX,
    GROUPING_PERIOD_MIN,
    TRIGGER_EXPRESSION_NAMES,
    TRIGGER_TYPES_MAX,
    TYPE_PATTERN,
    AllOf,
    BatchGrouping,
    Debounce,
    EventPattern,
    Trigger,
)

TYPE_ALLOWED: Final = (
    "an event type such as order.paid, order.* for all types below order, or *, "
    f"of 1 to {EVENT_TYPE_CHARACTERS_MAX} characters"
)
EXPRESSION_ALLOWED: Final = (
    f"an expression over `event` of 1 to {EXPRESSION_CHARACTERS_MAX} characters, "
    "such as event.data.total > 100"
)
EventType = Annotated[
    str,
    Meta(min_length=1, max_length=EVENT_TYPE_CHARACTERS_MAX, extra={ALLOWED_KEY: TYPE_ALLOWED}),
]
EventExpression = Annotated[
    str,
    Meta(
        min_length=1, max_length=EXPRESSION_CHARACTERS_MAX, extra={ALLOWED_KEY: EXPRESSION_ALLOWED}
    ),
]
TYPE_DESCRIPTION: Final = (
    "Event type: `order.paid`, `order.*` for every type below `order`, or `*` for all."
)
WHERE_DESCRIPTION: Final = (
    "Expression over `event` that must be true. Default: every event of the type matches."
)
KEY_DESCRIPTION: Final = (
    "Expression over `event`; events are grouped by its value. Default: one group for all events."
)


class EventMatchDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Matches events of a type, or of all types below it, for which `where` is true."""

    type: Annotated[EventType, Meta(description=TYPE_DESCRIPTION)]
    where: Annotated[EventExpression | None, Meta(description=WHERE_DESCRIPTION)] = None


class DebounceDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Creates one run, with the latest event, when no further event has arrived for `quiet`."""

    quiet: Annotated[
        Duration,
        Meta(description="Time without another event before the run, from 1 second to 7 days."),
    ]
    most: Annotated[
        Duration | None,
        Meta(
            description="Maximum delay after the first event, up to 7 days. "
            f"Default: {DEBOUNCE_MAX_WAIT_FACTOR} times `quiet`, at most 7 days."
        ),
    ] = None
    key: Annotated[EventExpression | None, Meta(description=KEY_DESCRIPTION)] = None


class BatchDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Creates one run for several events."""

    size: Annotated[
        int,
        Meta(ge=1, le=BATCH_SIZE_MAX, description="Number of events in a full batch."),
    ]
    within: Annotated[
        Duration,
        Meta(description="Time that a batch waits for more events, from 1 second to 7 days."),
    ]
    key: Annotated[EventExpression | None, Meta(description=KEY_DESCRIPTION)] = None


class TriggerDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The events that start a run of the job."""

    type: Annotated[
        EventType | None,
        Meta(description=f"{TYPE_DESCRIPTION} Required without `all_of`. Default: none."),
    ] = None
    where: Annotated[EventExpression | None, Meta(description=WHERE_DESCRIPTION)] = None
    debounce: Annotated[
        Duration | DebounceDocument | None,
        Meta(
            description="One run when no further event has arrived for a while; a string is "
            "`quiet`. Default: one run per event."
        ),
    ] = None
    batch: Annotated[
        BatchDocument | None,
        Meta(description="One run for several events. Default: one run per event."),
    ] = None
    all_of: Annotated[
        Annotated[
            list[EventType | EventMatchDocument], Meta(min_length=2, max_length=TRIGGER_TYPES_MAX)
        ]
        | None,
        Meta(
            description="One run when an event of each of these types has arrived. "
            "Default: one run per event of `type`.",
            extra={ALLOWED_KEY: f"a list of 2 to {TRIGGER_TYPES_MAX} types or objects with type"},
        ),
    ] = None
    within: Annotated[
        Duration | None,
        Meta(
            description="Time after the first event of `all_of` in which the others must arrive, "
            "from 1 second to 7 days. Required with `all_of`. Default: none."
        ),
    ] = None
    key: Annotated[
        EventExpression | None, Meta(description=f"Only with `all_of`. {KEY_DESCRIPTION}")
    ] = None


class TriggerField(Struct, kw_only=True):
    """The field of a schedule that holds a trigger."""

    event: EventType | TriggerDocument


def read_trigger(value: object) -> Trigger:
    """Read the `event` of a schedule from input."""
    document = read_input(TriggerField, {"event": value}, error=InvalidSchedule).event
    return build_trigger(document, "event", InvalidSchedule)


def read_stored_trigger(value: object) -> Trigger:
    """Read the `event` of a stored schedule; raise `NewerDocument` if only newer code can."""
    document = read_stored(TriggerField, {"event": value}).document.event
    return build_stored_trigger(document, "event")


def build_stored_trigger(document: str | TriggerDocument, path: str) -> Trigger:
    """Build a stored trigger; raise `NewerDocument` if only newer code knows it."""
    try:
        return build_trigger(document, path, NewerDocument)
    except InvalidInput as error:
        raise to_newer_document(error) from error


def build_trigger(document: str | TriggerDocument, path: str, error: type[InvalidInput]) -> Trigger:
    """Check and build a trigger; raise `error` with the path of the wrong field."""
    if isinstance(document, str):
        return Trigger(patterns=(_build_match(document, None, path, path),))
    modes = [key for key in ("debounce", "batch", "all_of") if getattr(document, key) is not None]
    if len(modes) > 1:
        first, second = modes[:2]
        raise error(
            f"{path}.{second}",
            to_builtins(getattr(document, second)),
            f"{first} and {second} cannot be combined; remove one of them",
        )
    if document.all_of is not None:
        return _build_all_of(document, path, error)
    for key in ("within", "key"):
        if (value := getattr(document, key)) is not None:
            wanted = f"{key} is allowed only inside batch or debounce, or with all_of"
            raise error(f"{path}.{key}", value, wanted)
    if document.type is None:
        raise error(f"{path}.type", None, f"required; expected {TYPE_ALLOWED}")
    wanted_event = _build_match(document.type, document.where, path, f"{path}.type")
    if document.batch is not None:
        batch = _build_batch(document.batch, f"{path}.batch", error)
        return Trigger(patterns=(wanted_event,), grouping=batch)
    debounce = None
    if document.debounce is not None:
        debounce = _build_debounce(document.debounce, f"{path}.debounce", error)
    return Trigger(patterns=(wanted_event,), grouping=debounce)


def write_trigger(trigger: Trigger) -> object:
    """Write the canonical form."""
    match trigger.grouping:
        case AllOf() as several:
            parts = [_write_match(wanted) for wanted in trigger.patterns]
            return {"all_of": parts, "within": durations.to_iso(several.within), "key": several.key}
        case Debounce() as debounce:
            gathering: dict[str, object] = {
                "debounce": {
                    "quiet": durations.to_iso(debounce.quiet),
                    "most": durations.to_iso(debounce.max_wait),
                    "key": debounce.key,
                }
            }
        case BatchGrouping() as batch:
            within = durations.to_iso(batch.within)
            gathering = {"batch": {"size": batch.size, "within": within, "key": batch.key}}
        case None:
            gathering = {}
    (only,) = trigger.patterns
    return {**_write_match(only), **gathering} if gathering or only.where else only.type


def _write_match(wanted: EventPattern) -> dict[str, object]:
    return {"type": wanted.type, **({"where": wanted.where} if wanted.where else {})}


def _build_match(event_type: str, where: str | None, path: str, type_path: str) -> EventPattern:
    if not TYPE_PATTERN.fullmatch(event_type):
        raise InvalidSchedule(type_path, event_type, f"expected {TYPE_ALLOWED}")
    return EventPattern(type=event_type, where=_check_expression(where, f"{path}.where"))


def _check_expression(text: str | None, path: str) -> str | None:
    """Reject an expression that cannot be evaluated over one event."""
    if text is not None:
        if not text.strip():
            raise InvalidSchedule(path, text, f"expected {EXPRESSION_ALLOWED}")
        expressions.parse_expression(text, field=path, names=TRIGGER_EXPRESSION_NAMES)
    return text


def _build_debounce(
    document: str | DebounceDocument, path: str, error: type[InvalidInput]
) -> Debounce:
    if isinstance(document, str):
        document = DebounceDocument(quiet=document)
    quiet = _parse_length(document.quiet, f"{path}.quiet", error)
    most = min(DEBOUNCE_MAX_WAIT_FACTOR * quiet, GROUPING_PERIOD_MAX)
    if document.most is not None:
        most = _parse_length(document.most, f"{path}.most", error, shortest=quiet)
    return Debounce(quiet=quiet, max_wait=most, key=_check_expression(document.key, f"{path}.key"))


def _build_batch(document: BatchDocument, path: str, error: type[InvalidInput]) -> BatchGrouping:
    within = _parse_length(document.within, f"{path}.within", error)
    key = _check_expression(document.key, f"{path}.key")
    return BatchGrouping(size=document.size, within=within, key=key)


def _build_all_of(document: TriggerDocument, path: str, error: type[InvalidInput]) -> Trigger:
    for key in ("type", "where"):
        if (value := getattr(document, key)) is not None:
            raise error(f"{path}.{key}", value, f"with all_of, give {key} inside its items")
    if document.within is None:
        wanted = "required with all_of: the time to wait for the other events, such as 1h"
        raise error(f"{path}.within", None, wanted)
    within = _parse_length(document.within, f"{path}.within", error)
    matches = []
    for place, item in enumerate(document.all_of or ()):
        part = EventMatchDocument(type=item) if isinstance(item, str) else item
        here = f"{path}.all_of[{place}]"
        matches.append(_build_match(part.type, part.where, here, f"{here}.type"))
    several = AllOf(within=within, key=_check_expression(document.key, f"{path}.key"))
    return Trigger(patterns=tuple(matches), grouping=several)


def _parse_length(
    text: str, path: str, error: type[InvalidInput], *, shortest: timedelta = GROUPING_PERIOD_MIN
) -> timedelta:
    return durations.parse(
        text, field=path, minimum=shortest, maximum=GROUPING_PERIOD_MAX, error=error
    )
