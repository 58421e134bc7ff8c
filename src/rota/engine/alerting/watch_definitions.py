"""Describes watches: the expectation and the subject of a stored watch, as JSON and as values.

A watch carries a copy of its expectation, so a check reads nothing but the watch and its facts. The
watch scheduler renews the copy when a rule or a job changes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from rota.contract.expectation_values import (
    format_finish_by,
    parse_finish_by,
    read_stored_conditions,
    read_stored_policy,
    write_conditions,
    write_policy,
)
from rota.core.alerts.conditions import Condition, Expectation, FinishBy
from rota.core.alerts.evaluation import Judgement
from rota.core.alerts.finding import (
    AlertPolicy,
    AlertSubject,
    ExpectationRef,
    Finding,
    SubjectKind,
    Verdict,
)
from rota.core.errors import InvalidInput
from rota.core.submissions import encode_canonical
from rota.store.watches import WatchRow

# Definitions that a process keeps decoded.
DECODED_MAX: Final = 20_000
PARTS_DECODED_MAX: Final = 1_000
OK, PENDING, FIRING, UNKNOWN = "ok", "pending", "firing", "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchDefinition:
    """What a watch is about. `condition` is None for the checks of Rota itself, and if only newer
    code reads it. `finish_by` is the deadline that `at_risk` is about.
    """

    name: str
    code: str
    condition: Condition | None
    policy: AlertPolicy
    subject: AlertSubject
    finish_by: FinishBy | None = None

    @classmethod
    def of(
        cls, expectation: Expectation, subject: AlertSubject, *, finish_by: FinishBy | None = None
    ) -> "WatchDefinition":
        return cls(
            name=expectation.name,
            code=expectation.condition.code,
            condition=expectation.condition,
            policy=expectation.policy,
            subject=subject,
            finish_by=finish_by,
        )


def encode_definition(definition: WatchDefinition) -> str:
    """Return the stored form of a definition."""
    subject = definition.subject
    document: dict[str, Any] = {
        "name": definition.name,
        "code": definition.code,
        "policy": write_policy(definition.policy),
        "subject": {
            "kind": str(subject.kind),
            "id": subject.id,
            "name": subject.name,
            "job_id": None if subject.job_id is None else subject.job_id.hex,
            "queue": subject.queue,
            "task": subject.task,
            "labels": dict(subject.labels),
        },
    }
    if definition.condition is not None:
        document["condition"] = write_conditions([definition.condition])
    if definition.finish_by is not None:
        document["finish_by"] = format_finish_by(definition.finish_by)
    return encode_canonical(document)


# Cached, because every check of a watch reads the same text again.
@lru_cache(maxsize=DECODED_MAX)
def decode_definition(text: str) -> WatchDefinition:
    """Read a stored definition."""
    document: Mapping[str, Any] = json.loads(text)
    subject = document["subject"]
    job_id = subject.get("job_id")
    return WatchDefinition(
        name=document["name"],
        code=document["code"],
        condition=_read_condition(encode_canonical(document.get("condition"))),
        policy=_read_policy(encode_canonical(document.get("policy"))),
        subject=AlertSubject(
            kind=SubjectKind(subject["kind"]),
            id=subject["id"],
            name=subject["name"],
            job_id=None if job_id is None else UUID(job_id),
            queue=subject.get("queue"),
            task=subject.get("task"),
            labels=subject.get("labels") or {},
        ),
        finish_by=parse_finish_by(document["finish_by"]) if "finish_by" in document else None,
    )


# Cached by themselves too: the definitions of many jobs differ only in their subjects, and may be
# more than the cache of whole definitions holds.
@lru_cache(maxsize=PARTS_DECODED_MAX)
def _read_condition(text: str) -> Condition | None:
    try:
        conditions = read_stored_conditions(json.loads(text))
    except InvalidInput:
        return None
    return conditions[0] if len(conditions) == 1 else None


@lru_cache(maxsize=PARTS_DECODED_MAX)
def _read_policy(text: str) -> AlertPolicy:
    return read_stored_policy(json.loads(text))


def build_finding(
    definition: WatchDefinition,
    judgement: Judgement,
    *,
    expectation_id: UUID,
    tenant_id: int,
    now: datetime,
    repeats: int = 1,
) -> Finding:
    """Build what the incident keeper needs to know about a judgement with a verdict."""
    return Finding(
        expectation=ExpectationRef(
            id=expectation_id,
            tenant_id=tenant_id,
            name=definition.name,
            condition=definition.code,
            policy=definition.policy,
        ),
        subject=definition.subject,
        verdict=judgement.verdict or Verdict.UNKNOWN,
        at=now,
        title=judgement.title,
        facts={name: value for name, value in judgement.facts.items() if value is not None},
        run_id=judgement.run_id,
        repeats=repeats,
    )


def build_watch(
    definition: WatchDefinition, *, expectation_id: UUID, tenant_id: int, now: datetime
) -> WatchRow:
    """Build a watch of a healthy subject, as it is before its first check."""
    return WatchRow(
        expectation_id=expectation_id,
        subject_key=definition.subject.key,
        tenant_id=tenant_id,
        job_id=definition.subject.job_id,
        condition=definition.code,
        definition=encode_definition(definition),
        state=OK,
        since=now,
        next_check_at=None,
        tick_at=None,
        due_at=None,
        late_tick_at=None,
        run_id=None,
        streak=0,
        met_in_row=0,
        watched_since=now,
        job_version=None,
        evidence="{}",
    )


@dataclass(frozen=True, slots=True)
class WatchStep:
    """A watch after a verdict, and whether the incident keeper must hear of it."""

    watch: WatchRow
    is_reported: bool


def follow_verdict(
    watch: WatchRow, judgement: Judgement, *, clear_successes: int, now: datetime
) -> WatchStep:
    """Return the watch after a judgement. A violation is always reported; that an expectation is
    met is reported only while the subject is not healthy, until it was met often enough.
    """
    match judgement.verdict:
        case Verdict.VIOLATED:
            changed = watch._replace(
                state=FIRING,
                since=watch.since if watch.state == FIRING else now,
                run_id=judgement.run_id,
                streak=judgement.streak,
                met_in_row=0,
            )
            return WatchStep(changed, is_reported=True)
        case Verdict.MET if watch.state == FIRING:
            met = watch.met_in_row + 1
            if met < clear_successes:
                last = judgement.run_id or watch.run_id
                return WatchStep(watch._replace(met_in_row=met, run_id=last), is_reported=True)
            return WatchStep(settle_watch(watch, now), is_reported=True)
        case Verdict.MET if watch.state != OK:
            return WatchStep(settle_watch(watch, now), is_reported=False)
        case Verdict.UNKNOWN if watch.state in (OK, PENDING):
            return WatchStep(watch._replace(state=UNKNOWN, since=now), is_reported=False)
    return WatchStep(watch, is_reported=False)


def settle_watch(watch: WatchRow, now: datetime) -> WatchRow:
    """Return the watch of a subject that is healthy again."""
    return watch._replace(
        state=OK, since=now, streak=0, met_in_row=0, run_id=None, late_tick_at=None
    )
