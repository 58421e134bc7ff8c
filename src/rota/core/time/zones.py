"""Loads time zones by IANA name and converts wall-clock times to instants.

Zones come only from the `tzdata` wheel, never from the machine or the database. So two nodes with
the same lock file agree on every future instant, and new zone rules arrive only with a deliberate
upgrade. This module finds where a zone's offset changes, maps a local time to its instants, and
describes the effects of daylight saving. It does not know cron or RRULE.

A zone is represented as *spans* of constant offset. `ZoneInfo` does not expose its transitions, so
the edges of the spans are found by probing, once per zone and year, and cached.

Converts wall-clock times to instants, including all daylight-saving rules for ticks.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
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


# No clock jumps by more than the date line's 24 hours, and no zone is further from UTC than this;
# see zones.YEAR_MARGIN_S.
LOCAL_SHIFT_MAX_S = 2 * DAY_S
# The end of date arithmetic, with a margin for a search.
LATEST_INSTANT_S = (datetime(9980, 1, 1, tzinfo=UTC) - EPOCH) // SECOND
# A rule whose times all fall into gaps and are skipped has no next tick. Eight years, like all
# search horizons.
SEARCH_HORIZON_S = 8 * 366 * DAY_S
# A note lists this many times before "and more".
NOTED_TIMES_MAX = 3

NextLocal = Callable[[int], int | None]


@dataclass(frozen=True, slots=True)
class DstRules:
    """What to do at the edges of a span."""

    gap: DstGap
    overlap: DstOverlap


ELAPSED_TIME_RULES = DstRules(DstGap.SKIP, DstOverlap.BOTH)


def to_wall_seconds(local: datetime) -> int:
    """Convert a naive local time to wall-clock seconds since 1970."""
    return (local.replace(tzinfo=None) - EPOCH_LOCAL) // SECOND


def from_wall_seconds(seconds: int) -> datetime:
    """Convert wall-clock seconds since 1970 to a naive local time."""
    return EPOCH_LOCAL + timedelta(seconds=seconds)


def next_tick(
    next_local: NextLocal, zone: ZoneInfo, after: datetime, rules: DstRules
) -> Tick | None:
    """Return the first tick with `at` > `after`, or None. There are no ticks before 1970."""
    moment = max(0, (after - EPOCH) // SECOND + 1)
    end = LATEST_INSTANT_S
    while moment < end:
        span = span_at(zone, moment)
        if span.calm_from <= moment < span.calm_to:
            local = next_local(moment + span.offset)
            if local is None:
                return None
            if local < span.calm_to + span.offset:
                return _tick(span, local)
            if local > span.end + LOCAL_SHIFT_MAX_S:
                moment = local - LOCAL_SHIFT_MAX_S
                continue
        tick = _first_in(next_local, span, moment, rules)
        if tick is not None:
            return tick
        # No later instant has an earlier local time than the two sides of this edge.
        local = next_local(span.end + min(span.offset, span.after))
        if local is None:
            return None
        moment = max(span.end, local - LOCAL_SHIFT_MAX_S)
        end = min(end, local + SEARCH_HORIZON_S)
    return None


def _first_in(next_local: NextLocal, span: OffsetSpan, moment: int, rules: DstRules) -> Tick | None:
    """Return the first tick in the span at or after `moment`, an instant in the span."""
    plain = _plain_in(next_local, span, moment, rules.overlap)
    moved = None
    if span.before < span.offset and rules.gap is not DstGap.SKIP:
        moved = _moved_in(next_local, span, moment, rules.gap)
    if moved is None:
        return None if plain is None else _plain_tick(span, plain, rules.overlap)
    landing = _landing(span, moved, rules.gap)
    if plain is None or plain > landing:
        return _moved_tick(next_local, span, moved, rules.gap)
    tick = _plain_tick(span, plain, rules.overlap)
    if plain < landing:
        return tick
    covered = ", ".join(_jumped_over(next_local, span, moved, rules.gap))
    return replace(tick, note=f"also covers {covered}, which the clock jumped over")


def _plain_in(
    next_local: NextLocal, span: OffsetSpan, moment: int, overlap: DstOverlap
) -> int | None:
    """Return the first local time in the span that the clock shows and that counts there."""
    start, end = moment + span.offset, span.end + span.offset
    if overlap is DstOverlap.FIRST:
        start = max(start, span.start + span.before)
    elif overlap is DstOverlap.SECOND:
        end = min(end, span.end + span.after)
    local = next_local(start)
    return local if local is not None and local < end else None


def _plain_tick(span: OffsetSpan, local: int, overlap: DstOverlap) -> Tick:
    tick = _tick(span, local)
    if local < span.start + span.before:
        note = describe_repeated_time(tick.local, overlap, second=True)
        return replace(tick, local=tick.local.replace(fold=1), note=note)
    if local >= span.end + span.after:
        return replace(tick, note=describe_repeated_time(tick.local, overlap, second=False))
    return tick


def _tick(span: OffsetSpan, local: int) -> Tick:
    at = EPOCH + timedelta(seconds=local - span.offset)
    return Tick(at=at, local=from_wall_seconds(local))


def _moved_in(next_local: NextLocal, span: OffsetSpan, moment: int, gap: DstGap) -> int | None:
    """Return the first local time in the gap before the span that lands at or after `moment`."""
    start = span.start + span.before
    if gap is DstGap.SHIFT:
        start = moment + span.before
    elif moment > span.start:
        return None
    local = next_local(start)
    return local if local is not None and local < span.start + span.offset else None


def _landing(span: OffsetSpan, jumped: int, gap: DstGap) -> int:
    """Return the local time at which a time in the gap runs."""
    if gap is DstGap.SHIFT:
        return jumped - span.before + span.offset
    return span.start + span.offset


def _moved_tick(next_local: NextLocal, span: OffsetSpan, jumped: int, gap: DstGap) -> Tick:
    landing = _landing(span, jumped, gap)
    nominal = from_wall_seconds(jumped)
    note = describe_moved_tick(nominal, from_wall_seconds(landing))
    others = _jumped_over(next_local, span, jumped, gap)[1:]
    if others:
        note = f"{note}; also covers {', '.join(others)}"
    return Tick(at=EPOCH + timedelta(seconds=landing - span.offset), local=nominal, note=note)


def _jumped_over(next_local: NextLocal, span: OffsetSpan, first: int, gap: DstGap) -> list[str]:
    """Return the first few local times in the gap that run at the same time, for a note."""
    landing = from_wall_seconds(_landing(span, first, gap))
    end = first + 1 if gap is DstGap.SHIFT else span.start + span.offset
    shown: list[str] = []
    local: int | None = first
    while local is not None and local < end:
        if len(shown) == NOTED_TIMES_MAX:
            return [*shown, "and more"]
        shown.append(format_clock(from_wall_seconds(local), beside=landing))
        local = next_local(local + 1)
    return shown
