"""What one step may change: who acted, and what follows from it. Everything else must stay.

Each function yields what is wrong with a step, beginning with the invariant's name (the table is
in docs/guarantees.md). Steps are small (one duty of one node, or a part of it), so a wrong change
is caught where it is made and not where it shows.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

from rota.core.outcome import Failed, Guarantee, HandedBack, Outcome, Snoozed, Succeeded
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.settlement import WORKER_LOSSES_MAX
from rota.core.time.tick import FIRE_AHEAD
from tests.simulation.ledger import Act, Ledger, Start
from tests.simulation.nodes import WorkerNode
from tests.simulation.plans import BACK_OFF
from tests.simulation.tables import Run, Session, Tables

UNKNOWN_FOR = timedelta(seconds=5)
BORN_ENDED = ("skipped", "missed", "coalesced")
REPLACING = (Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING, Overlap.TERMINATE_RUNNING)


def wrong_changes(before: Tables, after: Tables, act: Act, ledger: Ledger) -> Iterator[str]:
    """Everything in this step that no rule allows."""
    for id_ in after.alive.keys() & after.ended.keys():
        yield f"I6 run {id_} is alive and ended"
    old_runs, new_runs = before.ended | before.alive, after.ended | after.alive
    step = Step(before, after, act, ledger)
    for id_ in sorted(old_runs.keys() | new_runs.keys()):
        old, new = old_runs.get(id_), new_runs.get(id_)
        if old == new:
            continue
        if new is None:
            yield f"I6 run {id_} is gone after {act.what}"
        elif old is None:
            yield from step.born(new)
        else:
            yield from step.moved(old, new)
    yield from step.cursors()
    yield from step.submissions()
    yield from step.shards()
    yield from step.sessions()


class Step:
    def __init__(self, before: Tables, after: Tables, act: Act, ledger: Ledger) -> None:
        self.before = before
        self.after = after
        self.act = act
        self.ledger = ledger
        self.mine = frozenset[UUID]() if act.node is None else frozenset(act.node.sessions)
        self.me = None if act.node is None else act.node.name

    def born(self, new: Run) -> Iterator[str]:
        by_tick = self.act.what == "firing" and self.fires(new)
        is_due = self.act.what == "firing" and new.id in self.before.submissions
        if not (by_tick or is_due or new.id in self.act.runs or new.job_id in self.act.jobs):
            yield f"I2 {self.act.what} made run {new.id}"
        if new.state not in ("queued", *BORN_ENDED) or new.attempt:
            yield f"I8 run {new.id} was born {new.state} with attempt {new.attempt}"
        if by_tick and new.state == "queued" and self.ledger.is_queue_paused:
            yield from self.fired_in_vain(new)

    def fired_in_vain(self, new: Run) -> Iterator[str]:
        """Only the last tick of a job becomes a run in a paused queue, unless they may gather."""
        skips = self.ledger.plans[new.job_id].when_queue_paused is WhenQueuePaused.SKIP
        if skips and self.after.jobs[new.job_id].tick_at is not None:
            yield f"I14 a tick became run {new.id} while its queue was paused"

    def fires(self, run: Run) -> bool:
        """Whether the cursor of its job moved in this step; a submission has neither."""
        was, is_ = self.before.jobs.get(run.job_id), self.after.jobs.get(run.job_id)
        return was is not None and is_ is not None and was.tick_at != is_.tick_at

    def moved(self, old: Run, new: Run) -> Iterator[str]:
        if old.id in self.before.ended:
            if self.act.what != "replay" or old.id not in self.act.runs:
                yield f"I7 run {old.id} was {old.state} and became {new.state}"
            return
        if new.attempt < old.attempt:
            yield f"I9 attempt {old.attempt} of run {old.id} became {new.attempt}"
        if old.state == "cancelling" and new.state not in ("cancelling", "cancelled"):
            yield f"I14 run {old.id} was to be cancelled and became {new.state}"
        yield from self.moved_by_act(old, new)

    def moved_by_act(self, old: Run, new: Run) -> Iterator[str]:
        """Each act may do its own thing to a run, and nothing else."""
        match self.act.what:
            case "claiming":
                yield from self.claimed(old, new)
            case "recording":
                yield from self.recorded(old, new)
            case "rescuing":
                yield from self.rescued(old, new)
            case "expiring":
                late = old.deadline_at is not None and old.deadline_at <= self.after.now
                if not late or old.is_held or new.state != "expired":
                    yield f"I6 run {old.id} expired before its deadline {old.deadline_at}"
            case "firing":
                if self.ledger.plans[old.job_id].overlap not in REPLACING or not self.fires(old):
                    yield f"I6 a fire changed run {old.id} from {old.state} to {new.state}"
            case _:
                if old.id not in self.act.runs and old.job_id not in self.act.jobs:
                    yield f"I6 {self.act.what} changed run {old.id} to {new.state}"

    def claimed(self, old: Run, new: Run) -> Iterator[str]:
        if old.is_held and new.state == "queued":
            yield from self.released(old)
            return
        now = self.after.now
        if not old.waits or new.state != "running" or new.session_id not in self.mine:
            yield f"I10 {old.state} run {old.id} of {old.session_id} was claimed by {self.me}"
        if new.attempt != old.attempt + 1:
            yield f"I8 attempt {new.attempt} of run {old.id} follows {old.attempt}"
        earliest = old.ready_at or old.due_at
        if old.trigger != "replay":
            # Whoever brings a run back that was cancelled before its time wants it now.
            earliest = max(earliest, old.due_at, old.scheduled_at)
        if now < earliest:
            yield f"I4 run {old.id} started at {now}, due at {earliest}"
        session = self.before.sessions.get(new.session_id) if new.session_id else None
        if session is None or session.expires_at <= now:
            yield f"I10 run {old.id} was claimed by {self.me}, whose lease has run out"
        if self.ledger.is_queue_paused:
            yield f"I14 run {old.id} started in a queue that is paused"
        yield from self.in_turn(old)
        gates = tuple(old.gates)
        if any(start.attempt == new.attempt for start in self.ledger.starts_of(old.id)):
            yield f"I8 attempt {new.attempt} of run {old.id} started twice"
        self.ledger.starts.append(Start(old.id, new.attempt, now, gates))

    def released(self, old: Run) -> Iterator[str]:
        """A worker lets go of what it holds and does not know of: the claim was not answered."""
        worker = self.act.node
        assert isinstance(worker, WorkerNode)
        if old.session_id not in self.mine or (old.id, old.attempt) in worker.begun:
            yield f"I10 {self.me} let go of run {old.id} of {old.session_id}, which had begun"
        self.ledger.note_ending(old.id, HandedBack(has_started=False))

    def in_turn(self, run: Run) -> Iterator[str]:
        """At a gate that keeps an order, nobody who waited and still waits was due before."""
        for gate in run.gates:
            if not self.after.gates[gate].in_order:
                continue
            for other in self.after.alive.values():
                waited = other.id in self.before.alive and self.before.alive[other.id].waits
                is_before = (other.scheduled_at, other.id) < (run.scheduled_at, run.id)
                if other.waits and waited and is_before and gate in other.gates:
                    yield f"I12 run {run.id} started before {other.id}"

    def recorded(self, old: Run, new: Run) -> Iterator[str]:
        worker = self.act.node
        assert isinstance(worker, WorkerNode)
        outcome = worker.sent.get((old.id, old.attempt))
        if outcome is None or old.session_id not in self.mine or not old.is_held:
            yield f"I9 {self.me} ended run {old.id}, attempt {old.attempt} of {old.session_id}"
            return
        self.ledger.note_ending(old.id, outcome)
        if new.state not in self.endings(old, outcome):
            yield f"I7 {outcome} made run {old.id} {new.state}"
        if new.waits and new.ready_at != self.after.now + wait_after(outcome):
            yield f"I17 run {old.id} is to wait until {new.ready_at} after {outcome}"

    def endings(self, old: Run, outcome: Outcome) -> tuple[str, ...]:
        """What may become of a run by this outcome."""
        if old.state == "cancelling":
            return ("cancelled",)
        once = old.guarantee == Guarantee.AT_MOST_ONCE
        late = () if old.deadline_at is None else ("expired",)
        match outcome:
            case Succeeded():
                return ("succeeded",)
            case Snoozed():
                return ("queued", *late)
            case HandedBack():
                return ("lost",) if once and outcome.has_started else ("queued", *late)
            case Failed():
                retries = self.ledger.plans[old.job_id].retries
                if outcome.final or once or old.failures >= retries:
                    return ("dead",)
                return ("retrying", *late)
            case _:
                raise AssertionError(outcome)

    def rescued(self, old: Run, new: Run) -> Iterator[str]:
        outage_ended = self.ledger.outage_ended
        assert old.session_id is not None
        is_soon = outage_ended is not None and self.after.now < outage_ended + UNKNOWN_FOR
        if is_soon and not self.after.sessions[old.session_id].is_expired:
            yield f"I18 run {old.id} was taken from a living session soon after an outage"
        if not old.is_held or not self.before.is_lost(old, unknown_for=UNKNOWN_FOR):
            yield f"I10 {old.state} run {old.id} was taken from {old.session_id}, which holds it"
        if self.is_vouched(old):
            yield f"I10 run {old.id} was taken from {old.session_id}, which performs it"
        expected = "queued"
        if old.state == "cancelling":
            expected = "cancelled"
        elif old.guarantee == Guarantee.AT_MOST_ONCE:
            expected = "lost"
        elif old.losses + 1 >= WORKER_LOSSES_MAX:
            expected = "quarantined"
        if new.state != expected or new.losses != old.losses + 1:
            yield f"I15 lost run {old.id} ({old.guarantee}, {old.losses} losses) is {new.state}"

    def is_vouched(self, run: Run) -> bool:
        """Whether a living worker performed it when it last beat, and had not lost sight of it."""
        assert run.session_id is not None
        session = self.before.sessions[run.session_id]
        worker, attempt = self.ledger.workers[run.session_id], (run.id, run.attempt)
        if session.expires_at <= self.after.now or attempt in worker.forgotten:
            return False
        return attempt in worker.beats.get(session.beat_at, ()) and attempt in worker.performing

    def cursors(self) -> Iterator[str]:
        for id_, new in self.after.jobs.items():
            old = self.before.jobs.get(id_)
            if new.state == "quarantined":
                yield f"I3 job {id_} was set aside"
            if old is None or (old.tick_at, old.fire_at) == (new.tick_at, new.fire_at):
                continue
            if id_ in self.act.jobs:
                continue
            shard = None if old.shard is None else self.before.shards.get(old.shard)
            if self.act.what != "firing" or shard is None or shard.owner not in self.mine:
                yield f"I10 {self.act.what} of {self.me} moved the cursor of {id_}, held: {shard}"
            if old.fire_at is None:
                yield f"I14 a tick of job {id_} was decided while it was held"
            if old.tick_at is None or (new.tick_at is not None and new.tick_at <= old.tick_at):
                yield f"I3 the cursor of job {id_} went from {old.tick_at} to {new.tick_at}"

    def submissions(self) -> Iterator[str]:
        """One that waits becomes a run at its instant, by whoever holds its shard."""
        for id_, old in self.before.submissions.items():
            if id_ in self.after.submissions:
                continue
            shard = self.before.shards.get(old.shard)
            if self.act.what != "firing" or shard is None or shard.owner not in self.mine:
                yield f"I10 {self.act.what} of {self.me} moved submission {id_}, held: {shard}"
            if old.due_at > self.after.now + FIRE_AHEAD:
                yield f"I4 submission {id_} became a run at {self.after.now}, due at {old.due_at}"

    def shards(self) -> Iterator[str]:
        for id_, new in self.after.shards.items():
            old: Any = self.before.shards.get(id_)
            if old is None or old == new:
                continue
            if new.owner not in self.mine:
                yield f"I10 {self.act.what} of {self.me} gave shard {id_} to {new.owner}"
            if old.owner != new.owner and old.expires_at > self.after.now:
                yield f"I10 shard {id_} was taken from {old.owner}, whose lease holds"
            if new.epoch < old.epoch + (old.owner != new.owner):
                yield f"I9 the epoch of shard {id_} went from {old.epoch} to {new.epoch}"

    def sessions(self) -> Iterator[str]:
        for id_, old in self.before.sessions.items():
            new = self.after.sessions[id_]
            if old.is_expired and not new.is_expired:
                yield f"I10 session {id_} was expired and was revived"
            if new.is_expired and not old.is_expired and id_ not in self.mine:
                yield from self.expired(old)

    def expired(self, session: Session) -> Iterator[str]:
        """Only once its lease has run out; and not before it could have renewed it."""
        now, outage_ended = self.after.now, self.ledger.outage_ended
        if now < session.expires_at:
            yield f"I10 session {session.id} was expired before {session.expires_at}"
        ttl = session.expires_at - session.beat_at
        if outage_ended is not None and now < outage_ended + ttl:
            yield f"I18 session {session.id} was expired {now - outage_ended} after an outage"


def wait_after(outcome: Outcome) -> timedelta:
    match outcome:
        case Snoozed():
            return outcome.delay
        case Failed():
            return BACK_OFF
        case _:
            return timedelta(0)
