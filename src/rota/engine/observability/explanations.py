"""Explains in one true sentence why a run waits, or why a job has no run (E18).

Checks the causes in the order in which they hold a run back and stops at the first: pauses, its
time, no worker to take it, its gates, full workers, other runs before it. core/gates.py decides
what a gate lets through, for explanations and for claims, so the two cannot disagree. Nothing is
locked or changed; a moment later another sentence may be true.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from rota.contract.schedule import read_stored_schedule
from rota.contract.trigger import read_stored_trigger
from rota.core.errors import InvalidInput, NewerDocument, NotFound
from rota.core.limits import admit_starts
from rota.core.states import FINAL_STATES, JobState, RunState
from rota.core.time.durations import to_words
from rota.engine.observability.graph_steps import find_live_steps, join_names
from rota.engine.observability.run_endings import (
    describe_ending,
    describe_failure,
    format_count,
    format_time,
    read_reason,
    shorten_text,
)
from rota.store import wait_explanations
from rota.store.driver import Connection
from rota.store.wait_explanations import (
    RUNS_AHEAD_MAX,
    GateStateRow,
    GraphSubject,
    JobSubject,
    RunSubject,
    WorkerCounts,
)

NAMED_KINDS_MAX: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`code` is for programs, `sentence` for people, `details` holds the values behind it."""

    code: str
    sentence: str
    details: Mapping[str, object] = field(default_factory=dict)


async def explain_run(conn: Connection, *, tenant_id: int, run_id: UUID) -> Explanation:
    """Explain the state of a run. Raises `NotFound` if the tenant has no such run."""
    run = await wait_explanations.read_run(conn, tenant_id=tenant_id, run_id=run_id)
    if run is None:
        raise NotFound("run", run_id)
    explanation = _explain_state(run)
    if explanation is None and run.state is RunState.BLOCKED:
        explanation = _explain_graph(
            await wait_explanations.read_graph(conn, tenant_id=tenant_id, run_id=run_id)
        )
    explanation = explanation or _explain_pause(run) or _explain_not_ready(run)
    if explanation is not None:
        return explanation
    workers = await wait_explanations.read_workers(conn, run)
    return _explain_no_worker(run, workers) or await _explain_queued(conn, run, workers)


async def explain_job(conn: Connection, *, tenant_id: int, job_id: UUID) -> Explanation:
    """Explain why a job has no run about to start. Raises `NotFound` if it does not exist."""
    job = await wait_explanations.read_job(conn, tenant_id=tenant_id, job_id=job_id)
    if job is None:
        raise NotFound("job", job_id)
    return _explain_hold(job) or _explain_tick(job)


def _explain_state(run: RunSubject) -> Explanation | None:
    """Explain a run that does not wait: it is finished, running, or being stopped."""
    if run.state in FINAL_STATES:
        reason = read_reason(run.reason)
        return _build(
            run.state.value,
            describe_ending(run),
            at=run.finished_at,
            attempt=run.attempt,
            reason=reason,
        )
    if run.state not in {RunState.RUNNING, RunState.CANCELLING}:
        return None
    details = {"since": run.started_at, "worker": run.worker, "attempt": run.attempt}
    since = format_time(run.started_at or run.now)
    worker = f"worker {run.worker}" if run.worker else "a worker that no longer exists"
    if not run.is_worker_alive:
        sentence = (
            f"The run has been running since {since} on {worker}, which sends no more heartbeats; "
            "it will be reclaimed shortly."
        )
        return _build("worker_lost", sentence, **details)
    if run.state is RunState.CANCELLING:
        sentence = (
            f"The run was asked to stop; it is still running on {worker}, where it started at "
            f"{since}."
        )
        return _build("cancelling", sentence, **details)
    sentence = f"The run has been running since {since} on {worker}, in attempt {run.attempt}."
    return _build("running", sentence, **details)


