"""Steps with many members: made a batch at a time, counted, and decided. Room: flow/graphs.

Called by whoever advances a graph run and holds its lock, in the transaction that took the marks.
`begin` is for a map that has become ready, `go_on` for marks of its members and its source. Never
more than a window of members is alive: the next ones are made when marks tell that some ended, so a
million members need no more memory and no larger tables than five thousand. What the counters mean
is core/maps.py, what a payload is core/graphs; the source's own side is flow/execute/handing.py.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import ExpressionFailed, InvalidInput
from rota.core.graphs import Graph, Scope, Step, StepState, member_payloads, state_of
from rota.core.ids import step_run_id
from rota.core.maps import (
    BATCH,
    MOST_MEMBERS,
    WINDOW,
    Count,
    Which,
    sentence,
)
from rota.core.states import RunState
from rota.core.submission import canonical, json_text
from rota.store import graph_maps, graphs, live_runs
from rota.store.driver import Connection
from rota.store.graph_maps import Items, Map
from rota.store.graphs import Mark, NewStep

# With a large window it is not worth a statement to make a few.
FEW: Final = BATCH // 2
# How many are cancelled in a statement.
CANCELLED_AT_ONCE: Final = 1_000
STOPPED: Final = canonical({"code": "cancelled", "by": "rota", "reason": "its map has failed"})
STATES: Final = {state.value: state for state in RunState}
AS_STOPPED: Final = {"failed": StepState.FAILED, "cancelled": StepState.CANCELLED}


class Decided(NamedTuple):
    """What a map came to, and why if it did not succeed."""

    state: StepState
    why: str | None = None


SUCCEEDED: Final = Decided(StepState.SUCCEEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """A map of a graph run that the caller has locked. `mould` is the run of a member without its
    id and payload, `source` that of its source if it has one. `scope` is asked only if a payload
    has places to fill.
    """

    run_id: UUID
    tenant_id: int
    round: int
    graph: Graph
    index: int
    board: str
    mould: NewStep
    scope: Callable[[], Awaitable[Scope]]
    source: NewStep | None = None

    @property
    def step(self) -> Step:
        return self.graph.steps[self.index]

    @property
    def window(self) -> int:
        at_once = None if self.step.map is None else self.step.map.at_once
        return at_once or WINDOW


async def begin(
    conn: Connection, mapped: Mapped, items: Sequence[object] | int | None, *, afresh: bool
) -> Decided | None:
    """Begin a map over a list, so many numbers, or what its source will give (None). In a later
    round only what did not succeed goes again, unless its parents went again too (`afresh`). Some
    are decided at once.
    """
    known = await graph_maps.lock(conn, run_id=mapped.run_id, step=mapped.index)
    if known is not None and not afresh:
        return await _begin_again(conn, mapped, known)
    total = len(items) if isinstance(items, Sequence) else items
    if total is not None and total > MOST_MEMBERS:
        why = f"a map has at most {MOST_MEMBERS:,} members, not {total:,}"
        return Decided(StepState.FAILED, why)
    which = Which(mapped.run_id, mapped.index, mapped.round)
    await graph_maps.begin(
        conn,
        which,
        tenant_id=mapped.tenant_id,
        round_=mapped.round,
        total=total,
        is_counted=isinstance(items, int),
    )
    if isinstance(items, Sequence):
        rows = [Items(first, text) for first, text in _rows(items)]
        await graph_maps.put_items(conn, which, tenant_id=mapped.tenant_id, rows=rows)
    if items is None and mapped.source is not None:
        await graphs.insert_steps(conn, [mapped.source._replace(id=_source_id(which))])
    return await _look(conn, mapped)


async def go_on(conn: Connection, mapped: Mapped, marks: Sequence[Mark]) -> Decided | None:
    """Count what ended, make what may be made, and say whether the map is decided. A mark without
    a state only asks to look.
    """
    known = await graph_maps.lock(conn, run_id=mapped.run_id, step=mapped.index)
    if known is None:
        return None
    await count(conn, known.which, marks)
    for mark in marks:
        if mark.ended > mark.members and mark.state not in {None, RunState.SUCCEEDED}:
            await _source_failed(conn, known, STATES[str(mark.state)])
    return await _look(conn, mapped)


async def count(conn: Connection, which: Which, marks: Sequence[Mark]) -> None:
    """Count members that ended, keep whether the source did, and nothing else: all that is to be
    done for a graph run that is over.
    """
    for mark in marks:
        if mark.ended > mark.members and mark.state is not None:
            is_complete = mark.state == RunState.SUCCEEDED
            await graph_maps.sourced(conn, which, is_complete=is_complete)
    ended = {StepState.SUCCEEDED: 0, StepState.FAILED: 0, StepState.CANCELLED: 0}
    for mark in marks:
        if mark.state is not None and mark.members:
            state = state_of(STATES[mark.state])
            ended[state if state in ended else StepState.CANCELLED] += mark.members
    if any(ended.values()):
        await graph_maps.add(
            conn,
            which,
            succeeded=ended[StepState.SUCCEEDED],
            failed=ended[StepState.FAILED],
            cancelled=ended[StepState.CANCELLED],
        )


async def _begin_again(conn: Connection, mapped: Mapped, known: Map) -> Decided | None:
    await graph_maps.again(conn, known.which, round_=mapped.round)
    if known.total is None and not await graph_maps.revive_source(
        conn, known.which, _source_id(known.which)
    ):
        # It had given all it has.
        await graph_maps.sourced(conn, known.which, is_complete=True)
    return await _look(conn, mapped)


async def _source_failed(conn: Connection, known: Map, state: RunState) -> None:
    which, source_id = known.which, _source_id(known.which)
    found = (await graphs.results(conn, {source_id: known.tenant_id})).get(source_id)
    said = None if found is None else _error(found.reason)
    if state is RunState.CANCELLED:
        await _stop(conn, which, StepState.CANCELLED, "its source was cancelled")
    else:
        why = f"its source is {state.value}" if said is None else f"its source failed: {said}"
        await _stop(conn, which, StepState.FAILED, why)


async def _look(conn: Connection, mapped: Mapped) -> Decided | None:
    """What is to be done now that the counters have changed."""
    known = await graph_maps.lock(conn, run_id=mapped.run_id, step=mapped.index)
    if known is None:
        return None
    if known.stopped is None and _is_exceeded(mapped.step, known.tally):
        state = StepState.FAILED if known.failed else StepState.CANCELLED
        await _stop(conn, known.which, state, await _why(conn, known))
    elif known.stopped is None:
        try:
            await _make(conn, mapped, known)
        except (ExpressionFailed, InvalidInput) as error:
            await _stop(conn, known.which, StepState.FAILED, str(error))
    known = await graph_maps.lock(conn, run_id=mapped.run_id, step=mapped.index)
    decided = None if known is None else _decided(known)
    if known is not None and decided is not None:
        await graph_maps.close(conn, known.which)
    return decided


def _decided(known: Map) -> Decided | None:
    if known.is_sourcing or known.tally.alive:
        return None
    if known.stopped is not None:
        return Decided(AS_STOPPED[known.stopped], _message(known.reason))
    return SUCCEEDED if known.tally.is_complete else None


def _is_exceeded(step: Step, count: Count) -> bool:
    bad = count.failed + count.cancelled
    if step.map is None or not bad:
        return False
    tolerate = step.map.tolerate
    # A share of a total that only the source will know cannot be exceeded yet.
    if tolerate.percent is not None and count.total is None:
        return False
    return not tolerate.bears(bad, count.total or 0)


async def _why(conn: Connection, known: Map) -> str:
    first = await graph_maps.bad(conn, known.which, after=-1, most=1)
    return sentence(known.tally, _error(first[0].reason) if first else None)


async def _stop(conn: Connection, which: Which, state: StepState, why: str) -> None:
    """Make nothing more, and cancel what is alive: members and source."""
    stopped = "failed" if state is StepState.FAILED else "cancelled"
    reason = canonical({"type": "MapFailed", "message": why})
    await graph_maps.stop(conn, which, stopped=stopped, reason=reason)
    await live_runs.cancel(conn, ids=[_source_id(which)], reason=STOPPED)
    while ids := await graph_maps.alive(conn, which, most=CANCELLED_AT_ONCE):
        await live_runs.cancel(conn, ids=ids, reason=STOPPED)


async def _make(conn: Connection, mapped: Mapped, known: Map) -> None:
    """Let go again what ended badly before, then make the next ones, as far as the window lets."""
    room = known.tally.room(mapped.window)
    if room < FEW and known.tally.alive > mapped.window // 2 >= FEW:
        return
    while room > 0 and known.again:
        revived = await graph_maps.revive(
            conn, known.which, after=known.again_after, most=min(room, BATCH, known.again)
        )
        if not revived:
            # History has forgotten them: better failed than waited for without end.
            await graph_maps.give_up(conn, known.which)
            return
        room -= revived
        found = await graph_maps.lock(conn, run_id=mapped.run_id, step=mapped.index)
        known = found or known
    made, left = known.made, min(room, known.handed - known.made)
    if left <= 0 or known.again:
        return
    batches = await _batches(conn, mapped, known, left)
    for batch in batches:
        await graph_maps.make(conn, known.which, mapped.mould, made=made, batch=batch)
        made += batch.number
    if not known.is_counted:
        await graph_maps.drop_items(conn, known.which, made=made)


async def _batches(
    conn: Connection, mapped: Mapped, known: Map, left: int
) -> Iterator[graph_maps.Batch]:
    """The payloads of the next members: one for all if nothing in it depends on the item."""
    step, first = mapped.step, known.made
    if step.payload.raw is not None and step.payload.is_constant:
        payload = json_text(step.payload.raw, "payload")
        return (
            graph_maps.Batch(min(BATCH, left - done), payload=payload)
            for done in range(0, left, BATCH)
        )
    items: Sequence[object] = range(first, first + left)
    if not known.is_counted:
        items = await graph_maps.take_items(conn, known.which, made=first, number=left)
    scope = Scope() if step.payload.raw is None else await mapped.scope()
    fill = member_payloads(mapped.graph, mapped.index, mapped.board, scope)
    return _filled(fill, items, first)


def _filled(
    fill: Callable[[object, int], str | None], items: Sequence[object], first: int
) -> Iterator[graph_maps.Batch]:
    for start in range(0, len(items), BATCH):
        some = items[start : start + BATCH]
        payloads = [
            _payload(fill, item, number) for number, item in enumerate(some, start=first + start)
        ]
        yield graph_maps.Batch(len(payloads), payloads=payloads)


def _payload(fill: Callable[[object, int], str | None], item: object, number: int) -> str:
    try:
        return fill(item, number) or "null"
    except InvalidInput as error:
        raise replace(error, field=f"member {number}: {error.field}") from None


def _rows(items: Sequence[object]) -> Iterator[tuple[int, str]]:
    for first in range(0, len(items), BATCH):
        yield first, canonical(list(items[first : first + BATCH]))


def _source_id(which: Which) -> UUID:
    return step_run_id(which.run_id, which.step, round_=which.base)


def _error(reason: str | None) -> str | None:
    said = graph_maps.told(reason)
    if said is None or "message" not in said:
        return None if said is None else str(said.get("code", "")) or None
    return f"{said.get('type', 'Error')}: {said['message']}"


def _message(reason: str | None) -> str | None:
    said = graph_maps.told(reason)
    return None if said is None else str(said.get("message", ""))
