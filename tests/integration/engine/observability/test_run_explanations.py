"""Why does it wait? Every case against real rows, and what is said is what the claims do (E18)."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.support.world import ALWAYS_SEEN, TTL, World

from rota.core.errors import NotFound
from rota.core.lanes import Lane
from rota.core.limits import GateLimits, RateLimit
from rota.core.states import INITIAL_STATES, RunState
from rota.engine.dispatch.gated_claims import GatedClaims
from rota.engine.observability.explanations import Explanation, explain_run
from rota.store import gates, interning, live_runs, sessions
from rota.store.live_runs import ClaimedRun, ReturnedAttempt, RunEnding
from rota.store.sessions import NewSession, SessionRole

S = RunState
NOON = "2026-07-01 12:00:00 UTC"
FAILURE = '{"type": "ValueError", "message": "no such\\nfile"}'


async def why(world: World, run_id: UUID, *, tenant_id: int = 1) -> Explanation:
    return await explain_run(world.conn, tenant_id=tenant_id, run_id=run_id)


async def worker(world: World, *, slots: int = 100, **given: Any) -> UUID:
    """A live worker that serves the world's queue and kind, unless told otherwise."""
    serves = {"queues": (world.queue_id,), "kinds": (world.kind_id,)} | given
    session = NewSession(
        id=world.new_id(), role=SessionRole.WORKER, name="host:1", slots=slots, **serves
    )
    await sessions.open_session(world.conn, session, ttl=TTL)
    return session.id


async def claim_gated(world: World, session_id: UUID) -> list[ClaimedRun]:
    return await GatedClaims().claim(
        world.conn,
        session_id=session_id,
        queue_id=world.queue_id,
        kind_ids=[world.kind_id],
        room=100,
    )


async def end(
    world: World, session_id: UUID, run: ClaimedRun, state: RunState, reason: str | None = None
) -> None:
    ending = RunEnding(run.id, run.attempt, state, 1, None, reason)
    await live_runs.finish_runs(world.conn, session_id=session_id, endings=[ending])


async def retry(world: World, session_id: UUID, run: ClaimedRun, **given: Any) -> None:
    back = ReturnedAttempt(
        run.id, run.attempt, S.RETRYING, "failed", 1, timedelta(minutes=5), FAILURE
    )
    await live_runs.put_back_runs(
        world.conn, session_id=session_id, attempts=[back._replace(**given)]
    )


async def gate(world: World, key: str = "key:customer:7", **limits: Any) -> int:
    return await gates.put_gate(world.conn, 1, key, GateLimits(**limits))


async def tenant(world: World, name: str) -> int:
    made = "insert into rota.tenants (name) values ($1) returning id"
    return int(await world.conn.fetchval(made, name))


async def test_a_run_that_succeeded_says_when_and_how_long_it_took(world: World) -> None:
    session, run = await world.running()
    await world.advance(seconds=3)
    await end(world, session, run, S.SUCCEEDED)

    told = await why(world, run.id)

    assert told.code == "succeeded"
    assert told.sentence == (
        "The run succeeded at 2026-07-01 12:00:03 UTC after running for 3 seconds, in attempt 1."
    )


async def test_a_run_that_failed_says_with_what_on_one_line(world: World) -> None:
    session, run = await world.running()
    await end(world, session, run, S.DEAD, FAILURE)

    told = await why(world, run.id)

    assert told.code == "dead"
    assert told.sentence == (
        f"The run failed at {NOON} in attempt 1 because of ValueError: no such file."
    )
    assert told.details["reason"] == {"type": "ValueError", "message": "no such\nfile"}


