"""The rules of a schedule as people write them, and back.

Room: core/time. `cron`, `rrule`, `every` and `at` go together, each once or as a list, and mean
their union; the others stand alone. A zone inside a rule (`CRON_TZ=`, `TZID=`) becomes the
schedule's own, and two different zones are refused. Bounds and policies are plain.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import assert_never
from zoneinfo import ZoneInfo

from rota.core.errors import InvalidSchedule, NewerDocument
from rota.core.time import cron, durations, moments, rrule, trigger, zones
from rota.core.time.cron import Cron, DayMatch
from rota.core.time.interval import EPOCH, SHORTEST, Every, EveryAfterEnd
from rota.core.time.reading import Fields
from rota.core.time.rrule import Rrule
from rota.core.time.schedule import Immediate, Once, OnDemand, OnEvent, Rule

UNITED = ("cron", "rrule", "every", "at")
ALONE = ("after", "fixed_delay", "immediate", "event", "on_demand")
RULES = (*UNITED, *ALONE)
ORDER = (Cron, Rrule, Every, Once)
LIMIT = 32
# The hardest rule that is accepted takes some 15 ms to search.
RRULES = 4
TEXT_LIMIT = 8192
EVERY = "an interval such as @every 90s, or @every 1h/10m for ten past each hour"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a rule is read against. `now` is the time of creation, and None for what was stored;
    `start` is the start of validity.
    """

    now: datetime | None
    start: datetime | None
    seed: str

    def since(self, path: str) -> datetime:
        """Where elapsed time is counted from if the rule does not say."""
        if self.now is None:
            raise InvalidSchedule(path, None, moments.WANTED)
        return (self.start or self.now).replace(microsecond=0)


def read_rules(given: Fields, origin: Origin) -> tuple[tuple[Rule, ...], str]:
    """The rules, and the zone they are in."""
    keys = [key for key in RULES if given.has(key)]
    if not keys:
        is_newer = given.unread is not None and given.unread.fields
        error = NewerDocument if is_newer else InvalidSchedule
        raise error("schedule", dict(given.values), f"one of {', '.join(RULES)}")
    others = [key for key in keys if key in ALONE]
    if others and len(keys) > 1:
        wanted = f"no other rule beside it; only {', '.join(UNITED)} go together"
        raise given.refusal(others[0], wanted)
    timezone = _timezone(given)
    if others:
        return (_alone(given, others[0], origin),), timezone
    rules = [*_crons(given, origin), *_rrules(given, origin, zones.zone(timezone))]
    rules += [_every(given, item, path, origin) for item, path in _items(given, "every")]
    rules += [_once(item, path) for item, path in _items(given, "at")]
    if len(rules) > LIMIT:
        raise InvalidSchedule("schedule", f"{len(rules)} rules", f"at most {LIMIT}")
    return tuple(sorted(rules, key=lambda rule: ORDER.index(type(rule)))), timezone


def write_rules(rules: tuple[Rule, ...]) -> dict[str, object]:
    """The canonical form of the rules."""
    plain: dict[str, list[object]] = {}
    for rule in rules:
        key, value = _written(rule)
        plain.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in plain.items()}


def _written(rule: Rule) -> tuple[str, object]:
    match rule:
        case Cron():
            return "cron", rule.text
        case Rrule():
            return "rrule", rule.text
        case Every():
            anchor = moments.rfc3339(rule.anchor)
            return "every", {"interval": durations.iso(rule.interval), "anchor": anchor}
        case EveryAfterEnd():
            anchor = moments.rfc3339(rule.anchor)
            return "fixed_delay", {"delay": durations.iso(rule.delay), "anchor": anchor}
        case Once():
            return "at", moments.rfc3339(rule.at)
        case Immediate():
            return "immediate", True
        case OnEvent():
            return "event", trigger.write(rule.trigger)
        case OnDemand():
            return "on_demand", True
        case _:
            assert_never(rule)


def _timezone(given: Fields) -> str:
    names = {}
    if given.has("timezone"):
        names["timezone"] = given.text("timezone", limit=zones.NAME_LIMIT)
    for text, path in _texts(given, "cron"):
        # `@every` and `@at` are instants and carry no zone.
        inside = None if _is_alias(text) else cron.parse(text).timezone
        if inside is not None:
            names[path] = inside
    for text, path in _texts(given, "rrule"):
        inside = rrule.timezone_of(text)
        if inside is not None:
            names[path] = inside
    if len(set(names.values())) > 1:
        said = " and ".join(f"{name} in {path}" for path, name in names.items())
        raise InvalidSchedule("timezone", said, "one zone for the whole schedule")
    timezone = next(iter(names.values()), "UTC")
    zones.zone(timezone)
    return timezone


