"""The events that a job waits for: the object inside `schedule.event`. Room: contract.

A text alone is the type. What a trigger does with events is core/arrivals.
"""

from datetime import timedelta
from typing import Annotated, Final

from msgspec import Meta, Struct, to_builtins

from rota.contract.documents import ALLOWED, read_input, read_stored
from rota.contract.times import Duration
from rota.core import expressions
from rota.core.documents import newer
from rota.core.errors import InvalidInput, InvalidSchedule, NewerDocument
from rota.core.time import durations
from rota.core.time.trigger import (
    BATCH_SIZE_MAX,
    DEBOUNCE_PATIENCE,
    EVENT_TYPE_CHARACTERS_MAX,
    EXPRESSION_CHARACTERS_MAX,
    EXPRESSION_NAMES,
    GATHERING_MAX,
    GATHERING_MIN,
    TRIGGER_TYPES_MAX,
    TYPE_PATTERN,
    AllOf,
    Batch,
    Debounce,
    Trigger,
    Wanted,
)

TYPE_ALLOWED: Final = (
    "a type such as order.paid, or order.* for all below order, or *, "
    f"of 1 to {EVENT_TYPE_CHARACTERS_MAX} characters"
)
EXPRESSION_ALLOWED: Final = (
    f"an expression over `event` of 1 to {EXPRESSION_CHARACTERS_MAX} characters, "
    "such as event.data.total > 100"
)
EventType = Annotated[
    str,
    Meta(min_length=1, max_length=EVENT_TYPE_CHARACTERS_MAX, extra={ALLOWED: TYPE_ALLOWED}),
]
EventExpression = Annotated[
    str,
    Meta(min_length=1, max_length=EXPRESSION_CHARACTERS_MAX, extra={ALLOWED: EXPRESSION_ALLOWED}),
]
TYPE_DESCRIPTION: Final = (
    "The type of the events: `order.paid`, `order.*` for every type below `order`, or `*`."
)
WHERE_DESCRIPTION: Final = (
    "An expression over `event` that must be true. Default: every event of the type."
)
KEY_DESCRIPTION: Final = (
    "An expression over `event`; events with different values are gathered apart. "
    "Default: all events together."
)


class EventMatchDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Events of a type, or of all types below one, for which `where` is true."""

    type: Annotated[EventType, Meta(description=TYPE_DESCRIPTION)]
    where: Annotated[EventExpression | None, Meta(description=WHERE_DESCRIPTION)] = None


class DebounceDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One run, with the latest event, after a time without another event."""

    quiet: Annotated[
        Duration,
        Meta(description="How long no other event must arrive, from 1 second to 7 days."),
    ]
    most: Annotated[
        Duration | None,
        Meta(
            description="How long a run may be put off in all, up to 7 days. "
            f"Default: {DEBOUNCE_PATIENCE} times `quiet`, at most 7 days."
        ),
    ] = None
    key: Annotated[EventExpression | None, Meta(description=KEY_DESCRIPTION)] = None


class BatchDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One run for several events."""

    size: Annotated[
        int,
        Meta(ge=1, le=BATCH_SIZE_MAX, description="How many events complete a batch."),
    ]
    within: Annotated[
        Duration,
        Meta(description="How long a batch waits for more events, from 1 second to 7 days."),
    ]
    key: Annotated[EventExpression | None, Meta(description=KEY_DESCRIPTION)] = None


class TriggerDocument(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The events that a job waits for."""

    type: Annotated[
        EventType | None,
        Meta(description=f"{TYPE_DESCRIPTION} Required without `all_of`."),
    ] = None
    where: Annotated[EventExpression | None, Meta(description=WHERE_DESCRIPTION)] = None
    debounce: Annotated[
        Duration | DebounceDocument | None,
        Meta(
            description="One run after a time without another event; a text is `quiet`. "
            "Default: a run for each event."
        ),
    ] = None
    batch: Annotated[
        BatchDocument | None,
        Meta(description="One run for several events. Default: a run for each event."),
    ] = None
    all_of: Annotated[
        Annotated[
            list[EventType | EventMatchDocument], Meta(min_length=2, max_length=TRIGGER_TYPES_MAX)
        ]
        | None,
        Meta(
            description="One run when each of these has arrived. Default: one type is enough.",
            extra={ALLOWED: f"a list of 2 to {TRIGGER_TYPES_MAX} types or objects with type"},
        ),
    ] = None
    within: Annotated[
        Duration | None,
        Meta(
            description="How long after the first event of `all_of` the others may arrive, from "
            "1 second to 7 days. Required with `all_of`. Default: not used without it."
        ),
    ] = None
    key: Annotated[
        EventExpression | None, Meta(description=f"{KEY_DESCRIPTION} Only beside `all_of`.")
    ] = None


class TriggerField(Struct, kw_only=True):
    """The field of a schedule that holds a trigger."""

    event: EventType | TriggerDocument


def read_trigger(value: object) -> Trigger:
    """Read the `event` of a schedule that a person or a program wrote."""
    document = read_input(TriggerField, {"event": value}, error=InvalidSchedule).event
    return build_trigger(document, "event", InvalidSchedule)


def read_stored_trigger(value: object) -> Trigger:
    """Read the `event` of a stored schedule; `NewerDocument` if only newer code can."""
    document = read_stored(TriggerField, {"event": value}).document.event
    return build_stored_trigger(document, "event")


