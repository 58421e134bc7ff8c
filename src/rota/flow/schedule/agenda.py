"""What one line of firing has before it, by time. Room: flow/schedule.

A cache of the index of due cursors, and nothing more: losing it loses no tick, because what is
overdue is read again and again. It remembers three things. The wheel has the ticks by their time,
with everything computed that firing needs. `_known` has the newest entry of each job; an entry in
the wheel that is no longer it (the job was edited) is passed over when its time comes. And for a
moment it remembers what was decided, because a read that was under way meanwhile still shows it.

A shard is complete up to its horizon: every tick until then is in the wheel or was decided.
Schedules are evaluated here, ahead of the moment of firing; a faulty one is noted in `faults`.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, Self
from uuid import UUID

from rota.core.errors import NewerDocument, RotaError, SearchTooLong
from rota.core.ids import tick_run_id
from rota.core.overlap import Overlap
from rota.core.time.budget import SearchBudget
from rota.core.time.planning import Planned
from rota.core.wheel import Wheel
from rota.flow.schedule.rulebook import FAULTS, Rulebook, remember
from rota.flow.schedule.submissions import DueSubmissions
from rota.store.cursors import PAST, Due, Firing
from rota.store.submissions import DueShard

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
FUTURE: Final = datetime(9999, 1, 1, tzinfo=UTC)
# Finer than the event loop can wake up.
UNIT: Final = timedelta(microseconds=100)
OVERLAPS: Final = frozenset(each.value for each in Overlap)

# The ticks that a job still has to run before its schedule goes on as usual, and the first usual
# one; None in its place if there is none.
Course = tuple[Planned | None, ...]


class Entry(NamedTuple):
    """A tick that is ready to be fired. After `late_at` it needs a closer look first. `course` is
    what such a look has found to come after it.
    """

    firing: Firing
    late_at: datetime
    course: Course = ()


class Fault(NamedTuple):
    """A job that cannot be scheduled, and why."""

    due: Due
    reason: str

    @classmethod
    def of(cls, due: Due, error: Exception) -> Self:
        """Our own errors are sentences; a bare `KeyError: 3` says nothing without its type."""
        is_ours = isinstance(error, RotaError)
        return cls(due, str(error) if is_ours else repr(error))


class Agenda:
    """`wake` is called when something came in that is due before all the rest."""

    def __init__(self, *, rulebook: Rulebook, wake: Callable[[], object]) -> None:
        self.rulebook = rulebook
        self.horizons: dict[int, datetime] = {}
        self.faults: list[Fault] = []
        self.submissions = DueSubmissions()
        # Cursors whose next tick takes too long to find on the event loop.
        self._long_searches: dict[UUID, Due] = {}
        # Where the cursors of jobs stand that only newer code can schedule.
        self._newer: dict[UUID, tuple[int, datetime]] = {}
        self._told_newer: list[Fault] = []
        self._wake = wake
        self._wheel: Wheel[Entry] = Wheel(0)
        self._known: dict[UUID, Entry] = {}
        self._soonest = 0
        # Up to when it was taken from.
        self._reached = 0
        # Where the cursors of jobs stand that were decided since the last reading began.
        self._decided: dict[UUID, datetime] = {}

    def __len__(self) -> int:
        """How many jobs are in it."""
        return len(self._known)

    def learn_submissions(self, found: Sequence[DueShard]) -> None:
        """Note when shards have submissions to move."""
        if self.submissions.learn(found):
            self._wake()

    def begin_reading(self) -> None:
        """What was decided before is visible to a reading that begins now."""
        self._decided = {}

    def take_in(self, due: Due) -> None:
        """Have a cursor that was read fired at its time, if it is news."""
        if not self.is_news(due):
            return
        if due.job_id in self._long_searches:
            self._long_searches[due.job_id] = due
            return
        self._prepare(due)

    def _prepare(self, due: Due) -> None:
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

    def take_long_searches(self) -> list[Due]:
        """The cursors whose next tick is to be found off the event loop, with `search`."""
        found, self._long_searches = list(self._long_searches.values()), {}
        return found

    def search_later(self, due: Due) -> None:
        """Keep a cursor for a later pass."""
        self._long_searches.setdefault(due.job_id, due)

    def took_long(self, due: Due, found: Entry | Exception) -> None:
        """Have a cursor fired whose next tick was found at last, or set it aside."""
        if not self.is_news(due):
            return
        if isinstance(found, NewerDocument):
            self.set_aside(due, found)
        elif isinstance(found, Exception):
            self.faults.append(Fault.of(due, found))
        else:
            self._put(found)

    def set_aside(self, due: Due, error: NewerDocument) -> None:
        """Leave a job whose documents only newer code knows where it stands; tell of it once."""
        before = self._newer.get(due.job_id)
        remember(self._newer, due.job_id, (due.version, due.tick_at))
        if before is None or before[0] != due.version:
            self._told_newer.append(Fault.of(due, error))

    def take_newer(self) -> list[Fault]:
        """The jobs that were set aside since the last time."""
        newer, self._told_newer = self._told_newer, []
        return newer

    def go_on(self, entry: Entry, due: Due, course: Course) -> None:
        """The cursor has moved to another tick: keep that in memory if it comes soon."""
        self.done(entry, due.tick_at)
        soon = due.fire_at <= self.horizons.get(due.shard, PAST)
        if not soon or not self.rulebook.knows(due.schedule_id):
            return
        if course:
            self._put(on_course(due, course))
        else:
            self._prepare(due)

    def take_faults(self) -> list[Fault]:
        faults, self.faults = self.faults, []
        return faults

    def is_news(self, due: Due) -> bool:
        """Whether a cursor that was read stands elsewhere than is known, and not before that."""
        known = self._known.get(due.job_id)
        if known is not None:
            mine = known.firing.due
            if due.version == mine.version:
                return due.tick_at > mine.tick_at or (
                    due.tick_at == mine.tick_at and due.fire_at != mine.fire_at
                )
            return due.version > mine.version
        if self._newer and self._newer.get(due.job_id) == (due.version, due.tick_at):
            return False
        decided = self._decided.get(due.job_id)
        return decided is None or due.tick_at >= decided

    def _put(self, entry: Entry) -> None:
        due = entry.firing.due
        self._known[due.job_id] = entry
        at = -((EPOCH - due.fire_at) // UNIT)
        self._wheel.add(at, entry)
        if at < self._soonest:
            self._soonest = at
            self._wake()

    def instead(self, entry: Entry) -> None:
        """This entry, which is being fired already, is now what is known of its job."""
        self._known[entry.firing.due.job_id] = entry

    def holds(self, entry: Entry) -> bool:
        """Whether this is still the newest that is known of its job."""
        return self._known.get(entry.firing.due.job_id) is entry

    def take(self, now: datetime, most: int) -> list[Entry]:
        """What is due, soonest first. The caller tells what became of each."""
        self._reached = (now - EPOCH) // UNIT
        taken = self._wheel.take(self._reached, most)
        return [entry for entry in taken if self.holds(entry)]

    def rest(self, now: datetime, *, longest: float) -> float:
        """Seconds until something may be due."""
        soonest = self._wheel.next_at()
        if soonest is None:
            self._soonest = (FUTURE - EPOCH) // UNIT
            return longest
        self._soonest = soonest
        if soonest <= self._reached:
            return 0.0  # it came in after what was taken, or there was more than was wanted
        return max(0.0, min(longest, (EPOCH + soonest * UNIT - now).total_seconds()))

    def done(self, entry: Entry, stands_at: datetime | None) -> None:
        """The tick was decided and its cursor moved; None means that it ended."""
        self.forget(entry)
        self._decided[entry.firing.due.job_id] = stands_at or FUTURE

    def forget(self, entry: Entry) -> None:
        """Know nothing of it: if it is still due, it is read again."""
        if self.holds(entry):
            del self._known[entry.firing.due.job_id]

    def forget_jobs(self, entries: Iterable[Entry]) -> None:
        """The same for all that is known of their jobs."""
        for entry in entries:
            self._known.pop(entry.firing.due.job_id, None)


def prepared(due: Due, rulebook: Rulebook, budget: SearchBudget | None = None) -> Entry:
    """Compute ahead what firing this needs. Raises what a faulty schedule raises."""
    if due.overlap not in OVERLAPS:
        raise NewerDocument("overlap", due.overlap, " or ".join(Overlap))
    run_id = tick_run_id(due.job_id, due.tick_at)
    if due.schedule_id is None:
        return Entry(Firing(due, run_id, None, None), FUTURE)
    rule = rulebook.rule(due.schedule_id, due.job_id)
    if rule.schedule.follows_end:
        return Entry(Firing(due, run_id, None, None), PAST)
    planned = rulebook.following(due, budget)
    late_at = (due.tick_at if rule.is_paced else due.fire_at) + rule.patience
    if planned is None:
        return Entry(Firing(due, run_id, None, None), FUTURE if rule.always_runs else late_at)
    if rule.always_runs and planned.due_at > late_at:
        late_at = planned.due_at
    return Entry(Firing(due, run_id, planned.tick.at, planned.due_at), late_at)


def on_course(due: Due, course: Course) -> Entry:
    """An entry that was looked at: it runs, and then the course goes on."""
    run_id = tick_run_id(due.job_id, due.tick_at)
    following = course[0]
    if following is None:
        return Entry(Firing(due, run_id, None, None), FUTURE, course)
    return Entry(Firing(due, run_id, following.tick.at, following.due_at), FUTURE, course)
