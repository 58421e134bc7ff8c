"""Local times become instants: the one place that knows what daylight saving does to a tick.

Room: core/time. A rule here is only "the first local time that is not before this one", in seconds
since 1970 on a clock on the wall; cron and RRULE bring their own. This module walks the spans of
constant offset of a zone in order of time. Inside a span local time and elapsed time run side by
side, so the next tick is one search; what daylight saving does happens at a span's edges:

- after a gap, local times inside it run at the span's start (`run_after`), the same minutes later
  (`shift`), or not at all (`skip`);
- after an overlap, the span begins with local times that were there before; `first` leaves them
  out here, `second` left them out at the end of the span before, `both` keeps both;
- a rule that follows elapsed time is `skip` and `both`.

Going by instants makes the order of ticks strict by construction, however the rules move them.
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

# No jump of a clock is longer than the date line's 24 hours, no zone further from UTC than this;
# see zones.MARGIN.
REACH = 2 * DAY
# Where the arithmetic of dates ends, with room for a search.
LATEST = (datetime(9980, 1, 1, tzinfo=UTC) - EPOCH) // SECOND
# A rule whose every time falls into a gap, and is skipped there, has no next tick. Eight years, as
# for everything that does not come.
HORIZON = 8 * 366 * DAY
# How many times a note lists before it says "and more".
LISTED = 3

NextLocal = Callable[[int], int | None]


@dataclass(frozen=True, slots=True)
class Rules:
    """What to do at the edges of a span."""

    gap: DstGap
    overlap: DstOverlap


ELAPSED = Rules(DstGap.SKIP, DstOverlap.BOTH)


def seconds_of(local: datetime) -> int:
    """A naive local time as seconds since 1970 on that wall."""
    return (local.replace(tzinfo=None) - EPOCH_LOCAL) // SECOND


def local_of(seconds: int) -> datetime:
    """The naive local time of those seconds."""
    return EPOCH_LOCAL + timedelta(seconds=seconds)


def next_tick(next_local: NextLocal, zone: ZoneInfo, after: datetime, rules: Rules) -> Tick | None:
    """The first tick with `at` > `after`, or None. There are no ticks before 1970."""
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
        # No later instant shows an earlier local time than the two sides of this edge.
        local = next_local(span.end + min(span.offset, span.after))
        if local is None:
            return None
        moment = max(span.end, local - REACH)
        end = min(end, local + HORIZON)
    return None


def _first_in(next_local: NextLocal, span: Span, moment: int, rules: Rules) -> Tick | None:
    """The first tick in the span that is not before `moment`, an instant in the span."""
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
    stood_for = ", ".join(_jumped_over(next_local, span, moved, rules.gap))
    return replace(tick, note=f"also stands for {stood_for}, which the clock jumped over")


def _plain_in(next_local: NextLocal, span: Span, moment: int, overlap: DstOverlap) -> int | None:
    """The first local time in the span that the clock really shows, and that counts there."""
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
    """The first local time in the gap before the span whose landing is not before `moment`."""
    start = span.start + span.before
    if gap is DstGap.SHIFT:
        start = moment + span.before
    elif moment > span.start:
        return None
    local = next_local(start)
    return local if local is not None and local < span.start + span.offset else None


def _landing(span: Span, jumped: int, gap: DstGap) -> int:
    """The local time at which a time in the gap runs."""
    if gap is DstGap.SHIFT:
        return jumped - span.before + span.offset
    return span.start + span.offset


def _moved_tick(next_local: NextLocal, span: Span, jumped: int, gap: DstGap) -> Tick:
    landing = _landing(span, jumped, gap)
    nominal = local_of(jumped)
    note = moved_note(nominal, local_of(landing))
    others = _jumped_over(next_local, span, jumped, gap)[1:]
    if others:
        note = f"{note}; also stands for {', '.join(others)}"
    return Tick(at=EPOCH + timedelta(seconds=landing - span.offset), local=nominal, note=note)


def _jumped_over(next_local: NextLocal, span: Span, first: int, gap: DstGap) -> list[str]:
    """The local times in the gap that share one landing, for a note; the first few of them."""
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
