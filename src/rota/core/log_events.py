"""Defines the log events of the engine.

Services emit these values through one injected callable; flow/observe turns each into a log line
and counts it. Nothing here formats text. The normal life of a run emits no event of its own:
frequent events are emitted once per batch.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened:
    """A process started and registered its session."""

    role: str
    name: str
    session_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantsUnknown:
    """The settings of a worker name tenants that do not exist; they may be created later."""

    tenants: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingDeprecated:
    """The settings of a process use a setting that a later release removes."""

    setting: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsDeclared:
    """A worker stored the jobs that its app declares."""

    app: str
    made: int
    changed: int
    unchanged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobUndeclared:
    """An app no longer declares this job; the job stays active until a user deletes it."""

    app: str
    name: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardsMoved:
    """A scheduler acquired, released or lost shards."""

    taken: int
    released: int
    lost: int
    held: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TicksFired:
    """A batch of ticks was fired; `late_by` is the lateness of the earliest tick."""

    count: int
    late_by: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class TicksRejected:
    """Ticks were not fired: another scheduler had decided them, or holds their shard now."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TicksCaughtUp:
    """Missed ticks of a job were handled: `ran` of them ran, the others were only recorded."""

    job_id: UUID
    ran: int
    recorded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobQuarantined:
    """A job cannot be scheduled and was quarantined, so that it does not block other jobs."""

    job_id: UUID
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSetAside:
    """A job waits for a scheduler of a newer version, which can read its documents."""

    job_id: UUID
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetAside:
    """A run waits for a process of a newer version, which can read its documents."""

    run_id: UUID
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersExpired:
    """Sessions did not renew their leases in time and were expired."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerIsolated:
    """A worker could not reach the database and no longer trusts its lease. `stopped` attempts
    were asked to stop, because they must not run beside their successors.
    """

    stopped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseOverrun:
    """An attempt that must not run beside its successor did not stop before the lease ended; the
    worker kills its own process.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsReclaimed:
    """Runs of lost workers are queued again, or ended as quarantined, lost or cancelled. `lost` and
    `quarantined` are those of the ended ones that became dead letters.
    """

    waiting: int
    ended: int
    lost: int = 0
    quarantined: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RescueFailed:
    """Runs of lost workers could not be reclaimed; an operator must look at the reason."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAdvanceDelayed:
    """A graph run could not be advanced; it is retried after a pause."""

    run_id: UUID
    reason: str
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAdvanceFailed:
    """A graph run could not be advanced or stored, and was ended."""

    run_id: UUID
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsExpired:
    """Runs passed their deadlines."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsDiscarded:
    """Results of attempts were discarded, because another process holds their runs now."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsClaimed:
    """A worker asked for runs of a queue, which took `took_s`.

    `waits` has the seconds from ready to started of each run that it got; `longest_run_id` is the
    one that waited longest.
    """

    queue: str
    took_s: float
    waits: Sequence[float] = ()
    longest_run_id: UUID | None = None


class AttemptGroup(NamedTuple):
    """Attempts of one task with one outcome. `durations` are in seconds and leave out attempts that
    never ran.
    """

    task: str
    outcome: str
    number: int
    durations: Sequence[float] = ()
    slowest_run_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptsEnded:
    """A batch of attempts ended and was recorded."""

    groups: Sequence[AttemptGroup]

    @property
    def outcomes(self) -> Counter[str]:
        """How many attempts had each outcome."""
        found: Counter[str] = Counter()
        for group in self.groups:
            found[group.outcome] += group.number
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFailed:
    """An attempt failed; `retry_in` is None if it is not retried. `final_state` is the state of the
    run if it ended.
    """

    run_id: UUID
    kind: str
    attempt: int
    reason: str
    retry_in: timedelta | None
    final_state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptStuck:
    """An attempt did not stop when asked; the worker abandoned it and ignores its result."""

    run_id: UUID
    kind: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopBlocked:
    """A handler blocked the event loop of the attempts."""

    seconds: float
    kind: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetDown:
    """A target is down: its runs wait, and a probe follows after `pause`. `down` is the number of
    open breakers of this worker.
    """

    tenant_id: int
    target: str
    failures: int
    pause: timedelta
    down: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetUp:
    """A target that was down answered; its runs continue."""

    tenant_id: int
    target: str
    down: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockMeasured:
    """The offset of the database's clock was measured; it is ahead by at least `by`."""

    by: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockSkewed:
    """This machine's clock differs from the database's by more than two seconds."""

    by: timedelta
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockCorrected:
    """This machine's clock agrees with the database's again."""

    by: timedelta
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAcquired:
    """This process started to read a source."""

    source: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFailed:
    """A source could not be read; this process or another one retries after `pause`."""

    source: str
    kind: str
    reason: str
    pause: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatRefused:
    """The outside monitor did not accept the heartbeat; the next one is sent as usual."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSkipped:
    """A message of a source is not a valid event and was skipped, as its settings demand."""

    source: str
    message: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsIngested:
    """A batch of events from a source was committed, with the runs that it started."""

    source: str
    count: int
    duplicates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneRulesChanged:
    """A newer tzdata was applied to future ticks: `jobs` use one of the changed zones, and the next
    tick of `moved` of them changed.
    """

    before: str
    after: str
    zones: tuple[str, ...]
    jobs: int
    moved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneRulesOlder:
    """This process has an older tzdata than the cluster; other processes correct its ticks."""

    ours: str
    cluster: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationWaiting:
    """Another process migrates the schema; this one waits for its turn."""

    holder: str
    waited: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationRunning:
    """A migration is still running; `waits_for` names the sessions whose locks it needs."""

    name: str
    lasted: timedelta
    waits_for: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationDelayed:
    """A migration did not get a lock in time; it is retried after a pause."""

    name: str
    reason: str
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationApplied:
    """A migration was applied and recorded."""

    name: str
    lasted: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationAttempted:
    """An attempt to send a message through a channel ended; `outcome` is sent or failed."""

    channel: str
    outcome: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAttempted:
    """An attempt to deliver an event to a webhook ended; `outcome` is delivered or failed."""

    endpoint: str
    event: str
    outcome: str
    status: int | None
    duration: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointChanged:
    """A webhook endpoint began to fail, recovered, or was disabled by Rota."""

    endpoint: str
    change: str
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhooksUnsigned:
    """This process delivers no webhooks, because it has no master key to decrypt their secrets."""

    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayAcquired:
    """This process now reads events for alerts and webhooks ("relay"), or for a sink."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkFailed:
    """Events were not published to a sink; this process or another one retries after `pause`."""

    sink: str
    kind: str
    reason: str
    pause: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsRelayed:
    """The relay or a sink handed events over; `lag` is how far it was behind."""

    name: str
    count: int
    lag: timedelta


