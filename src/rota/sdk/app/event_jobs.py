"""Declares jobs that are triggered by events, and builds their payloads.

A parameter `event` receives the event as a mapping; for triggers that combine several events, a
parameter `events` receives a list of them. With `args` the function receives those instead, and
`{"$": "event.data.order"}` is replaced by a value of the event.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec

from rota.contract.trigger import read_trigger
from rota.core.errors import InvalidInput
from rota.core.event_rules.payloads import PLACEHOLDER_KEY, check_template, has_single_event
from rota.core.submissions import encode_json
from rota.sdk.app.handlers import Arguments

Duration = str | timedelta
EVENT_FIELD: Final = "event"


def event(
    type: str | None = None,  # noqa: A002 — the field's name in API and manifests
    *,
    where: str | None = None,
    debounce: Duration | Mapping[str, Any] | None = None,
    batch: Mapping[str, Any] | None = None,
    all_of: Sequence[str | Mapping[str, Any]] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Describe the events that trigger a job: `@app.job(on=rota.event("order.paid"))`.

    `where` is an expression over `event`. `debounce` runs the job once after this long without an
    event. `batch` collects events: `{"size": 100, "within": "10s"}`. `all_of` lists several events
    to wait for; it takes `within` and optionally `key`.
    """
    fields = {"type": type, "where": where, "debounce": debounce, "batch": batch, "all_of": all_of}
    return {name: value for name, value in {**fields, **more}.items() if value is not None}


def is_event_triggered(schedule: Mapping[str, Any] | None) -> bool:
    return schedule is not None and schedule.get(EVENT_FIELD) is not None


class EventPlaceholder:
    """A placeholder for a value that comes from the event."""


def build_event_payload(
    arguments: Arguments, schedule: Mapping[str, Any], args: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The payload of a job that events trigger; None passes each run its event."""
    if not args:
        single = has_single_event(read_trigger(schedule[EVENT_FIELD]))
        name = "event" if single else "events"
        if name not in arguments.names:
            wanted = f"the function needs a parameter `{name}`, or `args` with all its parameters"
            raise InvalidInput("args", {}, wanted)
        arguments.bind_partial((), {name: EventPlaceholder()}, placeholder=EventPlaceholder)
        return None
    check_template(args, "args")
    known = {
        name: EventPlaceholder() if _has_mark(value) else value for name, value in args.items()
    }
    arguments.bind_partial((), known, placeholder=EventPlaceholder)
    plain: dict[str, Any] = msgspec.to_builtins(dict(args), str_keys=True)
    encode_json(plain, "args")
    return plain


def _has_mark(value: Any) -> bool:
    if isinstance(value, Mapping):
        return set(value) == {PLACEHOLDER_KEY} or any(map(_has_mark, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_mark, value))
