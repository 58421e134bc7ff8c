"""What events come to: runs at once, or piles that become runs later. Room: flow/events.

In two steps, in one transaction of the caller's: `decide` locks the piles and says for each event
what it is for each job, so that this can be kept with the event; `carry_out` makes the runs and
keeps the piles, and reads the events on them, which must be kept by then.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple, Self
from uuid import UUID

from rota.contract.quotas import read_stored_quotas
from rota.core.arrivals.event import Event, patterns_of
from rota.core.arrivals.gathering import Added, Folded, Pile, fold
from rota.core.arrivals.matching import MOST_WHY, Match, Outcome, match, missing_types
from rota.core.errors import ExpressionFailed, InvalidInput, NewerDocument, QuotaExceeded
from rota.core.ids import event_run_id
from rota.core.states import RunState
from rota.core.submission import canonical
from rota.flow.events.casting import Cast, Mould, make_runs, record_none
from rota.store import arrivals, tenants
from rota.store.arrivals import Place
from rota.store.driver import Connection
from rota.store.fitness import database_time
from rota.store.jobs import Job, Record

# Seconds: waiting runs become fewer by themselves, and nobody knows how fast.
AGAIN: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """Why events are matched: they arrive `at` this time, or are replayed. `replay` is the time of
    the dry run, which tells the runs of one replay from those of another; `only` is the job that is
    asked, None for all.
    """

    tenant_id: int
    at: datetime
    replay: datetime | None = None
    only: UUID | None = None

    @property
    def trigger(self) -> str:
        return "event" if self.replay is None else "replay"

    @property
    def named(self) -> datetime:
        """The time in the ids of the runs."""
        return self.at if self.replay is None else self.replay


@dataclass(slots=True, kw_only=True)
class Decided:
    """`matches` are those of each event; the rest is for `carry_out`."""

    matches: dict[UUID, list[Match]]
    moulds: dict[UUID, Mould]
    casts: list[Cast] = field(default_factory=list)
    folds: dict[Place, Folded] = field(default_factory=dict)


async def decide(conn: Connection, events: Sequence[Event], why: Occasion) -> Decided:
    """Match events with the jobs that wait for their types, and lock what they are gathered on."""
    moulds, newer = await _moulds(conn, events, why)
    decided = Decided(matches={event.event_id: [] for event in events}, moulds=moulds)
    added: dict[Place, list[Added]] = defaultdict(list)
    waiting = _by_type(moulds.values())
    concerned = {kind: _concerned(kind, waiting) for kind in {event.type for event in events}}
    for event in events:
        for mould in concerned[event.type]:
            found = match(mould.waiting, event)
            if found is None:
                continue
            if found.outcome is Outcome.MATCHED:
                found = _cast(decided, mould, event, found, why)
            elif found.outcome is Outcome.GATHERED:
                place = (mould.job.id, found.key)
                added[place].append(Added(event.event_id, event.size, found.parts))
            decided.matches[event.event_id].append(found)
        decided.matches[event.event_id] += [each.match for each in newer if each.wants(event)]
    if added:
        await _gather(conn, decided, added, why)
    return decided


async def carry_out(conn: Connection, decided: Decided, why: Occasion) -> list[UUID]:
    """Make the runs, keep the piles; return the runs that were made."""
    folds = decided.folds
    members = [each for folded in folds.values() for each in folded.members.values()]
    await arrivals.add_members(conn, members, tenant_id=why.tenant_id)
    closed = Closing(conn, why)
    for (job_id, key), folded in folds.items():
        mould = decided.moulds[job_id]
        for pile in folded.ripe:
            closed.ripe(mould, pile, key)
        for pile in folded.given_up:
            closed.given_up(mould, pile, key)
    casts = [*decided.casts, *await closed.casts()]
    await _allow(conn, casts, why.tenant_id)
    made = await make_runs(conn, casts, now=why.at, trigger=why.trigger) if casts else []
    await arrivals.keep_piles(conn, {place: folded.open for place, folded in folds.items()})
    return made


class Closing:
    """Piles that are over: they become runs, or it is on record why not."""

    def __init__(self, conn: Connection, why: Occasion) -> None:
        self._conn = conn
        self._why = why
        self._ripe: list[tuple[Mould, Pile, str]] = []
        self._none: list[tuple[Mould, Pile, dict[str, object]]] = []

    def ripe(self, mould: Mould, pile: Pile, key: str) -> None:
        if mould.waiting.held is not None:
            self._none.append((mould, pile, {"code": "paused", "message": mould.waiting.held}))
        else:
            self._ripe.append((mould, pile, key))

    def given_up(self, mould: Mould, pile: Pile, key: str) -> None:
        missing = missing_types(mould.waiting.trigger, pile.filled)
        told = {"code": "incomplete", "missing": missing, "events": pile.count, "key": key}
        self._none.append((mould, pile, told))

    async def casts(self) -> list[Cast]:
        """The runs that are to be made; the events are off their piles from now on."""
        over = [pile.run_id for _, pile, _ in (*self._ripe, *self._none)]
        if not over:
            return []
        bodies = await arrivals.take_members(self._conn, over)
        casts: list[Cast] = []
        for mould, pile, key in self._ripe:
            try:
                casts.append(mould.cast(pile.run_id, bodies[pile.run_id], key=key))
            except (ExpressionFailed, InvalidInput) as error:
                self._none.append((mould, pile, {"code": "payload", "message": str(error)}))
        for mould, pile, told in self._none:
            record = Record(pile.run_id, self._why.at, RunState.SKIPPED, canonical(told))
            await record_none(self._conn, mould.job, record, trigger=self._why.trigger)
        return casts


class Newer(NamedTuple):
    """A job whose document only newer code can read. That events came for it is on record with
    them, so that they can be replayed after the upgrade.
    """

    types: frozenset[str]
    match: Match

    @classmethod
    def of(cls, job: Job, error: NewerDocument) -> Self:
        said = json.loads(job.schedule or "{}").get("event")
        parts = said.get("all_of", [said]) if isinstance(said, dict) else [said]
        named = [each.get("type") if isinstance(each, dict) else each for each in parts]
        types = frozenset(each for each in named if isinstance(each, str))
        why = str(error)[:MOST_WHY]
        return cls(types, Match(job_id=job.id, outcome=Outcome.FAILED, why=why))

    def wants(self, event: Event) -> bool:
        return not self.types.isdisjoint(patterns_of(event.type))


async def _moulds(
    conn: Connection, events: Iterable[Event], why: Occasion
) -> tuple[dict[UUID, Mould], list[Newer]]:
    types = {name for kind in {event.type for event in events} for name in patterns_of(kind)}
    if not types:
        return {}, []
    waiting = await arrivals.waiting_jobs(conn, types, tenant_id=why.tenant_id)
    moulds: dict[UUID, Mould] = {}
    newer: list[Newer] = []
    for job in waiting:
        if why.only not in {None, job.id}:
            continue
        try:
            mould = Mould.of(job)
        except NewerDocument as error:
            newer.append(Newer.of(job, error))
            continue
        if mould is not None:
            moulds[job.id] = mould
    return moulds, newer


def _by_type(moulds: Iterable[Mould]) -> dict[str, list[Mould]]:
    found: dict[str, list[Mould]] = defaultdict(list)
    for mould in moulds:
        for name in mould.waiting.trigger.types:
            found[name].append(mould)
    return found


def _concerned(kind: str, waiting: Mapping[str, list[Mould]]) -> list[Mould]:
    """Whoever waits for a type, by whichever name, once."""
    found = [mould for name in patterns_of(kind) for mould in waiting.get(name, ())]
    return list({id(mould): mould for mould in found}.values())


def _cast(decided: Decided, mould: Mould, event: Event, found: Match, why: Occasion) -> Match:
    """The run of one event; a payload that cannot be made is no match."""
    run_id = event_run_id(mould.job.id, event.event_id, at=why.named)
    try:
        decided.casts.append(mould.cast(run_id, [event.text]))
    except (ExpressionFailed, InvalidInput) as error:
        return replace(found, outcome=Outcome.FAILED, why=str(error)[:MOST_WHY])
    return replace(found, run_id=run_id)


async def _gather(
    conn: Connection, decided: Decided, added: dict[Place, list[Added]], why: Occasion
) -> None:
    """Fold events into their piles, which are locked from now on. By the clock of the database, as
    the duty that looks for what is due: nodes may disagree about the time.
    """
    piles = await arrivals.open_piles(conn, added, tenant_id=why.tenant_id)
    now = await database_time(conn)
    for place, new in added.items():
        job_id, key = place
        name = partial(event_run_id, job_id, at=why.named, key=key)
        trigger = decided.moulds[job_id].waiting.trigger
        folded = fold(trigger, piles[place], new, now=now, name=name)
        decided.folds[place] = folded
        for each in new:
            mine = decided.matches[each.event_id]
            for n, found in enumerate(mine):
                if found.job_id == job_id:
                    mine[n] = replace(found, run_id=folded.joined[each.event_id])


async def _allow(conn: Connection, casts: Sequence[Cast], tenant_id: int) -> None:
    """Refuse more waiting runs than a tenant may have: all of what was handed in, or nothing."""
    if not casts or casts[0].mould.job.quotas is None:
        return
    most = read_stored_quotas(json.loads(casts[0].mould.job.quotas)).max_queued
    if most is None:
        return
    there = await tenants.count_queued(conn, tenant_id=tenant_id, most=most + 1)
    if there + len(casts) > most:
        asked = f"{there} runs wait, and these events would make {len(casts)} more"
        raise QuotaExceeded("max_queued", most, asked, retry_after=AGAIN)
