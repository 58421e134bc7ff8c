"""The fields of a job, as the API and the client have them, become what flow/submit takes.

Room: sdk/transaction. The sdk may not look into the api, so the same fields are read here again; a
test holds the two against each other. All checks of values are core's.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

import msgspec

from rota.core import aliases, uniqueness
from rota.core import policy as policies
from rota.core.errors import InvalidInput
from rota.core.limits import Limit, Rate
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.policy import Policy
from rota.core.priority import DEFAULT, parse_priority
from rota.core.submission import JobSpec, check_name, within
from rota.core.time import durations

NOW: Final = {"immediate": True}
POLICY: Final = ("timeout", "deadline", "grace", "guarantee", "target")
# The rules that each type may be said with, as in api/drafts.py.
RULES: Final = {
    "IMMEDIATE": ("immediate",),
    "FUTURE": ("at",),
    "DELAYED": ("after",),
    "CRON": ("cron",),
    "RRULE": ("rrule",),
    "INTERVAL": ("every", "fixed_delay"),
    "EVENT": ("event",),
    "ON_DEMAND": ("on_demand",),
    "MIXED": (),
}
KNOWN: Final = (
    *("name", "kind", "job_type", "payload", "queue", "priority", "overlap", "keep_first"),
    *("schedule", "schedule_type", "schedule_time", "cron_expression", "timezone"),
    *("max_retries", "retries", "timeout", "deadline", "grace", "guarantee", "target"),
    *("limits", "labels", "user_id", "unique", "graph", "when_queue_paused"),
)


def spec_of(fields: Mapping[str, Any], *, tenant: str, suffix: Callable[[], str]) -> JobSpec:
    """A job that is to be made. A field that is None is one that was not given."""
    given = {key: value for key, value in fields.items() if value is not None}
    for key, value in given.items():
        if key not in KNOWN:
            raise InvalidInput(key, value, f"one of {', '.join(KNOWN)}")
    name, kind = _named(given, suffix)
    return JobSpec(
        name=name,
        kind=kind,
        tenant=tenant,
        queue=_text(given, "queue", "default"),
        schedule=_schedule(given),
        payload=_json(given.get("payload"), "payload"),
        graph=_json(given.get("graph"), "graph"),
        policy=_policy(given),
        priority=_priority(given.get("priority", DEFAULT)),
        overlap=_overlap(given.get("overlap", Overlap.SKIP)),
        keep_first=_flag(given, "keep_first"),
        when_queue_paused=_when_queue_paused(given.get("when_queue_paused", WhenQueuePaused.SKIP)),
        limits=_limits(given.get("limits", ())),
        labels=_labels(given.get("labels", {})),
        user_id=_text(given, "user_id", None),
        unique=None if "unique" not in given else uniqueness.from_plain(given["unique"]),
    )


def _named(given: Mapping[str, Any], suffix: Callable[[], str]) -> tuple[str, str]:
    kind, said, name = given.get("kind"), given.get("job_type"), given.get("name")
    if said is not None and not (said == aliases.CUSTOM and kind is not None):
        meant = aliases.kind_of_job_type(said, payload=given.get("payload"), name=name)
        if kind is not None and kind != meant:
            raise InvalidInput("job_type", said, f"the kind, {kind!r}, or none")
        kind = meant
    if kind is None and name is None:
        raise InvalidInput("name", None, "a name, or a kind to name it after")
    if name is not None:
        name = check_name(name, "name")
    kind = check_name(name if kind is None else kind, "kind")
    return name or f"{kind[:160]} {suffix()}", kind


def _schedule(given: Mapping[str, Any]) -> Mapping[str, object]:
    wanted = given.get("schedule_type")
    if wanted is not None and wanted not in RULES:
        raise InvalidInput("schedule_type", wanted, f"one of {', '.join(RULES)}")
    plain = _nested(given) if "schedule" in given else _flat(given, wanted)
    rules = RULES.get(wanted or "", ())
    if rules and not any(rule in plain for rule in rules):
        wish = f"a schedule with {' or '.join(rules)} to go with it"
        raise InvalidInput("schedule_type", wanted, wish)
    return plain


def _nested(given: Mapping[str, Any]) -> Mapping[str, object]:
    for field in ("schedule_time", "cron_expression", "timezone"):
        if field in given:
            wanted = "it inside `schedule`, or no `schedule`; one way to say when"
            raise InvalidInput(field, given[field], wanted)
    schedule = given["schedule"]
    if not isinstance(schedule, Mapping):
        raise InvalidInput("schedule", schedule, "an object such as {'cron': '0 9 * * *'}")
    return schedule or NOW


def _flat(given: Mapping[str, Any], wanted: str | None) -> Mapping[str, object]:
    time, expression = given.get("schedule_time"), given.get("cron_expression")
    if time is not None and expression is not None:
        raise InvalidInput("cron_expression", expression, "a time or an expression, not both")
    plain: dict[str, object] = {}
    if time is not None:
        plain["at"] = time
    elif expression is not None:
        plain["cron"] = expression
    elif "timezone" in given:
        raise InvalidInput("timezone", given["timezone"], "a schedule that it is about")
    elif wanted in {None, "IMMEDIATE"}:
        return NOW
    elif wanted == "ON_DEMAND":
        plain["on_demand"] = True
    else:
        fields = {"FUTURE": "schedule_time", "CRON": "cron_expression"}.get(wanted or "")
        raise InvalidInput("schedule_type", wanted, f"`{fields or 'schedule'}` to go with it")
    if "timezone" in given:
        plain["timezone"] = given["timezone"]
    return plain


def _policy(given: Mapping[str, Any]) -> Policy:
    said = {field: _span(given[field]) for field in POLICY if field in given}
    most, retries = given.get("max_retries"), given.get("retries")
    if isinstance(retries, Mapping):
        asked = {key: value for key, value in retries.items() if value is not None}
        if most is not None and asked.setdefault("max", most) != most:
            raise InvalidInput("max_retries", most, "the same number as retries.max, or none")
        said["retries"] = asked
    elif most is not None and retries is not None and most != retries:
        raise InvalidInput("max_retries", most, "the same number as `retries`, or none")
    elif most is not None or retries is not None:
        said["retries"] = most if retries is None else retries
    return policies.from_plain(said) if said else policies.USUAL


def _span(value: Any) -> Any:
    return durations.iso(value) if isinstance(value, timedelta) else value


def _priority(value: object) -> int:
    if not isinstance(value, str | int):
        raise InvalidInput("priority", value, "'high', 'normal', 'low', or a number from 0 to 9")
    return parse_priority(value)


def _overlap(value: object) -> Overlap:
    for choice in Overlap:
        if choice == value:
            return choice
    raise InvalidInput("overlap", value, f"one of {', '.join(Overlap)}")


def _when_queue_paused(value: object) -> WhenQueuePaused:
    for choice in WhenQueuePaused:
        if choice == value:
            return choice
    raise InvalidInput("when_queue_paused", value, f"one of {', '.join(WhenQueuePaused)}")


def _flag(given: Mapping[str, Any], field: str) -> bool:
    value = given.get(field, False)
    if not isinstance(value, bool):
        raise InvalidInput(field, value, "true or false")
    return value


def _text(given: Mapping[str, Any], field: str, usual: Any) -> Any:
    value = given.get(field, usual)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(field, value, "a text")
    return value


def _json(value: object, field: str) -> object:
    """Dates, UUIDs, dataclasses become what JSON has, as they do on their way to the API."""
    try:
        return msgspec.to_builtins(value, str_keys=True)
    except (TypeError, ValueError) as error:
        raise InvalidInput(field, value, f"values that JSON can hold ({error})") from None


def _labels(labels: object) -> Mapping[str, str]:
    if not isinstance(labels, Mapping):
        raise InvalidInput("labels", labels, "an object of texts")
    return labels


def _limits(limits: object) -> tuple[Limit, ...]:
    if not isinstance(limits, list | tuple):
        raise InvalidInput("limits", limits, "a list of limits")
    return tuple(_limit(place, limit) for place, limit in enumerate(limits))


def _limit(place: int, given: object) -> Limit:
    with within(f"limits[{place}]"):
        known = _object(given, "limit", ("key", "max", "rate"))
        rate = None
        if known.get("rate") is not None:
            said = _object(known["rate"], "rate", ("count", "per", "burst"))
            per = durations.parse(_span(said.get("per")), field="rate.per")
            count, burst = said.get("count"), said.get("burst", 1)
            for field, number in (("count", count), ("burst", burst)):
                if not isinstance(number, int) or isinstance(number, bool):
                    raise InvalidInput(f"rate.{field}", number, "a whole number")
            rate = Rate(count=said["count"], per=per, burst=burst)
        most = known.get("max")
        if most is not None and (not isinstance(most, int) or isinstance(most, bool)):
            raise InvalidInput("max", most, "a whole number")
        return Limit(key=known.get("key", ""), most=most, rate=rate)


def _object(given: object, name: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not set(given) <= set(known):
        raise InvalidInput(name, given, f"an object with {', '.join(known)}")
    return dict(given)
