"""Loads time zones by IANA name and converts wall-clock times to instants.

Zones come only from the `tzdata` wheel, never from the machine or the database. So two nodes with
the same lock file agree on every future instant, and new zone rules arrive only with a deliberate
upgrade. This module finds where a zone's offset changes, maps a local time to its instants, and
describes the effects of daylight saving. It does not know cron or RRULE.

A zone is represented as *spans* of constant offset. `ZoneInfo` does not expose its transitions, so
the edges of the spans are found by probing, once per zone and year, and cached.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from io import BytesIO
from zoneinfo import ZoneInfo

from rota.core.errors import InvalidSchedule
from rota.core.time.tick import DstGap, DstOverlap, Tick
from rota.core.time.zone_hints import describe_expected_zone

ZONE_NAME_CHARACTERS_MAX = 64
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EPOCH_LOCAL = datetime(1970, 1, 1)  # noqa: DTZ001  a wall-clock time has no zone
SECOND = timedelta(seconds=1)
DAY_S = 86_400
EPOCH_ORDINAL = date(1970, 1, 1).toordinal()

# The two closest offset changes since 1970 are 6.96 days apart (Brazil 2000, Gaza 2040). A test
# compares the spans with every transition in the wheel, so it detects a new law that breaks this.
PROBE_STEP_S = 5 * DAY_S
# A year's spans extend past its ends by this much, so that the effect of a jump (at most 24 hours,
# at the date line) is never cut off at New Year.
YEAR_MARGIN_S = 2 * DAY_S


@dataclass(frozen=True, slots=True)
class OffsetSpan:
    """The instants `start` <= t < `end` (seconds since 1970) share one offset from UTC.

    `before` and `after` are the neighbours' offsets; equal to `offset` where the edge is only the
    end of the probed range. From `calm_from` until `calm_to` every local time occurs once, and no
    time from a gap runs.
    """

    start: int
    end: int
    offset: int
    before: int
    after: int
    calm_from: int
    calm_to: int


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return all zone names in the wheel except `Factory`, the placeholder for an unset clock."""
    return frozenset(files("tzdata").joinpath("zones").read_text("utf-8").split()) - {"Factory"}


@lru_cache(maxsize=1)
def tzdata_version() -> str:
    """Return the IANA version of the rules in use, such as `2026a`. Versions sort as text. The
    cluster stores the version with which its ticks were computed.
    """
    rules = files("tzdata").joinpath("zoneinfo", "tzdata.zi")
    with rules.open(encoding="utf-8") as lines:
        return lines.readline().removeprefix("# version ").strip()


def get_zone(name: str) -> ZoneInfo:
    """Return the zone with this IANA name, loaded from the wheel once."""
    if len(name) > ZONE_NAME_CHARACTERS_MAX or name not in zone_names():
        wanted = describe_expected_zone(name[:ZONE_NAME_CHARACTERS_MAX], zone_names())
        raise InvalidSchedule(field="timezone", value=name, wanted=wanted)
    return _load(name)


@lru_cache(maxsize=1024)
def _load(name: str) -> ZoneInfo:
    return create_zone(name, _read(name))


def _read(name: str) -> bytes:
    return files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()


def read_all_rules() -> dict[str, bytes]:
    """Read the rules of every zone from the wheel as TZif, about 600 small files."""
    return {name: _read(name) for name in sorted(zone_names())}


def create_zone(name: str, rules: bytes) -> ZoneInfo:
    """Create a zone from TZif rules, which may differ from the wheel's."""
    return ZoneInfo.from_file(BytesIO(rules), key=name)


