"""Why does it wait? One true sentence for any run, and for a job without one (E18).

Room: flow/observe. Asks in the order in which things hold a run back, and stops at the first that
does: pauses, its time, nobody to take it, its gates, full workers, others before it. What a gate
lets through is core's (core/gates.py), the same that the claims ask, so the two cannot disagree.
Nothing is locked and nothing is changed; a moment later another sentence may be the true one.
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
from rota.core.limits import admit
from rota.core.states import FINAL, JobState, RunState
from rota.core.time.durations import words
from rota.flow.observe.endings import counted, failure, read, said_ending, short, shown
from rota.flow.observe.graph_steps import listed, live_steps
from rota.store import waiting
from rota.store.driver import Connection
from rota.store.waiting import MOST_AHEAD, Gate, GraphSubject, JobSubject, Subject, Workers

MOST_KINDS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`code` is for programs, `sentence` for people, `details` are the values behind it."""

    code: str
    sentence: str
    details: Mapping[str, object] = field(default_factory=dict)


async def explain(conn: Connection, *, tenant_id: int, run_id: UUID) -> Explanation:
    """Why a run is where it is. `NotFound` if the tenant has no such run."""
    run = await waiting.run(conn, tenant_id=tenant_id, run_id=run_id)
    if run is None:
        raise NotFound("run", run_id)
    told = _settled(run)
    if told is None and run.state is RunState.BLOCKED:
        told = _unfolded(await waiting.graph(conn, tenant_id=tenant_id, run_id=run_id))
    told = told or _paused(run) or _early(run)
    if told is not None:
        return told
    workers = await waiting.workers(conn, run)
    return _unserved(run, workers) or await _queueing(conn, run, workers)


async def explain_job(conn: Connection, *, tenant_id: int, job_id: UUID) -> Explanation:
    """Why no run of a job is about to start. `NotFound` if the tenant has no such job."""
    job = await waiting.job(conn, tenant_id=tenant_id, job_id=job_id)
    if job is None:
        raise NotFound("job", job_id)
    return _held(job) or _ticking(job)


def _settled(run: Subject) -> Explanation | None:
    """It does not wait at all: it is finished, at work, or about to be stopped."""
    if run.state in FINAL:
        reason = read(run.reason)
        return _told(
            run.state.value,
            said_ending(run),
            at=run.finished_at,
            attempt=run.attempt,
            reason=reason,
        )
    if run.state not in {RunState.RUNNING, RunState.CANCELLING}:
        return None
    details = {"since": run.started_at, "worker": run.worker, "attempt": run.attempt}
    since, worker = shown(run.started_at or run.now), run.worker or "that is gone"
    if not run.is_worker_alive:
        sentence = (
            f"It has run since {since} on worker {worker}, which fell silent, so it is about to be "
            "taken back."
        )
        return _told("worker_lost", sentence, **details)
    if run.state is RunState.CANCELLING:
        sentence = (
            f"It was asked to stop and ends as soon as worker {worker}, where it has run since "
            f"{since}, lets go of it."
        )
        return _told("cancelling", sentence, **details)
    sentence = f"It has run since {since} on worker {worker}, in attempt {run.attempt}."
    return _told("running", sentence, **details)


def _unfolded(graph: GraphSubject | None) -> Explanation:
    """A graph run: it waits for its steps, or for somebody to let it go on."""
    live = [] if graph is None else live_steps(graph)
    steps = "" if not live else f"its {'step' if len(live) == 1 else 'steps'} {listed(live)}"
    if graph is not None and graph.paused_at is not None:
        at_work = f"; {steps} may still run" if live else ""
        sentence = f"It has been paused since {shown(graph.paused_at)}{at_work}."
        return _told("graph_paused", sentence, since=graph.paused_at, steps=live)
    if not live:
        return _told("advancing", "What follows in its graph is about to begin.")
    return _told("blocked", f"It waits for {steps}.", steps=live)


def _paused(run: Subject) -> Explanation | None:
    if run.tenant_paused_at is not None:
        sentence = f"Its tenant has been paused since {shown(run.tenant_paused_at)}."
        return _told("tenant_paused", sentence, since=run.tenant_paused_at)
    if run.queue_paused_at is not None:
        sentence = f"Its queue {run.queue} has been paused since {shown(run.queue_paused_at)}."
        return _told("queue_paused", sentence, since=run.queue_paused_at, queue=run.queue)
    if run.tenant_queue_paused_at is not None:
        since, by = run.tenant_queue_paused_at, run.tenant_queue_paused_by
        who = f" by {short(by)}" if by else ""
        sentence = (
            f"Its queue {run.queue} was paused for tenant {run.tenant}{who} at {shown(since)}."
        )
        return _told("tenant_queue_paused", sentence, since=since, by=by, queue=run.queue)
    return None


