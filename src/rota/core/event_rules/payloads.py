"""Builds the payload of a run that events start.

Default payload: `{"event": …}`, or `{"events": […]}` for a trigger that groups events. A job's own
payload is used as it is, except that each `{"$": "event.data.order"}` is replaced by the value of
the expression. Nothing is added to a payload, because it may describe a program or a request that
does not expect more.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rota.core import expressions
from rota.core.errors import InvalidInput
from rota.core.secret_references import reject_references_from_data
from rota.core.submissions import PAYLOAD_BYTES_MAX
from rota.core.time.trigger import Debounce, Trigger

PLACEHOLDER_KEY: Final = "$"
# The names that an expression in a payload may use; `event` is the latest of several.
PAYLOAD_EXPRESSION_NAMES: Final = ("event", "events", "key")


def has_single_event(trigger: Trigger) -> bool:
    return trigger.grouping is None or isinstance(trigger.grouping, Debounce)


def build_event_payload(
    template: object, events: Sequence[Mapping[str, Any]], *, single: bool, key: str = ""
) -> object:
    """Return the payload of a run for these events. Raises `ExpressionFailed`."""
    if template is None:
        return {"event": events[-1]} if single else {"events": list(events)}
    scope = {"event": events[-1], "events": list(events), "key": key}
    return _fill(template, scope)


def build_default_payload(events: Sequence[str], *, single: bool) -> str:
    """Return the default payload as JSON, from events in JSON."""
    text = f'{{"event":{events[-1]}}}' if single else f'{{"events":[{",".join(events)}]}}'
    size = len(text.encode())
    if size > PAYLOAD_BYTES_MAX:
        wanted = f"expected at most {PAYLOAD_BYTES_MAX // 1024} KB"
        raise InvalidInput("payload", f"{size} bytes of JSON", wanted)
    return reject_references_from_data(text, None)


def check_template(template: object, field: str = "payload") -> None:
    """Reject a payload with an invalid expression, when the job is saved."""
    if isinstance(template, Mapping):
        if set(template) == {PLACEHOLDER_KEY}:
            expressions.parse_expression(
                template[PLACEHOLDER_KEY], names=PAYLOAD_EXPRESSION_NAMES, field=field
            )
            return
        for key, inner in template.items():
            check_template(inner, f"{field}.{key}")
    elif isinstance(template, list | tuple):
        for place, inner in enumerate(template):
            check_template(inner, f"{field}[{place}]")


def _fill(template: object, scope: Mapping[str, object]) -> object:
    if isinstance(template, Mapping):
        if set(template) == {PLACEHOLDER_KEY}:
            return expressions.evaluate(
                expressions.parse_expression(
                    template[PLACEHOLDER_KEY], names=PAYLOAD_EXPRESSION_NAMES
                ),
                scope,
            )
        return {key: _fill(inner, scope) for key, inner in template.items()}
    if isinstance(template, list | tuple):
        return [_fill(inner, scope) for inner in template]
    return template
