"""What a job waits for: events of a type, perhaps filtered, perhaps gathered.

Room: core/time. The value inside `schedule.event`, and its plain form. A text alone is the type:
`order.paid`, or `order.*` for everything below `order`, or `*`. Which jobs an event concerns is
core/arrivals; events themselves arrive there, too.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rota.core import expressions
from rota.core.documents import Unread, newer
from rota.core.errors import InvalidInput, InvalidSchedule
from rota.core.time import durations
from rota.core.time.reading import Fields, fields

MOST_TYPE: Final = 200
MOST_WHERE: Final = 2_000
MOST_PARTS: Final = 16
MOST_BATCH: Final = 1_000
SHORTEST: Final = timedelta(seconds=1)
LONGEST: Final = timedelta(days=7)
# How long a debounce may be put off if nobody says, in times of its quiet.
PATIENCE: Final = 10
PATTERN: Final = re.compile(r"[^*\s]+(?:\.\*)?|\*")
PATTERN_WANTED: Final = "a type such as order.paid, or order.* for all below order, or *"
KNOWN: Final = ("type", "where", "debounce", "batch", "all_of", "within", "key")
# What an expression of a trigger may name.
SCOPE: Final = ("event",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Events of a type, or of all types below one, for which `where` is true."""

    type: str
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Debounce:
    """One run after `quiet` without another event, with the latest; after `most` in any case."""

    quiet: timedelta
    most: timedelta
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One run for `size` events, or for those that came `within` the first."""

    size: int
    within: timedelta
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf:
    """One run when each of the wanted has come, `within` the first; the latest of each counts."""

    within: timedelta
    key: str | None = None


Gathering = Debounce | Batch | AllOf


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Several are wanted only with `AllOf`."""

    wanted: tuple[Wanted, ...]
    gathering: Gathering | None = None

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.type for each in self.wanted))


def read(value: object, path: str, unread: Unread | None = None) -> Trigger:
    """Read what somebody wrote; with `unread`, what was stored."""
    if unread is None:
        return _read(value, path, None)
    try:
        return _read(value, path, unread)
    except InvalidInput as error:
        raise newer(error) from error


def _read(value: object, path: str, unread: Unread | None) -> Trigger:
    if isinstance(value, str):
        return Trigger(wanted=(Wanted(type=_pattern(value, path)),))
    given = fields(value, path, KNOWN, unread)
    gathered = [key for key in ("debounce", "batch", "all_of") if given.has(key)]
    if len(gathered) > 1:
        raise given.refusal(gathered[1], f"no {gathered[1]} beside {gathered[0]}")
    if "all_of" in gathered:
        return _all_of(given)
    for key in ("within", "key"):
        if given.has(key):
            raise given.refusal(key, f"{key} inside batch or debounce, or beside all_of")
    gathering = _debounce(given) if "debounce" in gathered else None
    if "batch" in gathered:
        return Trigger(wanted=(_wanted(given),), gathering=_batch(given))
    return Trigger(wanted=(_wanted(given),), gathering=gathering)


def write(trigger: Trigger) -> object:
    """The canonical form."""
    match trigger.gathering:
        case AllOf() as several:
            parts = [_write_wanted(each) for each in trigger.wanted]
            return {"all_of": parts, "within": durations.iso(several.within), "key": several.key}
        case Debounce() as debounce:
            told: dict[str, object] = {
                "debounce": {
                    "quiet": durations.iso(debounce.quiet),
                    "most": durations.iso(debounce.most),
                    "key": debounce.key,
                }
            }
        case Batch() as batch:
            within = durations.iso(batch.within)
            told = {"batch": {"size": batch.size, "within": within, "key": batch.key}}
        case None:
            told = {}
    (only,) = trigger.wanted
    return {**_write_wanted(only), **told} if told or only.where else only.type


def sentence(trigger: Trigger) -> str:
    """For a person: after what it runs."""
    said = [
        f"the event {each.type}{f' with {each.where}' if each.where else ''}"
        for each in trigger.wanted
    ]
    first = said[0]
    match trigger.gathering:
        case None:
            return f"Whenever {first} arrives"
        case Debounce() as debounce:
            quiet, most = durations.words(debounce.quiet), durations.words(debounce.most)
            return f"When {first} has not come for {quiet}, or after {most}{_each(debounce)}"
        case Batch() as batch:
            within = durations.words(batch.within)
            return f"For up to {batch.size} times {first} within {within}{_each(batch)}"
        case AllOf() as several:
            within = durations.words(several.within)
            return f"When {' and '.join(said)} have come within {within}{_each(several)}"


def _each(gathering: Gathering) -> str:
    return f", for each {gathering.key}" if gathering.key else ""


def _write_wanted(wanted: Wanted) -> dict[str, object]:
    return {"type": wanted.type, **({"where": wanted.where} if wanted.where else {})}


def _wanted(given: Fields) -> Wanted:
    pattern = _pattern(given.get("type"), given.name("type"))
    return Wanted(type=pattern, where=_expression(given, "where"))


def _pattern(value: object, path: str) -> str:
    if not isinstance(value, str) or not 0 < len(value.strip()) <= len(value) <= MOST_TYPE:
        raise InvalidSchedule(path, value, f"a text of 1 to {MOST_TYPE} characters")
    if not PATTERN.fullmatch(value):
        raise InvalidSchedule(path, value, PATTERN_WANTED)
    return value


def _expression(given: Fields, key: str) -> str | None:
    """The text of an expression over one event; what is wrong with it is said at once."""
    if not given.has(key):
        return None
    text = given.text(key, limit=MOST_WHERE)
    expressions.parse(text, field=given.name(key), names=SCOPE)
    return text


def _debounce(given: Fields) -> Debounce:
    value = given.get("debounce")
    known = ("quiet", "most", "key")
    part = given.part(
        {"quiet": value} if isinstance(value, str) else value, given.name("debounce"), known
    )
    quiet = part.length("quiet", shortest=SHORTEST, longest=LONGEST)
    if quiet is None:
        raise part.refusal("quiet", durations.WANTED)
    most = part.length("most", shortest=quiet, longest=LONGEST)
    return Debounce(
        quiet=quiet,
        most=min(PATIENCE * quiet, LONGEST) if most is None else most,
        key=_expression(part, "key"),
    )


def _batch(given: Fields) -> Batch:
    part = given.part(given.get("batch"), given.name("batch"), ("size", "within", "key"))
    size = part.whole("size", low=1, high=MOST_BATCH)
    within = part.length("within", shortest=SHORTEST, longest=LONGEST)
    if size is None:
        raise part.refusal("size", f"a whole number from 1 to {MOST_BATCH}")
    if within is None:
        raise part.refusal("within", durations.WANTED)
    return Batch(size=size, within=within, key=_expression(part, "key"))


def _all_of(given: Fields) -> Trigger:
    for key in ("type", "where"):
        if given.has(key):
            raise given.refusal(key, f"{key} inside all_of")
    items = given.items("all_of", limit=MOST_PARTS)
    if len(items) < 2:
        raise given.refusal("all_of", f"a list of 2 to {MOST_PARTS}")
    within = given.length("within", shortest=SHORTEST, longest=LONGEST)
    if within is None:
        raise given.refusal("within", f"how long to wait for the others, {durations.WANTED}")
    wanted = []
    for place, item in enumerate(items):
        path = f"{given.name('all_of')}[{place}]"
        value = {"type": item} if isinstance(item, str) else item
        wanted.append(_wanted(given.part(value, path, ("type", "where"))))
    several = AllOf(within=within, key=_expression(given, "key"))
    return Trigger(wanted=tuple(wanted), gathering=several)