def span_at(zone: ZoneInfo, instant: int) -> OffsetSpan:
    """Return the span that contains this instant (seconds since 1970)."""
    year = date.fromordinal(instant // DAY_S + EPOCH_ORDINAL).year
    for span in _spans(zone, year):
        if instant < span.end:
            return span
    raise AssertionError("a year's spans cover the year")  # pragma: no cover


@lru_cache(maxsize=4096)
def _spans(zone: ZoneInfo, year: int) -> tuple[OffsetSpan, ...]:
    start = (date(year, 1, 1).toordinal() - EPOCH_ORDINAL) * DAY_S - YEAR_MARGIN_S
    end = (date(year, 12, 31).toordinal() + 1 - EPOCH_ORDINAL) * DAY_S + YEAR_MARGIN_S
    edges = [start, *_changes(zone, start, end), end]
    offsets = [_offset(zone, edge) for edge in edges[:-1]]
    padded = [offsets[0], *offsets, offsets[-1]]
    return tuple(
        _span(edges[i], edges[i + 1], padded[i + 1], padded[i], padded[i + 2])
        for i in range(len(offsets))
    )


def _span(start: int, end: int, offset: int, before: int, after: int) -> OffsetSpan:
    calm_from, calm_to = start + abs(offset - before), end - abs(after - offset)
    return OffsetSpan(start, end, offset, before, after, calm_from, calm_to)


def _changes(zone: ZoneInfo, start: int, end: int) -> list[int]:
    """Return the instants after `start` and before `end` at which the zone's offset changes."""
    found = []
    early, offset = start, _offset(zone, start)
    while early < end:
        late = min(early + PROBE_STEP_S, end)
        if _offset(zone, late) != offset:
            change = _bisect(zone, early, late)
            found.append(change)
            offset = _offset(zone, change)
        early = late
    return [change for change in found if change < end]


def _bisect(zone: ZoneInfo, early: int, late: int) -> int:
    """Return the first instant whose offset differs from that of `early`; `late` differs."""
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


def resolve_local_time(
    local: datetime, zone: ZoneInfo, *, gap: DstGap, overlap: DstOverlap
) -> tuple[Tick, ...]:
    """Return the zero, one or two instants of a nominal local time (naive), in order."""
    local = local.replace(fold=0)
    # PEP 495: fold=0 uses the offset before a change, fold=1 the offset after it. So fold=0 is the
    # first of two instants; in a gap it is "the same minutes after the jump".
    early = local.replace(tzinfo=zone)
    late = early.replace(fold=1)
    first, second = early.astimezone(UTC), late.astimezone(UTC)
    if first == second:
        return (Tick(at=first, local=local),)
    if first < second:
        return _resolve_repeated_time(local, first, second, overlap)
    if gap is DstGap.SKIP:
        return ()
    at = first if gap is DstGap.SHIFT else _change_between(zone, second, first)
    landed = at.astimezone(zone).replace(tzinfo=None)
    return (Tick(at=at, local=local, note=describe_moved_tick(local, landed)),)


def _resolve_repeated_time(
    local: datetime, first: datetime, second: datetime, overlap: DstOverlap
) -> tuple[Tick, ...]:
    ticks = (
        Tick(at=first, local=local, note=describe_repeated_time(local, overlap, second=False)),
        Tick(
            at=second,
            local=local.replace(fold=1),
            note=describe_repeated_time(local, overlap, second=True),
        ),
    )
    if overlap is DstOverlap.FIRST:
        return ticks[:1]
    return ticks[1:] if overlap is DstOverlap.SECOND else ticks


def _change_between(zone: ZoneInfo, early: datetime, late: datetime) -> datetime:
    first, last = (early - EPOCH) // SECOND, -((EPOCH - late) // SECOND)
    return EPOCH + timedelta(seconds=_bisect(zone, first, last))


def format_local_time(at: datetime, name: str) -> str:
    """Format an instant as local time with the offset: 2026-03-29T03:00:00+02:00. This is the time
    at which a tick runs, even if its nominal time falls into a gap.
    """
    return at.astimezone(get_zone(name)).isoformat()


def format_clock(moment: datetime, *, beside: datetime | None = None) -> str:
    """Format a local time for people: with seconds and the date only if needed."""
    time = f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
    if beside is not None and beside.date() != moment.date():
        return f"{moment:%Y-%m-%d} {time}"
    return time


def describe_moved_tick(nominal: datetime, landed: datetime) -> str:
    """Return the note of a tick that was moved out of a gap."""
    return f"moved from {format_clock(nominal, beside=landed)}, which the clock jumped over"


def describe_repeated_time(local: datetime, overlap: DstOverlap, *, second: bool) -> str:
    """Return the note of a tick whose local time occurs twice."""
    this = "second" if second else "first"
    if overlap is DstOverlap.BOTH:
        return f"{this} of two occurrences of {format_clock(local)}"
    return f"{format_clock(local)} occurs twice; only the {this} runs"
