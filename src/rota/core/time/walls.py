"""Local times become instants, for rules that are not cron.

Room: core/time. A rule here is only "the first local time that is not before this one", in seconds
since 1970 on a clock on the wall. This module walks the zone's spans of constant offset, inside
which that clock and elapsed time run side by side, and handles what happens at their edges: local
times in a gap, local times that come twice. Cron has its own walk (cron/ticks.py), which can also
say for which other times a moved tick stands.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from rota.core.time.tick import DstGap, DstOverlap, Tick
from rota.core.time.zones import (
    DAY,
    EPOCH,
    EPOCH_LOCAL,
    SECOND,
    Span,
    fold_note,
    moved_note,
    span_at,
)

# No jump of a clock is longer than the date line's 24 hours, no zone further from UTC than this.
REACH = 2 * DAY
# Where the arithmetic of dates ends, with room for a search.
LATEST = (datetime(9980, 1, 1, tzinfo=UTC) - EPOCH) // SECOND
# A rule whose every time falls into a gap, and is skipped there, has no next tick. Eight years, as
# for everything that does not come.
HORIZON = 8 * 366 * DAY

NextLocal = Callable[[int], int | None]


def seconds_of(local: datetime) -> int:
    """A naive local time as seconds since 1970 on that wall."""
    return (local.replace(tzinfo=None) - EPOCH_LOCAL) // SECOND


def local_of(seconds: int) -> datetime:
    """The naive local time of those seconds."""
    return EPOCH_LOCAL + timedelta(seconds=seconds)


def next_tick(
    next_local: NextLocal, zone: ZoneInfo, after: datetime, *, gap: DstGap, overlap: DstOverlap
) -> Tick | None:
    """The first tick with `at` > `after`, or None. Elapsed time is `skip` and `both`."""
    moment = max(0, (after - EPOCH) // SECOND + 1)
    end = LATEST
    while moment < end:
        span = span_at(zone, moment)
        tick = _first_in(next_local, span, moment, gap=gap, overlap=overlap)
        if tick is not None:
            return tick
        # No instant after this edge shows an earlier local time than the edge's two sides do.
        upcoming = next_local(span.end + min(span.offset, span.after))
        if upcoming is None:
            return None
        moment = max(span.end, upcoming - REACH)
        end = min(end, upcoming + HORIZON)
    return None


def _first_in(
    next_local: NextLocal, span: Span, moment: int, *, gap: DstGap, overlap: DstOverlap
) -> Tick | None:
    shown = _shown_in(next_local, span, moment, overlap)
    if span.before >= span.offset or gap is DstGap.SKIP:
        return shown
    moved = _moved_in(next_local, span, moment, gap)
    if moved is None or (shown is not None and shown.at <= moved.at):
        return shown
    return moved


def _shown_in(next_local: NextLocal, span: Span, moment: int, overlap: DstOverlap) -> Tick | None:
    """The first tick, not before `moment`, whose local time the clock really shows in the span."""
    start, end = moment + span.offset, span.end + span.offset
    if overlap is DstOverlap.FIRST:
        start = max(start, span.start + span.before)
    elif overlap is DstOverlap.SECOND:
        end = min(end, span.end + span.after)
    local = next_local(start)
    if local is None or local >= end:
        return None
    at, wall = EPOCH + timedelta(seconds=local - span.offset), local_of(local)
    if local < span.start + span.before:
        note = fold_note(wall, overlap, second=True)
        return Tick(at=at, local=wall.replace(fold=1), note=note)
    if local >= span.end + span.after:
        return Tick(at=at, local=wall, note=fold_note(wall, overlap, second=False))
    return Tick(at=at, local=wall)


def _moved_in(next_local: NextLocal, span: Span, moment: int, gap: DstGap) -> Tick | None:
    """The first tick, not before `moment`, that stands for a time in the gap before the span."""
    shift = gap is DstGap.SHIFT
    if not shift and moment > span.start:
        return None
    local = next_local(moment + span.before if shift else span.start + span.before)
    if local is None or local >= span.start + span.offset:
        return None
    at = local - span.before if shift else span.start
    note = moved_note(local_of(local), local_of(at + span.offset))
    return Tick(at=EPOCH + timedelta(seconds=at), local=local_of(local), note=note)