def _items(given: Fields, key: str) -> Iterator[tuple[object, str]]:
    items = given.items(key, limit=RRULES if key == "rrule" else LIMIT)
    for place, item in enumerate(items):
        yield item, given.name(key) if len(items) == 1 else f"{given.name(key)}[{place}]"


def _texts(given: Fields, key: str) -> Iterator[tuple[str, str]]:
    for item, path in _items(given, key):
        if not isinstance(item, str) or not 0 < len(item.strip()) <= len(item) <= TEXT_LIMIT:
            raise InvalidSchedule(path, item, f"a text of 1 to {TEXT_LIMIT} characters")
        yield item, path


def _is_alias(text: str) -> bool:
    return text.split(maxsplit=1)[0].lower() in {"@every", "@at"}


def _crons(given: Fields, origin: Origin) -> Iterator[Rule]:
    day_match = given.choice("day_match", DayMatch.ANY)
    for text, path in _texts(given, "cron"):
        if _is_alias(text):
            yield _alias(text, path, origin)
        else:
            # Read twice: the second time without its zone, which is the schedule's now.
            bare = cron.parse(text, seed=origin.seed, day_match=day_match).text
            yield cron.parse(bare, seed=origin.seed, day_match=day_match)


def _alias(text: str, path: str, origin: Origin) -> Rule:
    name, *rest = text.split()
    if len(rest) != 1:
        wanted = EVERY if name.lower() == "@every" else f"@at with {moments.WANTED}"
        raise InvalidSchedule(path, text, wanted)
    if name.lower() == "@at":
        return _once(rest[0], path)
    length, slash, phase = rest[0].partition("/")
    interval = durations.parse(length, field=path, shortest=SHORTEST, error=InvalidSchedule)
    if not slash:
        return Every(interval=interval, anchor=origin.since(path))
    offset = durations.parse(phase, field=path, error=InvalidSchedule)
    if offset >= interval:
        raise InvalidSchedule(path, text, "a phase that is shorter than the interval")
    return Every(interval=interval, anchor=EPOCH + offset)


def _rrules(given: Fields, origin: Origin, zone: ZoneInfo) -> Iterator[Rule]:
    start = origin.start or origin.now
    midnight = None
    if start is not None:
        # Midnight, so that FREQ=DAILY;BYHOUR=9 means nine sharp, whenever the job was made.
        midnight = datetime.combine(start.astimezone(zone).date(), time())
    for text, _ in _texts(given, "rrule"):
        yield rrule.parse(text, zone=zone, start=midnight)


def _every(given: Fields, item: object, path: str, origin: Origin) -> Every:
    known = ("interval", "anchor")
    part = given.part({"interval": item} if isinstance(item, str) else item, path, known)
    interval = part.length("interval", shortest=SHORTEST)
    if interval is None:
        raise part.refusal("interval", durations.WANTED)
    anchor = part.instant("anchor") or origin.since(part.name("anchor"))
    return Every(interval=interval, anchor=anchor)


def _once(item: object, path: str) -> Once:
    return Once(at=moments.parse(item, field=path, error=InvalidSchedule))


def _alone(given: Fields, key: str, origin: Origin) -> Rule:
    if key == "fixed_delay":
        return _after_end(given, key, origin)
    if key == "after":
        delay = given.length(key, shortest=timedelta(0))
        if delay is None or origin.now is None:
            raise given.refusal(key, "`at`, with the instant that it came to")
        return Once(at=origin.now + delay)
    if key == "event":
        return OnEvent(trigger=trigger.read(given.get(key), given.name(key), given.unread))
    if not given.flag(key, default=False):
        raise given.refusal(key, "true, or another rule instead")
    return Immediate() if key == "immediate" else OnDemand()


def _after_end(given: Fields, key: str, origin: Origin) -> EveryAfterEnd:
    item, path = given.get(key), given.name(key)
    said = {"delay": item} if isinstance(item, str) else item
    part = given.part(said, path, ("delay", "anchor"))
    delay = part.length("delay", shortest=SHORTEST)
    if delay is None:
        raise part.refusal("delay", durations.WANTED)
    return EveryAfterEnd(
        delay=delay, anchor=part.instant("anchor") or origin.since(part.name("anchor"))
    )
