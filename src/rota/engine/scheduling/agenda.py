"""Holds the ticks that one tick firer fires soon, by time.

The agenda is only a cache of the index of due cursors. Losing it loses no tick, because the reader
reads overdue cursors again. It remembers three things: the wheel holds the ticks by time, with
everything precomputed that firing needs; `_entries` holds the newest entry of each job, so that an
entry of the wheel that is outdated (the job was edited) is skipped when its time comes; `_decided`
holds recent decisions for a moment, because a read that was already under way still shows their
cursors.

A shard is complete up to its horizon: every tick up to it is in the wheel or was decided. Schedules
are evaluated here, ahead of the moment of firing. A schedule that cannot be parsed or does not
advance, and a tick that the database rejects, are added to `faults`; their jobs are quarantined, so
that they do not stop the others (F08).

Implements a hierarchical timing wheel: finds due items in constant time.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Generic, NamedTuple, Self, TypeVar
from uuid import UUID

from rota.core.errors import NewerDocument, RotaError, SearchTooLong
from rota.core.ids import derive_tick_run_id
from rota.core.log_events import Emit, JobQuarantined, JobSetAside
from rota.core.overlap import Overlap
from rota.core.time.budget import SearchBudget
from rota.core.time.planning import PlannedTick
from rota.engine.scheduling.schedule_cache import SCHEDULE_FAULTS, ScheduleCache, cache_value
from rota.store.cursors import BEFORE_ALL_TICKS, DueTick, TickFiring
from rota.store.driver import Connection
from rota.store.jobs import quarantine_job
from rota.store.submissions import DueShard, MovedSubmissions

T = TypeVar("T")

LEVEL_BITS: Final = 6
LEVEL_SLOTS: Final = 1 << LEVEL_BITS
SLOT_MASK: Final = LEVEL_SLOTS - 1


class WheelLevel(Generic[T]):
    """64 slots, and a bit set of the slots in use."""

    __slots__ = ("slots", "used")

    def __init__(self) -> None:
        self.slots: list[list[tuple[int, T]]] = [[] for _ in range(LEVEL_SLOTS)]
        self.used = 0


class TimingWheel(Generic[T]):
    """Holds items by their time. Items with equal times keep their order; an item that is already
    due when it is added follows the items that were due before.
    """

    __slots__ = ("_due", "_levels", "_now")

    def __init__(self, now: int) -> None:
        self._now = now
        self._levels: list[WheelLevel[T]] = []
        self._due: deque[T] = deque()

    def __len__(self) -> int:
        """Count the items. Slow: only for tests and metrics."""
        in_slots = sum(len(slot) for level in self._levels for slot in level.slots)
        return in_slots + len(self._due)

    def add(self, at: int, item: T) -> None:
        """Add an item that `take` returns once the time is `at`."""
        now = self._now
        if at <= now:
            self._due.append(item)
            return
        place = ((at ^ now).bit_length() - 1) // LEVEL_BITS
        while len(self._levels) <= place:
            self._levels.append(WheelLevel())
        level = self._levels[place]
        slot = at >> place * LEVEL_BITS & SLOT_MASK
        level.slots[slot].append((at, item))
        level.used |= 1 << slot

    def take(self, now: int, limit: int) -> list[T]:
        """Remove and return at most `most` items that are due at `now`, earliest first."""
        self._move_to(now)
        due = self._due
        return [due.popleft() for _ in range(min(limit, len(due)))]

    def find_next_at(self) -> int | None:
        """Return when to call `take` next: now if an item is due, otherwise a time before which no
        item is due; None if the wheel is empty.
        """
        if self._due:
            return self._now
        return next((start for _, _, start in self._occupied()), None)

    def _move_to(self, now: int) -> None:
        while (first := next(self._occupied(), None)) is not None:
            level, slot, start = first
            if start > now:
                break
            self._now = start
            items, level.slots[slot] = level.slots[slot], []
            level.used ^= 1 << slot
            for at, item in items:
                self.add(at, item)
        # No slot begins between the old and the new time, so every item stays in its slot.
        self._now = max(self._now, now)

    def _occupied(self) -> Iterator[tuple[WheelLevel[T], int, int]]:
        """Yield the first slot in use of each level, with the time at which it begins."""
        for place, level in enumerate(self._levels):
            if level.used:
                slot = (level.used & -level.used).bit_length() - 1
                above = self._now >> (place + 1) * LEVEL_BITS
                yield level, slot, (above << LEVEL_BITS | slot) << place * LEVEL_BITS


EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
FAR_FUTURE: Final = datetime(9999, 1, 1, tzinfo=UTC)
# Finer than the event loop can wake up.
WHEEL_UNIT: Final = timedelta(microseconds=100)
REASON_LENGTH_MAX: Final = 1000
KNOWN_OVERLAPS: Final = frozenset(policy.value for policy in Overlap)

# The catch-up ticks that a job still has to run, then its first regular tick or None if the
# schedule has ended.
RemainingTicks = tuple[PlannedTick | None, ...]


class TickEntry(NamedTuple):
    """A tick that is ready to be fired. After `late_at` the misfire handler decides first.
    `remaining` holds the ticks that the misfire handler planned after this one.
    """

    firing: TickFiring
    late_at: datetime
    remaining: RemainingTicks = ()


class ScheduleFault(NamedTuple):
    """A job that cannot be scheduled, and the reason."""

    due: DueTick
    reason: str

    @classmethod
    def from_error(cls, due: DueTick, error: Exception) -> Self:
        """Build a fault. Errors that are not Rota's are shown with their type."""
        is_rota_error = isinstance(error, RotaError)
        return cls(due, str(error) if is_rota_error else repr(error))