def _early(run: Subject) -> Explanation | None:
    """Its time has not come: for the first time, or again."""
    if run.ready_at <= run.now:
        return None
    until = shown(run.ready_at)
    if run.attempt == 0:
        return _told("not_due", f"It is due at {until}.", at=run.ready_at)
    details: dict[str, object] = {"until": run.ready_at, "attempt": run.attempt}
    reason = read(run.last_reason)
    if run.last_outcome == "snoozed" and reason.get("code") == "target_down":
        return _left_alone(reason, until, details)
    if run.last_outcome == "snoozed" and reason.get("code") == "newer_version":
        sentence = f"It was set aside until {until}: {short(reason.get('message'))}."
        return _told("newer_version", sentence, **details)
    if run.last_outcome == "snoozed":
        sentence = f"Attempt {run.attempt} asked to be called again at {until}."
        return _told("snoozed", sentence, **details)
    verb = "ran out of time" if run.last_outcome == "timed_out" else "failed"
    why = f" with {failure(reason)}" if reason else ""
    sentence = f"It backs off until {until} after attempt {run.attempt} {verb}{why}."
    return _told("backing_off", sentence, reason=reason, **details)


def _left_alone(
    reason: Mapping[str, Any], until: str, details: Mapping[str, object]
) -> Explanation:
    """Its target was down when it was to start; `attempt` was not made."""
    target, failures = short(reason.get("target")), int(reason.get("failures", 0))
    sentence = (
        f"{target} does not answer: {counted(failures, 'failure')} in a row; "
        f"the run asks again at {until}."
    )
    facts = {"target": target, "failures": failures, **details}
    return _told("target_down", sentence, **facts)


def _unserved(run: Subject, workers: Workers) -> Explanation | None:
    if not workers.serving_queue:
        others = "; there are workers for other queues" if workers.alive else ""
        sentence = f"No live worker serves its queue {run.queue}{others}."
        return _told("no_worker_for_queue", sentence, queue=run.queue, workers=workers.alive)
    if not workers.serving_tenant:
        sentence = (
            f"No worker that serves its queue {run.queue} takes runs of tenant {run.tenant}; "
            "set worker.tenants or worker.queue_tenants on a worker."
        )
        return _told("no_worker_for_tenant", sentence, queue=run.queue, tenant=run.tenant)
    if not workers.serving:
        served = ", ".join(workers.kinds[:MOST_KINDS]) or "none"
        if len(workers.kinds) > MOST_KINDS:
            served += f" and {len(workers.kinds) - MOST_KINDS} more"
        sentence = (
            f"No live worker of its queue {run.queue} serves its kind {run.kind}; "
            f"the kinds that are served there: {served}."
        )
        kinds = workers.kinds[:MOST_KINDS]
        return _told("no_worker_for_kind", sentence, queue=run.queue, kind=run.kind, served=kinds)
    return None


async def _queueing(conn: Connection, run: Subject, workers: Workers) -> Explanation:
    """It could start: what stands before it are gates, full workers, or other runs."""
    gates = await waiting.gates(conn, run)
    for gate in gates:
        told = _shut(gate, run)
        if told is not None:
            return told
    if not workers.with_room:
        full = f"{workers.busy} of {workers.slots}"
        sentence = f"All slots of the workers that could run it are busy ({full})."
        return _told("workers_busy", sentence, busy=workers.busy, slots=workers.slots)
    ahead = 0
    # At a gate that keeps an order it is the head, whatever its priority.
    if not any(gate.in_order for gate in gates):
        ahead = await waiting.ahead(conn, run, kind_ids=workers.kind_ids)
    if ahead:
        is_more = ahead > MOST_AHEAD
        others = f"more than {MOST_AHEAD:,} runs" if is_more else counted(ahead, "run")
        whose = "with the same limit" if run.gates else "of its tenant"
        sentence = f"It waits behind {others} {whose} in its queue {run.queue}."
        return _told("behind_others", sentence, ahead=min(ahead, MOST_AHEAD), more=is_more)
    return _told("about_to_start", "It is about to be claimed by a worker.")


def _shut(gate: Gate, run: Subject) -> Explanation | None:
    """Whether a gate lets this run pass now, as `core.gates.choose` decides it."""
    standing = gate.standing
    if gate.in_order and (gate.held or gate.head_id != run.id):
        return _out_of_turn(gate, run.now)
    if standing.places(wanted=1, now=run.now):
        return None
    if gate.key.startswith("backfill:") and standing.limits.rate is not None:
        # No backfill has a rate; one that is paused is shut by it.
        return _told("backfill_paused", "Its backfill is paused.")
    where = _place(gate, run)
    details: dict[str, object] = {"limit": where, "key": gate.key}
    rate = standing.limits.rate
    if gate.most is not None and gate.held >= gate.most:
        holders = ", ".join(map(str, gate.held_ids))
        elsewhere = gate.held - len(gate.held_ids)
        if elsewhere:
            holders += f"{' and ' if holders else ''}{counted(elsewhere, 'other')}"
        sentence = (
            f"The limit of its {where} lets {gate.most:,} run at a time, "
            f"and the places are held by {holders}."
        )
        held = {"max": gate.most, "held": gate.held, "held_by": gate.held_ids}
        return _told("limit_reached", sentence, **details, **held)
    if rate is None:
        return None
    next_at = admit(rate, paid_until=gate.paid_until, wanted=1, now=run.now).next_at
    sentence = (
        f"The limit of its {where} lets {rate.count:,} start per {words(rate.per)}; "
        f"the next place comes at {shown(next_at)}."
    )
    paced = {"count": rate.count, "per": rate.per, "next_at": next_at}
    return _told("rate_reached", sentence, **details, **paced)