def _explain_graph(graph: GraphSubject | None) -> Explanation:
    """Explain a graph run: it waits for its steps, or is paused."""
    live = [] if graph is None else find_live_steps(graph)
    steps = "" if not live else f"{'step' if len(live) == 1 else 'steps'} {join_names(live)}"
    if graph is not None and graph.paused_at is not None:
        active = f"; {steps} may still be running" if live else ""
        sentence = f"The graph run has been paused since {format_time(graph.paused_at)}{active}."
        return _build("graph_paused", sentence, since=graph.paused_at, steps=live)
    if not live:
        return _build("advancing", "The next steps of the graph run are about to start.")
    return _build("blocked", f"The graph run is waiting for {steps}.", steps=live)


def _explain_pause(run: RunSubject) -> Explanation | None:
    if run.tenant_paused_at is not None:
        sentence = f"The tenant has been paused since {format_time(run.tenant_paused_at)}."
        return _build("tenant_paused", sentence, since=run.tenant_paused_at)
    if run.queue_paused_at is not None:
        sentence = f"Queue {run.queue} has been paused since {format_time(run.queue_paused_at)}."
        return _build("queue_paused", sentence, since=run.queue_paused_at, queue=run.queue)
    if run.tenant_queue_paused_at is not None:
        since, by = run.tenant_queue_paused_at, run.tenant_queue_paused_by
        who = f" by {shorten_text(by)}" if by else ""
        sentence = (
            f"Queue {run.queue} was paused for tenant {run.tenant}{who} at {format_time(since)}."
        )
        return _build("tenant_queue_paused", sentence, since=since, by=by, queue=run.queue)
    return None


def _explain_not_ready(run: RunSubject) -> Explanation | None:
    """Explain a run that is not ready yet: not due, or waiting for its next attempt."""
    if run.ready_at <= run.now:
        return None
    until = format_time(run.ready_at)
    if run.attempt == 0:
        return _build("not_due", f"The run is due at {until}.", at=run.ready_at)
    details: dict[str, object] = {"until": run.ready_at, "attempt": run.attempt}
    reason = read_reason(run.last_reason)
    if run.last_outcome == "snoozed" and reason.get("code") == "target_down":
        return _explain_target_down(reason, until, details)
    if run.last_outcome == "snoozed" and reason.get("code") == "newer_version":
        sentence = f"The run is postponed until {until}: {shorten_text(reason.get('message'))}."
        return _build("newer_version", sentence, **details)
    if run.last_outcome == "snoozed":
        sentence = f"Attempt {run.attempt} snoozed the run until {until}."
        return _build("snoozed", sentence, **details)
    verb = "timed out" if run.last_outcome == "timed_out" else "failed"
    why = f" with {describe_failure(reason)}" if reason else ""
    sentence = f"The run will be retried at {until} after attempt {run.attempt} {verb}{why}."
    return _build("backing_off", sentence, reason=reason, **details)


def _explain_target_down(
    reason: Mapping[str, Any], until: str, details: Mapping[str, object]
) -> Explanation:
    """Explain a run that did not start because its target was down."""
    target, failures = shorten_text(reason.get("target")), int(reason.get("failures", 0))
    sentence = (
        f"Target {target} is not responding: {format_count(failures, 'failure')} in a row; "
        f"the run tries again at {until}."
    )
    facts = {"target": target, "failures": failures, **details}
    return _build("target_down", sentence, **facts)


def _explain_no_worker(run: RunSubject, workers: WorkerCounts) -> Explanation | None:
    if not workers.serving_queue:
        others = "; only workers for other queues are running" if workers.alive else ""
        sentence = f"No live worker serves queue {run.queue}{others}."
        return _build("no_worker_for_queue", sentence, queue=run.queue, workers=workers.alive)
    if not workers.serving_tenant:
        sentence = (
            f"No live worker of queue {run.queue} accepts runs of tenant {run.tenant}; "
            "set worker.tenants or worker.queue_tenants on a worker."
        )
        return _build("no_worker_for_tenant", sentence, queue=run.queue, tenant=run.tenant)
    if not workers.serving:
        served = ", ".join(workers.kinds[:NAMED_KINDS_MAX]) or "none"
        if len(workers.kinds) > NAMED_KINDS_MAX:
            served += f" and {len(workers.kinds) - NAMED_KINDS_MAX} more"
        sentence = (
            f"No live worker of queue {run.queue} serves kind {run.kind}; "
            f"kinds served there: {served}."
        )
        kinds = workers.kinds[:NAMED_KINDS_MAX]
        return _build("no_worker_for_kind", sentence, queue=run.queue, kind=run.kind, served=kinds)
    return None


