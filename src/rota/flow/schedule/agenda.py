"""Holds the ticks that one tick firer fires soon, by time.

The agenda is only a cache of the index of due cursors. Losing it loses no tick, because the reader
reads overdue cursors again. It remembers three things: the wheel holds the ticks by time, with
everything precomputed that firing needs; `_entries` holds the newest entry of each job, so that an
entry of the wheel that is outdated (the job was edited) is skipped when its time comes; `_decided`
holds recent decisions for a moment, because a read that was already under way still shows their
cursors.

A shard is complete up to its horizon: every tick up to it is in the wheel or was decided. Schedules
are evaluated here, ahead of the moment of firing; a faulty schedule is added to `faults`.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, Self
from uuid import UUID

from rota.core.errors import NewerDocument, RotaError, SearchTooLong
from rota.core.ids import derive_tick_run_id
from rota.core.overlap import Overlap
from rota.core.time.budget import SearchBudget
from rota.core.time.planning import PlannedTick
from rota.core.timing_wheel import TimingWheel
from rota.flow.schedule.rulebook import FAULTS, Rulebook, remember
from rota.flow.schedule.submissions import DueSubmissions
from rota.store.cursors import BEFORE_ALL_TICKS, DueTick, TickFiring
from rota.store.submissions import DueShard

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
FUTURE: Final = datetime(9999, 1, 1, tzinfo=UTC)
# Finer than the event loop can wake up.
UNIT: Final = timedelta(microseconds=100)
OVERLAPS: Final = frozenset(policy.value for policy in Overlap)

# The catch-up ticks that a job still has to run, then its first regular tick or None if the
# schedule has ended.
Course = tuple[PlannedTick | None, ...]


class Entry(NamedTuple):
    """A tick that is ready to be fired. After `late_at` the misfire handler decides first.
    `remaining` holds the ticks that the misfire handler planned after this one.
    """

    firing: TickFiring
    late_at: datetime
    course: Course = ()


class Fault(NamedTuple):
    """A job that cannot be scheduled, and the reason."""

    due: DueTick
    reason: str

    @classmethod
    def of(cls, due: DueTick, error: Exception) -> Self:
        """Build a fault. Errors that are not Rota's are shown with their type."""
        is_rota_error = isinstance(error, RotaError)
        return cls(due, str(error) if is_rota_error else repr(error))


