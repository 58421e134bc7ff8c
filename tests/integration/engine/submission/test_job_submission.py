"""Jobs are handed in whole or not at all, with their first tick, run and gates (S1-S4, E4, E7)."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import asyncpg
import pytest
from tests.support.world import World

from rota.contract.policy import read_policy
from rota.contract.schedule import read_saved_schedule
from rota.core.errors import InvalidInput, InvalidSchedule, NotFound
from rota.core.ids import read_id_time
from rota.core.lease import compute_shard
from rota.core.limits import JobLimit, RateLimit
from rota.core.overlap import Overlap
from rota.core.policy import Policy, RetryPolicy
from rota.core.submissions import JobSpec, RunSpec
from rota.core.time import planning
from rota.engine.submission.drafts import SubmissionOrigin
from rota.engine.submission.job_submission import SubmittedJob, submit_jobs
from rota.engine.submission.run_triggers import submit_runs
from rota.store import cursors, interning, live_runs


async def submitted(world: World, *specs: JobSpec) -> list[SubmittedJob]:
    return await submit_jobs(
        world.conn,
        specs,
        now=world.now,
        new_id=world.new_id,
        origin=SubmissionOrigin("key k", "10.0.0.1"),
    )


async def rows_beside(world: World) -> int:
    """How many rows there are that a submission does without."""
    tables = ("jobs", "cursors", "audit", "ended_jobs")
    return sum([await world.count(table) for table in tables])


async def one(world: World, **given: object) -> SubmittedJob:
    spec = JobSpec(name="report", kind="noop", **given)  # type: ignore[arg-type]
    (made,) = await submitted(world, spec)
    return made


async def gates_of_run(world: World, run_id: UUID | None) -> list[str]:
    rows = await world.conn.fetch(
        "select g.key from rota.live_runs as l, unnest(l.gates) with ordinality as n (id, place)"
        " join rota.gates as g on g.id = n.id where l.id = $1 order by n.place",
        run_id,
    )
    return [row[0] for row in rows]


SAID = "name, labels, user_id, submitter, address, payload"


async def test_an_immediate_submission_is_one_run(world: World) -> None:
    """S1. The run says who submitted what, so neither a job nor an audit row does."""
    made = await one(
        world, schedule={"immediate": True}, payload={"n": 1}, labels={"a": "b"}, user_id="kim"
    )
    (run,) = await world.claim(await world.session())

    assert run.id == made.run_id == made.job_id == run.job_id
    assert read_id_time(run.id) == world.now
    assert (run.scheduled_at, run.due_at, run.payload) == (world.now, world.now, '{"n": 1}')
    said = await world.conn.fetchrow(f"select {SAID} from rota.live_runs")
    assert tuple(said or ()) == ("report", '{"a": "b"}', "kim", "key k", "10.0.0.1", '{"n": 1}')
    assert (made.first_tick, made.is_submission) == (None, True)
    assert await rows_beside(world) == 0


@pytest.mark.parametrize(
    ("schedule", "due_at"),
    [
        ({"at": "2026-08-01T00:00:00Z"}, datetime(2026, 8, 1, tzinfo=UTC)),
        ({"after": "90s"}, datetime(2026, 7, 1, 12, 1, 30, tzinfo=UTC)),
    ],
)
async def test_a_later_submission_is_one_row_that_waits_for_its_instant(
    world: World, schedule: dict[str, object], due_at: datetime
) -> None:
    """S2, S3. Its id begins with the time at which it is due."""
    made = await one(world, schedule=schedule, payload={"n": 1})

    row = await world.conn.fetchrow(f"select id, shard, due_at, {SAID} from rota.scheduled_runs")
    assert row is not None
    assert tuple(row)[:3] == (made.job_id, compute_shard(made.job_id), due_at)
    assert tuple(row)[3:] == ("report", None, None, "key k", "10.0.0.1", '{"n": 1}')
    assert read_id_time(made.job_id) == due_at
    assert (made.run_id, made.first_tick) == (None, due_at)
    assert await rows_beside(world) == await world.count("live_runs") == 0


async def test_jitter_is_applied_when_a_submission_is_written(world: World) -> None:
    made = await one(world, schedule={"after": "1h", "jitter": "10m"})

    due_at = await world.conn.fetchval("select due_at from rota.scheduled_runs")
    assert timedelta(hours=1) < due_at - world.now <= timedelta(hours=1, minutes=10)
    assert made.first_tick == world.now + timedelta(hours=1)


async def test_names_of_submissions_need_not_be_unique_nor_be_there(world: World) -> None:
    now = {"immediate": True}
    await submitted(
        world,
        JobSpec(name="good", kind="noop"),
        JobSpec(name="good", kind="noop", schedule=now),
        JobSpec(name="good", kind="noop", schedule=now),
        JobSpec(name=None, kind="noop", schedule={"after": "1m"}),
    )

    assert await world.count("jobs") == 1
    names_of_runs = await world.conn.fetch("select name from rota.live_runs")
    assert [row[0] for row in names_of_runs] == ["good", "good"]
    assert await world.conn.fetchval("select name from rota.scheduled_runs") is None


@pytest.mark.parametrize(
    "given",
    [
        {"schedule": {"after": "1h", "window": {"end": "2026-08-01T00:00:00Z"}}},
        {"schedule": {"after": "1h", "misfire": {"start_deadline": "1h"}}},
        {"schedule": {"at": ["2026-08-01T00:00:00Z", "2026-08-02T00:00:00Z"]}},
        {
            "schedule": {"immediate": True},
            "kind": "graph",
            "graph": {"steps": [{"name": "a", "kind": "x"}]},
        },
    ],
)
async def test_what_only_a_job_can_follow_stays_a_job(
    world: World, given: dict[str, object]
) -> None:
    (made,) = await submitted(world, JobSpec(**({"name": "x", "kind": "noop"} | given)))  # type: ignore[arg-type]

    assert not made.is_submission
    assert await world.count("jobs") == 1
    assert await world.count("scheduled_runs") == 0


async def test_submissions_of_many_sorts_are_written_with_one_statement_a_table(
    world: World,
) -> None:
    """P3. Each has what is its own, whatever its neighbours are."""
    specs = [
        JobSpec(
            name=None if n % 3 else f"name {n}",
            kind=f"kind {n % 5}",
            queue=f"queue {n % 2}",
            schedule={"immediate": True} if n % 2 else {"after": f"{n + 1}m"},
            payload=None if n % 7 == 0 else {"n": n},
            priority=n % 10,
            labels={"n": str(n)} if n % 4 == 0 else {},
            user_id=f"user {n}" if n % 6 == 0 else None,
            policy=Policy(deadline=timedelta(minutes=n % 3 + 1) if n % 3 else None),
            limits=(JobLimit(key=f"key {n % 2}", max_running=1),) if n % 5 == 0 else (),
        )
        for n in range(60)
    ]
    await submitted(world, *specs)
    counting = Counting(world)
    made = await submit_jobs(counting, specs, now=world.now, new_id=world.new_id)  # type: ignore[arg-type]

    assert counting.calls <= 8
    columns = "s.id, s.name, k.name, q.name, s.payload, s.priority, s.labels, s.user_id, s.gates"
    tables = "s join rota.kinds k on k.id = s.kind_id join rota.queues q on q.id = s.queue_id"
    rows = await world.conn.fetch(
        f"select {columns}, s.deadline_at - s.due_at from rota.live_runs {tables}"
        f" union all select {columns}, s.deadline from rota.scheduled_runs {tables}"
    )
    written = {row[0]: tuple(row)[1:] for row in rows}
    for spec, each in zip(specs, made, strict=True):
        *said, gate_ids, deadline = written[each.job_id]
        payload, labels = said[3], said[5]
        assert said == [
            *(spec.name, spec.kind, spec.queue, payload, spec.priority, labels, spec.user_id)
        ]
        assert (None if payload is None else json.loads(payload)) == spec.payload
        assert ({} if labels is None else json.loads(labels)) == spec.labels
        assert deadline == spec.policy.deadline
        assert len(gate_ids or ()) == len(spec.limits)


@pytest.mark.parametrize(
    ("schedule", "first"),
    [
        ({"cron": "30 14 * * *"}, datetime(2026, 7, 1, 14, 30, tzinfo=UTC)),
        ({"every": "15m"}, datetime(2026, 7, 1, 12, 15, tzinfo=UTC)),
        ({"fixed_delay": "15m"}, datetime(2026, 7, 1, 12, 15, tzinfo=UTC)),
    ],
)
async def test_a_job_on_schedule_gets_a_cursor_at_its_first_tick(
    world: World, schedule: dict[str, object], first: datetime
) -> None:
    """S4, S5, S6."""
    made = await one(world, schedule=schedule)

    (due,) = await world.due(within=timedelta(days=60))
    assert (made.run_id, made.first_tick, due.tick_at) == (None, first, first)
    assert due.job_id == made.job_id
    assert due.schedule_id is not None


async def test_a_job_on_demand_or_on_an_event_has_no_ticks(world: World) -> None:
    """S7, S8."""
    await submitted(
        world,
        JobSpec(name="a", kind="noop"),
        JobSpec(name="b", kind="noop", schedule={"event": "paid"}),
    )

    assert await world.count("jobs") == 2
    assert await world.count("cursors") == await world.count("live_runs") == 0


async def test_the_first_tick_is_the_one_that_the_stored_schedule_makes(world: World) -> None:
    """Jitter and H are seeded by the job's id, so whoever reads the schedule gets the same."""
    made = await one(world, schedule={"cron": "H H * * *", "jitter": "10m"})

    (due,) = await world.due(within=timedelta(days=3))
    assert due.schedule_id is not None
    body = json.loads(
        (await interning.read_schedules(world.conn, [due.schedule_id]))[due.schedule_id]
    )
    planned = planning.plan_next_tick(read_saved_schedule(body, seed=str(made.job_id)), world.now)
    assert planned is not None
    assert (due.tick_at, due.fire_at) == (planned.tick.at, planned.due_at)


