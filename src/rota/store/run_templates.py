"""Builds the rows of new runs. All code that creates runs of a job uses it.

A template holds what the new runs of a job have in common; they differ in their ids, times,
payloads and gates. The deadline of a run counts from the time at which it is due.
"""

import json
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from rota.contract.limits import read_stored_limits
from rota.contract.policy import read_stored_policy
from rota.core.limits import JobLimit
from rota.core.outcome import Guarantee
from rota.core.policy import Policy
from rota.store.jobs import StoredJob
from rota.store.live_runs import NewRun
from rota.store.requeue import OwnedRun


class RunTemplate(NamedTuple):
    """The fields that the new runs of a job share."""

    job_id: UUID
    tenant_id: int
    queue_id: int
    kind_id: int
    policy_id: int
    job_version: int
    trigger: str
    priority: int
    guarantee: Guarantee
    deadline: timedelta | None

    @staticmethod
    def from_job(job: StoredJob, *, trigger: str) -> "RunTemplate":
        """Return the template of the runs of a job."""
        return RunTemplate(
            job_id=job.id,
            tenant_id=job.tenant_id,
            queue_id=job.queue_id,
            kind_id=job.kind_id,
            policy_id=job.policy_id,
            job_version=job.version,
            trigger=trigger,
            priority=job.priority,
            guarantee=job.guarantee,
            deadline=read_job_policy(job.policy).deadline,
        )

    @staticmethod
    def from_run(old: OwnedRun, *, tenant_id: int, trigger: str) -> "RunTemplate":
        """Return the template of runs that repeat an old run, even if its job changed since."""
        policy = read_job_policy(old.policy or "{}")
        return RunTemplate(
            job_id=old.job_id,
            tenant_id=tenant_id,
            queue_id=old.queue_id,
            kind_id=old.kind_id,
            policy_id=old.policy_id,
            job_version=old.job_version,
            trigger=trigger,
            priority=old.priority,
            guarantee=policy.guarantee,
            deadline=policy.deadline,
        )

    def build_run(
        self,
        run_id: UUID,
        *,
        due_at: datetime,
        scheduled_at: datetime | None = None,
        priority: int | None = None,
        payload: str | None = None,
        gates: tuple[int, ...] = (),
    ) -> NewRun:
        """Return a run. Default `scheduled_at`: `due_at`. Default priority and payload: the
        job's.
        """
        return NewRun(
            id=run_id,
            job_id=self.job_id,
            scheduled_at=due_at if scheduled_at is None else scheduled_at,
            due_at=due_at,
            deadline_at=None if self.deadline is None else due_at + self.deadline,
            tenant_id=self.tenant_id,
            queue_id=self.queue_id,
            kind_id=self.kind_id,
            policy_id=self.policy_id,
            job_version=self.job_version,
            trigger=self.trigger,
            priority=self.priority if priority is None else priority,
            guarantee=self.guarantee,
            payload=payload,
            gates=gates,
        )


@lru_cache(maxsize=1024)
def read_job_policy(text: str) -> Policy:
    """Return the stored policy of a job."""
    return read_stored_policy(json.loads(text))


@lru_cache(maxsize=1024)
def read_job_limits(text: str | None) -> tuple[JobLimit, ...]:
    """Return the stored limits of a job."""
    return read_stored_limits(json.loads(text or "null"))
