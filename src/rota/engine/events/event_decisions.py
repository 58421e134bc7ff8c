"""Decides what events become: runs at once, or event batches that become runs later.

There are two steps in the caller's transaction. `decide_events` locks the batches and returns the
match of each event with each job, so that the caller can store it with the event. `apply_decisions`
creates the runs, stores the batches and reads their events, which must be stored by then.
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
from rota.core.errors import ExpressionFailed, InvalidInput, NewerDocument, QuotaExceeded
from rota.core.event_rules.event import ReceivedEvent, list_type_patterns
from rota.core.event_rules.grouping import AddedEvent, BatchUpdate, EventBatch, add_to_batch
from rota.core.event_rules.matching import (
    MATCH_REASON_CHARACTERS_MAX,
    EventMatch,
    MatchOutcome,
    list_missing_types,
    match_event,
)
from rota.core.ids import derive_event_run_id
from rota.core.states import RunState
from rota.core.submissions import encode_canonical
from rota.engine.events.run_factory import (
    EventRun,
    EventRunTemplate,
    insert_event_runs,
    record_skipped,
)
from rota.store import events as event_store
from rota.store import tenants
from rota.store.driver import Connection
from rota.store.events import BatchKey
from rota.store.jobs import SkippedRun, StoredJob
from rota.store.pool import read_database_time

# Seconds. Waiting runs decrease over time at an unknown rate.
RETRY_AFTER_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchContext:
    """The reason for matching events: they arrive at the time `at`, or are replayed. `replay` is
    the time of the dry run, which distinguishes the runs of different replays. `only` limits the
    match to one job. Default: all jobs.
    """

    tenant_id: int
    at: datetime
    replay: datetime | None = None
    only: UUID | None = None

    @property
    def trigger(self) -> str:
        return "event" if self.replay is None else "replay"

    @property
    def run_id_time(self) -> datetime:
        """The time in the ids of the new runs."""
        return self.at if self.replay is None else self.replay


@dataclass(slots=True, kw_only=True)
class EventDecisions:
    """The matches of each event; the other fields are the input of `apply_decisions`."""

    matches: dict[UUID, list[EventMatch]]
    templates: dict[UUID, EventRunTemplate]
    event_runs: list[EventRun] = field(default_factory=list)
    batches: dict[BatchKey, BatchUpdate] = field(default_factory=dict)


async def decide_events(
    conn: Connection, events: Sequence[ReceivedEvent], context: MatchContext
) -> EventDecisions:
    """Match events with the jobs that wait for their types, and lock the batches that they join."""
    templates, newer = await _read_templates(conn, events, context)
    decided = EventDecisions(matches={event.event_id: [] for event in events}, templates=templates)
    added: dict[BatchKey, list[AddedEvent]] = defaultdict(list)
    waiting = _index_by_type(templates.values())
    concerned = {
        kind: _select_templates(kind, waiting) for kind in {event.type for event in events}
    }
    for event in events:
        for template in concerned[event.type]:
            found = match_event(template.waiting, event)
            if found is None:
                continue
            if found.outcome is MatchOutcome.MATCHED:
                found = _add_run(decided, template, event, found, context)
            elif found.outcome is MatchOutcome.GATHERED:
                place = (template.job.id, found.key)
                added[place].append(AddedEvent(event.event_id, event.size, found.parts))
            decided.matches[event.event_id].append(found)
        decided.matches[event.event_id] += [job.match for job in newer if job.wants(event)]
    if added:
        await _join_batches(conn, decided, added, context)
    return decided


async def apply_decisions(
    conn: Connection, decisions: EventDecisions, context: MatchContext
) -> list[UUID]:
    """Create the runs and store the batches; return the ids of the new runs."""
    folds = decisions.batches
    members = [member for folded in folds.values() for member in folded.members.values()]
    await event_store.add_members(conn, members, tenant_id=context.tenant_id)
    closed = BatchCloser(conn, context)
    for (job_id, key), folded in folds.items():
        template = decisions.templates[job_id]
        for batch in folded.complete:
            closed.close_batch(template, batch, key)
        for batch in folded.timed_out:
            closed.give_up_batch(template, batch, key)
    casts = [*decisions.event_runs, *await closed.collect_runs()]
    await _check_quota(conn, casts, context.tenant_id)
    made = (
        await insert_event_runs(conn, casts, now=context.at, trigger=context.trigger)
        if casts
        else []
    )
    await event_store.write_batches(conn, {place: folded.open for place, folded in folds.items()})
    return made


class BatchCloser:
    """Closes event batches: they become runs, or the reason why not is recorded."""

    def __init__(self, conn: Connection, why: MatchContext) -> None:
        self._conn = conn
        self._why = why
        self._ripe: list[tuple[EventRunTemplate, EventBatch, str]] = []
        self._skipped: list[tuple[EventRunTemplate, EventBatch, dict[str, object]]] = []

    def close_batch(self, template: EventRunTemplate, batch: EventBatch, key: str) -> None:
        if template.waiting.hold_reason is not None:
            self._skipped.append(
                (template, batch, {"code": "paused", "message": template.waiting.hold_reason})
            )
        else:
            self._ripe.append((template, batch, key))

    def give_up_batch(self, template: EventRunTemplate, batch: EventBatch, key: str) -> None:
        missing = list_missing_types(template.waiting.trigger, batch.filled)
        reason = {"code": "incomplete", "missing": missing, "events": batch.count, "key": key}
        self._skipped.append((template, batch, reason))

    async def collect_runs(self) -> list[EventRun]:
        """Remove the events from the closed batches, and return the runs to create."""
        run_ids = [batch.run_id for _, batch, _ in (*self._ripe, *self._skipped)]
        if not run_ids:
            return []
        bodies = await event_store.take_members(self._conn, run_ids)
        casts: list[EventRun] = []
        for template, batch, key in self._ripe:
            try:
                casts.append(template.build_run(batch.run_id, bodies[batch.run_id], key=key))
            except (ExpressionFailed, InvalidInput) as error:
                self._skipped.append((template, batch, {"code": "payload", "message": str(error)}))
        for template, batch, reason in self._skipped:
            record = SkippedRun(
                batch.run_id, self._why.at, RunState.SKIPPED, encode_canonical(reason)
            )
            await record_skipped(self._conn, template.job, record, trigger=self._why.trigger)
        return casts


class UnreadableJob(NamedTuple):
    """A job whose document only newer code can read. Its events store the failed match, so that
    they can be replayed after the upgrade.
    """

    types: frozenset[str]
    match: EventMatch

    @classmethod
    def from_job(cls, job: StoredJob, error: NewerDocument) -> Self:
        trigger = json.loads(job.schedule or "{}").get("event")
        parts = trigger.get("all_of", [trigger]) if isinstance(trigger, dict) else [trigger]
        names = [part.get("type") if isinstance(part, dict) else part for part in parts]
        types = frozenset(name for name in names if isinstance(name, str))
        why = str(error)[:MATCH_REASON_CHARACTERS_MAX]
        return cls(types, EventMatch(job_id=job.id, outcome=MatchOutcome.FAILED, reason=why))

    def wants(self, event: ReceivedEvent) -> bool:
        return not self.types.isdisjoint(list_type_patterns(event.type))


async def _read_templates(
    conn: Connection, events: Iterable[ReceivedEvent], why: MatchContext
) -> tuple[dict[UUID, EventRunTemplate], list[UnreadableJob]]:
    types = {name for kind in {event.type for event in events} for name in list_type_patterns(kind)}
    if not types:
        return {}, []
    waiting = await event_store.find_waiting_jobs(conn, types, tenant_id=why.tenant_id)
    templates: dict[UUID, EventRunTemplate] = {}
    newer: list[UnreadableJob] = []
    for job in waiting:
        if why.only not in {None, job.id}:
            continue
        try:
            template = EventRunTemplate.from_job(job)
        except NewerDocument as error:
            newer.append(UnreadableJob.from_job(job, error))
            continue
        if template is not None:
            templates[job.id] = template
    return templates, newer


def _index_by_type(templates: Iterable[EventRunTemplate]) -> dict[str, list[EventRunTemplate]]:
    found: dict[str, list[EventRunTemplate]] = defaultdict(list)
    for template in templates:
        for name in template.waiting.trigger.types:
            found[name].append(template)
    return found


def _select_templates(
    kind: str, waiting: Mapping[str, list[EventRunTemplate]]
) -> list[EventRunTemplate]:
    """Return the templates of jobs whose trigger matches a type, each once."""
    found = [template for name in list_type_patterns(kind) for template in waiting.get(name, ())]
    return list({id(template): template for template in found}.values())


def _add_run(
    decided: EventDecisions,
    template: EventRunTemplate,
    event: ReceivedEvent,
    found: EventMatch,
    why: MatchContext,
) -> EventMatch:
    """Add the run of one event. If its payload cannot be built, the match fails."""
    run_id = derive_event_run_id(template.job.id, event.event_id, at=why.run_id_time)
    try:
        decided.event_runs.append(template.build_run(run_id, [event.json_text]))
    except (ExpressionFailed, InvalidInput) as error:
        return replace(
            found, outcome=MatchOutcome.FAILED, reason=str(error)[:MATCH_REASON_CHARACTERS_MAX]
        )
    return replace(found, run_id=run_id)


async def _join_batches(
    conn: Connection,
    decided: EventDecisions,
    added: dict[BatchKey, list[AddedEvent]],
    why: MatchContext,
) -> None:
    """Lock event batches and add events to them. Uses the database's clock, like the duty that
    closes windows, because the clocks of nodes may differ.
    """
    batches = await event_store.lock_batches(conn, added, tenant_id=why.tenant_id)
    now = await read_database_time(conn)
    for place, new in added.items():
        job_id, key = place
        name = partial(derive_event_run_id, job_id, at=why.run_id_time, key=key)
        trigger = decided.templates[job_id].waiting.trigger
        folded = add_to_batch(trigger, batches[place], new, now=now, run_id_for=name)
        decided.batches[place] = folded
        for event in new:
            mine = decided.matches[event.event_id]
            for n, found in enumerate(mine):
                if found.job_id == job_id:
                    mine[n] = replace(found, run_id=folded.run_ids[event.event_id])


async def _check_quota(conn: Connection, casts: Sequence[EventRun], tenant_id: int) -> None:
    """Refuse all events of the request if their runs would exceed the tenant's `max_queued`."""
    if not casts or casts[0].template.job.quotas is None:
        return
    quota = read_stored_quotas(json.loads(casts[0].template.job.quotas)).max_queued
    if quota is None:
        return
    waiting = await tenants.count_queued(conn, tenant_id=tenant_id, limit=quota + 1)
    if waiting + len(casts) > quota:
        usage = f"{waiting} runs are waiting and these events add {len(casts)}"
        raise QuotaExceeded("max_queued", quota, usage, retry_after=RETRY_AFTER_S)