async def test_policy_and_deadline_reach_the_run(world: World) -> None:
    """E9: an immediate run is due now; its deadline counts from there."""
    policy = Policy(retries=RetryPolicy(max_retries=7), deadline=timedelta(hours=2))
    await one(world, schedule={"immediate": True}, policy=policy, priority=1)

    row = await world.conn.fetchrow(
        "select l.deadline_at, l.priority, p.body from rota.live_runs as l"
        " join rota.policies as p on p.id = l.policy_id"
    )
    assert row is not None
    assert (row[0], row[1]) == (world.now + timedelta(hours=2), 1)
    assert read_policy(json.loads(row[2])) == policy


async def test_a_deadline_and_gates_are_handed_on_to_ticks(world: World) -> None:
    policy = Policy(deadline=timedelta(hours=2))
    made = await one(
        world,
        schedule={"every": "1m"},
        policy=policy,
        overlap=Overlap.QUEUE_ALL,
        limits=(JobLimit(key="all", max_running=5),),
    )
    await world.advance(minutes=1)
    ownership = await world.own()
    due = await world.due()
    firings = [cursors.TickFiring(due[0], world.new_id(), None, None)]
    (decided,) = await cursors.fire_overlapping(world.conn, ownership, firings)

    assert await gates_of_run(world, decided.run_id) == [f"job:{made.job_id}", "key:all"]
    deadline = await world.conn.fetchval("select deadline_at from rota.live_runs")
    assert deadline == world.now + timedelta(hours=2)


