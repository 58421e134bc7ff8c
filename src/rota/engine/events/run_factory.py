"""Builds the runs of a job that waits for events.

The overlap policy does not apply to events, because a skipped event would be lost. The limits of
the job and the order of its runs, if it keeps one, still apply.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from rota.contract.schedule import read_stored_schedule
from rota.core.errors import InvalidInput, NewerDocument
from rota.core.event_rules.matching import WaitingJob
from rota.core.event_rules.payloads import (
    build_default_payload,
    build_event_payload,
    has_single_event,
)
from rota.core.gates import build_gate_keys
from rota.core.limits import JobLimit
from rota.core.secret_references import reject_references_from_data
from rota.core.states import JobState
from rota.core.stored_documents import check_known
from rota.core.submissions import encode_json
from rota.core.time.schedule import Schedule
from rota.store import gates, jobs, live_runs
from rota.store.driver import Connection
from rota.store.gates import NewGate
from rota.store.jobs import SkippedRun, StoredJob
from rota.store.run_templates import RunTemplate, read_job_limits

# Runs per insert statement.
INSERT_BATCH_MAX = 1_000


class EventRun(NamedTuple):
    """A run to create, with its payload as JSON and its gates."""

    template: "EventRunTemplate"
    run_id: UUID
    payload: str
    gates: tuple[NewGate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRunTemplate:
    """The fields that all runs of one job share."""

    job: StoredJob
    waiting: WaitingJob
    run_template: RunTemplate
    limits: tuple[JobLimit, ...]
    payload_template: Any

    @staticmethod
    def from_job(job: StoredJob) -> "EventRunTemplate | None":
        """Return the template of a job; None if the job no longer waits for events, or if its
        trigger cannot be read, so that one such job does not block the others. Raise
        `NewerDocument` if only newer code can read it.
        """
        try:
            schedule = None if job.schedule is None else _read_schedule(job.schedule)
        except NewerDocument:
            raise
        except InvalidInput:
            return None
        if schedule is None or schedule.trigger is None:
            return None
        check_known(job.overlap, "overlap")
        held = None if job.state is JobState.ACTIVE else f"the job is {job.state.value}"
        return EventRunTemplate(
            job=job,
            waiting=WaitingJob(
                job_id=job.id, trigger=schedule.trigger, window=schedule.window, hold_reason=held
            ),
            run_template=RunTemplate.from_job(job, trigger="event"),
            limits=read_job_limits(job.limits),
            payload_template=None if job.payload is None else json.loads(job.payload),
        )

    def build_run(self, run_id: UUID, events: Sequence[str], *, key: str = "") -> EventRun:
        """Build the run for these events, each as JSON. Raise `ExpressionFailed` or `InvalidInput`
        if its payload cannot be built.
        """
        single = has_single_event(self.waiting.trigger)
        if self.payload_template is None and not self.limits:
            # The common case: the JSON of the events is used without parsing it.
            text, payload = build_default_payload(events, single=single), None
        else:
            shown = [json.loads(event) for event in events]
            payload = build_event_payload(self.payload_template, shown, single=single, key=key)
            text = reject_references_from_data(
                encode_json(payload, "payload") or "null", self.payload_template
            )
        passed = build_gate_keys(self.job.id, self.job.overlap, self.limits, payload)
        through = tuple(NewGate(self.job.tenant_id, name, limits) for name, limits in passed)
        return EventRun(self, run_id, text, through)


@lru_cache(maxsize=4096)
def _read_schedule(text: str) -> Schedule:
    return read_stored_schedule(json.loads(text))


async def insert_event_runs(
    conn: Connection, event_runs: list[EventRun], *, now: datetime, trigger: str
) -> list[UUID]:
    """Create runs; an id that exists is skipped. Only a replay may repeat ids: an event is ingested
    once, and a batch is deleted together with the creation of its run.
    """
    passing = await gates.put_gates(conn, [gate for cast in event_runs for gate in cast.gates])
    runs = [
        cast.template.run_template._replace(trigger=trigger).build_run(
            cast.run_id,
            due_at=now,
            payload=cast.payload,
            gates=tuple(passing[gate.tenant_id, gate.key] for gate in cast.gates),
        )
        for cast in event_runs
    ]
    insert = live_runs.insert_runs if trigger == "replay" else live_runs.insert_new_runs
    created: list[UUID] = []
    for start in range(0, len(runs), INSERT_BATCH_MAX):
        created += await insert(conn, runs[start : start + INSERT_BATCH_MAX])
    return created


async def record_skipped(
    conn: Connection, job: StoredJob, record: SkippedRun, *, trigger: str = "event"
) -> None:
    """Record why an event batch did not become a run."""
    await jobs.record_skipped(conn, job, [record], trigger=trigger)
