"""Who works on what: the slots of a worker and the attempts that fill them. Room: flow/execute.

Lives in the engine's loop. It starts claimed runs on the stage, takes their endings back, and keeps
the list that the heartbeat vouches for: every run from its claim until its ending is stored. A slot
is free as soon as its attempt ended; but while more endings wait to be stored than slots exist,
nothing new is claimed.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.attempt import Ended, Stopping
from rota.core.events import AttemptStuck, Emit, LoopBlocked
from rota.core.executor import Abandoning, Executor
from rota.core.lease import LeaseTrust
from rota.core.outcome import Failed, Failure, HandedBack, Outcome, Unfolded
from rota.core.policy import USUAL
from rota.flow.execute.attempt import Attempt, Trace
from rota.flow.execute.breakers import Breakers
from rota.flow.execute.briefing import Briefing, JobBrief
from rota.flow.execute.effects import StageEffects
from rota.flow.execute.stage import Stage
from rota.flow.execute.unfolding import UNFOLDING
from rota.store.live_runs import Claimed
from rota.store.logs import Piece
from rota.store.notes import Progress

# Endings that may wait to be stored before claiming pauses, in slots.
BACKLOG: Final = 2
CLOSING_SECONDS: Final = 15.0
# Pieces of output: what an attempt may keep is far less.
MOST_LAST_WORDS: Final = 10_000
# Attempts that ignored every request to stop; so many leaked threads want a new process.
MOST_STUCK: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What a stage is made of; made anew when a blocked stage is replaced."""

    executors: tuple[Executor, ...]
    effects: StageEffects
    trust: LeaseTrust
    # The same for all stages of a worker: a target does not come back because a stage was blocked.
    breakers: Breakers
    trace: Trace | None = None
    # Every attempt ends before the lease does, not only those that forbid overlap.
    stops_all_for_lease: bool = False


class Calls(NamedTuple):
    """Whom a crew calls: when slots fall free or endings wait, and when places behind gates do.
    `reached` tells when, by the monotonic clock, the database's shows a time.
    """

    changed: Callable[[], object]
    gates_freed: Callable[[], object]
    reached: Callable[[datetime], float | None]