@pytest.mark.parametrize("overlap", list(Overlap))
async def test_jobs_that_go_one_by_one_have_a_gate_of_their_own(
    world: World, overlap: Overlap
) -> None:
    """E4. A submission has one run, which overlaps with none."""
    job = await one(world, schedule={"on_demand": True}, overlap=overlap)
    (run_id,) = await submit_runs(
        world.conn, [RunSpec(job_id=job.job_id)], now=world.now, new_id=world.new_id
    )
    submission = await one(world, schedule={"immediate": True}, overlap=overlap)

    one_by_one = overlap in {Overlap.QUEUE_ONE, Overlap.QUEUE_ALL, Overlap.CANCEL_RUNNING}
    expected = [f"job:{job.job_id}"] if one_by_one else []
    assert await gates_of_run(world, run_id) == expected
    assert await gates_of_run(world, submission.run_id) == []


async def test_the_keys_of_limits_are_filled_and_the_narrowest_comes_first(world: World) -> None:
    """E7."""
    rate = RateLimit(count=10, per=timedelta(seconds=1))
    limits = (
        JobLimit(key="all", rate=rate),
        JobLimit(key="region:{args.region}", max_running=9),
        JobLimit(key="customer:{args.id}", max_running=1),
    )
    payload = {"id": 42, "region": "eu"}
    made = await one(world, schedule={"immediate": True}, limits=limits, payload=payload)

    expected = ["key:customer:42", "key:region:eu", "key:all"]
    assert await gates_of_run(world, made.run_id) == expected