@dataclass(slots=True)
class DueSubmissions:
    """The shards of one tick firer that have submissions to move, by the next due time.

    The tick reader reports what the database has. The tick firer takes the shards with due
    submissions, moves these into the hot table and reports when the next are due. The state in
    memory decides nothing: a time that is too early costs a statement that moves nothing, and the
    next read finds what was missed.
    """

    _next: dict[int, datetime] = field(default_factory=dict)

    def note_due(self, found: Iterable[DueShard]) -> bool:
        """Note when shards have submissions due; return whether one is sooner than all before."""
        soonest = self.soonest
        for shard, due_at in found:
            known = self._next.get(shard)
            if known is None or due_at < known:
                self._next[shard] = due_at
        return self.soonest is not None and (soonest is None or self.soonest < soonest)

    def take_due_shards(self, until: datetime, held: Collection[int]) -> list[int]:
        """Return the held shards with submissions due by `until`, and forget their times: reports
        after this call are new.
        """
        due = [shard for shard, due_at in self._next.items() if due_at <= until]
        for shard in due:
            del self._next[shard]
        return [shard for shard in due if shard in held]

    @property
    def soonest(self) -> datetime | None:
        return min(self._next.values(), default=None)

    def seconds_until_due(self, now: datetime, *, max_seconds: float) -> float:
        """Return the seconds until a submission may be due."""
        soonest = self.soonest
        if soonest is None:
            return max_seconds
        return max(0.0, min(max_seconds, (soonest - now).total_seconds()))


