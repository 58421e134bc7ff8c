"""Reads the ticks of the next seconds into the agendas. Room: flow/schedule.

A duty with three ways of reading. *Ahead*: of each shard what lies between its horizon and
`look_ahead` from now, so that every tick is read once; a shard that was just taken has no horizon
and is read from its beginning. The *poll*: what is due now or within the next moments, known or
not; it finds jobs that were written or edited after their time had been read ahead, and everything
that got lost on the way. And when somebody *hurries* it, the whole window again.

With each pass it also learns when the next submission of each shard is due (submissions.py).

Schedules are read and the ticks after the next computed here, ahead of the moment of firing. Those
that take long to find are found in a thread, a few in each pass.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from rota.core.clock import Clock
from rota.core.events import Emit
from rota.core.time.budget import NEXT_TICK_STEPS_MAX, SearchBudget
from rota.core.time.schedule import STEP
from rota.flow.schedule.agenda import Agenda, Entry, prepared
from rota.flow.schedule.minding_calendars import look_at
from rota.flow.schedule.quarantining import set_aside, tell_newer
from rota.flow.schedule.rulebook import FAULTS, Rulebook
from rota.flow.schedule.tenure import Tenure
from rota.runtime.offset import Offset
from rota.runtime.pulse import Pulse
from rota.store import cursors, names, submissions
from rota.store.cursors import PAST, Due
from rota.store.driver import Connection, Source
from rota.store.fitness import database_time
from rota.store.submissions import DueShard

MOST: Final = 20_000
POLL: Final = 0.25
# How far beyond now a poll looks: what is written so long before its time is never late.
REACH: Final = timedelta(seconds=2 * POLL)
# With more than this in reach, nearly all of it known, polls look for a while only for what should
# have been fired some time ago.
CROWD: Final = 1000
CROWDED_FOR: Final = 5.0
OVERDUE: Final = timedelta(seconds=POLL)
# Reading ahead is worth a statement when this part of the window has passed. Many rows are read in
# smaller parts: decoding them keeps the loop from firing.
PARTS: Final = 8
SMALL_PARTS: Final = 40
MANY: Final = 500
# Steps of search (core/time/budget.py) in threads after which the rest waits: some 0.2 s.
PASS_STEPS_MAX: Final = 20_000
# After this many rows the others get their turn: some 0.5 ms.
CHUNK: Final = 64
# The whole window again at most so often; and this, like a poll, for a tenth of the time at most.
HURRY_EVERY: Final = 0.05
PAUSES: Final = 10


@dataclass(slots=True, kw_only=True)
class Reading:
    """Shards are dealt to the agendas by their number."""

    source: Source
    tenure: Tenure
    offset: Offset
    agendas: Sequence[Agenda]
    look_ahead: timedelta
    clock: Clock
    pulse: Pulse
    emit: Emit
    _hurried: bool = False
    _next_hurry: float = float("-inf")
    _next_poll: float = float("-inf")
    _crowded_until: float = float("-inf")
    _parts: int = PARTS

    def hurry(self) -> None:
        """Jobs were written or edited: look at the whole window again, soon."""
        self._hurried = True
        self.pulse.wake()

    async def tick(self) -> float:
        shards = list(self.tenure.epochs)
        self._forget_others(shards)
        if not shards:
            return POLL
        async with self.source.acquire() as conn:
            now = await database_time(conn)
            self.offset.note(now, received=self.clock.monotonic())
            started = self.clock.monotonic()
            hurried = self._hurried and started >= self._next_hurry
            if hurried:
                self._hurried = False
                self._forget_others([])
            for agenda in self.agendas:
                agenda.begin_reading()
            await self._read_ahead(conn, shards, now)
            if started >= self._next_poll:
                await self._poll(conn, shards, now)
            await self._read_submissions(conn, shards)
            await self._search_off_loop()
            for agenda in self.agendas:
                await set_aside(conn, agenda.take_faults(), emit=self.emit)
                tell_newer(agenda, emit=self.emit)
        ended = self.clock.monotonic()
        if hurried:
            self._next_hurry = ended + max(HURRY_EVERY, PAUSES * (ended - started))
        part = self.look_ahead.total_seconds() / self._parts
        following = min(self._next_poll, ended + min(POLL, part))
        if self._hurried:
            following = min(following, self._next_hurry)
        if any(agenda.has_long_searches for agenda in self.agendas):
            following = ended
        return max(0.0, following - ended)

    async def _search_off_loop(self) -> None:
        """Find the ticks that take long to find, in a thread, and only so many in one pass: the
        schedules of one tenant must not keep those of others from being read.
        """
        steps = 0
        for agenda in self.agendas:
            for due in agenda.take_long_searches():
                if steps > PASS_STEPS_MAX:
                    agenda.search_later(due)
                    continue
                budget = SearchBudget(NEXT_TICK_STEPS_MAX)
                found = await asyncio.to_thread(_prepared_or_fault, due, agenda.rulebook, budget)
                agenda.took_long(due, found)
                steps += budget.spent

    def _forget_others(self, shards: Sequence[int]) -> None:
        """A shard that is not ours any more is read from its beginning if it comes back."""
        kept = set(shards)
        for agenda in self.agendas:
            for shard in agenda.horizons.keys() - kept:
                del agenda.horizons[shard]

    @property
    def _rulebook(self) -> Rulebook:
        """One for all agendas."""
        return self.agendas[0].rulebook

    def _agenda_of(self, shard: int) -> Agenda:
        return self.agendas[shard % len(self.agendas)]

    def _set_horizons(self, horizons: Mapping[int, datetime]) -> None:
        for shard, horizon in horizons.items():
            self._agenda_of(shard).horizons[shard] = horizon

    async def _read_ahead(self, conn: Connection, shards: Sequence[int], now: datetime) -> None:
        until = now + self.look_ahead
        enough = until - self.look_ahead / self._parts
        known = {shard: self._agenda_of(shard).horizons.get(shard, PAST) for shard in shards}
        old = {shard: horizon for shard, horizon in known.items() if horizon <= enough}
        if not old:
            return
        # Before the read, not after: a tick that is fired meanwhile and whose next one lies in the
        # window is invisible to this read, so whoever fires it must put it into the agenda.
        self._set_horizons(dict.fromkeys(old, until))
        try:
            rows = await cursors.due(
                conn, shards=list(old), afters=list(old.values()), before=until, most=MOST
            )
        except BaseException:
            self._set_horizons(old)
            raise
        self._set_horizons(cut_short(rows, old, most=MOST))
        self._parts = SMALL_PARTS if len(rows) > MANY // (SMALL_PARTS // self._parts) else PARTS
        await self._take_in(conn, rows)

    async def _poll(self, conn: Connection, shards: Sequence[int], now: datetime) -> None:
        sent = self.clock.monotonic()
        before = now - OVERDUE if sent < self._crowded_until else now + REACH
        rows = await cursors.due(conn, shards=shards, before=before, most=MOST)
        await self._take_in(conn, rows)
        ended = self.clock.monotonic()
        if len(rows) > CROWD:
            self._crowded_until = ended + CROWDED_FOR
        self._next_poll = sent + max(POLL, PAUSES * (ended - sent))

    async def _read_submissions(self, conn: Connection, shards: Sequence[int]) -> None:
        """Learn when the next submission of each shard is due: one row a shard."""
        found: dict[int, list[DueShard]] = {}
        for row in await submissions.next_due(conn, shards=shards):
            found.setdefault(row.shard % len(self.agendas), []).append(row)
        for place, rows in found.items():
            self.agendas[place].learn_submissions(rows)

    async def _take_in(self, conn: Connection, rows: Sequence[Due]) -> None:
        news = [row for row in rows if self._agenda_of(row.shard).is_news(row)]
        missing = self._rulebook.missing(news)
        if missing:
            self._rulebook.learn(await names.schedules(conn, list(missing)))
        going_by = self._rulebook.calendars_of(news)
        if going_by:
            await look_at(conn, self._rulebook, going_by)
        for start in range(0, len(news), CHUNK):
            for row in news[start : start + CHUNK]:
                self._agenda_of(row.shard).take_in(row)
            await self.clock.sleep(0)


def _prepared_or_fault(due: Due, rulebook: Rulebook, budget: SearchBudget) -> Entry | Exception:
    try:
        return prepared(due, rulebook, budget)
    except FAULTS as error:
        return error


def cut_short(
    rows: Sequence[Due], shards: Mapping[int, datetime], *, most: int
) -> dict[int, datetime]:
    """The true horizons of shards of which a read may not have shown everything.

    A part of what is due at the very last time that was shown may be missing, so it is not counted:
    it is read again, or found by the poll once what is before it has been fired.
    """
    if not rows:
        return {}
    share = cursors.share_of_read(most, len(shards))
    horizons = {}
    last = {row.shard: row.fire_at for row in rows}
    for shard, count in Counter(row.shard for row in rows).items():
        if count >= share:
            horizons[shard] = last[shard] - STEP
    if len(rows) >= most:
        end = rows[-1].fire_at - STEP
        horizons = {shard: min(end, horizons.get(shard, end)) for shard in shards}
    return horizons