async def test_one_key_is_one_gate_for_all_jobs_of_a_tenant_and_no_other(world: World) -> None:
    await world.conn.execute("insert into rota.tenants (name) values ('other')")
    limits = (JobLimit(key="api", max_running=2),)
    now = {"immediate": True}
    await submitted(
        world,
        JobSpec(name="a", kind="noop", schedule=now, limits=limits),
        JobSpec(name="b", kind="noop", schedule=now, limits=limits),
        JobSpec(name="a", kind="noop", schedule=now, limits=limits, tenant="other"),
    )

    assert await world.count("gates") == 2


WRONG: dict[str, tuple[dict[str, object], str]] = {
    "name": ({"name": ""}, "jobs[1].name"),
    "kind": ({"kind": "x" * 201}, "jobs[1].kind"),
    "queue": ({"queue": "a\nb"}, "jobs[1].queue"),
    "priority": ({"priority": 10}, "jobs[1].priority"),
    "payload": ({"payload": {"n": float("nan")}}, "jobs[1].payload"),
    "schedule": ({"schedule": {"cron": "61 * * * *"}}, "jobs[1].schedule"),
    "past": ({"schedule": {"at": "2020-01-01T00:00:00Z"}}, "jobs[1].schedule.at"),
    "unknown": ({"schedule": {"crn": "* * * * *"}}, "jobs[1].schedule.crn"),
    "calendar": (
        {"schedule": {"cron": "* * * * *", "calendars": ["none"]}},
        "jobs[1].schedule.calendars",
    ),
    "limit": ({"limits": (JobLimit(key="{args.id}", max_running=1),)}, "jobs[1].limits[0].key"),
    "label": ({"labels": {"k": "v" * 99}}, "jobs[1].labels.k"),
    "user": ({"user_id": " "}, "jobs[1].user_id"),
    "keep_first": ({"keep_first": True}, "jobs[1].keep_first"),
    "paused queue": ({"when_queue_paused": "wait"}, "jobs[1].when_queue_paused"),
    "twin": ({"name": "good"}, "jobs[1].name"),
}


@pytest.mark.parametrize("case", list(WRONG))
async def test_one_wrong_job_refuses_the_batch_and_says_which(world: World, case: str) -> None:
    given, field = WRONG[case]
    good = JobSpec(name="good", kind="noop")
    wrong = JobSpec(**({"name": "wrong", "kind": "noop"} | given))  # type: ignore[arg-type]

    with pytest.raises(InvalidInput) as refused:
        await submitted(world, good, wrong)

    assert refused.value.field.startswith(field)
    assert isinstance(refused.value, InvalidSchedule) == field.startswith("jobs[1].schedule")
    assert await world.count("jobs") == await world.count("live_runs") == 0


async def test_a_name_that_is_taken_refuses_the_batch(world: World) -> None:
    await one(world)

    with pytest.raises(InvalidInput) as refused:
        await submitted(
            world, JobSpec(name="new", kind="noop"), JobSpec(name="report", kind="noop")
        )

    assert refused.value.field == "jobs[1].name"
    assert await world.count("jobs") == 1


async def test_a_tenant_is_never_made_by_using_it(world: World) -> None:
    with pytest.raises(NotFound):
        await one(world, tenant="nobody")

    assert await world.count("tenants") == 1


