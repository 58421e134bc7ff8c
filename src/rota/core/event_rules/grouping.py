"""Groups several events into one run: debounce, batch and all_of.

An event batch holds the events of one job and key that have arrived and have not yet become a run.
It has the id of its run from its first event on. So the run cannot be created twice, and each event
knows its run from the start. This module adds new events to a batch; the store keeps and locks the
batch, and the engine creates the runs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, NamedTuple, assert_never
from uuid import UUID

from rota.core.event_rules.event import EVENT_BYTES_MAX
from rota.core.event_rules.matching import choose_part
from rota.core.time.trigger import AllOf, BatchGrouping, Debounce, Trigger


class AddedEvent(NamedTuple):
    """An event to add: its size in bytes, and the patterns of an `all_of` that it matches."""

    event_id: UUID
    size: int
    parts: tuple[int, ...]


class BatchMember(NamedTuple):
    """An event in a batch. Of several events with the same part, the latest counts."""

    run_id: UUID
    part: int
    event_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBatch:
    """An open event batch, a run at `due_at`. `filled` has one bit per matched pattern."""

    run_id: UUID
    opened_at: datetime
    due_at: datetime
    count: int = 0
    size: int = 0
    filled: int = 0


@dataclass(slots=True, kw_only=True)
class BatchUpdate:
    """The result of adding events. `open` is the batch that stays open, if any; batches in `ripe`
    become runs now; batches in `given_up` timed out before all patterns matched. `joined` maps each
    new event to its run.
    """

    open: EventBatch | None
    complete: list[EventBatch] = field(default_factory=list)
    timed_out: list[EventBatch] = field(default_factory=list)
    members: dict[tuple[UUID, int], BatchMember] = field(default_factory=dict)
    run_ids: dict[UUID, UUID] = field(default_factory=dict)


# Returns the run id of the batch that an event opens.
RunIdFunction = Callable[[UUID], UUID]
# A debounce has a single part: only its latest event counts.
DEBOUNCE_PART: Final = 0


def add_to_batch(
    trigger: Trigger,
    batch: EventBatch | None,
    added: Sequence[AddedEvent],
    *,
    now: datetime,
    run_id_for: RunIdFunction,
) -> BatchUpdate:
    """Add events to a batch in the order of arrival; open another batch when it is full."""
    folded = BatchUpdate(open=batch)
    for event in added:
        _close_if_over(trigger, folded, event.size, now)
        if folded.open is None:
            folded.open = _open_batch(trigger, run_id_for(event.event_id), now)
        _add_event(trigger, folded, event, now)
    return folded


def _close_if_over(trigger: Trigger, folded: BatchUpdate, size: int, now: datetime) -> None:
    """Close the open batch if it is due, or if it has no room for `size` more bytes."""
    pile = folded.open
    if pile is None:
        return
    if pile.due_at <= now:
        (folded.timed_out if isinstance(trigger.grouping, AllOf) else folded.complete).append(pile)
        folded.open = None
    elif isinstance(trigger.grouping, BatchGrouping) and pile.size + size > EVENT_BYTES_MAX:
        folded.complete.append(pile)
        folded.open = None


def _open_batch(trigger: Trigger, run_id: UUID, now: datetime) -> EventBatch:
    gathering = trigger.grouping
    match gathering:
        case Debounce():
            wait = gathering.quiet
        case BatchGrouping() | AllOf():
            wait = gathering.within
        case None:
            raise ValueError("a trigger without grouping has no event batches")
        case _:
            assert_never(gathering)
    return EventBatch(run_id=run_id, opened_at=now, due_at=now + wait)


def _add_event(trigger: Trigger, folded: BatchUpdate, added: AddedEvent, now: datetime) -> None:
    pile, gathering = folded.open, trigger.grouping
    if pile is None:
        raise ValueError("no event batch is open")
    grown = replace(pile, count=pile.count + 1, size=pile.size + added.size)
    part, is_full = DEBOUNCE_PART, False
    if isinstance(gathering, Debounce):
        due_at = min(now + gathering.quiet, pile.opened_at + gathering.max_wait)
        grown = replace(grown, due_at=due_at, size=added.size)
    elif isinstance(gathering, BatchGrouping):
        part, is_full = pile.count, grown.count >= gathering.size
    else:
        part = choose_part(added.parts, pile.filled)
        grown = replace(grown, filled=pile.filled | 1 << part)
        is_full = grown.filled == (1 << len(trigger.patterns)) - 1
    folded.members[pile.run_id, part] = BatchMember(pile.run_id, part, added.event_id)
    folded.run_ids[added.event_id] = pile.run_id
    folded.open = None if is_full else grown
    if is_full:
        folded.complete.append(grown)
