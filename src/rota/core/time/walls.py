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
    DAY,
    EPOCH,
    EPOCH_LOCAL,
    SECOND,
    Span,
    clock,
    fold_note,
    moved_note,
    span_at,
)

# No clock jumps by more than the date line's 24 hours, and no zone is further from UTC than this;
# see zones.YEAR_MARGIN_S.
REACH = 2 * DAY
# The end of date arithmetic, with a margin for a search.
LATEST = (datetime(9980, 1, 1, tzinfo=UTC) - EPOCH) // SECOND
# A rule whose times all fall into gaps and are skipped has no next tick. Eight years, like all
# search horizons.
HORIZON = 8 * 366 * DAY
# A note lists this many times before "and more".
LISTED = 3

NextLocal = Callable[[int], int | None]


@dataclass(frozen=True, slots=True)
class Rules:
    """What to do at the edges of a span."""

    gap: DstGap
    overlap: DstOverlap


ELAPSED = Rules(DstGap.SKIP, DstOverlap.BOTH)


def seconds_of(local: datetime) -> int:
    """Convert a naive local time to wall-clock seconds since 1970."""
    return (local.replace(tzinfo=None) - EPOCH_LOCAL) // SECOND


def local_of(seconds: int) -> datetime:
    """Convert wall-clock seconds since 1970 to a naive local time."""
    return EPOCH_LOCAL + timedelta(seconds=seconds)


def next_tick(next_local: NextLocal, zone: ZoneInfo, after: datetime, rules: Rules) -> Tick | None:
    """Return the first tick with `at` > `after`, or None. There are no ticks before 1970."""
    moment = max(0, (after - EPOCH) // SECOND + 1)
    end = LATEST
    while moment < end:
        span = span_at(zone, moment)
        if span.calm_from <= moment < span.calm_to:
            local = next_local(moment + span.offset)
            if local is None:
                return None
            if local < span.calm_to + span.offset:
                return _tick(span, local)
            if local > span.end + REACH:
                moment = local - REACH
                continue
        tick = _first_in(next_local, span, moment, rules)
        if tick is not None:
            return tick
        # No later instant has an earlier local time than the two sides of this edge.
        local = next_local(span.end + min(span.offset, span.after))
        if local is None:
            return None
        moment = max(span.end, local - REACH)
        end = min(end, local + HORIZON)
    return None


def _first_in(next_local: NextLocal, span: Span, moment: int, rules: Rules) -> Tick | None:
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


def _plain_in(next_local: NextLocal, span: Span, moment: int, overlap: DstOverlap) -> int | None:
    """Return the first local time in the span that the clock shows and that counts there."""
    start, end = moment + span.offset, span.end + span.offset
    if overlap is DstOverlap.FIRST:
        start = max(start, span.start + span.before)
    elif overlap is DstOverlap.SECOND:
        end = min(end, span.end + span.after)
    local = next_local(start)
    return local if local is not None and local < end else None


def _plain_tick(span: Span, local: int, overlap: DstOverlap) -> Tick:
    tick = _tick(span, local)
    if local < span.start + span.before:
        note = fold_note(tick.local, overlap, second=True)
        return replace(tick, local=tick.local.replace(fold=1), note=note)
    if local >= span.end + span.after:
        return replace(tick, note=fold_note(tick.local, overlap, second=False))
    return tick


def _tick(span: Span, local: int) -> Tick:
    at = EPOCH + timedelta(seconds=local - span.offset)
    return Tick(at=at, local=local_of(local))


def _moved_in(next_local: NextLocal, span: Span, moment: int, gap: DstGap) -> int | None:
    """Return the first local time in the gap before the span that lands at or after `moment`."""
    start = span.start + span.before
    if gap is DstGap.SHIFT:
        start = moment + span.before
    elif moment > span.start:
        return None
    local = next_local(start)
    return local if local is not None and local < span.start + span.offset else None


def _landing(span: Span, jumped: int, gap: DstGap) -> int:
    """Return the local time at which a time in the gap runs."""
    if gap is DstGap.SHIFT:
        return jumped - span.before + span.offset
    return span.start + span.offset


def _moved_tick(next_local: NextLocal, span: Span, jumped: int, gap: DstGap) -> Tick:
    landing = _landing(span, jumped, gap)
    nominal = local_of(jumped)
    note = moved_note(nominal, local_of(landing))
    others = _jumped_over(next_local, span, jumped, gap)[1:]
    if others:
        note = f"{note}; also covers {', '.join(others)}"
    return Tick(at=EPOCH + timedelta(seconds=landing - span.offset), local=nominal, note=note)


def _jumped_over(next_local: NextLocal, span: Span, first: int, gap: DstGap) -> list[str]:
    """Return the first few local times in the gap that run at the same time, for a note."""
    landing = local_of(_landing(span, first, gap))
    end = first + 1 if gap is DstGap.SHIFT else span.start + span.offset
    shown: list[str] = []
    local: int | None = first
    while local is not None and local < end:
        if len(shown) == LISTED:
            return [*shown, "and more"]
        shown.append(clock(local_of(local), beside=landing))
        local = next_local(local + 1)
    return shown
