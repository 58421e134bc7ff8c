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

from rota.core.arrivals.event import MOST_EVENT
from rota.core.arrivals.matching import chosen_part
from rota.core.time.trigger import AllOf, Batch, Debounce, Trigger


class Added(NamedTuple):
    """An event to add: its size in bytes, and the patterns of an `all_of` that it matches."""

    event_id: UUID
    size: int
    parts: tuple[int, ...]


class Member(NamedTuple):
    """An event in a batch. Of several events with the same part, the latest counts."""

    run_id: UUID
    part: int
    event_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Pile:
    """An open event batch, a run at `due_at`. `filled` has one bit per matched pattern."""

    run_id: UUID
    opened_at: datetime
    due_at: datetime
    count: int = 0
    size: int = 0
    filled: int = 0


@dataclass(slots=True, kw_only=True)
class Folded:
    """The result of adding events. `open` is the batch that stays open, if any; batches in `ripe`
    become runs now; batches in `given_up` timed out before all patterns matched. `joined` maps each
    new event to its run.
    """

    open: Pile | None
    ripe: list[Pile] = field(default_factory=list)
    given_up: list[Pile] = field(default_factory=list)
    members: dict[tuple[UUID, int], Member] = field(default_factory=dict)
    joined: dict[UUID, UUID] = field(default_factory=dict)


# Returns the run id of the batch that an event opens.
Naming = Callable[[UUID], UUID]
# A debounce has a single part: only its latest event counts.
LATEST: Final = 0


def fold(
    trigger: Trigger, pile: Pile | None, added: Sequence[Added], *, now: datetime, name: Naming
) -> Folded:
    """Add events to a batch in the order of arrival; open another batch when it is full."""
    folded = Folded(open=pile)
    for event in added:
        _close_if_over(trigger, folded, event.size, now)
        if folded.open is None:
            folded.open = _open_batch(trigger, name(event.event_id), now)
        _add_event(trigger, folded, event, now)
    return folded


def _close_if_over(trigger: Trigger, folded: Folded, size: int, now: datetime) -> None:
    """Close the open batch if it is due, or if it has no room for `size` more bytes."""
    pile = folded.open
    if pile is None:
        return
    if pile.due_at <= now:
        (folded.given_up if isinstance(trigger.gathering, AllOf) else folded.ripe).append(pile)
        folded.open = None
    elif isinstance(trigger.gathering, Batch) and pile.size + size > MOST_EVENT:
        folded.ripe.append(pile)
        folded.open = None


def _open_batch(trigger: Trigger, run_id: UUID, now: datetime) -> Pile:
    gathering = trigger.gathering
    match gathering:
        case Debounce():
            wait = gathering.quiet
        case Batch() | AllOf():
            wait = gathering.within
        case None:
            raise ValueError("a trigger without grouping has no event batches")
        case _:
            assert_never(gathering)
    return Pile(run_id=run_id, opened_at=now, due_at=now + wait)


def _add_event(trigger: Trigger, folded: Folded, added: Added, now: datetime) -> None:
    pile, gathering = folded.open, trigger.gathering
    if pile is None:
        raise ValueError("no event batch is open")
    grown = replace(pile, count=pile.count + 1, size=pile.size + added.size)
    part, is_full = LATEST, False
    if isinstance(gathering, Debounce):
        due_at = min(now + gathering.quiet, pile.opened_at + gathering.most)
        grown = replace(grown, due_at=due_at, size=added.size)
    elif isinstance(gathering, Batch):
        part, is_full = pile.count, grown.count >= gathering.size
    else:
        part = chosen_part(added.parts, pile.filled)
        grown = replace(grown, filled=pile.filled | 1 << part)
        is_full = grown.filled == (1 << len(trigger.wanted)) - 1
    folded.members[pile.run_id, part] = Member(pile.run_id, part, added.event_id)
    folded.joined[added.event_id] = pile.run_id
    folded.open = None if is_full else grown
    if is_full:
        folded.ripe.append(grown)
