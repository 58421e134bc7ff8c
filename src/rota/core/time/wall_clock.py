"""Converts wall-clock times to instants, including all daylight-saving rules for ticks.

A rule is represented by one function: "the first local time at or after this one", in wall-clock
seconds since 1970. Cron and RRULE provide their own. This module goes through a zone's spans of
constant offset in chronological order. Inside a span, local time and elapsed time advance together,
so the next tick is one search. Daylight saving matters only at the edges of a span:

- after a gap, local times inside it run at the span's start (`run_after`), the same minutes later
  (`shift`), or not at all (`skip`);
- after an overlap, the span starts with local times that already occurred: `first` drops them here,
  `second` drops them at the end of the previous span, `both` keeps both;
- a rule that follows elapsed time uses `skip` and `both`.

The search goes by instants, so ticks are strictly ordered however the rules move them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from rota.core.time.tick import DstGap, DstOverlap, Tick
from rota.core.time.zones import (
    DAY_S,
    EPOCH,
    EPOCH_LOCAL,
    SECOND,
    OffsetSpan,
    describe_moved_tick,
    describe_repeated_time,
    format_clock,
    span_at,
)

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
