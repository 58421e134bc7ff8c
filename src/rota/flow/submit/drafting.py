"""Checks a job that is handed in, and computes its first tick. Room: flow/submit.

Nothing here touches the database: a batch in which one job is wrong is refused before anything is
written, with the place and the field. Writing is submitting.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from rota.core import policy as policies
from rota.core.arrivals.payloads import check_template
from rota.core.binding import payload_text
from rota.core.errors import InvalidInput
from rota.core.gates import keys_of
from rota.core.guarantees import Wanted
from rota.core.limits import Limit, limit_to_plain
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.policy import Policy
from rota.core.priority import parse_priority
from rota.core.submission import (
    JobSpec,
    canonical,
    check_labels,
    check_limits,
    check_name,
    within,
)
from rota.core.time import moments, plain, planning
from rota.core.time.calendars import Calendar
from rota.core.time.planning import Planned
from rota.core.time.schedule import HORIZON, USUAL, Immediate, Once, Schedule
from rota.core.time.tick import Tick
from rota.flow.submit.going_by import shared_text
from rota.flow.submit.graph_jobs import graph_text
from rota.flow.submit.guarantees import exactly_once_kinds
from rota.store.gates import NewGate

PAUSES: Final = f"one of {', '.join(WhenQueuePaused)}"
# What stands before and after the time in the text of a schedule that is nothing but a time.
ONCE: Final = canonical(plain.to_plain(Schedule(rules=(Once(at=moments.FIRST),)))).split(
    moments.rfc3339(moments.FIRST)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A job that was found good; JSON as text."""

    id: UUID
    spec: JobSpec
    schedule: Schedule | None
    first: Planned | None
    schedule_text: str | None
    payload_text: str | None
    policy_text: str
    labels_text: str
    limits_text: str | None
    graph_text: str | None = None
    # The kinds that must be able to be exactly once; the database knows whether they are.
    exactly_once: tuple[Wanted, ...] = ()

    @property
    def is_immediate(self) -> bool:
        return self.schedule is not None and isinstance(self.schedule.rules[0], Immediate)

    @property
    def waits_for_events(self) -> bool:
        """Then its payload may be a template, and gates come with the runs."""
        return self.schedule is not None and self.schedule.trigger is not None

    def interned_schedule(self, tenant_id: int) -> str | None:
        """The schedule a scheduler must know; none for a job without ticks or with one only."""
        if self.first is None or self.schedule is None or fires_once(self.schedule):
            return None
        if self.schedule.calendars:
            return shared_text(self.schedule, tenant_id)
        return self.schedule_text


class Timetable(NamedTuple):
    """A schedule, the text it is stored as, and its first tick."""

    schedule: Schedule | None = None
    text: str | None = None
    first: Planned | None = None


class Drafting:
    """Drafts jobs that are handed in together, at one time."""

    def __init__(self, now: datetime, calendars: Mapping[str, Calendar]) -> None:
        self._now = now
        self._calendars = calendars
        self._read: dict[str, Timetable] = {}

    def draft(self, spec: JobSpec, job_id: UUID) -> Draft:
        """Check a job; `InvalidInput` says what is wrong with it."""
        spec = _checked(spec)
        table = Timetable()
        if spec.schedule is not None:
            with within("schedule"):
                table = self._timetable(spec.schedule, job_id)
            if table.schedule is not None and table.schedule.trigger is not None:
                check_template(spec.payload)
        return Draft(
            id=job_id,
            spec=spec,
            schedule=table.schedule,
            first=table.first,
            schedule_text=table.text,
            payload_text=payload_text(spec.payload, kind=spec.kind),
            policy_text=policy_text(spec.policy),
            labels_text=check_labels(spec.labels),
            limits_text=limits_text(spec.limits),
            graph_text=graph_text(spec.kind, spec.graph),
            exactly_once=exactly_once_kinds(spec.kind, spec.policy, spec.graph),
        )

    def _timetable(self, given: Mapping[str, object], job_id: UUID) -> Timetable:
        """Read a schedule, or find what an equal one came to: a batch often has few of them."""
        once = self._once(given, job_id)
        if once is not None:
            return once
        said = str(given)
        known = self._read.get(said)
        if known is not None:
            return known
        schedule = plain.parse(given, now=self._now, seed=str(job_id))
        first = planning.next_tick(schedule, self._now, calendars=self._calendars)
        table = Timetable(schedule, canonical(plain.to_plain(schedule)), first)
        # Jitter and the H of cron depend on the job.
        if schedule.jitter is None and "h" not in str(given.get("cron")).lower():
            self._read[said] = table
        return table

    def _once(self, given: Mapping[str, object], job_id: UUID) -> Timetable | None:
        """The short way for what most jobs of a bulk are: a time to come, and nothing else. What
        may be wrong with it is left to the long way.
        """
        if len(given) != 1 or "at" not in given:
            return None
        try:
            at = moments.parse(given["at"])
        except InvalidInput:
            return None
        if not self._now < at <= self._now + HORIZON:
            return None
        schedule = Schedule(rules=(Once(at=at),), seed=str(job_id))
        first = Planned(tick=Tick(at=at, local=at.replace(tzinfo=None)), due_at=at)
        return Timetable(schedule, once_text(at), first)

    def is_shared(self, given: Mapping[str, object] | None) -> bool:
        """Whether a schedule that was read has the same ticks for every job."""
        return str(given) in self._read


def once_text(at: datetime) -> str:
    """How a schedule is stored that is nothing but a time."""
    return moments.rfc3339(at).join(ONCE)


def fires_once(schedule: Schedule) -> bool:
    """Whether the first tick says everything, so that nobody needs the schedule to decide it."""
    return (
        len(schedule.rules) == 1
        and isinstance(schedule.rules[0], Once)
        and schedule.misfire == USUAL
    )


@lru_cache(maxsize=1024)
def policy_text(policy: Policy) -> str:
    """The canonical form, by which policies are interned."""
    return canonical(policies.to_plain(policy))


def limits_text(limits: Sequence[Limit]) -> str | None:
    return canonical([limit_to_plain(limit) for limit in limits]) if limits else None


def gates_of(
    job_id: UUID, tenant_id: int, overlap: Overlap, limits: Sequence[Limit], payload: object
) -> list[NewGate]:
    """The gates that a run with this payload passes."""
    found = keys_of(job_id, overlap, limits, payload)
    return [NewGate(tenant_id, key, limit) for key, limit in found]


def _checked(spec: JobSpec) -> JobSpec:
    names = {
        key: check_name(getattr(spec, key), key) for key in ("name", "kind", "tenant", "queue")
    }
    if spec.user_id is not None:
        check_name(spec.user_id, "user_id")
    if not isinstance(spec.overlap, Overlap):
        raise InvalidInput("overlap", spec.overlap, f"one of {', '.join(Overlap)}")
    if not isinstance(spec.when_queue_paused, WhenQueuePaused):
        raise InvalidInput("when_queue_paused", spec.when_queue_paused, PAUSES)
    if spec.keep_first and spec.overlap is not Overlap.QUEUE_ONE:
        raise InvalidInput("keep_first", True, "the overlap policy queue_one to apply it to")
    parse_priority(spec.priority)
    check_limits(spec.limits)
    if all(names[key] == getattr(spec, key) for key in names):
        return spec
    return replace(spec, **names)  # type: ignore[arg-type] # only texts
