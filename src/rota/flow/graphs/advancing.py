"""Makes of marks what follows from them: steps begin, graph runs end. Room: flow/graphs.

A step's run leaves a mark with the very statement that ends it. Whoever recorded it kicks this
duty, and every node looks for marks that were left lying. A pass locks graph runs, takes their
marks, asks core what follows, writes the runs of the steps that are ready and the new boards, and
moves what is complete to history, all in one transaction: if it does not commit, the marks are
still there, and if it does, they are gone. So a step begins once, and no ending is overlooked
(docs/adr/0018-marks.md). What follows is deciding.py; steps with many members are mapping.py; one
that cannot be advanced stops no other (faltering.py).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from rota.core.errors import RotaError, StoreFailed, StoreRefused, StoreUnavailable
from rota.core.events import AdvanceFailed, AdvancePutOff, Emit, RunSetAside
from rota.core.states import RunState
from rota.core.submission import canonical
from rota.flow.graphs.closing import cancel_steps, note_endings
from rota.flow.graphs.deciding import decide, endings
from rota.flow.graphs.faltering import TRIES, Faltering
from rota.flow.graphs.plans import Key, Plan, Plans, Unreadable
from rota.flow.graphs.turns import Turn, grouped
from rota.store import graphs
from rota.store.driver import Connection, Source
from rota.store.graphs import FIRST, Board, Ended, Ending, Locked
from rota.store.transaction import transaction

# Graph runs in one transaction. Each may begin up to a thousand steps, mostly it is one or two.
MOST: Final = 500
LOOK_EVERY: Final = 1.0
# From the start of one pass to the next: under load more marks gather for it, and an idle system
# does not wait.
GATHER: Final = 0.01
# Somebody else holds the lock: the marks that they did not see are looked for again so soon.
AGAIN: Final = 0.02
BLOCKED: Final = RunState.BLOCKED.value
LONGEST_REASON: Final = 1000


class UnknownPlansError(Exception):
    """Ends a transaction in which plans were missing; they are read, and the pass begins anew."""

    def __init__(self, keys: set[Key]) -> None:
        super().__init__()
        self.keys = keys


@dataclass(slots=True)
class Passed:
    """What one pass did: steps that wait now, gates that are free, and graph runs that have marks
    now. `locked` are those it could have.
    """

    has_made: bool = False
    has_freed: bool = False
    next: list[UUID] = field(default_factory=list)
    locked: set[UUID] = field(default_factory=set)

    def add(self, ended: Ended) -> None:
        """A graph run ended; if it is a step itself, the one above has a mark."""
        self.has_freed |= ended.is_gated
        if ended.graph_run_id is not None:
            self.next.append(ended.graph_run_id)


@dataclass(slots=True, kw_only=True)
class Advancing:
    """`made` hears that runs wait, `freed` that places behind gates are free, `wake` that there is
    something to do here.
    """

    source: Source
    made: Callable[[], object]
    freed: Callable[[], object]
    wake: Callable[[], object]
    monotonic: Callable[[], float]
    emit: Emit
    plans: Plans = field(default_factory=Plans)
    _kicked: dict[UUID, None] = field(default_factory=dict)
    _busy: dict[UUID, None] = field(default_factory=dict)
    _began: float = float("-inf")
    _after: UUID = FIRST
    _look_at: float = float("-inf")
    _told_newer: set[UUID] = field(default_factory=set)
    _faltering: Faltering = field(init=False)

    def __post_init__(self) -> None:
        self._faltering = Faltering(monotonic=self.monotonic)

    def kick(self, ids: Iterable[UUID]) -> None:
        """These graph runs have marks."""
        self._kicked.update(dict.fromkeys(ids))
        self.wake()

    def look(self) -> None:
        """There may be marks of any graph run."""
        self._look_at = float("-inf")
        self.wake()

    async def tick(self) -> float:
        """Advance what was kicked; else look for marks that nobody took."""
        now = self.monotonic()
        if self._kicked and now < self._began + GATHER:
            return self._began + GATHER - now
        self._began = now
        self.plans.forget_older(now)
        if self._kicked:
            await self._advance_some(self._kicked, self._busy)
        elif self._busy:
            # What cannot be had twice is paused or without marks by now; else a look finds it.
            await self._advance_some(self._busy, {})
        elif self.monotonic() >= self._look_at:
            await self._look_around()
        if self._kicked:
            return 0.0
        return AGAIN if self._busy else max(0.0, self._look_at - self.monotonic())

    async def _advance_some(self, wanted: dict[UUID, None], again: dict[UUID, None]) -> None:
        """Advance some of those that are wanted; what cannot be had now is tried again."""
        ids = list(wanted)[:MOST]
        for run_id in ids:
            del wanted[run_id]
        try:
            async with self.source.acquire() as conn:
                locked = await self.advance(conn, ids)
        except BaseException:
            self._kicked.update(dict.fromkeys(ids))
            raise
        again.update(dict.fromkeys(each for each in ids if each not in locked))

    async def _look_around(self) -> None:
        """From where the last look ended, so that a graph run whose marks stay holds up nobody."""
        async with self.source.acquire() as conn:
            found = await graphs.marked(conn, after=self._after, most=MOST)
            if found:
                await graphs.drop_orphans(conn, found)
                await self.advance(conn, found)
        if len(found) == MOST:
            self._after = found[-1]
        else:
            self._after = FIRST
            self._look_at = self.monotonic() + LOOK_EVERY

    async def advance(self, conn: Connection, ids: Sequence[UUID]) -> set[UUID]:
        """Advance these graph runs, and tell whoever waits for what came of it. Returns those that
        need not be tried again soon: what is missing is paused, or somebody else is at it.
        """
        ready = self._faltering.ready(ids)
        waiting: set[UUID] = set() if ready is ids else set(ids).difference(ready)
        if not ready:
            return waiting
        try:
            passed = await self._pass(conn, ready)
        except (StoreUnavailable, StoreRefused):
            raise
        except Exception as error:  # noqa: BLE001 — a mistake in one must not be the end of all
            if len(ready) == 1:
                await self._falter(conn, ready[0], error)
                return waiting | set(ready)
            # One that cannot be decided or stored must not keep the others: find it by halving.
            middle = len(ready) // 2
            first = await self.advance(conn, ready[:middle])
            return waiting | first | await self.advance(conn, ready[middle:])
        self._faltering.forget(passed.locked)
        self._tell(passed)
        return waiting | passed.locked

    def _tell(self, passed: Passed) -> None:
        self._kicked.update(dict.fromkeys(passed.next))
        if passed.has_made:
            self.made()
        if passed.has_freed:
            self.freed()

    async def _pass(self, conn: Connection, ids: Sequence[UUID]) -> Passed:
        while True:
            try:
                async with transaction(conn):
                    return await self._within(conn, ids)
            except UnknownPlansError as unknown:
                await self.plans.load(conn, unknown.keys)

    async def _within(self, conn: Connection, ids: Sequence[UUID]) -> Passed:
        """One pass, in the transaction of the caller."""
        locked = await graphs.lock(conn, ids)
        passed = Passed(locked={row.run_id for row in locked})
        if not locked:
            return passed
        plans = self._plans_of(locked)
        locked = self._known(locked, plans)
        if not locked:
            return passed
        over = [row for row in locked if row.state is None]
        # Before the marks are taken: what ends in between has left a mark by then.
        alive = await cancel_steps(conn, over)
        passed.next += alive.nested
        marks = grouped(await graphs.take_marks(conn, [row.run_id for row in locked]))
        boards = await note_endings(conn, over, alive, marks)
        turns: list[Turn] = []
        ended: list[Ending] = []
        for row in locked:
            plan = plans.get(row.run_id)
            if isinstance(plan, Unreadable):
                ended.append(dead(row, plan.reason))
                boards.append(Board(row.run_id, row.board, None, None, has_ended=True))
            elif plan is not None and row.run_id in marks:
                turns.append(Turn(row, plan))
                turns[-1].take(marks[row.run_id])
        await decide(conn, turns)
        ended += await endings(conn, turns)
        await _write(conn, turns, boards, ended, passed)
        return passed

    def _known(self, locked: list[Locked], plans: Mapping[UUID, Plan | Unreadable]) -> list[Locked]:
        """Those that this version can advance. The others keep their marks, for a node of a version
        that knows their documents; each is told of once.
        """
        newer = {
            run_id: plan.reason
            for run_id, plan in plans.items()
            if isinstance(plan, Unreadable) and plan.is_newer
        }
        if not newer:
            return locked
        for run_id in newer.keys() - self._told_newer:
            self.emit(RunSetAside(run_id=run_id, reason=newer[run_id][:LONGEST_REASON]))
        self._told_newer |= newer.keys()
        return [row for row in locked if row.run_id not in newer]

    def _plans_of(self, locked: Sequence[Locked]) -> dict[UUID, Plan | Unreadable]:
        """The plans of those that are alive and unfolded."""
        keys = {
            row.run_id: Key(row.graph_id, tuple(row.path), row.policy_id)
            for row in locked
            if row.state == BLOCKED and row.policy_id is not None
        }
        found = {run_id: self.plans.get(key) for run_id, key in keys.items()}
        unknown = {keys[run_id] for run_id, plan in found.items() if plan is None}
        if unknown:
            raise UnknownPlansError(unknown)
        return {run_id: plan for run_id, plan in found.items() if plan is not None}

    async def _falter(self, conn: Connection, run_id: UUID, error: Exception) -> None:
        """What the database refuses, it refuses again; anything else may go another time."""
        reason = told(error)
        tries = self._faltering.note(run_id)
        if tries < TRIES and not isinstance(error, StoreFailed):
            self.emit(AdvancePutOff(run_id=run_id, reason=reason, tries=tries))
            return
        try:
            await self._give_up(conn, run_id, reason)
        except (StoreUnavailable, StoreRefused):
            raise
        except Exception as worse:  # noqa: BLE001 — as above; it is tried again after the pause
            self.emit(AdvancePutOff(run_id=run_id, reason=told(worse), tries=tries))

    async def _give_up(self, conn: Connection, run_id: UUID, reason: str) -> None:
        """End the graph run; its steps are cancelled with it, by the marks that it leaves."""
        passed = Passed()
        async with transaction(conn):
            locked = await graphs.lock(conn, [run_id])
            ended = [dead(row, f"it could not go on: {reason}") for row in locked]
            for each in await graphs.finish(conn, ended):
                passed.add(each)
            # It was over before, so it is the cancelling that does not go: with its marks it would
            # be tried for ever.
            await graphs.take_marks(conn, [row.run_id for row in locked if row.state is None])
        self._faltering.forget([run_id])
        if locked:
            self.emit(AdvanceFailed(run_id=run_id, reason=reason))
        self._tell(passed)


async def _write(
    conn: Connection,
    turns: Sequence[Turn],
    boards: list[Board],
    ended: Sequence[Ending],
    passed: Passed,
) -> None:
    """Write what was decided."""
    steps = [step for turn in turns for step in turn.steps]
    if steps:
        await graphs.insert_steps(conn, steps)
    nested = [each for turn in turns for each in turn.nested]
    if nested:
        passed.next += await graphs.insert_nested(conn, nested)
    boards += [turn.written() for turn in turns if turn.is_changed]
    if boards:
        await graphs.store_boards(conn, boards)
    if ended:
        for each in await graphs.finish(conn, ended):
            passed.add(each)
    passed.has_made = bool(steps) or any(turn.has_members for turn in turns)


def dead(row: Locked, why: str) -> Ending:
    reason = canonical({"type": "GraphFailed", "message": why.replace("\x00", "")})
    return Ending(row.run_id, RunState.DEAD, None, reason)


def told(error: Exception) -> str:
    """An error in words; of one that is not ours, its class says more than its text."""
    text = str(error) if isinstance(error, RotaError) else f"{type(error).__name__}: {error}"
    return text[:LONGEST_REASON]
