"""A run is built in one way, whatever creates it."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from rota.contract.policy import write_policy
from rota.core.outcome import Guarantee
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.policy import Policy
from rota.core.states import JobState, RunState
from rota.core.submissions import encode_canonical
from rota.store.jobs import StoredJob
from rota.store.live_runs import NewRun
from rota.store.requeue import OwnedRun
from rota.store.run_templates import RunTemplate

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
POLICY = encode_canonical(
    write_policy(Policy(deadline=HOUR, guarantee=Guarantee.AT_MOST_ONCE)),
)
JOB = StoredJob(
    id=UUID(int=1),
    tenant_id=2,
    state=JobState.ACTIVE,
    version=3,
    kind_id=4,
    queue_id=5,
    policy_id=6,
    priority=7,
    overlap=Overlap.SKIP,
    keep_first=False,
    when_queue_paused=WhenQueuePaused.SKIP,
    guarantee=Guarantee.AT_MOST_ONCE,
    schedule=None,
    payload=None,
    limits=None,
    policy=POLICY,
    quotas=None,
)
RUN = NewRun(
    id=UUID(int=9),
    job_id=UUID(int=1),
    scheduled_at=NOON,
    due_at=NOON,
    deadline_at=NOON + HOUR,
    tenant_id=2,
    queue_id=5,
    kind_id=4,
    policy_id=6,
    job_version=3,
    trigger="tick",
    priority=7,
    guarantee=Guarantee.AT_MOST_ONCE,
)


def test_a_run_has_the_fields_of_its_job_and_its_deadline_counts_from_when_it_is_due() -> None:
    template = RunTemplate.from_job(JOB, trigger="tick")

    assert template.build_run(UUID(int=9), due_at=NOON) == RUN


def test_a_run_may_differ_in_times_priority_payload_and_gates() -> None:
    template = RunTemplate.from_job(JOB, trigger="backfill")

    run = template.build_run(
        UUID(int=9),
        scheduled_at=NOON - HOUR,
        due_at=NOON + HOUR,
        priority=0,
        payload="{}",
        gates=(1, 2),
    )

    assert (run.scheduled_at, run.due_at) == (NOON - HOUR, NOON + HOUR)
    assert run.deadline_at == NOON + 2 * HOUR
    assert (run.trigger, run.priority, run.payload, run.gates) == ("backfill", 0, "{}", (1, 2))


def test_a_repeated_run_has_the_fields_of_the_old_one() -> None:
    old = OwnedRun(
        id=UUID(int=8),
        job_id=UUID(int=1),
        job_version=3,
        state=RunState.DEAD,
        scheduled_at=NOON,
        priority=7,
        queue_id=5,
        kind_id=4,
        policy_id=6,
        policy=POLICY,
        gates=None,
        has_job=True,
        payload=None,
    )

    template = RunTemplate.from_run(old, tenant_id=2, trigger="tick")

    assert template.build_run(UUID(int=9), due_at=NOON) == RUN
