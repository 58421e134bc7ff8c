"""Events that become one run together: debounce, batches, waiting for several. Room: core/arrivals.

A pile holds the events of one job and key that have come and not yet become a run. It knows the id
of its run from its first event on, so making that run twice is impossible, and every event knows
from the beginning which run it goes to. What is here is the fold of new events into a pile; the
store keeps the pile and locks it, and flow/events makes the runs.
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
    """An event that joins: its size in bytes, and which of several wanted it can be."""

    event_id: UUID
    size: int
    parts: tuple[int, ...]


class Member(NamedTuple):
    """An event in a pile. Of those with the same part the latest counts."""

    run_id: UUID
    part: int
    event_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Pile:
    """`due_at` is when it becomes a run; `filled` has a bit for each of several that has come."""

    run_id: UUID
    opened_at: datetime
    due_at: datetime
    count: int = 0
    size: int = 0
    filled: int = 0


@dataclass(slots=True, kw_only=True)
class Folded:
    """`open` is what is left, None if nothing; `ripe` become runs now; `given_up` have waited for
    several, too long. `joined` says which run each of the new events goes to.
    """

    open: Pile | None
    ripe: list[Pile] = field(default_factory=list)
    given_up: list[Pile] = field(default_factory=list)
    members: dict[tuple[UUID, int], Member] = field(default_factory=dict)
    joined: dict[UUID, UUID] = field(default_factory=dict)


# The id of the run that a pile becomes which this event opens.
Naming = Callable[[UUID], UUID]
# Latest of one: nothing but the last event counts.
LATEST: Final = 0


def fold(
    trigger: Trigger, pile: Pile | None, added: Sequence[Added], *, now: datetime, name: Naming
) -> Folded:
    """Put events into a pile, in the order in which they came; start another when it is full."""
    folded = Folded(open=pile)
    for each in added:
        _close_if_over(trigger, folded, each.size, now)
        if folded.open is None:
            folded.open = _opened(trigger, name(each.event_id), now)
        _put(trigger, folded, each, now)
    return folded


def _close_if_over(trigger: Trigger, folded: Folded, size: int, now: datetime) -> None:
    """What is due already, or has no room for so many bytes, takes nothing more."""
    pile = folded.open
    if pile is None:
        return
    if pile.due_at <= now:
        (folded.given_up if isinstance(trigger.gathering, AllOf) else folded.ripe).append(pile)
        folded.open = None
    elif isinstance(trigger.gathering, Batch) and pile.size + size > MOST_EVENT:
        folded.ripe.append(pile)
        folded.open = None


def _opened(trigger: Trigger, run_id: UUID, now: datetime) -> Pile:
    gathering = trigger.gathering
    match gathering:
        case Debounce():
            wait = gathering.quiet
        case Batch() | AllOf():
            wait = gathering.within
        case None:
            raise ValueError("a trigger that gathers nothing has no piles")
        case _:
            assert_never(gathering)
    return Pile(run_id=run_id, opened_at=now, due_at=now + wait)


def _put(trigger: Trigger, folded: Folded, added: Added, now: datetime) -> None:
    pile, gathering = folded.open, trigger.gathering
    if pile is None:
        raise ValueError("there is no pile to put it on")
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