@pytest.mark.parametrize(
    ("state", "reason", "because"),
    [
        (
            S.CANCELLED,
            '{"code": "cancelled"}',
            "was cancelled at {} because its cancellation was requested.",
        ),
        (S.CANCELLED, '{"code": "cancelled", "by": "ana"}', "because ana requested it."),
        (
            S.CANCELLED,
            '{"code": "job_deleted", "by": "ana"}',
            "because the job was deleted by ana.",
        ),
        (
            S.SKIPPED,
            '{"code": "overlap"}',
            "was skipped at {} because the previous run was still active.",
        ),
        (S.SKIPPED, '{"code": "overlap", "into": "x"}', "because run x of the job covers it."),
        (S.SKIPPED, '{"code": "paused"}', "because the job was paused."),
        (
            S.SKIPPED,
            '{"code": "queue_paused", "by": "kim"}',
            "because the queue was paused by kim.",
        ),
        (S.MISSED, '{"code": "outage"}', "was missed at {} because no scheduler fired it in time."),
        (
            S.COALESCED,
            '{"code": "caught_up"}',
            "was merged into another run at {} because another run of the job covers it.",
        ),
        (S.EXPIRED, '{"code": "deadline"}', "expired at {} because its deadline had passed."),
        (
            S.LOST,
            '{"code": "worker_lost"}',
            "because its worker was lost and the job runs at most once.",
        ),
        (S.DEAD, '{"code": "moon_phase"}', "because of 'moon_phase'."),
        (S.DEAD, None, "because of an unknown reason."),
        (S.DEAD, "[1]", "because of an unknown reason."),
    ],
)
async def test_every_ending_is_explained_by_its_reason(
    world: World, state: RunState, reason: str | None, because: str
) -> None:
    made = (
        "insert into rota.runs (id, job_id, scheduled_at, due_at, created_at, finished_at,"
        " tenant_id, queue_id, kind_id, policy_id, job_version, state, trigger, priority, reason,"
        " left_state) values ($1, $1, $2, $2, $2, $2, 1, 1, 1, 1, 1, $3, 'tick', 5, $4, $5)"
    )
    run_id = world.new_id()
    left = None if state in INITIAL_STATES else "running"
    await world.conn.execute(made, run_id, world.now, state.value, reason, left)

    told = await why(world, run_id)

    assert told.code == state.value
    assert because.format(NOON) in told.sentence


async def test_a_run_whose_worker_was_lost_three_times_says_so(world: World) -> None:
    await world.run()
    for _ in range(3):
        session = await world.session()
        (run,) = await world.claim(session)
        await sessions.close_session(world.conn, session)
        await live_runs.reclaim_runs(world.conn, sight=ALWAYS_SEEN)

    told = await why(world, run.id)

    assert told.code == "quarantined"
    assert "because its worker was lost 3 times while it was running." in told.sentence


async def test_a_run_at_work_says_since_when_and_where(world: World) -> None:
    run_id = await world.run()
    session = await worker(world)
    await world.claim(session)

    running = await why(world, run_id)
    await live_runs.cancel_runs(world.conn, ids=[run_id])
    cancelling = await why(world, run_id)

    assert running.code == "running"
    assert (
        running.sentence == f"The run has been running since {NOON} on worker host:1, in attempt 1."
    )
    assert cancelling.code == "cancelling"
    assert cancelling.sentence.startswith(
        "The run was asked to stop; it is still running on worker host:1, "
    )


async def test_a_run_whose_worker_fell_silent_is_about_to_be_taken_back(world: World) -> None:
    run_id = await world.run()
    session = await worker(world)
    await world.claim(session)
    await world.advance(seconds=11)

    silent = await why(world, run_id)
    await sessions.expire_sessions(world.conn, sight=ALWAYS_SEEN)
    buried = await why(world, run_id)
    await live_runs.reclaim_runs(world.conn, sight=ALWAYS_SEEN)
    again = await why(world, run_id)

    assert silent.code == buried.code == "worker_lost"
    assert silent.sentence == (
        f"The run has been running since {NOON} on worker host:1, which sends no more heartbeats; "
        "it will be reclaimed shortly."
    )
    assert again.code == "no_worker_for_queue"


async def test_a_run_of_another_tenant_is_not_found(world: World) -> None:
    session, done = await world.running()
    await end(world, session, done, S.SUCCEEDED)
    run_id = await world.run()

    for foreign in (run_id, done.id, uuid4()):
        with pytest.raises(NotFound):
            await why(world, foreign, tenant_id=2)


async def test_a_paused_tenant_comes_before_a_paused_queue(world: World) -> None:
    await worker(world)
    run_id = await world.run()
    await gates.pause_queue(world.conn, world.queue_id)
    await world.advance(seconds=5)

    queue = await why(world, run_id)
    await gates.pause_tenant(world.conn, 1)
    both = await why(world, run_id)

    assert queue.code == "queue_paused"
    assert queue.sentence == f"Queue default has been paused since {NOON}."
    assert both.code == "tenant_paused"
    assert both.sentence == "The tenant has been paused since 2026-07-01 12:00:05 UTC."


async def test_a_run_whose_time_has_not_come_says_when(world: World) -> None:
    run_id = await world.run(due_at=world.now + timedelta(hours=1))

    told = await why(world, run_id)

    assert (told.code, told.sentence) == ("not_due", "The run is due at 2026-07-01 13:00:00 UTC.")
    assert told.details["at"] == world.now + timedelta(hours=1)


async def test_a_run_that_backs_off_says_until_when_and_after_what(world: World) -> None:
    session, run = await world.running()
    await retry(world, session, run)

    told = await why(world, run.id)

    assert told.code == "backing_off"
    assert told.sentence == (
        "The run will be retried at 2026-07-01 12:05:00 UTC after attempt 1 failed"
        " with ValueError: no such file."
    )


