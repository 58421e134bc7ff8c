"""What the handler of an event's run is given. Room: core/arrivals.

A job without a payload gives `{"event": …}`, or `{"events": […]}` where several come together. A
payload is given as it is, but for each `{"$": "event.data.order"}` in it, which is replaced by the
value of the expression. Nothing is ever added to a payload: a program or a request that is
described by it would not know what to do with more.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rota.core import expressions
from rota.core.binding import only_written
from rota.core.errors import InvalidInput
from rota.core.submission import MOST_PAYLOAD
from rota.core.time.trigger import Debounce, Trigger

MARK: Final = "$"
# What an expression in a payload may name; `event` is the latest where there are several.
NAMES: Final = ("event", "events", "key")


def is_single(trigger: Trigger) -> bool:
    return trigger.gathering is None or isinstance(trigger.gathering, Debounce)


def payload_of(
    template: object, events: Sequence[Mapping[str, Any]], *, single: bool, key: str = ""
) -> object:
    """The payload of a run for these events; `ExpressionFailed` says what cannot be filled in."""
    if template is None:
        return {"event": events[-1]} if single else {"events": list(events)}
    scope = {"event": events[-1], "events": list(events), "key": key}
    return _filled(template, scope)


def bare_payload(events: Sequence[str], *, single: bool) -> str:
    """The same as JSON for a job without a payload, of events that are JSON."""
    text = f'{{"event":{events[-1]}}}' if single else f'{{"events":[{",".join(events)}]}}'
    size = len(text.encode())
    if size > MOST_PAYLOAD:
        said = f"{size} bytes of JSON"
        raise InvalidInput("payload", said, f"at most {MOST_PAYLOAD // 1024} KB")
    return only_written(text, None)


def check_template(template: object, field: str = "payload") -> None:
    """Refuse a payload with an expression that cannot be read, when the job is saved."""
    if isinstance(template, Mapping):
        if set(template) == {MARK}:
            expressions.parse(template[MARK], names=NAMES, field=field)
            return
        for key, inner in template.items():
            check_template(inner, f"{field}.{key}")
    elif isinstance(template, list | tuple):
        for place, inner in enumerate(template):
            check_template(inner, f"{field}[{place}]")


def _filled(template: object, scope: Mapping[str, object]) -> object:
    if isinstance(template, Mapping):
        if set(template) == {MARK}:
            return expressions.evaluate(expressions.parse(template[MARK], names=NAMES), scope)
        return {key: _filled(inner, scope) for key, inner in template.items()}
    if isinstance(template, list | tuple):
        return [_filled(inner, scope) for inner in template]
    return template
