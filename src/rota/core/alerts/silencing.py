"""Decides which silence holds back the messages about an incident."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from rota.core.alerts.conditions import SubjectSelector
from rota.core.alerts.finding import AlertSubject, SubjectKind
from rota.core.alerts.matching import SubjectTraits, matches_selector
from rota.core.time.calendars import Calendar

SILENCE_MAX: Final = timedelta(days=30)
# Between the names of a job and its step in the name of a step.
_NAME_SEPARATORS: Final = " /.:>›→·"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveSilence:
    """A silence that holds now, and when it stops to hold."""

    id: UUID
    tenant_id: int
    selector: SubjectSelector
    until: datetime


def find_silence_end(
    ends_at: datetime, calendar: Calendar | None, *, now: datetime
) -> datetime | None:
    """Return until when a silence with a calendar holds; None if this is not one of its days."""
    if calendar is None:
        return None
    window = calendar.find_covering(now)
    return None if window is None else min(window.end, ends_at)


def describe_traits(subject: AlertSubject) -> SubjectTraits:
    """Return what silences compare with a subject."""
    job = step = None
    queue, task = subject.queue, subject.task
    match subject.kind:
        case SubjectKind.JOB | SubjectKind.PING:
            job = subject.name
        case SubjectKind.STEP:
            step = subject.id.rpartition("/")[2]
            job = subject.name.removesuffix(step).rstrip(_NAME_SEPARATORS)
        case SubjectKind.QUEUE:
            queue = subject.id
        case SubjectKind.TASK:
            task = subject.id
        case _:
            pass
    return SubjectTraits(job=job, step=step, task=task, queue=queue, labels=subject.labels)


def choose_silence(
    silences: Iterable[ActiveSilence], tenant_id: int, subject: AlertSubject
) -> ActiveSilence | None:
    """Return the silence that holds back messages about a subject for the longest time.

    Unlike a rule, a silence of a job covers its steps too.
    """
    traits = describe_traits(subject)
    as_job = replace(traits, step=None)
    found = (
        silence
        for silence in silences
        if silence.tenant_id == tenant_id
        and matches_selector(silence.selector, as_job if silence.selector.step is None else traits)
    )
    return max(found, key=lambda silence: silence.until, default=None)