async def test_a_time_out_and_a_snooze_are_not_called_failures(world: World) -> None:
    session, late = await world.running()
    await retry(world, session, late, outcome="timed_out", reason=None)
    session, sleepy = await world.running()
    await retry(world, session, sleepy, state=S.QUEUED, outcome="snoozed", reason=None)

    assert "after attempt 1 timed out." in (await why(world, late.id)).sentence
    told = await why(world, sleepy.id)
    assert told.code == "snoozed"
    assert told.sentence == "Attempt 1 snoozed the run until 2026-07-01 12:05:00 UTC."


async def test_no_worker_for_its_queue_or_its_kind(world: World) -> None:
    run_id = await world.run()
    alone = await why(world, run_id)
    await worker(world, queues=(99,))
    elsewhere = await why(world, run_id)
    mail = await interning.intern_kind(world.conn, "mail")
    await worker(world, kinds=(mail,))
    other_kind = await why(world, run_id)
    await worker(world)
    served = await why(world, run_id)

    assert alone.sentence == "No live worker serves queue default."
    assert elsewhere.code == "no_worker_for_queue"
    assert elsewhere.sentence == (
        "No live worker serves queue default; only workers for other queues are running."
    )
    assert other_kind.code == "no_worker_for_kind"
    assert other_kind.sentence == (
        "No live worker of queue default serves kind noop; kinds served there: mail."
    )
    assert served.code == "about_to_start"


async def test_a_worker_that_died_or_drains_serves_nobody(world: World) -> None:
    run_id = await world.run()
    session = await worker(world)
    assert (await why(world, run_id)).code == "about_to_start"

    await world.conn.execute("update rota.sessions set draining = true where id = $1", session)
    draining = await why(world, run_id)
    await world.conn.execute("update rota.sessions set draining = false where id = $1", session)
    await world.advance(seconds=11)
    dead = await why(world, run_id)

    assert draining.code == dead.code == "no_worker_for_queue"


async def test_a_limit_names_the_runs_that_hold_it(world: World) -> None:
    two = await gate(world, max_running=2)
    await world.runs(3, gates=(two,))
    session = await worker(world)
    held = [run.id for run in await claim_gated(world, session)]
    (waiting,) = set(await all_ids(world)) - set(held)

    told = await why(world, waiting)

    assert await claim_gated(world, session) == []
    assert told.code == "limit_reached"
    assert told.sentence.startswith(
        "The limit of its key customer:7 allows 2 runs at a time; it is held by "
    )
    assert set(told.details["held_by"]) == set(held)  # type: ignore[call-overload]


async def test_of_many_that_hold_a_limit_five_are_named_and_the_others_counted(
    world: World,
) -> None:
    session = await worker(world)
    seven = await gate(world, max_running=7)
    await world.runs(7, gates=(seven,))
    await claim_gated(world, session)
    waiting = await world.run(gates=(seven,))

    told = await why(world, waiting)

    assert told.sentence.endswith(" and 2 others.")
    assert len(told.details["held_by"]) == 5  # type: ignore[arg-type]


async def test_an_open_gate_holds_nobody(world: World) -> None:
    session = await worker(world)
    run_id = await world.run(gates=(await gate(world, max_running=2),))

    assert (await why(world, run_id)).code == "about_to_start"
    assert len(await claim_gated(world, session)) == 1


async def test_a_second_gate_holds_as_well_as_the_first(world: World) -> None:
    session = await worker(world)
    wide, narrow = await gate(world, max_running=9), await gate(world, "key:all", max_running=1)
    await world.run(gates=(narrow,))
    await claim_gated(world, session)
    run_id = await world.run(gates=(wide, narrow))

    told = await why(world, run_id)

    assert (told.code, told.details["limit"]) == ("limit_reached", "key all")


async def test_a_rate_says_when_the_next_place_comes_and_keeps_its_word(world: World) -> None:
    session = await worker(world)
    slow = await gate(world, rate=RateLimit(count=6, per=timedelta(minutes=1)))
    await world.runs(2, gates=(slow,))
    (first,) = await claim_gated(world, session)
    (waiting,) = set(await all_ids(world)) - {first.id}

    told = await why(world, waiting)
    await world.move_to(told.details["next_at"])  # type: ignore[arg-type]
    again = await why(world, waiting)

    assert told.code == "rate_reached"
    assert told.sentence == (
        "The limit of its key customer:7 allows 6 starts per 1 minute; "
        "the next start is possible at 2026-07-01 12:00:10 UTC."
    )
    assert again.code != "rate_reached"
    await worker(world)
    assert (await why(world, waiting)).code == "about_to_start"


