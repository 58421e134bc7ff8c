"""Time zones by IANA name, and what a wall-clock time means in one.

Room: core/time. Zones come from the `tzdata` wheel alone, never from the machine or the database:
two nodes with one lock file then agree on every future instant, and a change of rules arrives by
an upgrade that somebody decided. Finds where a zone's offset changes, maps a local time to its
instants, and words what daylight saving did. Knows nothing of cron or RRULE.

A zone is read as a row of *spans*: stretches of constant offset. `ZoneInfo` does not show its
transitions, so a span's edges are found by probing, once per zone and year, and kept.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from zoneinfo import ZoneInfo

from rota.core.errors import InvalidSchedule
from rota.core.time.tick import DstGap, DstOverlap, Tick
from rota.core.time.zone_hints import describe_wanted

NAME_LIMIT = 64
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EPOCH_LOCAL = datetime(1970, 1, 1)  # noqa: DTZ001  a wall-clock time has no zone
SECOND = timedelta(seconds=1)
DAY = 86_400
EPOCH_ORDINAL = date(1970, 1, 1).toordinal()

# The closest two changes of offset since 1970 are 6.96 days apart (Brazil 2000, Gaza 2040); a test
# compares the spans with every transition in the wheel, so a new law that breaks this is noticed.
PROBE = 5 * DAY
# A year's spans reach this far over its ends, so that the effect of a jump (24 hours at most, at
# the date line) is never cut off at New Year.
MARGIN = 2 * DAY


@dataclass(frozen=True, slots=True)
class Span:
    """The instants `start` <= t < `end` (seconds since 1970) share one offset from UTC.

    `before` and `after` are the neighbours' offsets; equal to `offset` where the edge is only the
    end of what was looked at. From `calm_from` until `calm_to` every local time is shown once, and
    no time from a gap lands.
    """

    start: int
    end: int
    offset: int
    before: int
    after: int
    calm_from: int
    calm_to: int


@lru_cache(maxsize=1)
def names() -> frozenset[str]:
    """Every zone name that the wheel knows. `Factory` is none: it stands for a clock that nobody
    has set.
    """
    return frozenset(files("tzdata").joinpath("zones").read_text("utf-8").split()) - {"Factory"}


@lru_cache(maxsize=1)
def tzdata_version() -> str:
    """The IANA version of the rules in use, such as `2026a`. Versions sort as text: the cluster
    keeps the one that its ticks were computed with (flow/submit/zone_rules.py).
    """
    rules = files("tzdata").joinpath("zoneinfo", "tzdata.zi")
    with rules.open(encoding="utf-8") as lines:
        return lines.readline().removeprefix("# version ").strip()


def zone(name: str) -> ZoneInfo:
    """The zone of that IANA name, read from the wheel once."""
    if len(name) > NAME_LIMIT or name not in names():
        wanted = describe_wanted(name[:NAME_LIMIT], names())
        raise InvalidSchedule(field="timezone", value=name, wanted=wanted)
    return _load(name)


@lru_cache(maxsize=1024)
def _load(name: str) -> ZoneInfo:
    return zone_from(name, _read(name))


def _read(name: str) -> bytes:
    return files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()


def read_all_rules() -> dict[str, bytes]:
    """Read the rules of every zone from the wheel, as TZif: about 600 small files."""
    return {name: _read(name) for name in sorted(names())}


def zone_from(name: str, rules: bytes) -> ZoneInfo:
    """Make a zone of rules that may be other than the wheel's."""
    return ZoneInfo.from_file(BytesIO(rules), key=name)


