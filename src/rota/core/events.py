"""What can happen in the engine, as values. Room: core.

Steps emit these through one injected callable; flow/observe turns each into a log line and counts
it. Nothing here formats text, and a run's ordinary way makes no event of its own: what happens
thousands of times a second is told a batch at a time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened:
    """A process registered its start."""

    role: str
    name: str
    session_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantsUnknown:
    """The settings of a worker name tenants that do not exist. They may be created later."""

    tenants: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsDeclared:
    """A worker wrote the schedules that its app declares."""

    app: str
    made: int
    changed: int
    unchanged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobForgotten:
    """An app declared this job once and does not any more; it goes on until somebody deletes it."""

    app: str
    name: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardsMoved:
    """A scheduler took or gave up shards."""

    taken: int
    released: int
    lost: int
    held: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TicksFired:
    """A batch of ticks was decided; `late_by` is of the one that was due first."""

    count: int
    late_by: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class FiresRefused:
    """Ticks that somebody else had decided, or that were not ours any more."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TicksCaughtUp:
    """A job was late: some of its ticks ran after all, the others are on record."""

    job_id: UUID
    ran: int
    recorded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobQuarantined:
    """A job that cannot be scheduled was set aside, so that it does not stop the others."""

    job_id: UUID
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSetAside:
    """A job waits for a scheduler of a newer version, because only that knows its documents."""

    job_id: UUID
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetAside:
    """A run waits for a process of a newer version, because only that knows its documents."""

    run_id: UUID
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersBuried:
    """Sessions fell silent for longer than their lease."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptsCutOff:
    """The worker has not reached the database for so long that it no longer trusts its lease.
    `stopped` attempts were asked to stop, because they must not run beside their successors.
    """

    stopped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseOutlived:
    """An attempt that must not run beside its successor did not stop before the lease ended, so the
    worker ends its process.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsReclaimed:
    """Runs of dead workers wait again, or ended: quarantined, lost or cancelled."""

    waiting: int
    ended: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RescueFailed:
    """The database refused to take runs back; what they wait for must be looked at."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvancePutOff:
    """What follows in a graph run could not be decided; it is tried again after a pause."""

    run_id: UUID
    reason: str
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceFailed:
    """What follows in a graph run could not be decided or stored, and it was ended for it."""

    run_id: UUID
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsExpired:
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsRefused:
    """Attempts ended that were no longer ours: somebody else decides their runs."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptsEnded:
    """A batch of attempts ended and is stored; `lasted` has the seconds that each of them ran."""

    outcomes: Mapping[str, int]
    lasted: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFailed:
    """An attempt ended badly; `retry_in` is None when it was the last."""

    run_id: UUID
    kind: str
    attempt: int
    reason: str
    retry_in: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStuck:
    """An attempt did not stop when it was asked to; it was given up and its result is void."""

    run_id: UUID
    kind: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopBlocked:
    """A handler kept the loop of the attempts from turning."""

    seconds: float
    kind: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetDown:
    """A target does not answer; its runs wait, and one looks again after `pause`. `down` is how
    many targets this worker leaves alone now.
    """

    tenant_id: int
    target: str
    failures: int
    pause: timedelta
    down: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetUp:
    """A target that was down answered; its runs go on."""

    tenant_id: int
    target: str
    down: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockMeasured:
    """The database's clock was asked; it is ahead of this machine's by at least so much."""

    by: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockApart:
    """This machine's clock differs from the database's by more than two seconds."""

    by: timedelta
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockCorrected:
    """This machine's clock agrees with the database's again."""

    by: timedelta
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHeld:
    """This process reads a source from now on."""

    source: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFailed:
    """A source could not be read; it is tried again after `pause`, here or by another process."""

    source: str
    kind: str
    reason: str
    pause: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRefused:
    """A message of a source that is no event was passed over, as its settings say."""

    source: str
    message: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsTaken:
    """A batch of a source was committed, with its runs."""

    source: str
    count: int
    duplicates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneRulesChanged:
    """A newer tzdata was applied to the ticks to come: `jobs` had a rule or calendar in one of the
    zones that changed, and the next tick of `moved` is another now.
    """

    before: str
    after: str
    zones: tuple[str, ...]
    jobs: int
    moved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneRulesOlder:
    """This process has an older tzdata than the cluster: what it computes is corrected later."""

    ours: str
    cluster: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationWaiting:
    """Another process migrates the schema; this one waits for its turn."""

    holder: str
    waited: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationRunning:
    """A migration has not ended yet; `waits_for` names the sessions whose locks it needs."""

    name: str
    lasted: timedelta
    waits_for: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationPutOff:
    """A migration met a lock and gave way; it is tried again after a pause."""

    name: str
    reason: str
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationApplied:
    """A migration was applied and recorded."""

    name: str
    lasted: timedelta


EngineEvent = (
    SessionOpened
    | TenantsUnknown
    | JobsDeclared
    | JobForgotten
    | ShardsMoved
    | TicksFired
    | FiresRefused
    | TicksCaughtUp
    | JobQuarantined
    | JobSetAside
    | RunSetAside
    | WorkersBuried
    | AttemptsCutOff
    | LeaseOutlived
    | RunsReclaimed
    | RescueFailed
    | AdvancePutOff
    | AdvanceFailed
    | RunsExpired
    | ResultsRefused
    | AttemptsEnded
    | AttemptFailed
    | AttemptStuck
    | LoopBlocked
    | TargetDown
    | TargetUp
    | ClockMeasured
    | ClockApart
    | ClockCorrected
    | SourceHeld
    | SourceFailed
    | MessageRefused
    | EventsTaken
    | ZoneRulesChanged
    | ZoneRulesOlder
    | MigrationWaiting
    | MigrationRunning
    | MigrationPutOff
    | MigrationApplied
)

Emit = Callable[[EngineEvent], None]
