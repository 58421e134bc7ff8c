"""Builds the payload of a run that events start.

Default payload: `{"event": …}`, or `{"events": […]}` for a trigger that groups events. A job's own
payload is used as it is, except that each `{"$": "event.data.order"}` is replaced by the value of
the expression. Nothing is added to a payload, because it may describe a program or a request that
does not expect more.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rota.core import expressions
from rota.core.binding import only_written
from rota.core.errors import InvalidInput
from rota.core.submission import MOST_PAYLOAD
from rota.core.time.trigger import Debounce, Trigger

MARK: Final = "$"
# The names that an expression in a payload may use; `event` is the latest of several.
NAMES: Final = ("event", "events", "key")


def is_single(trigger: Trigger) -> bool:
    return trigger.gathering is None or isinstance(trigger.gathering, Debounce)


def payload_of(
    template: object, events: Sequence[Mapping[str, Any]], *, single: bool, key: str = ""
) -> object:
    """Return the payload of a run for these events. Raises `ExpressionFailed`."""
    if template is None:
        return {"event": events[-1]} if single else {"events": list(events)}
    scope = {"event": events[-1], "events": list(events), "key": key}
    return _filled(template, scope)


def bare_payload(events: Sequence[str], *, single: bool) -> str:
    """Return the default payload as JSON, from events in JSON."""
    text = f'{{"event":{events[-1]}}}' if single else f'{{"events":[{",".join(events)}]}}'
    size = len(text.encode())
    if size > MOST_PAYLOAD:
        wanted = f"expected at most {MOST_PAYLOAD // 1024} KB"
        raise InvalidInput("payload", f"{size} bytes of JSON", wanted)
    return only_written(text, None)


def check_template(template: object, field: str = "payload") -> None:
    """Reject a payload with an invalid expression, when the job is saved."""
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
