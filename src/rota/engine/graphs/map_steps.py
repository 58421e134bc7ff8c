"""Runs map steps: creates their members batch by batch, counts the results, and decides the step.

The node that advances a graph run and holds its lock calls this module, in the transaction that
consumed the step completions. `start_map` starts a map that has become ready; `advance_map` handles
the completions of its members and its source. At most one window of members is active: the next
members are created when others end, so a million members need no more memory and no larger tables
than five thousand. core/maps.py defines the counters, core/graphs the payloads; the execution
package feeds members from a source.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.errors import ExpressionFailed, InvalidInput
from rota.core.graphs import (
    GraphScope,
    GraphStep,
    StepGraph,
    StepState,
    create_member_payload_builder,
    step_state_of_run,
)
from rota.core.ids import derive_step_run_id
from rota.core.maps import (
    MEMBER_BATCH_MAX,
    MEMBERS_MAX,
    UNFINISHED_MEMBERS_MAX,
    MapCounters,
    MapIdentity,
    describe_failure,
)
from rota.core.states import RunState
from rota.core.submissions import encode_canonical, encode_json
from rota.store import graph_maps, graphs, live_runs
from rota.store.driver import Connection
from rota.store.graph_maps import MapItems, MapRow
from rota.store.graphs import NewStep, StepCompletionRow

# With a large window, fewer new members than this are not worth a statement.
CREATE_BATCH_MIN: Final = MEMBER_BATCH_MAX // 2
# Members that one statement cancels.
CANCEL_BATCH_MAX: Final = 1_000
MAP_FAILED_REASON: Final = encode_canonical(
    {"code": "cancelled", "by": "rota", "reason": "its map has failed"}
)
RUN_STATES: Final = {state.value: state for state in RunState}
STOPPED_STATES: Final = {"failed": StepState.FAILED, "cancelled": StepState.CANCELLED}


class MapResult(NamedTuple):
    """The final state of a map, and the reason if it did not succeed."""

    state: StepState
    reason: str | None = None


MAP_SUCCEEDED: Final = MapResult(StepState.SUCCEEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapStep:
    """A map of a graph run that the caller has locked. `member_template` is the run of a member
    without id and payload, `source` the run of its source, if it has one. `read_scope` is called
    only if the payload has expressions.
    """

    run_id: UUID
    tenant_id: int
    round: int
    graph: StepGraph
    index: int
    board: str
    member_template: NewStep
    read_scope: Callable[[], Awaitable[GraphScope]]
    source: NewStep | None = None

    @property
    def step(self) -> GraphStep:
        return self.graph.steps[self.index]

    @property
    def window(self) -> int:
        at_once = None if self.step.map is None else self.step.map.at_once
        return at_once or UNFINISHED_MEMBERS_MAX


async def start_map(
    conn: Connection, map_step: MapStep, items: Sequence[object] | int | None, *, from_scratch: bool
) -> MapResult | None:
    """Start a map over a list, a range of numbers, or the items of its source (None). In a later
    round only the members that did not succeed run again, unless the parents of the map also run
    again (`from_scratch`). Return the result of a map that is decided at once.
    """
    known = await graph_maps.lock_map(conn, run_id=map_step.run_id, step=map_step.index)
    if known is not None and not from_scratch:
        return await _restart_map(conn, map_step, known)
    total = len(items) if isinstance(items, Sequence) else items
    if total is not None and total > MEMBERS_MAX:
        why = f"the map has {total:,} members; the limit is {MEMBERS_MAX:,}"
        return MapResult(StepState.FAILED, why)
    which = MapIdentity(map_step.run_id, map_step.index, map_step.round)
    await graph_maps.begin_map(
        conn,
        which,
        tenant_id=map_step.tenant_id,
        round_=map_step.round,
        total=total,
        is_counted=isinstance(items, int),
    )
    if isinstance(items, Sequence):
        rows = [MapItems(first, text) for first, text in _split_items(items)]
        await graph_maps.put_items(conn, which, tenant_id=map_step.tenant_id, rows=rows)
    if items is None and map_step.source is not None:
        await graphs.insert_steps(conn, [map_step.source._replace(id=_source_id(which))])
    return await _update_map(conn, map_step)


async def advance_map(
    conn: Connection, map_step: MapStep, completions: Sequence[StepCompletionRow]
) -> MapResult | None:
    """Count the members that ended, create the next ones, and return the result if the map is
    decided. A completion without a state only requests a check.
    """
    known = await graph_maps.lock_map(conn, run_id=map_step.run_id, step=map_step.index)
    if known is None:
        return None
    await count_completions(conn, known.map_id, completions)
    for completion in completions:
        if completion.ended > completion.members and completion.state not in {
            None,
            RunState.SUCCEEDED,
        }:
            await _source_failed(conn, known, RUN_STATES[str(completion.state)])
    return await _update_map(conn, map_step)


async def count_completions(
    conn: Connection, which: MapIdentity, completions: Sequence[StepCompletionRow]
) -> None:
    """Count the members that ended and record whether the source did. Creates no members, so it is
    also used for graph runs that have ended.
    """
    for completion in completions:
        if completion.ended > completion.members and completion.state is not None:
            is_complete = completion.state == RunState.SUCCEEDED
            await graph_maps.record_source_end(conn, which, is_complete=is_complete)
    ended = {StepState.SUCCEEDED: 0, StepState.FAILED: 0, StepState.CANCELLED: 0}
    for completion in completions:
        if completion.state is not None and completion.members:
            state = step_state_of_run(RUN_STATES[completion.state])
            ended[state if state in ended else StepState.CANCELLED] += completion.members
    if any(ended.values()):
        await graph_maps.add_ended(
            conn,
            which,
            succeeded=ended[StepState.SUCCEEDED],
            failed=ended[StepState.FAILED],
            cancelled=ended[StepState.CANCELLED],
        )


async def _restart_map(conn: Connection, mapped: MapStep, known: MapRow) -> MapResult | None:
    await graph_maps.retry_map(conn, known.map_id, round_=mapped.round)
    if known.total is None and not await graph_maps.retry_source(
        conn, known.map_id, _source_id(known.map_id)
    ):
        # The source had already delivered all items.
        await graph_maps.record_source_end(conn, known.map_id, is_complete=True)
    return await _update_map(conn, mapped)


async def _source_failed(conn: Connection, known: MapRow, state: RunState) -> None:
    which, source_id = known.map_id, _source_id(known.map_id)
    found = (await graphs.read_results(conn, {source_id: known.tenant_id})).get(source_id)
    error = None if found is None else _error_text(found.reason)
    if state is RunState.CANCELLED:
        await _stop(conn, which, StepState.CANCELLED, "its source was cancelled")
    else:
        why = f"its source is {state.value}" if error is None else f"its source failed: {error}"
        await _stop(conn, which, StepState.FAILED, why)


async def _update_map(conn: Connection, mapped: MapStep) -> MapResult | None:
    """Create members or stop the map after its counters changed; return the result if decided."""
    known = await graph_maps.lock_map(conn, run_id=mapped.run_id, step=mapped.index)
    if known is None:
        return None
    if known.stopped is None and _is_exceeded(mapped.step, known.tally):
        state = StepState.FAILED if known.failed else StepState.CANCELLED
        await _stop(conn, known.map_id, state, await _describe_failure(conn, known))
    elif known.stopped is None:
        try:
            await _create_members(conn, mapped, known)
        except (ExpressionFailed, InvalidInput) as error:
            await _stop(conn, known.map_id, StepState.FAILED, str(error))
    known = await graph_maps.lock_map(conn, run_id=mapped.run_id, step=mapped.index)
    decided = None if known is None else _result_of(known)
    if known is not None and decided is not None:
        await graph_maps.close_map(conn, known.map_id)
    return decided


def _result_of(known: MapRow) -> MapResult | None:
    if known.is_sourcing or known.tally.live:
        return None
    if known.stopped is not None:
        return MapResult(STOPPED_STATES[known.stopped], _message_of(known.reason))
    return MAP_SUCCEEDED if known.tally.is_complete else None


def _is_exceeded(step: GraphStep, count: MapCounters) -> bool:
    bad = count.failed + count.cancelled
    if step.map is None or not bad:
        return False
    tolerate = step.map.tolerate
    # A percentage cannot be exceeded while the source has not delivered the total.
    if tolerate.percent is not None and count.total is None:
        return False
    return not tolerate.allows(bad, count.total or 0)


async def _describe_failure(conn: Connection, known: MapRow) -> str:
    first = await graph_maps.read_failed_members(conn, known.map_id, after=-1, limit=1)
    return describe_failure(known.tally, _error_text(first[0].reason) if first else None)


async def _stop(conn: Connection, which: MapIdentity, state: StepState, why: str) -> None:
    """Create no more members, and cancel the active members and the source."""
    stopped = "failed" if state is StepState.FAILED else "cancelled"
    reason = encode_canonical({"type": "MapFailed", "message": why})
    await graph_maps.stop_map(conn, which, stopped=stopped, reason=reason)
    await live_runs.cancel_runs(conn, ids=[_source_id(which)], reason=MAP_FAILED_REASON)
    while ids := await graph_maps.read_unfinished_members(conn, which, limit=CANCEL_BATCH_MAX):
        await live_runs.cancel_runs(conn, ids=ids, reason=MAP_FAILED_REASON)


async def _create_members(conn: Connection, mapped: MapStep, known: MapRow) -> None:
    """Retry failed members of earlier rounds, then create the next ones, within the window."""
    room = known.tally.count_free(mapped.window)
    if room < CREATE_BATCH_MIN and known.tally.live > mapped.window // 2 >= CREATE_BATCH_MIN:
        return
    while room > 0 and known.again:
        revived = await graph_maps.retry_members(
            conn,
            known.map_id,
            after=known.again_after,
            limit=min(room, MEMBER_BATCH_MAX, known.again),
        )
        if not revived:
            # Their runs were pruned from history: fail the map instead of waiting for ever.
            await graph_maps.fail_missing_members(conn, known.map_id)
            return
        room -= revived
        found = await graph_maps.lock_map(conn, run_id=mapped.run_id, step=mapped.index)
        known = found or known
    made, left = known.made, min(room, known.handed - known.made)
    if left <= 0 or known.again:
        return
    batches = await _next_batches(conn, mapped, known, left)
    for batch in batches:
        await graph_maps.insert_members(
            conn, known.map_id, mapped.member_template, made=made, batch=batch
        )
        made += batch.number
    if not known.is_counted:
        await graph_maps.drop_items(conn, known.map_id, made=made)


async def _next_batches(
    conn: Connection, mapped: MapStep, known: MapRow, left: int
) -> Iterator[graph_maps.MemberBatch]:
    """Return the next members with their payloads; a constant payload is shared by all."""
    step, first = mapped.step, known.made
    if step.payload.raw is not None and step.payload.is_constant:
        payload = encode_json(step.payload.raw, "payload")
        return (
            graph_maps.MemberBatch(min(MEMBER_BATCH_MAX, left - done), payload=payload)
            for done in range(0, left, MEMBER_BATCH_MAX)
        )
    items: Sequence[object] = range(first, first + left)
    if not known.is_counted:
        items = await graph_maps.take_items(conn, known.map_id, made=first, number=left)
    scope = GraphScope() if step.payload.raw is None else await mapped.read_scope()
    fill = create_member_payload_builder(mapped.graph, mapped.index, mapped.board, scope)
    return _fill_batches(fill, items, first)


def _fill_batches(
    fill: Callable[[object, int], str | None], items: Sequence[object], first: int
) -> Iterator[graph_maps.MemberBatch]:
    for start in range(0, len(items), MEMBER_BATCH_MAX):
        some = items[start : start + MEMBER_BATCH_MAX]
        payloads = [
            _fill_payload(fill, item, number)
            for number, item in enumerate(some, start=first + start)
        ]
        yield graph_maps.MemberBatch(len(payloads), payloads=payloads)


def _fill_payload(fill: Callable[[object, int], str | None], item: object, number: int) -> str:
    try:
        return fill(item, number) or "null"
    except InvalidInput as error:
        raise replace(error, field=f"member {number}: {error.field}") from None


def _split_items(items: Sequence[object]) -> Iterator[tuple[int, str]]:
    for first in range(0, len(items), MEMBER_BATCH_MAX):
        yield first, encode_canonical(list(items[first : first + MEMBER_BATCH_MAX]))


def _source_id(which: MapIdentity) -> UUID:
    return derive_step_run_id(which.run_id, which.step, round_=which.base)


def _error_text(reason: str | None) -> str | None:
    error = graph_maps.parse_reason(reason)
    if error is None or "message" not in error:
        return None if error is None else str(error.get("code", "")) or None
    return f"{error.get('type', 'Error')}: {error['message']}"


def _message_of(reason: str | None) -> str | None:
    error = graph_maps.parse_reason(reason)
    return None if error is None else str(error.get("message", ""))