def span_at(zone: ZoneInfo, instant: int) -> Span:
    """The span that holds this instant (seconds since 1970)."""
    year = date.fromordinal(instant // DAY + EPOCH_ORDINAL).year
    for span in _spans(zone, year):
        if instant < span.end:
            return span
    raise AssertionError("a year's spans cover the year")  # pragma: no cover


@lru_cache(maxsize=4096)
def _spans(zone: ZoneInfo, year: int) -> tuple[Span, ...]:
    start = (date(year, 1, 1).toordinal() - EPOCH_ORDINAL) * DAY - MARGIN
    end = (date(year, 12, 31).toordinal() + 1 - EPOCH_ORDINAL) * DAY + MARGIN
    edges = [start, *_changes(zone, start, end), end]
    offsets = [_offset(zone, edge) for edge in edges[:-1]]
    known = [offsets[0], *offsets, offsets[-1]]
    return tuple(
        _span(edges[i], edges[i + 1], known[i + 1], known[i], known[i + 2])
        for i in range(len(offsets))
    )


def _span(start: int, end: int, offset: int, before: int, after: int) -> Span:
    calm_from, calm_to = start + abs(offset - before), end - abs(after - offset)
    return Span(start, end, offset, before, after, calm_from, calm_to)


def _changes(zone: ZoneInfo, start: int, end: int) -> list[int]:
    """The instants after `start` and before `end` at which the zone's offset changes."""
    found = []
    early, offset = start, _offset(zone, start)
    while early < end:
        late = min(early + PROBE, end)
        if _offset(zone, late) != offset:
            change = _bisect(zone, early, late)
            found.append(change)
            offset = _offset(zone, change)
        early = late
    return [change for change in found if change < end]


def _bisect(zone: ZoneInfo, early: int, late: int) -> int:
    """The first instant whose offset is not that of `early`; `late` is known to have another."""
    offset = _offset(zone, early)
    while late - early > 1:
        middle = (early + late) // 2
        if _offset(zone, middle) == offset:
            early = middle
        else:
            late = middle
    return late


def _offset(zone: ZoneInfo, instant: int) -> int:
    offset = datetime.fromtimestamp(instant, zone).utcoffset()
    return offset // SECOND if offset else 0


def instants(
    local: datetime, zone: ZoneInfo, *, gap: DstGap, overlap: DstOverlap
) -> tuple[Tick, ...]:
    """The instants that a nominal local time (naive) stands for: none, one or two, in order."""
    local = local.replace(fold=0)
    # PEP 495: fold=0 reads the time with the offset from before a change, fold=1 with that from
    # after it. So fold=0 is the first of two, and in a gap "the same minutes after the jump".
    early = local.replace(tzinfo=zone)
    late = early.replace(fold=1)
    first, second = early.astimezone(UTC), late.astimezone(UTC)
    if first == second:
        return (Tick(at=first, local=local),)
    if first < second:
        return _twice(local, first, second, overlap)
    if gap is DstGap.SKIP:
        return ()
    at = first if gap is DstGap.SHIFT else _change_between(zone, second, first)
    landed = at.astimezone(zone).replace(tzinfo=None)
    return (Tick(at=at, local=local, note=moved_note(local, landed)),)


def _twice(
    local: datetime, first: datetime, second: datetime, overlap: DstOverlap
) -> tuple[Tick, ...]:
    ticks = (
        Tick(at=first, local=local, note=fold_note(local, overlap, second=False)),
        Tick(at=second, local=local.replace(fold=1), note=fold_note(local, overlap, second=True)),
    )
    if overlap is DstOverlap.FIRST:
        return ticks[:1]
    return ticks[1:] if overlap is DstOverlap.SECOND else ticks


def _change_between(zone: ZoneInfo, early: datetime, late: datetime) -> datetime:
    first, last = (early - EPOCH) // SECOND, -((EPOCH - late) // SECOND)
    return EPOCH + timedelta(seconds=_bisect(zone, first, last))


def local_text(at: datetime, name: str) -> str:
    """What clocks in a zone show at an instant, with the offset: 2026-03-29T03:00:00+02:00. The
    time that a tick runs, also where its nominal time falls into a gap.
    """
    return at.astimezone(zone(name)).isoformat()


def clock(moment: datetime, *, beside: datetime | None = None) -> str:
    """A local time for a person: seconds and the date only where they say something."""
    time = f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
    if beside is not None and beside.date() != moment.date():
        return f"{moment:%Y-%m-%d} {time}"
    return time


def moved_note(nominal: datetime, landed: datetime) -> str:
    """The note of a tick that stands after a gap for a time inside it."""
    return f"moved from {clock(nominal, beside=landed)}, which the clock jumped over"


def fold_note(local: datetime, overlap: DstOverlap, *, second: bool) -> str:
    """The note of a tick whose local time comes twice."""
    this, other = ("second", "first") if second else ("first", "second")
    if overlap is DstOverlap.BOTH:
        return f"the {this} of two times {clock(local)}"
    return f"{clock(local)} comes twice; the {other} is suppressed"
