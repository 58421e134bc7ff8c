"""The ticks of an expression in a zone: local times become instants.

Room: core/time/cron. Walks the zone's spans of constant offset in order of time. Inside a span
local time and elapsed time run side by side, so the next tick is one search; everything that
daylight saving does happens at a span's edges, and is said here, once:

- after a gap, local times inside it run at the span's start (`run_after`), the same minutes later
  (`shift`), or not at all (`skip`);
- after an overlap, the span begins with local times that were there before; `first` leaves them
  out here, `second` left them out at the end of the span before, `both` keeps both;
- an interval-like expression follows elapsed time, which is `skip` and `both`.

Going by instants makes the order of ticks strict by construction, however the rules move them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from rota.core.errors import InvalidSchedule
from rota.core.time.cron.expression import Cron
from rota.core.time.cron.search import LAST_YEAR, next_local
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

# No zone is further from UTC, and no jump longer, than this; see zones.MARGIN.
REACH = 2 * DAY
# A found tick takes at most five. Only an expression whose every time falls into a gap, skipped
# each spring, takes more; after some thirty years of that, it has no next tick.
STEPS = 100
LATEST = (datetime(LAST_YEAR, 12, 31, tzinfo=UTC) - EPOCH) // SECOND
LISTED = 3


@dataclass(frozen=True, slots=True)
class Rules:
    """What to do at the edges of a span."""

    gap: DstGap
    overlap: DstOverlap


ELAPSED = Rules(DstGap.SKIP, DstOverlap.BOTH)


def next_tick(
    cron: Cron,
    zone: ZoneInfo,
    after: datetime,
    *,
    gap: DstGap = DstGap.RUN_AFTER,
    overlap: DstOverlap = DstOverlap.FIRST,
) -> Tick | None:
    """The first tick with `at` > `after`, or None. There are no ticks before 1970."""
    rules = ELAPSED if cron.interval_like else Rules(gap, overlap)
    moment = max(0, (after - EPOCH) // SECOND + 1)
    if moment >= LATEST:
        return None
    for _ in range(STEPS):
        span = span_at(zone, moment)
        if span.calm_from <= moment < span.calm_to:
            local = next_local(cron, moment + span.offset)
            if local is None:
                return None
            if local < span.calm_to + span.offset:
                return _advanced(cron, _tick(span, local), after)
            if local > span.end + REACH:
                moment = local - REACH
                continue
        tick = _first_in(cron, span, moment, rules)
        if tick is not None:
            return _advanced(cron, tick, after)
        # No later instant shows an earlier local time than the two sides of this edge.
        local = next_local(cron, span.end + min(span.offset, span.after))
        if local is None:
            return None
        moment = max(span.end, local - REACH)
    return None


def ticks(
    cron: Cron,
    zone: ZoneInfo,
    after: datetime,
    *,
    gap: DstGap = DstGap.RUN_AFTER,
    overlap: DstOverlap = DstOverlap.FIRST,
) -> Iterator[Tick]:
    """All ticks after `after`, in strictly rising order of `at`."""
    tick = next_tick(cron, zone, after, gap=gap, overlap=overlap)
    while tick is not None:
        yield tick
        tick = next_tick(cron, zone, tick.at, gap=gap, overlap=overlap)


def fires_within(
    cron: Cron,
    zone: ZoneInfo,
    start: datetime,
    years: int = 8,
    *,
    gap: DstGap = DstGap.RUN_AFTER,
    overlap: DstOverlap = DstOverlap.FIRST,
) -> bool:
    """Whether there is a tick in the next years. Eight hold a 29 February even around 2100."""
    tick = next_tick(cron, zone, start, gap=gap, overlap=overlap)
    return tick is not None and tick.at - start <= timedelta(days=366 * years)


def _advanced(cron: Cron, tick: Tick, after: datetime) -> Tick:
    # A scheduler that gets the same answer twice fires for ever; it must stop here instead.
    if tick.at <= after:
        raise InvalidSchedule(field="cron", value=cron.text, wanted=f"a tick later than {after}")
    return tick


def _first_in(cron: Cron, span: Span, moment: int, rules: Rules) -> Tick | None:
    """The first tick in the span that is not before `moment`, an instant in the span."""
    plain = _plain_in(cron, span, moment, rules.overlap)
    moved = None
    if span.before < span.offset and rules.gap is not DstGap.SKIP:
        moved = _moved_in(cron, span, moment, rules.gap)
    if moved is None:
        return None if plain is None else _plain_tick(span, plain, rules.overlap)
    landing = _landing(span, moved, rules.gap)
    if plain is None or plain > landing:
        return _moved_tick(cron, span, moved, rules.gap)
    tick = _plain_tick(span, plain, rules.overlap)
    if plain < landing:
        return tick
    stood_for = ", ".join(_jumped_over(cron, span, moved, rules.gap))
    return replace(tick, note=f"also stands for {stood_for}, which the clock jumped over")


def _plain_in(cron: Cron, span: Span, moment: int, overlap: DstOverlap) -> int | None:
    """The first local time in the span that the clock really shows, and that counts there."""
    start, end = moment + span.offset, span.end + span.offset
    if overlap is DstOverlap.FIRST:
        start = max(start, span.start + span.before)
    elif overlap is DstOverlap.SECOND:
        end = min(end, span.end + span.after)
    local = next_local(cron, start)
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
    return Tick(at=at, local=EPOCH_LOCAL + timedelta(seconds=local))


def _moved_in(cron: Cron, span: Span, moment: int, gap: DstGap) -> int | None:
    """The first local time in the gap before the span whose landing is not before `moment`."""
    start = span.start + span.before
    if gap is DstGap.SHIFT:
        start = moment + span.before
    elif moment > span.start:
        return None
    local = next_local(cron, start)
    return local if local is not None and local < span.start + span.offset else None


def _landing(span: Span, jumped: int, gap: DstGap) -> int:
    """The local time at which a time in the gap runs."""
    if gap is DstGap.SHIFT:
        return jumped - span.before + span.offset
    return span.start + span.offset


def _moved_tick(cron: Cron, span: Span, jumped: int, gap: DstGap) -> Tick:
    landing = _landing(span, jumped, gap)
    nominal = EPOCH_LOCAL + timedelta(seconds=jumped)
    note = moved_note(nominal, EPOCH_LOCAL + timedelta(seconds=landing))
    others = _jumped_over(cron, span, jumped, gap)[1:]
    if others:
        note = f"{note}; also stands for {', '.join(others)}"
    return Tick(at=EPOCH + timedelta(seconds=landing - span.offset), local=nominal, note=note)


def _jumped_over(cron: Cron, span: Span, first: int, gap: DstGap) -> list[str]:
    """The local times in the gap that share one landing, for a note; the first few of them."""
    landing = EPOCH_LOCAL + timedelta(seconds=_landing(span, first, gap))
    end = first + 1 if gap is DstGap.SHIFT else span.start + span.offset
    shown: list[str] = []
    local: int | None = first
    while local is not None and local < end:
        if len(shown) == LISTED:
            return [*shown, "and more"]
        shown.append(clock(EPOCH_LOCAL + timedelta(seconds=local), beside=landing))
        local = next_local(cron, local + 1)
    return shown
