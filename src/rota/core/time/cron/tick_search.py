"""Computes the ticks of a cron expression in a zone.

search.py finds the local times that an expression names; wall_clock.py resolves them to instants
where clocks change.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from rota.core.errors import InvalidSchedule
from rota.core.time import wall_clock
from rota.core.time.cron.expression import Cron
from rota.core.time.cron.search import find_next_local
from rota.core.time.tick import DstGap, DstOverlap, Tick
from rota.core.time.wall_clock import ELAPSED_TIME_RULES, DstRules


def find_next_tick(
    cron: Cron,
    zone: ZoneInfo,
    after: datetime,
    *,
    gap: DstGap = DstGap.RUN_AFTER,
    overlap: DstOverlap = DstOverlap.FIRST,
) -> Tick | None:
    """Return the first tick with `at` > `after`, or None. There are no ticks before 1970."""
    rules = ELAPSED_TIME_RULES if cron.interval_like else DstRules(gap, overlap)
    tick = wall_clock.next_tick(partial(find_next_local, cron), zone, after, rules)
    # If a tick repeated, the scheduler would fire it forever; fail here instead.
    if tick is not None and tick.at <= after:
        wanted = f"expected a tick later than {after}"
        raise InvalidSchedule(field="cron", value=cron.text, wanted=wanted)
    return tick


def iterate_ticks(
    cron: Cron,
    zone: ZoneInfo,
    after: datetime,
    *,
    gap: DstGap = DstGap.RUN_AFTER,
    overlap: DstOverlap = DstOverlap.FIRST,
) -> Iterator[Tick]:
    """Yield all ticks after `after`, in strictly ascending order of `at`."""
    tick = find_next_tick(cron, zone, after, gap=gap, overlap=overlap)
    while tick is not None:
        yield tick
        tick = find_next_tick(cron, zone, tick.at, gap=gap, overlap=overlap)


def fires_within(
    cron: Cron,
    zone: ZoneInfo,
    start: datetime,
    years: int = 8,
    *,
    gap: DstGap = DstGap.RUN_AFTER,
    overlap: DstOverlap = DstOverlap.FIRST,
) -> bool:
    """Return whether a tick comes within `years`. Eight include a 29 February even around 2100."""
    tick = find_next_tick(cron, zone, start, gap=gap, overlap=overlap)
    return tick is not None and tick.at - start <= timedelta(days=366 * years)