class Crew:
    """`kinds` names the kinds that this worker knows, by id."""

    def __init__(
        self,
        *,
        slots: int,
        kinds: dict[int, str],
        make_kit: Callable[[Callable[[Attempt], None]], Kit],
        briefing: Briefing,
        calls: Calls,
        emit: Emit,
    ) -> None:
        self.slots = slots
        self.running: dict[UUID, Attempt] = {}
        # Batches that were claimed, until it is known what their runs are; and runs that are handed
        # back because that was not to be had.
        self._unbriefed: dict[int, Sequence[Claimed]] = {}
        self._handed_back: dict[UUID, Claimed] = {}
        # Executors of the attempts that were last stopped because the lease was not to be trusted.
        self._stopped_for_lease: tuple[Executor, ...] = ()
        self.stuck = 0
        self._kinds = kinds
        self._make_kit = make_kit
        self._briefing = briefing
        self._changed = calls.changed
        self._gates_freed = calls.gates_freed
        self._reached = calls.reached
        self._emit = emit
        self._busy = 0
        self._ended: deque[Ended] = deque()
        self._noted: dict[int, Attempt] = {}
        # What was last taken to be stored: until somebody takes more, it may not have arrived.
        self._on_their_way: list[Piece] = []
        # Written by the stage's thread, emptied here.
        self._told: deque[tuple[Attempt, Ended, bool]] = deque()
        self._is_called = False
        self._loop = asyncio.get_running_loop()
        self._stage, self._by_kind, self._effects = self._set_stage()

    @property
    def free(self) -> int:
        if len(self._ended) > BACKLOG * self.slots:
            return 0
        return self.slots - self._busy

    @property
    def busy(self) -> int:
        return self._busy

    @property
    def stage(self) -> Stage:
        return self._stage

    async def begin(self, runs: Sequence[Claimed], *, gated: bool = False) -> None:
        """Start runs that were claimed for us; from here on the heartbeat vouches for them.

        Before anything is read about them: if that fails, they are handed back and have lost
        nothing, because their handlers never started.
        """
        self._unbriefed[id(runs)] = runs
        try:
            attempts = self._attempts(runs, await self._briefing.brief(runs), gated=gated)
        except BaseException:
            self._hand_back(runs)
            raise
        finally:
            del self._unbriefed[id(runs)]
        unfolded = [attempt for attempt in attempts if attempt.executor is UNFOLDING]
        if unfolded:
            self._unfold(unfolded)
            attempts = [attempt for attempt in attempts if attempt.executor is not UNFOLDING]
        self._busy += len(attempts)
        self._stage.begin(attempts)

    def _attempts(
        self, runs: Sequence[Claimed], briefs: Sequence[JobBrief], *, gated: bool
    ) -> list[Attempt]:
        """An attempt for each run; they are all vouched for, or none is."""
        policies, by_kind, kinds = self._briefing.policies, self._by_kind, self._kinds
        tenants = self._briefing.tenants
        is_bound = gated or self._stops_all_for_lease
        made = {}
        for run, job in zip(runs, briefs, strict=True):
            kind = kinds[run.kind_id]
            payload = job.payload if run.payload is None else run.payload
            policy = policies[run.policy_id]
            attempt = Attempt(run, kind, policy, payload, by_kind[kind], self._effects)
            attempt.tenant = tenants[run.tenant_id]
            attempt.is_gated = gated
            attempt.forbids_overlap = is_bound or job.forbids_overlap
            if run.started_at == run.ready_at:  # claimed ahead of its time
                attempt.start_at = self._reached(run.ready_at)
            made[run.id] = attempt
        self.running.update(made)
        return list(made.values())

    def _hand_back(self, runs: Sequence[Claimed]) -> None:
        """End attempts whose handlers never started: their runs wait again."""
        for run in runs:
            self._handed_back[run.id] = run
            self._ended.append(
                Ended(
                    run_id=run.id,
                    attempt=run.attempt,
                    failures=run.failures,
                    kind=self._kinds[run.kind_id],
                    policy=USUAL,
                    deadline_at=run.deadline_at,
                    outcome=HandedBack(started=False),
                    result=None,
                    is_recorded=False,
                    lasted=0.0,
                )
            )
        self._changed()

    def held_runs(self) -> list[UUID]:
        """The runs that the heartbeat vouches for. It calls this from its thread: one step each,
        because the engine's thread may add and remove meanwhile.
        """
        unbriefed = [run.id for runs in list(self._unbriefed.values()) for run in runs]
        return [*unbriefed, *list(self._handed_back), *list(self.running)]

    def stop_for_lease(self) -> int:
        """Ask the attempts to stop that must not run beside their successors; return how many.
        Called from the heartbeat's thread, because the engine may be blocked.
        """
        found = self._bound_by_lease()
        self._stopped_for_lease = tuple(attempt.executor for attempt in found)
        if found:
            self._stage.stop(found, Stopping.LEASE)
        return len(found)

    def outlives_lease(self) -> bool:
        """Whether such an attempt still works, or a thread that one has left behind."""
        return bool(self._bound_by_lease()) or any(
            isinstance(executor, Abandoning) and executor.abandoned > 0
            for executor in self._stopped_for_lease
        )

    def _bound_by_lease(self) -> list[Attempt]:
        attempts = list(self.running.values())
        return [each for each in attempts if each.forbids_overlap and not each.is_closed]

    def _unfold(self, attempts: Sequence[Attempt]) -> None:
        """Graph runs end here: their steps are runs of their own."""
        for attempt in attempts:
            attempt.is_closed = attempt.is_counted = True
            self._ended.append(ended_by_us(attempt, Unfolded(), lasted=0.0))
        self._changed()

    def stop(self, run_ids: Iterable[UUID], why: Stopping) -> None:
        """Ask runs to stop; those that are not here are not ours."""
        found = [self.running[run_id] for run_id in run_ids if run_id in self.running]
        if found:
            self._stage.stop(found, why)

    def stop_all(self, why: Stopping) -> None:
        self._stage.stop(list(self.running.values()), why)

    def take_ended(self, most: int) -> list[Ended]:
        return [self._ended.popleft() for _ in range(min(most, len(self._ended)))]

    def put_back_ended(self, ended: Sequence[Ended]) -> None:
        """What could not be stored comes first again."""
        self._ended.extendleft(reversed(ended))

    def forget(self, stored: Sequence[Ended]) -> None:
        """These are stored, or somebody else's: no need to vouch for them any more.

        A run that came back meanwhile may be held by a newer attempt of ours: that one stays.
        """
        places = 0
        for ended in stored:
            attempt = self.running.get(ended.run_id)
            if attempt is not None and attempt.attempt == ended.attempt:
                del self.running[ended.run_id]
                places += attempt.is_gated
                continue
            if self._handed_back:
                run = self._handed_back.get(ended.run_id)
                if run is not None and run.attempt == ended.attempt:
                    del self._handed_back[ended.run_id]
        if places:
            self._gates_freed()

    def take_last_words(self, ended: Sequence[Ended]) -> list[Piece]:
        """What attempts wrote that have ended, and that may not be stored yet. What is being stored
        at this moment is told again: storing it twice changes nothing.
        """
        pieces: list[Piece] = []
        if self._on_their_way:
            runs = {each.run_id for each in ended}
            pieces += [piece for piece in self._on_their_way if piece.run_id in runs]
        for each in ended:
            attempt = self.running.get(each.run_id)
            if attempt is None or attempt.output is None or attempt.attempt != each.attempt:
                continue
            run, said = attempt.run, attempt.output.take(MOST_LAST_WORDS)
            pieces += [Piece(run.id, run.attempt, s.seq, s.stream, s.at, s.chunk) for s in said]
        return pieces

    def take_notes(self, most: int) -> tuple[list[Piece], list[Progress]]:
        """Output and progress that nobody has stored yet."""
        pieces: list[Piece] = []
        told: list[Progress] = []
        for key in list(self._noted):
            attempt = self._noted.pop(key)
            run = attempt.run
            if attempt.output is not None:
                room = most - len(pieces)
                said = attempt.output.take(room)
                pieces += [Piece(run.id, run.attempt, s.seq, s.stream, s.at, s.chunk) for s in said]
                if len(said) == room:
                    self._noted[key] = attempt
            progress = attempt.take_progress()
            if progress is not None:
                told.append(Progress(run.id, run.attempt, *progress))
            if len(pieces) >= most:
                break
        self._on_their_way = pieces
        return pieces, told

    def replace_stage(self, silent: float) -> None:
        """The loop of the attempts stands still: blame whoever blocks it, save the others.

        The others are handed back and start again elsewhere, which costs them no retry.
        """
        blocked, culprit = self._stage, self._stage.current()
        self._emit(LoopBlocked(seconds=silent, kind=culprit.kind if culprit else None))
        message = f"it blocked the event loop for {silent:.0f} s; blocking work belongs in a thread"
        for attempt in list(self.running.values()):
            attempt.is_closed = True
            if not self._count(attempt):
                continue
            outcome: Outcome = HandedBack(started=attempt.is_started)
            if attempt is culprit:
                outcome = Failed(failure=Failure(type="LoopBlocked", message=message))
            if attempt.span is not None:
                attempt.span.end(outcome)
            self._ended.append(ended_by_us(attempt, outcome, lasted=silent))
        self._stage, self._by_kind, self._effects = self._set_stage()
        blocked.abandon()
        self._changed()

    async def close(self) -> None:
        if not await asyncio.to_thread(self._stage.close, CLOSING_SECONDS):
            self._stage.abandon()

    def _set_stage(self) -> tuple[Stage, dict[str, Executor], StageEffects]:
        kit = self._make_kit(self._note)
        self._stops_all_for_lease = kit.stops_all_for_lease
        stage = Stage(
            (*kit.executors,),
            closing=kit.effects.close,
            tell=self._tell,
            trust=kit.trust,
            breakers=kit.breakers,
            trace=kit.trace,
        )
        stage.open()
        executors: list[Executor] = [UNFOLDING, *kit.executors]
        by_kind = {kind: executor for executor in executors for kind in executor.kinds}
        return stage, by_kind, kit.effects

    def _note(self, attempt: Attempt) -> None:
        self._noted[id(attempt)] = attempt

    def _tell(self, attempt: Attempt, ended: Ended, is_stuck: bool) -> None:  # noqa: FBT001 — a callback
        """In the stage's thread: keep the ending and call the engine, once for many."""
        self._told.append((attempt, ended, is_stuck))
        if not self._is_called:
            self._is_called = True
            self._loop.call_soon_threadsafe(self._collect)

    def _collect(self) -> None:
        self._is_called = False
        while self._told:
            attempt, ended, is_stuck = self._told.popleft()
            if not self._count(attempt):
                continue
            self._ended.append(ended)
            if is_stuck:
                self.stuck += 1
                self._emit(
                    AttemptStuck(run_id=attempt.run_id, kind=attempt.kind, attempt=attempt.attempt)
                )
        self._changed()

    def _count(self, attempt: Attempt) -> bool:
        """Free its slot, once: a stage that was replaced may still tell of an ending."""
        if attempt.is_counted:
            return False
        attempt.is_counted = True
        self._busy -= 1
        return True


def ended_by_us(attempt: Attempt, outcome: Outcome, *, lasted: float) -> Ended:
    run = attempt.run
    return Ended(
        run_id=run.id,
        attempt=run.attempt,
        failures=run.failures,
        kind=attempt.kind,
        policy=attempt.policy,
        deadline_at=run.deadline_at,
        outcome=outcome,
        result=None,
        is_recorded=attempt.is_recorded,
        lasted=lasted,
    )