def _out_of_turn(gate: Gate, now: datetime) -> Explanation:
    """At a gate that keeps an order: behind the one at work, or behind the one whose turn it is."""
    if gate.held:
        before = gate.held_ids[0] if gate.held_ids else None
        sentence = f"It waits its turn behind run {before} of the same job, which is at work."
        return _told("in_order", sentence, behind=before, is_running=True)
    state = ""
    if gate.head_ready_at is not None and gate.head_ready_at > now:
        state = f", which itself waits until {shown(gate.head_ready_at)}"
    sentence = f"It waits its turn behind run {gate.head_id} of the same job{state}."
    return _told("in_order", sentence, behind=gate.head_id, is_running=False)


def _place(gate: Gate, run: Subject) -> str:
    """What the limit belongs to: `queue mail`, `tenant in queue mail`, `tenant`, `key …`."""
    sort, _, name = gate.key.partition(":")
    if gate.id == run.tenant_queue_gate:
        return f"tenant in queue {run.queue}"
    if sort == "queue":
        return f"queue {run.queue}"
    return f"key {short(name)}" if sort == "key" else sort


def _held(job: JobSubject) -> Explanation | None:
    """No tick of the job will be decided until somebody does something."""
    held = read(job.held)
    said = f": {short(held['reason'])}" if held.get("reason") else ""
    details = {"by": held.get("by"), "at": held.get("at"), "reason": held.get("reason")}
    if job.state is JobState.PAUSED:
        by = f" by {short(held['by'])}" if held.get("by") else ""
        return _told("paused", f"It was paused{by}{said}.", **details)
    if job.state is JobState.QUARANTINED:
        return _told("quarantined", f"It was set aside because it cannot be run{said}.", **details)
    if job.state is JobState.FINISHED:
        return _told("finished", "It has no more ticks: its schedule has come to its end.")
    if not job.is_scheduled:
        return _told("on_demand", "It has no schedule and runs only when somebody asks for it.")
    newer = _newer(job)
    if newer is not None:
        return newer
    if job.event is not None:
        waits = read_stored_trigger(json.loads(job.event))
        types = " and ".join(waits.types)
        sentence = f"It waits for {short(types)}; `rota events list` tells what has come."
        return _told("waits_for_event", sentence, types=list(waits.types))
    return None


def _newer(job: JobSubject) -> Explanation | None:
    """Its schedule has a value that this version of Rota does not know."""
    try:
        read_stored_schedule(json.loads(job.schedule or '{"on_demand": true}'))
    except NewerDocument as error:
        return _told("newer_version", f"It was set aside: {error}.")
    except InvalidInput:
        # The scheduler finds it at fault, with a reason of its own.
        return None
    return None


def _ticking(job: JobSubject) -> Explanation:
    at = job.fire_at or job.tick_at or job.now
    details: dict[str, object] = {"tick_at": job.tick_at, "fire_at": job.fire_at}
    alive = [*job.waiting_ids, *job.running_ids]
    if alive:
        details["runs"] = alive
    when = "was due" if at <= job.now else "is due"
    if not job.schedulers:
        sentence = f"Its next tick {when} at {shown(at)}, but no scheduler is alive to decide it."
        return _told("no_scheduler", sentence, **details)
    if job.scheduler is None:
        sentence = (
            f"Its next tick {when} at {shown(at)}, but no scheduler holds its shard {job.shard} "
            "at the moment."
        )
        return _told("shard_without_owner", sentence, shard=job.shard, **details)
    if job.counts_from_end and alive:
        sentence = f"Its next tick is counted from the end of run {alive[0]}."
        return _told("after_its_run", sentence, **details)
    if at <= job.now:
        sentence = (
            f"Its tick of {shown(job.tick_at or at)} is {words(job.now - at)} late and is about "
            f"to be decided by scheduler {job.scheduler}."
        )
        return _told("tick_overdue", sentence, **details)
    if job.queue_paused_at is not None:
        by = f" by {short(job.queue_paused_by)}" if job.queue_paused_by else ""
        sentence = (
            f"Its next tick is due at {shown(at)} and is passed over if its queue is still paused "
            f"then; it was paused{by} at {shown(job.queue_paused_at)}."
        )
        return _told("queue_paused", sentence, by=job.queue_paused_by, **details)
    return _told("next_tick", f"Its next tick is due at {shown(at)}.", **details)


def _told(code: str, sentence: str, **details: object) -> Explanation:
    return Explanation(code=code, sentence=sentence, details=details)