class Agenda:
    """Calls `wake` when an entry arrives that is due before all others."""

    def __init__(self, *, rulebook: Rulebook, wake: Callable[[], object]) -> None:
        self.rulebook = rulebook
        self.horizons: dict[int, datetime] = {}
        self.faults: list[Fault] = []
        self.submissions = DueSubmissions()
        # Cursors whose next tick takes too long to find on the event loop.
        self._long_searches: dict[UUID, DueTick] = {}
        # Version and tick of the cursors that only newer code can schedule.
        self._newer: dict[UUID, tuple[int, datetime]] = {}
        self._unreported_newer: list[Fault] = []
        self._wake = wake
        self._wheel: TimingWheel[Entry] = TimingWheel(0)
        self._entries: dict[UUID, Entry] = {}
        self._soonest = 0
        # The wheel was emptied up to here.
        self._reached = 0
        # New positions of the cursors that were decided since the last read began.
        self._decided: dict[UUID, datetime] = {}

    def __len__(self) -> int:
        """Return the number of jobs on the agenda."""
        return len(self._entries)

    def learn_submissions(self, found: Sequence[DueShard]) -> None:
        """Note when shards have submissions to move."""
        if self.submissions.learn(found):
            self._wake()

    def begin_reading(self) -> None:
        """Forget earlier decisions: a read that begins now sees them."""
        self._decided = {}

    def take_in(self, due: DueTick) -> None:
        """Add a cursor that was read, if it is new."""
        if not self.is_news(due):
            return
        if due.job_id in self._long_searches:
            self._long_searches[due.job_id] = due
            return
        self._prepare(due)

    def _prepare(self, due: DueTick) -> None:
        try:
            self._put(prepared(due, self.rulebook))
        except SearchTooLong:
            self._long_searches[due.job_id] = due
        except NewerDocument as error:
            self.set_aside(due, error)
        except FAULTS as error:
            self.faults.append(Fault.of(due, error))

    @property
    def has_long_searches(self) -> bool:
        return bool(self._long_searches)

    def take_long_searches(self) -> list[DueTick]:
        """Return the cursors whose next tick must be searched off the event loop."""
        found, self._long_searches = list(self._long_searches.values()), {}
        return found

    def search_later(self, due: DueTick) -> None:
        """Keep a cursor for a later pass."""
        self._long_searches.setdefault(due.job_id, due)

    def took_long(self, due: DueTick, found: Entry | Exception) -> None:
        """Add a cursor after a long search, or record why it cannot be scheduled."""
        if not self.is_news(due):
            return
        if isinstance(found, NewerDocument):
            self.set_aside(due, found)
        elif isinstance(found, Exception):
            self.faults.append(Fault.of(due, found))
        else:
            self._put(found)

    def set_aside(self, due: DueTick, error: NewerDocument) -> None:
        """Skip a job whose documents only newer code can read, and report it once."""
        before = self._newer.get(due.job_id)
        remember(self._newer, due.job_id, (due.version, due.tick_at))
        if before is None or before[0] != due.version:
            self._unreported_newer.append(Fault.of(due, error))

    def take_newer(self) -> list[Fault]:
        """Return the jobs that were skipped since the last call."""
        newer, self._unreported_newer = self._unreported_newer, []
        return newer

    def go_on(self, entry: Entry, due: DueTick, course: Course) -> None:
        """Record that the cursor moved to another tick; keep that tick if it is due soon."""
        self.done(entry, due.tick_at)
        soon = due.fire_at <= self.horizons.get(due.shard, BEFORE_ALL_TICKS)
        if not soon or not self.rulebook.knows(due.schedule_id):
            return
        if course:
            self._put(on_course(due, course))
        else:
            self._prepare(due)

    def take_faults(self) -> list[Fault]:
        faults, self.faults = self.faults, []
        return faults

    def is_news(self, due: DueTick) -> bool:
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

    def _put(self, entry: Entry) -> None:
        due = entry.firing.due
        self._entries[due.job_id] = entry
        at = -((EPOCH - due.fire_at) // UNIT)
        self._wheel.add(at, entry)
        if at < self._soonest:
            self._soonest = at
            self._wake()

    def instead(self, entry: Entry) -> None:
        """Replace the known entry of a job by one that is being fired already."""
        self._entries[entry.firing.due.job_id] = entry

    def holds(self, entry: Entry) -> bool:
        """Return whether this is still the newest entry of its job."""
        return self._entries.get(entry.firing.due.job_id) is entry

    def take(self, now: datetime, most: int) -> list[Entry]:
        """Return the due entries, soonest first. The caller reports what became of each."""
        self._reached = (now - EPOCH) // UNIT
        taken = self._wheel.take(self._reached, most)
        return [entry for entry in taken if self.holds(entry)]

    def rest(self, now: datetime, *, longest: float) -> float:
        """Return the seconds until an entry may be due."""
        soonest = self._wheel.find_next_at()
        if soonest is None:
            self._soonest = (FUTURE - EPOCH) // UNIT
            return longest
        self._soonest = soonest
        if soonest <= self._reached:
            return 0.0  # added after the last take, or more was due than the limit
        return max(0.0, min(longest, (EPOCH + soonest * UNIT - now).total_seconds()))

    def done(self, entry: Entry, stands_at: datetime | None) -> None:
        """Record that the tick was decided and its cursor moved. None: the schedule has ended."""
        self.forget(entry)
        self._decided[entry.firing.due.job_id] = stands_at or FUTURE

    def forget(self, entry: Entry) -> None:
        """Drop an entry. If its tick is still due, it is read again."""
        if self.holds(entry):
            del self._entries[entry.firing.due.job_id]

    def forget_jobs(self, entries: Iterable[Entry]) -> None:
        """Drop every entry of the jobs of these entries."""
        for entry in entries:
            self._entries.pop(entry.firing.due.job_id, None)


def prepared(due: DueTick, rulebook: Rulebook, budget: SearchBudget | None = None) -> Entry:
    """Precompute what firing this cursor needs. Raises one of `SCHEDULE_FAULTS`."""
    if due.overlap not in OVERLAPS:
        raise NewerDocument("overlap", due.overlap, " or ".join(Overlap))
    run_id = derive_tick_run_id(due.job_id, due.tick_at)
    if due.schedule_id is None:
        return Entry(TickFiring(due, run_id, None, None), FUTURE)
    rule = rulebook.rule(due.schedule_id, due.job_id)
    if rule.schedule.follows_end:
        return Entry(TickFiring(due, run_id, None, None), BEFORE_ALL_TICKS)
    planned = rulebook.following(due, budget)
    late_at = (due.tick_at if rule.is_paced else due.fire_at) + rule.patience
    if planned is None:
        return Entry(TickFiring(due, run_id, None, None), FUTURE if rule.always_runs else late_at)
    if rule.always_runs and planned.due_at > late_at:
        late_at = planned.due_at
    return Entry(TickFiring(due, run_id, planned.tick.at, planned.due_at), late_at)


def on_course(due: DueTick, course: Course) -> Entry:
    """Build an entry that the misfire handler has approved: it runs, then the rest of the plan."""
    run_id = derive_tick_run_id(due.job_id, due.tick_at)
    following = course[0]
    if following is None:
        return Entry(TickFiring(due, run_id, None, None), FUTURE, course)
    return Entry(TickFiring(due, run_id, following.tick.at, following.due_at), FUTURE, course)
