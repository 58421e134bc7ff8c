"""What is wrong now: every problem against real rows, with its cause, remedy and action (I12)."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.support.world import World

from rota.core.alerts.finding import Severity
from rota.core.problem_codes import PROBLEM_CODES, DetectedProblem
from rota.core.states import RunState
from rota.engine.observability.problem_cache import ProblemCache
from rota.engine.observability.problems import ProblemScope, find_problems
from rota.store import gates, interning, live_runs, sessions, tenant_queues
from rota.store.live_runs import RunEnding
from rota.store.sessions import NewSession, SessionRole

HOUR = timedelta(hours=1)
OWN = ProblemScope(tenant_id=1, tenant="default")
ALL = ProblemScope(tenant_id=1, tenant="default", covers_all=True)


async def found(world: World, scope: ProblemScope = OWN) -> dict[str, DetectedProblem]:
    """The problems by code; a code occurs once in these tests."""
    problems = await find_problems(world.conn, scope)
    codes = [problem.code for problem in problems]
    assert len(set(codes)) == len(codes), codes
    assert set(codes) <= PROBLEM_CODES.keys()
    return {problem.code: problem for problem in problems}


async def worker(world: World, **given: Any) -> UUID:
    serves: dict[str, Any] = {
        "queues": (world.queue_id,),
        "kinds": (world.kind_id,),
        "slots": 100,
        **given,
    }
    session = NewSession(id=world.new_id(), role=SessionRole.WORKER, name="host:1", **serves)
    await sessions.open_session(world.conn, session, ttl=HOUR)
    return session.id


async def fleet(world: World) -> UUID:
    """A scheduler with all shards and a worker of the world's queue and kind, both for an hour."""
    scheduler = await world.session(role=SessionRole.SCHEDULER, ttl=HOUR)
    await sessions.hold_shards(world.conn, owner=scheduler, shards=range(128), ttl=HOUR)
    return await worker(world)


async def incident(world: World, **given: Any) -> UUID:
    row = {
        "id": uuid4(),
        "tenant_id": 1,
        "state": "open",
        "severity": "page",
        "title": "Job nightly failed 3 times in a row",
        "condition": "failure_streak",
        "expectation_id": uuid4(),
        "expectation_name": "failures",
        "subject_kind": "job",
        "subject_id": uuid4().hex,
        "subject_name": "nightly",
        "opened_at": world.now,
        "last_seen_at": world.now,
        "group_id": uuid4(),
    } | given
    marks = ", ".join(f"${number + 1}" for number in range(len(row)))
    await world.conn.execute(
        f"insert into rota.incidents ({', '.join(row)}) values ({marks})", *row.values()
    )
    return UUID(str(row["id"]))


async def test_a_healthy_installation_has_no_problems(world: World) -> None:
    await fleet(world)
    await world.run()

    assert await found(world) == {}
    assert await found(world, ALL) == {}


async def test_missing_processes_are_the_worst_problems(world: World) -> None:
    await world.run()

    problems = await find_problems(world.conn, OWN)

    assert [(each.code, each.severity) for each in problems] == [
        ("no_scheduler", Severity.PAGE),
        ("no_worker", Severity.PAGE),
    ]
    assert "rota scheduler" in problems[0].remedy
    assert problems[1].cause == "1 run could start now."
    assert problems[1].since == world.now


async def test_a_worker_that_has_nothing_to_do_is_missed_less(world: World) -> None:
    assert (await found(world))["no_worker"].severity is Severity.WARNING


async def test_shards_without_a_scheduler_are_counted_after_a_grace(world: World) -> None:
    await worker(world)
    owner = await world.session(role=SessionRole.SCHEDULER, ttl=HOUR)
    await sessions.hold_shards(world.conn, owner=owner, shards=range(120), ttl=HOUR)
    at_once = await found(world)

    await world.advance(seconds=16)
    later = await found(world)

    assert at_once == {}
    assert later["shard_without_owner"].sentence.startswith("8 shards of 128 have no scheduler")


async def test_late_ticks_are_counted_for_their_tenant(world: World) -> None:
    await fleet(world)
    await world.job()
    due = world.now

    await world.advance(seconds=11)
    problem = (await found(world))["tick_overdue"]

    assert (problem.sentence[:7], problem.since) == ("1 tick ", due)
    assert "tick_overdue" in await found(world, ALL)
    assert "tick_overdue" not in await found(world, ProblemScope(tenant_id=2, tenant="other"))


async def test_runs_in_a_queue_without_a_worker_say_what_why_says(world: World) -> None:
    await fleet(world)
    mail = await interning.intern_queue(world.conn, "mail")
    await world.runs(3, queue_id=mail)
    waited_since = world.now

    await world.advance(seconds=11)
    problem = (await found(world))["no_worker_for_queue"]

    assert problem.severity is Severity.PAGE
    assert problem.sentence == "3 runs in queue mail cannot start."
    assert problem.cause == (
        "No live worker serves queue mail; only workers for other queues are running."
    )
    assert problem.remedy == "Start a worker with `rota worker --queue mail`."
    assert problem.since == waited_since
    assert (problem.subject.kind, problem.subject.id) == ("queue", "mail")