class Agenda:
    """Calls `wake` when an entry arrives that is due before all others."""

    def __init__(self, *, schedule_cache: ScheduleCache, wake: Callable[[], object]) -> None:
        self.schedule_cache = schedule_cache
        self.horizons: dict[int, datetime] = {}
        self.faults: list[ScheduleFault] = []
        self.submissions = DueSubmissions()
        # Cursors whose next tick takes too long to find on the event loop.
        self._long_searches: dict[UUID, DueTick] = {}
        # Version and tick of the cursors that only newer code can schedule.
        self._newer: dict[UUID, tuple[int, datetime]] = {}
        self._unreported_newer: list[ScheduleFault] = []
        self._wake = wake
        self._wheel: TimingWheel[TickEntry] = TimingWheel(0)
        self._entries: dict[UUID, TickEntry] = {}
        self._soonest = 0
        # The wheel was emptied up to here.
        self._reached = 0
        # New positions of the cursors that were decided since the last read began.
        self._decided: dict[UUID, datetime] = {}

    def __len__(self) -> int:
        """Return the number of jobs on the agenda."""
        return len(self._entries)

    def note_due_submissions(self, found: Sequence[DueShard]) -> None:
        """Note when shards have submissions to move."""
        if self.submissions.note_due(found):
            self._wake()

    def start_reading(self) -> None:
        """Forget earlier decisions: a read that begins now sees them."""
        self._decided = {}

    def add_cursor(self, due: DueTick) -> None:
        """Add a cursor that was read, if it is new."""
        if not self.is_new(due):
            return
        if due.job_id in self._long_searches:
            self._long_searches[due.job_id] = due
            return
        self._prepare(due)

    def _prepare(self, due: DueTick) -> None:
        try:
            self._put(build_entry(due, self.schedule_cache))
        except SearchTooLong:
            self._long_searches[due.job_id] = due
        except NewerDocument as error:
            self.skip_newer_document(due, error)
        except SCHEDULE_FAULTS as error:
            self.faults.append(ScheduleFault.from_error(due, error))

    @property
    def has_long_searches(self) -> bool:
        return bool(self._long_searches)

    def take_long_searches(self) -> list[DueTick]:
        """Return the cursors whose next tick must be searched off the event loop."""
        found, self._long_searches = list(self._long_searches.values()), {}
        return found

    def defer_search(self, due: DueTick) -> None:
        """Keep a cursor for a later pass."""
        self._long_searches.setdefault(due.job_id, due)

    def add_search_result(self, due: DueTick, result: TickEntry | Exception) -> None:
        """Add a cursor after a long search, or record why it cannot be scheduled."""
        if not self.is_new(due):
            return
        if isinstance(result, NewerDocument):
            self.skip_newer_document(due, result)
        elif isinstance(result, Exception):
            self.faults.append(ScheduleFault.from_error(due, result))
        else:
            self._put(result)

    def skip_newer_document(self, due: DueTick, error: NewerDocument) -> None:
        """Skip a job whose documents only newer code can read, and report it once."""
        before = self._newer.get(due.job_id)
        cache_value(self._newer, due.job_id, (due.version, due.tick_at))
        if before is None or before[0] != due.version:
            self._unreported_newer.append(ScheduleFault.from_error(due, error))

    def take_newer_faults(self) -> list[ScheduleFault]:
        """Return the jobs that were skipped since the last call."""
        newer, self._unreported_newer = self._unreported_newer, []
        return newer

    def advance_cursor(self, entry: TickEntry, due: DueTick, remaining: RemainingTicks) -> None:
        """Record that the cursor moved to another tick; keep that tick if it is due soon."""
        self.mark_decided(entry, due.tick_at)
        soon = due.fire_at <= self.horizons.get(due.shard, BEFORE_ALL_TICKS)
        if not soon or not self.schedule_cache.has_schedule(due.schedule_id):
            return
        if remaining:
            self._put(build_catch_up_entry(due, remaining))
        else:
            self._prepare(due)

    def take_faults(self) -> list[ScheduleFault]:
        faults, self.faults = self.faults, []
        return faults

    def is_new(self, due: DueTick) -> bool:
        """Return whether a cursor that was read is ahead of the known one."""
        known = self._entries.get(due.job_id)
        if known is not None:
            current = known.firing.due
            if due.version == current.version:
                return due.tick_at > current.tick_at or (
                    due.tick_at == current.tick_at and due.fire_at != current.fire_at
                )
            return due.version > current.version
        if self._newer and self._newer.get(due.job_id) == (due.version, due.tick_at):
            return False
        decided = self._decided.get(due.job_id)
        return decided is None or due.tick_at >= decided

    def _put(self, entry: TickEntry) -> None:
        due = entry.firing.due
        self._entries[due.job_id] = entry
        at = -((EPOCH - due.fire_at) // WHEEL_UNIT)
        self._wheel.add(at, entry)
        if at < self._soonest:
            self._soonest = at
            self._wake()

    def replace_entry(self, entry: TickEntry) -> None:
        """Replace the known entry of a job by one that is being fired already."""
        self._entries[entry.firing.due.job_id] = entry

    def is_current(self, entry: TickEntry) -> bool:
        """Return whether this is still the newest entry of its job."""
        return self._entries.get(entry.firing.due.job_id) is entry

    def take_due(self, now: datetime, limit: int) -> list[TickEntry]:
        """Return the due entries, soonest first. The caller reports what became of each."""
        self._reached = (now - EPOCH) // WHEEL_UNIT
        taken = self._wheel.take(self._reached, limit)
        return [entry for entry in taken if self.is_current(entry)]

    def seconds_until_due(self, now: datetime, *, max_seconds: float) -> float:
        """Return the seconds until an entry may be due."""
        soonest = self._wheel.find_next_at()
        if soonest is None:
            self._soonest = (FAR_FUTURE - EPOCH) // WHEEL_UNIT
            return max_seconds
        self._soonest = soonest
        if soonest <= self._reached:
            return 0.0  # added after the last take, or more was due than the limit
        return max(0.0, min(max_seconds, (EPOCH + soonest * WHEEL_UNIT - now).total_seconds()))

    def mark_decided(self, entry: TickEntry, next_tick_at: datetime | None) -> None:
        """Record that the tick was decided and its cursor moved. None: the schedule has ended."""
        self.forget(entry)
        self._decided[entry.firing.due.job_id] = next_tick_at or FAR_FUTURE

    def forget(self, entry: TickEntry) -> None:
        """Drop an entry. If its tick is still due, it is read again."""
        if self.is_current(entry):
            del self._entries[entry.firing.due.job_id]

    def forget_jobs(self, entries: Iterable[TickEntry]) -> None:
        """Drop every entry of the jobs of these entries."""
        for entry in entries:
            self._entries.pop(entry.firing.due.job_id, None)


def build_entry(
    due: DueTick, schedule_cache: ScheduleCache, budget: SearchBudget | None = None
) -> TickEntry:
    """Precompute what firing this cursor needs. Raises one of `SCHEDULE_FAULTS`."""
    if due.overlap not in KNOWN_OVERLAPS:
        raise NewerDocument("overlap", due.overlap, " or ".join(Overlap))
    run_id = derive_tick_run_id(due.job_id, due.tick_at)
    if due.schedule_id is None:
        return TickEntry(TickFiring(due, run_id, None, None), FAR_FUTURE)
    rule = schedule_cache.get_schedule(due.schedule_id, due.job_id)
    if rule.schedule.follows_end:
        return TickEntry(TickFiring(due, run_id, None, None), BEFORE_ALL_TICKS)
    planned = schedule_cache.find_next_tick(due, budget)
    late_at = rule.schedule.misfire.compute_late_at(due.tick_at, due.fire_at)
    if planned is None:
        return TickEntry(
            TickFiring(due, run_id, None, None), FAR_FUTURE if rule.always_runs else late_at
        )
    if rule.always_runs and planned.due_at > late_at:
        late_at = planned.due_at
    return TickEntry(TickFiring(due, run_id, planned.tick.at, planned.due_at), late_at)


def build_catch_up_entry(due: DueTick, remaining: RemainingTicks) -> TickEntry:
    """Build an entry that the misfire handler has approved: it runs, then the rest of the plan."""
    run_id = derive_tick_run_id(due.job_id, due.tick_at)
    following = remaining[0]
    if following is None:
        return TickEntry(TickFiring(due, run_id, None, None), FAR_FUTURE, remaining)
    return TickEntry(
        TickFiring(due, run_id, following.tick.at, following.due_at), FAR_FUTURE, remaining
    )


def find_next_due(moved: MovedSubmissions, *, per_shard: int, now: datetime) -> list[DueShard]:
    """Return when the shards of a move are due again. A shard that reached the limit of the move
    may have more that are due already.
    """
    counts = Counter(moved.of_shards or ())
    return [
        DueShard(shard, now if counts[shard] >= per_shard else due_at or now)
        for shard, due_at in zip(moved.shards or (), moved.next_due_ats or (), strict=True)
        if due_at is not None or counts[shard] >= per_shard
    ]


def report_newer_documents(agenda: Agenda, *, emit: Emit) -> None:
    """Report the jobs that wait for a newer version. They are not quarantined: they stay unchanged
    until a scheduler of a version that can read them holds their shard
    (docs/adr/0033-stored-documents.md).
    """
    for due, reason in agenda.take_newer_faults():
        emit(JobSetAside(job_id=due.job_id, reason=reason[:REASON_LENGTH_MAX]))


async def quarantine_jobs(conn: Connection, faults: Iterable[ScheduleFault], *, emit: Emit) -> None:
    """Quarantine each of these jobs with its reason. A job that was edited since is left alone.

    A quarantined job keeps its cursor, is held with the reason, and an event reports it. It does
    not fire until a user resumes it.
    """
    for due, fault in faults:
        reason = fault[:REASON_LENGTH_MAX]
        if await quarantine_job(conn, job_id=due.job_id, version=due.version, reason=reason):
            emit(JobQuarantined(job_id=due.job_id, reason=reason))