async def test_the_same_batch_from_many_is_written_once(world: World, database: str) -> None:
    """F35 by name: one of them wins, the others are refused, nothing deadlocks."""
    conns = [await asyncpg.connect(database) for _ in range(4)]
    worlds = [await World(conn).begin() for conn in conns]

    async def hand_in(place: int) -> bool:
        specs = [JobSpec(name=f"job {n}", kind=f"kind {n % 7}") for n in range(50)]
        order = specs if place % 2 else list(reversed(specs))
        ids = iter(range(place * 1000 + 1, place * 1000 + 1000))
        try:
            await submit_jobs(
                worlds[place].conn, order, now=world.now, new_id=lambda: UUID(int=next(ids))
            )
        except InvalidInput:
            return False
        return True

    results = await asyncio.gather(*(hand_in(place) for place in range(4)))

    assert sorted(results) == [False, False, False, True]
    assert await world.count("jobs") == 50
    for conn in conns:
        await conn.close()


async def test_a_thousand_jobs_take_as_many_round_trips_as_two(world: World) -> None:
    """P3. Kinds that are new cost three more, once: the tenant may make only so many."""
    counts = []
    kinds = [JobSpec(name=f"first {n}", kind=f"kind {n}", schedule=None) for n in range(20)]
    await submit_jobs(world.conn, kinds, now=world.now, new_id=world.new_id)
    for number in (2, 1000):
        specs = [
            JobSpec(
                name=f"{number} {n}",
                kind=f"kind {n % 20}",
                schedule={"cron": f"{n % 60} {n % 24} * * *"},
                limits=(JobLimit(key=f"key {n}", max_running=1),),
            )
            for n in range(number)
        ]
        counting = Counting(world)
        await submit_jobs(counting, specs, now=world.now, new_id=world.new_id)  # type: ignore[arg-type]
        counts.append(counting.calls)

    assert counts[0] == counts[1] <= 9
    assert await world.count("cursors") == 1002


class Counting:
    """The world's connection, with a count of what is asked of it."""

    def __init__(self, world: World) -> None:
        self.conn = world.conn
        self.calls = 0

    async def fetch(self, *args: object) -> object:
        self.calls += 1
        return await self.conn.fetch(*args)  # type: ignore[arg-type]

    def transaction(self) -> object:
        return self.conn.transaction()

    def is_in_transaction(self) -> bool:
        return self.conn.is_in_transaction()


async def test_many_runs_of_a_job_at_once(world: World) -> None:
    made = await one(world, payload={"n": 0})
    specs = [RunSpec(job_id=made.job_id, payload={"n": n} if n % 2 else None) for n in range(2500)]

    ids = await submit_runs(world.conn, specs, now=world.now, new_id=world.new_id)
    again = await submit_runs(
        world.conn,
        [RunSpec(job_id=made.job_id, id=ids[0])],
        now=world.now,
        new_id=world.new_id,
    )

    assert len(set(ids)) == 2500
    assert again == []
    runs = await world.claim(await world.session(), room=3000)
    assert {run.payload for run in runs} >= {None, '{"n": 1}', '{"n": 2499}'}


async def test_runs_of_a_limited_job_pass_the_gates_of_their_own_payload(world: World) -> None:
    made = await one(
        world, limits=(JobLimit(key="customer:{args.id}", max_running=1),), payload={"id": 1}
    )
    specs = [RunSpec(job_id=made.job_id, payload=p) for p in (None, {"id": 1}, {"id": 2})]

    ids = await submit_runs(world.conn, specs, now=world.now, new_id=world.new_id)

    keys = [await gates_of_run(world, id_) for id_ in ids]
    assert keys == [["key:customer:1"], ["key:customer:1"], ["key:customer:2"]]


async def test_runs_of_a_job_that_does_not_exist_are_refused(world: World) -> None:
    made = await one(world)
    specs = [RunSpec(job_id=made.job_id), RunSpec(job_id=world.new_id())]

    with pytest.raises(NotFound):
        await submit_runs(world.conn, specs, now=world.now, new_id=world.new_id)

    assert await world.count("live_runs") == 0


async def test_a_wrong_run_refuses_the_batch_and_says_which(world: World) -> None:
    made = await one(world)
    specs = [RunSpec(job_id=made.job_id), RunSpec(job_id=made.job_id, payload="\x00")]

    with pytest.raises(InvalidInput) as refused:
        await submit_runs(world.conn, specs, now=world.now, new_id=world.new_id)

    assert refused.value.field == "runs[1].payload"
    assert await live_runs.get_runs(world.conn, []) == {}
    assert await world.count("live_runs") == 0