async def test_a_waiting_kind_without_a_worker_is_named_with_its_remedy(world: World) -> None:
    await fleet(world)
    sql = await interning.intern_kind(world.conn, "sql")
    await world.run(kind_id=sql)

    await world.advance(seconds=11)
    problem = (await found(world))["no_worker_for_kind"]

    assert problem.sentence == "1 run of kind sql in queue default cannot start."
    assert "executors.connections" in problem.remedy


async def test_an_active_job_whose_kind_nobody_serves_is_found_before_its_tick(
    world: World,
) -> None:
    await fleet(world)
    kind = await interning.intern_kind(world.conn, "reports.daily")
    later = world.now + HOUR
    await world.job(kind_id=kind, name="daily report", tick_at=later, fire_at=later)

    problem = (await found(world))["no_worker_for_kind"]

    assert problem.sentence == "No live worker serves kind reports.daily of job daily report."


async def test_busy_workers_are_a_problem_after_five_minutes(world: World) -> None:
    scheduler = await world.session(role=SessionRole.SCHEDULER, ttl=HOUR)
    await sessions.hold_shards(world.conn, owner=scheduler, shards=range(128), ttl=HOUR)
    session = await worker(world, slots=1)
    await world.run()
    await world.claim(session, room=1)
    await world.run()

    await world.advance(minutes=4)
    before = await found(world)
    await world.advance(minutes=2)
    after = await found(world)

    assert before == {}
    assert after["workers_busy"].cause == (
        "All slots of the workers that can run it are busy (1 of 1)."
    )


async def test_a_paused_queue_is_resumed_by_its_action(world: World) -> None:
    await fleet(world)
    await interning.intern_tenant_queues(world.conn, [(1, "default")])
    await tenant_queues.pause_queue(
        world.conn, tenant_id=1, queue_id=world.queue_id, by="ann@example.com"
    )
    idle = (await found(world))["tenant_queue_paused"]
    await world.runs(2)
    busy = (await found(world))["tenant_queue_paused"]

    assert (idle.severity, busy.severity) == (Severity.INFO, Severity.WARNING)
    assert busy.sentence == "Queue default is paused; 2 runs cannot start."
    assert busy.cause == "ann@example.com paused it."
    assert busy.action is not None
    assert busy.action.path == "/v1/queues/default/resume?all_tenants=false"


async def test_a_queue_paused_for_all_and_a_paused_tenant_are_found(world: World) -> None:
    await fleet(world)
    await interning.intern_tenant_queues(world.conn, [(1, "default")])
    await gates.pause_queue(world.conn, world.queue_id, by="platform")
    await gates.pause_tenant(world.conn, 1)

    problems = await found(world)

    assert problems["queue_paused"].sentence == "Queue default is paused for all tenants."
    assert problems["tenant_paused"].action is not None
    assert problems["tenant_paused"].action.path == "/v1/tenants/1/resume"


async def test_a_quarantined_job_is_found_with_its_reason(world: World) -> None:
    await fleet(world)
    later = world.now + HOUR
    job_id = await world.job(name="broken", tick_at=later, fire_at=later)
    await world.conn.execute(
        "update rota.jobs set state = 'quarantined', held = $2 where id = $1",
        job_id,
        f'{{"by": "scheduler", "at": "{world.now.isoformat()}", "reason": "no such zone"}}',
    )

    problem = (await found(world))["quarantined"]

    assert problem.cause == "no such zone"
    assert problem.since == world.now
    assert problem.links == {"job": f"/jobs/job_{job_id.hex}"}


async def test_dead_letters_are_grouped_and_requeued_with_a_token(world: World) -> None:
    await fleet(world)
    session, run = await world.running()
    failure = '{"type": "ValueError", "message": "no such file"}'
    ending = RunEnding(run.id, run.attempt, RunState.DEAD, 1, None, failure)
    await live_runs.finish_runs(world.conn, session_id=session, endings=[ending])

    problem = (await found(world))["dead_letters"]
    await world.advance(hours=25)
    later = await find_problems(world.conn, OWN)

    assert problem.sentence == "1 run of noop failed for good."
    assert problem.cause == "ValueError: no such file"
    assert problem.action is not None
    assert problem.action.needs_token
    assert problem.action.body is not None
    assert problem.action.body["filter"]["kind"] == "noop"
    assert "dead_letters" not in {each.code for each in later}


async def test_a_lost_worker_is_named_while_it_holds_runs(world: World) -> None:
    await fleet(world)
    await world.running()

    await world.advance(seconds=11)
    problem = (await found(world))["worker_lost"]

    assert problem.sentence == "Worker test sends no more heartbeats and holds 1 run."