def build_stored_trigger(document: str | TriggerDocument, path: str) -> Trigger:
    """Check what a stored trigger means; `NewerDocument` if only newer code knows it."""
    try:
        return build_trigger(document, path, NewerDocument)
    except InvalidInput as error:
        raise newer(error) from error


def build_trigger(document: str | TriggerDocument, path: str, error: type[InvalidInput]) -> Trigger:
    """Check what a trigger means; `error` is raised with the path of what is wrong."""
    if isinstance(document, str):
        return Trigger(wanted=(_match(document, None, path, path),))
    gathered = [
        key for key in ("debounce", "batch", "all_of") if getattr(document, key) is not None
    ]
    if len(gathered) > 1:
        second = gathered[1]
        raise error(
            f"{path}.{second}",
            to_builtins(getattr(document, second)),
            f"no {second} beside {gathered[0]}",
        )
    if document.all_of is not None:
        return _build_all_of(document, path, error)
    for key in ("within", "key"):
        if (value := getattr(document, key)) is not None:
            wanted = f"{key} inside batch or debounce, or beside all_of"
            raise error(f"{path}.{key}", value, wanted)
    if document.type is None:
        raise error(f"{path}.type", None, f"required: {TYPE_ALLOWED}")
    wanted_event = _match(document.type, document.where, path, f"{path}.type")
    if document.batch is not None:
        batch = _build_batch(document.batch, f"{path}.batch", error)
        return Trigger(wanted=(wanted_event,), gathering=batch)
    debounce = None
    if document.debounce is not None:
        debounce = _build_debounce(document.debounce, f"{path}.debounce", error)
    return Trigger(wanted=(wanted_event,), gathering=debounce)


def write_trigger(trigger: Trigger) -> object:
    """Write the canonical form."""
    match trigger.gathering:
        case AllOf() as several:
            parts = [_write_match(each) for each in trigger.wanted]
            return {"all_of": parts, "within": durations.iso(several.within), "key": several.key}
        case Debounce() as debounce:
            gathering: dict[str, object] = {
                "debounce": {
                    "quiet": durations.iso(debounce.quiet),
                    "most": durations.iso(debounce.most),
                    "key": debounce.key,
                }
            }
        case Batch() as batch:
            within = durations.iso(batch.within)
            gathering = {"batch": {"size": batch.size, "within": within, "key": batch.key}}
        case None:
            gathering = {}
    (only,) = trigger.wanted
    return {**_write_match(only), **gathering} if gathering or only.where else only.type


def _write_match(wanted: Wanted) -> dict[str, object]:
    return {"type": wanted.type, **({"where": wanted.where} if wanted.where else {})}


def _match(event_type: str, where: str | None, path: str, type_path: str) -> Wanted:
    if not TYPE_PATTERN.fullmatch(event_type):
        raise InvalidSchedule(type_path, event_type, TYPE_ALLOWED)
    return Wanted(type=event_type, where=_check_expression(where, f"{path}.where"))


def _check_expression(text: str | None, path: str) -> str | None:
    """Refuse an expression that cannot be evaluated over one event."""
    if text is not None:
        if not text.strip():
            raise InvalidSchedule(path, text, EXPRESSION_ALLOWED)
        expressions.parse(text, field=path, names=EXPRESSION_NAMES)
    return text


def _build_debounce(
    document: str | DebounceDocument, path: str, error: type[InvalidInput]
) -> Debounce:
    if isinstance(document, str):
        document = DebounceDocument(quiet=document)
    quiet = _parse_length(document.quiet, f"{path}.quiet", error)
    most = min(DEBOUNCE_PATIENCE * quiet, GATHERING_MAX)
    if document.most is not None:
        most = _parse_length(document.most, f"{path}.most", error, shortest=quiet)
    return Debounce(quiet=quiet, most=most, key=_check_expression(document.key, f"{path}.key"))


def _build_batch(document: BatchDocument, path: str, error: type[InvalidInput]) -> Batch:
    within = _parse_length(document.within, f"{path}.within", error)
    key = _check_expression(document.key, f"{path}.key")
    return Batch(size=document.size, within=within, key=key)


def _build_all_of(document: TriggerDocument, path: str, error: type[InvalidInput]) -> Trigger:
    for key in ("type", "where"):
        if (value := getattr(document, key)) is not None:
            raise error(f"{path}.{key}", value, f"{key} inside all_of")
    if document.within is None:
        wanted = f"how long to wait for the others, {durations.WANTED}"
        raise error(f"{path}.within", None, wanted)
    within = _parse_length(document.within, f"{path}.within", error)
    matches = []
    for place, item in enumerate(document.all_of or ()):
        part = EventMatchDocument(type=item) if isinstance(item, str) else item
        here = f"{path}.all_of[{place}]"
        matches.append(_match(part.type, part.where, here, f"{here}.type"))
    several = AllOf(within=within, key=_check_expression(document.key, f"{path}.key"))
    return Trigger(wanted=tuple(matches), gathering=several)


def _parse_length(
    text: str, path: str, error: type[InvalidInput], *, shortest: timedelta = GATHERING_MIN
) -> timedelta:
    return durations.parse(text, field=path, shortest=shortest, longest=GATHERING_MAX, error=error)