async def _explain_queued(conn: Connection, run: RunSubject, workers: WorkerCounts) -> Explanation:
    """Explain a run that could start: it waits for gates, full workers or other runs."""
    gates = await wait_explanations.read_gates(conn, run)
    for gate in gates:
        explanation = _explain_gate(gate, run)
        if explanation is not None:
            return explanation
    if not workers.with_room:
        full = f"{workers.busy} of {workers.slots}"
        sentence = f"All slots of the workers that can run it are busy ({full})."
        return _build("workers_busy", sentence, busy=workers.busy, slots=workers.slots)
    ahead = 0
    # At an ordered gate the run is the head, whatever its priority.
    if not any(gate.in_order for gate in gates):
        ahead = await wait_explanations.count_ahead(conn, run, kind_ids=workers.kind_ids)
    if ahead:
        is_more = ahead > RUNS_AHEAD_MAX
        others = f"more than {RUNS_AHEAD_MAX:,} runs" if is_more else format_count(ahead, "run")
        whose = "with the same limit" if run.gates else "of its tenant"
        sentence = f"The run is waiting behind {others} {whose} in queue {run.queue}."
        return _build("behind_others", sentence, ahead=min(ahead, RUNS_AHEAD_MAX), more=is_more)
    return _build("about_to_start", "A worker is about to claim the run.")


def _explain_gate(gate: GateStateRow, run: RunSubject) -> Explanation | None:
    """Explain a closed gate, as `core.gates.choose_candidates` decides; None if it is open."""
    standing = gate.standing
    if gate.in_order and (gate.held or gate.head_id != run.id):
        return _explain_order(gate, run.now)
    if standing.count_free(wanted=1, now=run.now):
        return None
    if gate.key.startswith("backfill:") and standing.limits.rate is not None:
        # Backfills have no rate of their own; pausing one closes its gate with a rate.
        return _build("backfill_paused", "The backfill of this run is paused.")
    where = _describe_limit(gate, run)
    details: dict[str, object] = {"limit": where, "key": gate.key}
    rate = standing.limits.rate
    if gate.most is not None and gate.held >= gate.most:
        holders = ", ".join(map(str, gate.held_ids))
        elsewhere = gate.held - len(gate.held_ids)
        if elsewhere:
            holders += f"{' and ' if holders else ''}{format_count(elsewhere, 'other')}"
        sentence = (
            f"The limit of its {where} allows {format_count(gate.most, 'run')} at a time; "
            f"it is held by {holders}."
        )
        held = {"max": gate.most, "held": gate.held, "held_by": gate.held_ids}
        return _build("limit_reached", sentence, **details, **held)
    if rate is None:
        return None
    next_at = admit_starts(rate, paid_until=gate.paid_until, wanted=1, now=run.now).next_at
    sentence = (
        f"The limit of its {where} allows {format_count(rate.count, 'start')} "
        f"per {to_words(rate.per)}; "
        f"the next start is possible at {format_time(next_at)}."
    )
    paced = {"count": rate.count, "per": rate.per, "next_at": next_at}
    return _build("rate_reached", sentence, **details, **paced)


def _explain_order(gate: GateStateRow, now: datetime) -> Explanation:
    """Explain an ordered gate: the run waits for the running one or for the next in line."""
    if gate.held:
        before = gate.held_ids[0] if gate.held_ids else None
        sentence = f"The run is waiting for run {before} of the same job, which is running."
        return _build("in_order", sentence, behind=before, is_running=True)
    state = ""
    if gate.head_ready_at is not None and gate.head_ready_at > now:
        state = f", which itself waits until {format_time(gate.head_ready_at)}"
    sentence = f"The run is waiting for run {gate.head_id} of the same job{state}."
    return _build("in_order", sentence, behind=gate.head_id, is_running=False)