EngineEvent = (
    SessionOpened
    | RelayAcquired
    | SinkFailed
    | EventsRelayed
    | TenantsUnknown
    | SettingDeprecated
    | JobsDeclared
    | JobUndeclared
    | ShardsMoved
    | TicksFired
    | TicksRejected
    | TicksCaughtUp
    | JobQuarantined
    | JobSetAside
    | RunSetAside
    | WorkersExpired
    | WorkerIsolated
    | LeaseOverrun
    | RunsReclaimed
    | RescueFailed
    | GraphAdvanceDelayed
    | GraphAdvanceFailed
    | RunsExpired
    | ResultsDiscarded
    | RunsClaimed
    | NotificationAttempted
    | AttemptsEnded
    | AttemptFailed
    | AttemptStuck
    | LoopBlocked
    | TargetDown
    | TargetUp
    | ClockMeasured
    | ClockSkewed
    | ClockCorrected
    | SourceAcquired
    | SourceFailed
    | HeartbeatRefused
    | MessageSkipped
    | EventsIngested
    | WebhookAttempted
    | EndpointChanged
    | WebhooksUnsigned
    | ZoneRulesChanged
    | ZoneRulesOlder
    | MigrationWaiting
    | MigrationRunning
    | MigrationDelayed
    | MigrationApplied
)

Emit = Callable[[EngineEvent], None]