async def test_the_limit_of_a_queue_counts_other_tenants_but_does_not_name_them(
    world: World,
) -> None:
    other = await tenant(world, "other")
    await gates.limit_queue(world.conn, world.queue_id, GateLimits(max_running=2))
    session = await worker(world)
    foreign = await world.run(tenant_id=other)
    own = await world.run()
    await world.claim(session, lanes=[lane(1), lane(other)])
    waiting = await world.run()

    told = await why(world, waiting)

    assert told.sentence == (
        f"The limit of its queue default allows 2 runs at a time; it is held by {own} and 1 other."
    )
    assert str(foreign) not in str(told)


async def test_the_limit_of_a_tenant_is_its_own(world: World) -> None:
    other = await tenant(world, "other")
    await gates.limit_tenant(world.conn, 1, GateLimits(max_running=1))
    session = await worker(world)
    await world.run()
    await world.claim(session)
    waiting, foreign = await world.run(), await world.run(tenant_id=other)

    told = await why(world, waiting)

    assert (told.code, told.details["limit"]) == ("limit_reached", "tenant")
    assert (await why(world, foreign, tenant_id=other)).code == "about_to_start"


async def test_runs_in_order_wait_behind_the_first_and_then_behind_the_one_at_work(
    world: World,
) -> None:
    session = await worker(world)
    ordered = await gate(world, "job:1", in_order=True)
    first = await world.run(gates=(ordered,))
    second = await world.run(gates=(ordered,), scheduled_at=world.now + timedelta(seconds=1))

    before = await why(world, second)
    head = await why(world, first)
    (run,) = await claim_gated(world, session)
    during = await why(world, second)
    await retry(world, session, run)
    after = await why(world, second)

    assert head.code == "about_to_start"
    assert run.id == first
    assert before.sentence == f"The run is waiting for run {first} of the same job."
    assert during.sentence == (
        f"The run is waiting for run {first} of the same job, which is running."
    )
    assert after.sentence == (
        f"The run is waiting for run {first} of the same job, "
        "which itself waits until 2026-07-01 12:05:00 UTC."
    )
    assert await claim_gated(world, session) == []


async def test_full_workers_say_how_full(world: World) -> None:
    full = await worker(world, slots=2)
    await world.runs(2)
    await world.claim(full)
    run_id = await world.run()

    told = await why(world, run_id)
    await worker(world, slots=1)
    with_room = await why(world, run_id)

    assert told.code == "workers_busy"
    assert told.sentence == ("All slots of the workers that can run it are busy (2 of 2).")
    assert with_room.code == "about_to_start"


async def test_a_run_counts_those_that_go_before_it_by_priority_with_ageing(
    world: World,
) -> None:
    await worker(world)
    await world.runs(3)
    urgent = await world.run(priority=1)
    low = await world.run(priority=9)
    last = await world.run()

    assert (await why(world, urgent)).code == "about_to_start"
    assert (await why(world, last)).sentence == (
        "The run is waiting behind 4 runs of its tenant in queue default."
    )
    assert (await why(world, low)).details["ahead"] == 5

    await world.advance(minutes=45)
    await worker(world)
    late = await world.run()
    assert (await why(world, low)).details["ahead"] == 5
    assert (await why(world, late)).details["ahead"] == 6


async def test_runs_of_other_tenants_and_of_kinds_nobody_serves_are_not_before_it(
    world: World,
) -> None:
    await worker(world)
    await world.runs(2, tenant_id=await tenant(world, "other"))
    await world.runs(2, kind_id=await interning.intern_kind(world.conn, "unserved"))
    await world.runs(2, due_at=world.now + timedelta(hours=1))
    run_id = await world.run()

    assert (await why(world, run_id)).code == "about_to_start"


async def test_a_gated_run_waits_behind_those_at_the_same_gate(world: World) -> None:
    await worker(world)
    wide = await gate(world, max_running=100)
    await world.runs(2)
    await world.runs(3, gates=(wide,))
    run_id = await world.run(gates=(wide,))

    told = await why(world, run_id)

    assert told.sentence == "The run is waiting behind 3 runs with the same limit in queue default."


async def test_counting_those_before_it_ends_at_a_thousand(world: World) -> None:
    await worker(world)
    await world.runs(1001)
    run_id = await world.run()

    told = await why(world, run_id)

    assert told.sentence == (
        "The run is waiting behind more than 1,000 runs of its tenant in queue default."
    )
    assert told.details == {"ahead": 1000, "more": True}


async def all_ids(world: World) -> list[UUID]:
    rows = await world.conn.fetch("select id from rota.live_runs")
    return [row[0] for row in rows]


def lane(tenant_id: int) -> Lane:
    return Lane(tenant_id, 5)