def _describe_limit(gate: GateStateRow, run: RunSubject) -> str:
    """Return the owner of the limit: `queue mail`, `tenant in queue mail`, `tenant`, `key …`."""
    sort, _, name = gate.key.partition(":")
    if gate.id == run.tenant_queue_gate:
        return f"tenant in queue {run.queue}"
    if sort == "queue":
        return f"queue {run.queue}"
    return f"key {shorten_text(name)}" if sort == "key" else sort


def _explain_hold(job: JobSubject) -> Explanation | None:
    """Explain a job that fires no ticks by itself until a user or an event acts."""
    held = read_reason(job.held)
    why = f": {shorten_text(held['reason'])}" if held.get("reason") else ""
    details = {"by": held.get("by"), "at": held.get("at"), "reason": held.get("reason")}
    if job.state is JobState.PAUSED:
        by = f" by {shorten_text(held['by'])}" if held.get("by") else ""
        return _build("paused", f"The job was paused{by}{why}.", **details)
    if job.state is JobState.QUARANTINED:
        return _build(
            "quarantined", f"The job was quarantined because it cannot be run{why}.", **details
        )
    if job.state is JobState.FINISHED:
        return _build("finished", "The job is finished: its schedule has no more ticks.")
    if not job.is_scheduled:
        return _build("on_demand", "The job has no schedule; it runs only on request.")
    newer = _explain_newer_version(job)
    if newer is not None:
        return newer
    if job.event is not None:
        trigger = read_stored_trigger(json.loads(job.event))
        types = " and ".join(trigger.types)
        sentence = (
            f"The job is waiting for {shorten_text(types)}; "
            "`rota events list` shows the events received."
        )
        return _build("waits_for_event", sentence, types=list(trigger.types))
    return None


def _explain_newer_version(job: JobSubject) -> Explanation | None:
    """Explain a job whose schedule has a value that this version of Rota does not know."""
    try:
        read_stored_schedule(json.loads(job.schedule or '{"on_demand": true}'))
    except NewerDocument as error:
        return _build("newer_version", f"The job is on hold: {error}.")
    except InvalidInput:
        # The scheduler quarantines it, with its own reason.
        return None
    return None


def _explain_tick(job: JobSubject) -> Explanation:
    at = job.fire_at or job.tick_at or job.now
    details: dict[str, object] = {"tick_at": job.tick_at, "fire_at": job.fire_at}
    alive = [*job.waiting_ids, *job.running_ids]
    if alive:
        details["runs"] = alive
    when = "was due" if at <= job.now else "is due"
    if not job.schedulers:
        sentence = f"The next tick {when} at {format_time(at)}, but no scheduler is running."
        return _build("no_scheduler", sentence, **details)
    if job.scheduler is None:
        sentence = (
            f"The next tick {when} at {format_time(at)}, but no scheduler holds shard {job.shard} "
            "at the moment."
        )
        return _build("shard_without_owner", sentence, shard=job.shard, **details)
    if job.counts_from_end and alive:
        sentence = f"The next tick counts from the end of run {alive[0]}, which is still active."
        return _build("after_its_run", sentence, **details)
    if at <= job.now:
        sentence = (
            f"The tick of {format_time(job.tick_at or at)} is {to_words(job.now - at)} late; "
            f"scheduler {job.scheduler} is about to fire it."
        )
        return _build("tick_overdue", sentence, **details)
    if job.queue_paused_at is not None:
        by = f" by {shorten_text(job.queue_paused_by)}" if job.queue_paused_by else ""
        sentence = (
            f"The next tick is due at {format_time(at)} and will be skipped if the queue is still "
            f"paused then; it was paused{by} at {format_time(job.queue_paused_at)}."
        )
        return _build("queue_paused", sentence, by=job.queue_paused_by, **details)
    return _build("next_tick", f"The next tick is due at {format_time(at)}.", **details)


def _build(code: str, sentence: str, **details: object) -> Explanation:
    return Explanation(code=code, sentence=sentence, details=details)
