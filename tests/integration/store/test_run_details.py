"""What is told of a run: surroundings, attempts, log; the latest of a job; dead letters (I1)."""

from datetime import timedelta
from uuid import UUID

from tests.support.finished import finish, make, put_back, worker
from tests.support.world import NOON, World

from rota.core.states import RunState
from rota.store import checkpoints, live_runs, logs, run_views
from rota.store.checkpoints import RunProgress
from rota.store.logs import LogPiece
from rota.store.run_views import RunListFilter, RunPage, RunRow

OURS = 1


async def test_a_run_is_told_with_everything_around_it(world: World) -> None:
    job = await world.job(name="nightly", payload='{"a": 1}')
    session = await worker(world, "w001")
    run_id = await world.run(job_id=job, deadline_at=NOON + timedelta(hours=1))
    await world.claim(session)
    await checkpoints.save_progress(world.conn, [RunProgress(run_id, 1, 0.5, "half way")])

    row = await run_views.get_run(world.conn, tenant_id=OURS, run_id=run_id)

    assert row is not None
    assert (row.job, row.kind, row.queue, row.worker) == ("nightly", "noop", "default", "w001")
    assert (row.state, row.attempt, row.session_id) == (RunState.RUNNING, 1, session)
    assert (row.progress, row.message, row.payload) == (0.5, "half way", '{"a": 1}')
    assert (row.ready_at, row.deadline_at) == (NOON, NOON + timedelta(hours=1))
    assert (row.finished_at, row.result, row.reason) == (None, None, None)


async def test_a_finished_run_keeps_the_payload_of_the_definition_that_it_used(
    world: World,
) -> None:
    job = await world.job(payload='{"a": 1}')
    inherited = await make(world, "succeeded", job_id=job)
    own = await make(world, "succeeded", job_id=job, payload='{"b": 2}')
    before = {row.id: row.payload for row in await listed(world)}

    await world.conn.execute("""update rota.jobs set version = 2, payload = '{"c": 3}'""")
    after = {row.id: row.payload for row in await listed(world)}

    assert before == {inherited: '{"a": 1}', own: '{"b": 2}'}
    assert after == before


async def test_attempts_are_told_by_their_table_and_the_last_by_the_run(world: World) -> None:
    session = await worker(world, "w001")
    run_id = await world.run()
    await world.claim(session)
    await put_back(world, session, run_id, attempt=1)
    waiting = await outcomes(world, run_id)
    await world.advance(seconds=1)
    await world.claim(session)
    under_way = await outcomes(world, run_id)
    await finish(world, session, run_id, attempt=2, state=RunState.DEAD)
    ended = await run_views.read_attempts(world.conn, tenant_id=OURS, run_id=run_id)

    assert waiting == [(1, "failed")]
    assert under_way == [(1, "failed"), (2, "running")]
    assert [(each.attempt, each.outcome) for each in ended] == [(1, "failed"), (2, "failed")]
    assert [each.worker for each in ended] == ["w001", "w001"]
    assert ended[1].finished_at == world.now


async def test_a_run_that_is_cancelled_while_it_waits_tells_no_attempt_twice(world: World) -> None:
    session = await world.session()
    run_id = await world.run()
    await world.claim(session)
    await put_back(world, session, run_id, attempt=1)

    await live_runs.cancel_runs(world.conn, ids=[run_id])

    assert await outcomes(world, run_id) == [(1, "failed")]


async def test_a_run_that_never_started_has_no_attempts(world: World) -> None:
    waiting = await make(world, None)
    await live_runs.cancel_runs(world.conn, ids=[waiting])

    assert await outcomes(world, waiting) == []


async def test_the_log_is_read_on_from_a_place(world: World) -> None:
    run_id = await make(world, None)
    await logs.append_pieces(
        world.conn,
        [LogPiece(run_id, a, s, 1, world.now, f"{a}.{s}".encode()) for a in (1, 2) for s in (0, 1)],
    )

    first = await run_views.read_log_lines(world.conn, tenant_id=OURS, run_id=run_id, limit=3)
    rest = await run_views.read_log_lines(world.conn, tenant_id=OURS, run_id=run_id, after=(2, 0))

    assert [line.chunk for line in first] == [b"1.0", b"1.1", b"2.0"]
    assert [line.chunk for line in rest] == [b"2.1"]


async def test_the_latest_run_of_a_job_is_the_newest_wherever_it_is(world: World) -> None:
    jobs = {name: world.new_id() for name in ("waits", "runs", "ended", "old", "stuck", "none")}
    old = await make(world, "succeeded", job_id=jobs["old"])
    await make(world, None, job_id=jobs["stuck"])
    await world.advance(minutes=1)
    beside = await make(world, "dead", job_id=jobs["stuck"])
    await world.advance(days=4)
    await make(world, "succeeded", job_id=jobs["waits"])
    await make(world, "succeeded", job_id=jobs["runs"])
    await make(world, None, job_id=jobs["waits"])
    waits = await make(world, None, job_id=jobs["waits"])
    runs = await make(world, "running", job_id=jobs["runs"])
    await make(world, "dead", job_id=jobs["ended"])
    ended = await make(world, "succeeded", job_id=jobs["ended"])

    latest = await run_views.read_latest_runs(
        world.conn, tenant_id=OURS, job_ids=[*jobs.values(), jobs["waits"]]
    )

    wanted = {"waits": waits, "runs": runs, "ended": ended, "old": old, "stuck": beside}
    assert {job: row.id for job, row in latest.items()} == {
        jobs[name]: run_id for name, run_id in wanted.items()
    }
    assert await run_views.read_latest_runs(world.conn, tenant_id=OURS, job_ids=[]) == {}


async def test_dead_letters_one_by_one_are_the_bad_ones(world: World) -> None:
    for state in (None, "succeeded", "cancelled", "running"):
        await make(world, state)
    bad = [await make(world, state) for state in ("quarantined", "dead", "lost", "dead")]

    first = await run_views.list_dead_letters(world.conn, tenant_id=OURS, limit=3)
    rest = await run_views.list_dead_letters(world.conn, tenant_id=OURS, after=first.after, limit=3)
    lost = await run_views.list_dead_letters(
        world.conn, tenant_id=OURS, filter=RunListFilter(states=frozenset({RunState.LOST}))
    )
    nothing = await run_views.list_dead_letters(
        world.conn, tenant_id=OURS, filter=RunListFilter(states=frozenset({RunState.RUNNING}))
    )

    assert [row.id for row in (*first.rows, *rest.rows)] == bad[::-1]
    assert rest.after is None
    assert [row.id for row in lost.rows] == [bad[2]]
    assert nothing == RunPage([], None)


async def listed(world: World) -> list[RunRow]:
    return (await run_views.list_runs(world.conn, tenant_id=OURS, filter=RunListFilter())).rows


async def outcomes(world: World, run_id: UUID) -> list[tuple[int, str]]:
    rows = await run_views.read_attempts(world.conn, tenant_id=OURS, run_id=run_id)
    return [(row.attempt, row.outcome) for row in rows]
