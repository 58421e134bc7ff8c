"""Jobs that wait for events: what is said about it, and what the function is given. Room: sdk/app.

A function with a parameter `event` gets the event, as a mapping; where several come together,
`events` gets a list of them. With `args` it is given those instead, in which `{"$":
"event.data.order"}` stands for a value of the event.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec

from rota.contract.trigger import read_trigger
from rota.core.arrivals.payloads import MARK, check_template, is_single
from rota.core.errors import InvalidInput
from rota.core.submission import json_text
from rota.sdk.app.arguments import Arguments

Duration = str | timedelta
EVENT: Final = "event"


def event(
    type: str | None = None,  # noqa: A002 — the name that it has everywhere
    *,
    where: str | None = None,
    debounce: Duration | Mapping[str, Any] | None = None,
    batch: Mapping[str, Any] | None = None,
    all_of: Sequence[str | Mapping[str, Any]] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """What a job waits for, for `@app.job(on=rota.event("order.paid"))`.

    `where` is an expression over `event`. `debounce` runs once after so much quiet; `batch` is
    `{"size": 100, "within": "10s"}`; `all_of` lists several to wait for, with `within` and perhaps
    `key` beside it.
    """
    given = {"type": type, "where": where, "debounce": debounce, "batch": batch, "all_of": all_of}
    return {name: value for name, value in {**given, **more}.items() if value is not None}


def is_waiting(schedule: Mapping[str, Any] | None) -> bool:
    return schedule is not None and schedule.get(EVENT) is not None


class Later:
    """Stands for a value that only the event knows."""


def payload_of(
    arguments: Arguments, schedule: Mapping[str, Any], args: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The payload of a job that waits for events; None lets each run have its event."""
    if not args:
        single = is_single(read_trigger(schedule[EVENT]))
        name = "event" if single else "events"
        if name not in arguments.names:
            wanted = f"a parameter {name} of the function, or a value for each that it has"
            raise InvalidInput("args", {}, wanted)
        arguments.partly((), {name: Later()}, unknown=Later)
        return None
    check_template(args, "args")
    known = {name: Later() if _has_mark(value) else value for name, value in args.items()}
    arguments.partly((), known, unknown=Later)
    plain: dict[str, Any] = msgspec.to_builtins(dict(args), str_keys=True)
    json_text(plain, "args")
    return plain


def _has_mark(value: Any) -> bool:
    if isinstance(value, Mapping):
        return set(value) == {MARK} or any(map(_has_mark, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_mark, value))