async def test_a_failing_source_says_its_error(world: World) -> None:
    await fleet(world)
    await world.conn.execute(
        "insert into rota.sources (tenant_id, name, kind, owner, reader, expires_at, failures,"
        " error, error_at) values (1, 'orders', 'kafka', $1, 'r', $2, 2, 'no broker', $2)",
        uuid4(),
        world.now,
    )

    problem = (await found(world))["source_stopped"]

    assert problem.sentence == "Source orders (kafka) fails: 2 errors in a row."
    assert problem.cause == "no broker"


async def test_a_quota_is_a_problem_at_ninety_percent(world: World) -> None:
    await fleet(world)
    await world.conn.execute("""update rota.tenants set quotas = '{"max_queued": 10}'""")
    await world.runs(8)
    before = await found(world)
    await world.run()
    after = await found(world)

    assert before == {}
    assert after["quota_nearly_used"].sentence == (
        "Quota max_queued of tenant default is nearly used up: 9 of 10."
    )


async def test_an_open_incident_is_acknowledged_by_its_action(world: World) -> None:
    await fleet(world)
    incident_id = await incident(world)
    problem = (await found(world))["failure_streak"]
    await world.conn.execute(
        "update rota.incidents set state = 'acknowledged', acknowledged_by = 'ann'"
    )
    quiet = (await found(world))["failure_streak"]
    await world.conn.execute("update rota.incidents set state = 'resolved'")

    assert problem.severity is Severity.PAGE
    assert problem.sentence == "Job nightly failed 3 times in a row"
    assert problem.action is not None
    assert problem.action.path == f"/v1/incidents/inc_{incident_id.hex}/acknowledge"
    assert (quiet.severity, quiet.cause, quiet.action) == (
        Severity.INFO,
        "ann acknowledged it.",
        None,
    )
    assert await found(world) == {}


async def test_an_incident_and_the_problem_behind_it_are_listed_once(world: World) -> None:
    await fleet(world)
    await interning.intern_queue(world.conn, "mail")
    mail = await interning.intern_queue(world.conn, "mail")
    await world.run(queue_id=mail)
    await world.advance(minutes=3)
    incident_id = await incident(
        world,
        condition="no_worker",
        severity="warning",
        subject_kind="queue",
        subject_id="mail",
        subject_name="mail",
    )

    problems = await find_problems(world.conn, OWN)

    assert [problem.code for problem in problems] == ["no_worker_for_queue"]
    assert problems[0].severity is Severity.PAGE
    assert problems[0].links["incident"] == f"/alerts/inc_{incident_id.hex}"
    assert problems[0].action is not None
    assert problems[0].action.label == "Acknowledge"


async def test_incidents_of_the_installation_are_for_platform_keys(world: World) -> None:
    await fleet(world)
    await incident(
        world, tenant_id=0, condition="relay_behind", subject_kind="platform", subject_id="relay"
    )

    assert "relay_behind" in await found(world, ALL)
    assert await found(world) == {}


async def test_endpoints_and_channels_that_fail_are_problems(world: World) -> None:
    await fleet(world)
    for name, given in {
        "gone": "'disabled', 'gone', 0",
        "flaky": "'enabled', null, 5",
        "off": "'disabled', 'manual', 0",
    }.items():
        await world.conn.execute(
            "insert into rota.webhook_endpoints (id, tenant_id, name, url, events, state,"
            " disabled_reason, failures, key_id, ciphertext, created_by)"
            f" select $1, 1, $2, 'https://example.com', '{{}}', {given}, 'k', '', 'ann'",
            uuid4(),
            name,
        )
    await world.conn.execute(
        "insert into rota.alert_channels (name, kind, tenants, reported_at, failing_since,"
        " failures, last_error) values ('chat', 'slack', '{*}', $1, $1, 2, 'HTTP 500')",
        world.now,
    )

    problems = await found(world)

    assert set(problems) == {"endpoint_disabled", "endpoint_failing", "channel_failing"}
    assert problems["endpoint_disabled"].subject.name == "gone"
    assert problems["channel_failing"].cause == "HTTP 500"
    assert problems["channel_failing"].action is not None
    assert problems["channel_failing"].action.path == "/v1/channels/chat/test"


@pytest.mark.parametrize(
    ("seconds", "is_fresh", "passes"), [(4, False, 1), (4, True, 2), (6, False, 2)]
)
async def test_problems_are_found_once_in_five_seconds(
    world: World, seconds: int, is_fresh: bool, passes: int
) -> None:
    cache, calls = ProblemCache(), 0

    async def find() -> list[DetectedProblem]:
        nonlocal calls
        calls += 1
        return []

    await cache.read((1, False), find, now=lambda: world.now)
    await world.advance(seconds=seconds)
    await cache.read((1, False), find, now=lambda: world.now, is_fresh=is_fresh)

    assert calls == passes
