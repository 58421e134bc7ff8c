"""Runs as lists show them: what fits, in order, each once, and never another tenant's (I1, P6)."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.support.finished import fill_history, finish, make, worker
from tests.support.world import ALWAYS_SEEN, NOON, World

from rota.core import bulk_operations
from rota.core.errors import InvalidInput
from rota.core.states import DEAD_LETTER_STATES, RunState
from rota.store import interning, logs, run_views, sessions
from rota.store.logs import LogPiece
from rota.store.ordered_scan import SCAN_ROWS_MAX
from rota.store.run_views import RunListFilter, RunPage, ScannedRun, split_page

OURS, THEIRS = 1, 2


async def test_living_and_finished_runs_are_one_list_newest_first(world: World) -> None:
    ids = [await make(world, state) for state in (None, "dead", "running", "succeeded", None)]

    page = await listed(world)

    assert [row.id for row in page.rows] == sorted(ids, reverse=True)
    assert page.after is None


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
async def test_pages_show_every_run_once(world: World, limit: int) -> None:
    states = [None, "dead", "running", "succeeded", None, "lost", "succeeded", "running"]
    ids = [await make(world, state) for state in states]

    seen, pages = await follow(world, RunListFilter(), limit=limit)

    assert seen == sorted(ids, reverse=True)
    assert pages == -(-len(ids) // limit)


async def test_a_run_that_ends_between_two_pages_is_neither_lost_nor_doubled(world: World) -> None:
    session = await world.session()
    await world.runs(4)
    claimed = await world.claim(session)
    first = await listed(world, limit=2)

    await finish(world, session, claimed[0].id)
    second = await listed(world, after=first.after, limit=2)

    shown = [row.id for row in (*first.rows, *second.rows)]
    assert shown == sorted((each.id for each in claimed), reverse=True)


@pytest.mark.parametrize(
    ("states", "wanted"),
    [
        ({"running"}, {"running"}),
        ({"queued", "running"}, {"queued", "running"}),
        ({"queued", "succeeded"}, {"queued", "succeeded"}),
        ({"dead", "lost"}, {"dead", "lost"}),
        ({"dead", "running"}, {"dead", "running"}),
        ({"expired"}, set()),
    ],
)
async def test_only_the_states_asked_for_are_shown(
    world: World, states: set[str], wanted: set[str]
) -> None:
    job = world.new_id()
    for state in (None, "running", "succeeded", "dead", "lost"):
        await make(world, state, job_id=job)
    chosen = frozenset(map(RunState, states))

    of_tenant = await listed(world, RunListFilter(states=chosen))
    of_job = await listed(world, RunListFilter(states=chosen, job_id=job))

    assert {row.state.value for row in of_tenant.rows} == wanted
    assert of_job.rows == of_tenant.rows


async def test_the_other_conditions_narrow_living_and_finished_alike(world: World) -> None:
    queue_id = await interning.intern_queue(world.conn, "slow")
    kind_id = await interning.intern_kind(world.conn, "mail")
    job = await world.job()
    given: dict[str, Any]
    for state in (None, "succeeded"):
        for given in ({"queue_id": queue_id}, {"kind_id": kind_id}, {"job_id": job}, {}):
            await make(world, state, **given)
        await make(world, state, trigger="manual")

    for chosen in (
        RunListFilter(queue="slow"),
        RunListFilter(kind="mail"),
        RunListFilter(job_id=job),
        RunListFilter(trigger="manual"),
    ):
        rows = (await listed(world, chosen)).rows
        assert [row.state for row in rows] == [RunState.SUCCEEDED, RunState.QUEUED], chosen

    assert (await listed(world, RunListFilter(queue="slow", kind="mail"))).rows == []


@pytest.mark.parametrize(
    "chosen",
    [RunListFilter(queue="nowhere"), RunListFilter(kind="nothing"), RunListFilter(worker="nobody")],
)
async def test_a_name_that_nothing_has_fits_nothing(world: World, chosen: RunListFilter) -> None:
    await make(world, None)
    await make(world, "succeeded")

    assert await listed(world, chosen) == RunPage([], None)


@pytest.mark.parametrize("field", ["queue", "kind", "worker"])
@pytest.mark.parametrize("text", ["a\0b", "a\ud800b", "x" * 201])
def test_a_text_that_no_name_can_be_is_refused(field: str, text: str) -> None:
    with pytest.raises(InvalidInput, match=field):
        RunListFilter(**{field: text})  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [-1, 0, 1001])
async def test_a_page_has_one_run_at_least_and_a_thousand_at_most(world: World, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        await listed(world, limit=limit)


def test_a_trigger_that_nothing_has_is_refused() -> None:
    with pytest.raises(InvalidInput, match="trigger"):
        RunListFilter(trigger="whim")


async def test_created_bounds_are_from_and_up_to(world: World) -> None:
    ids = []
    for _ in range(4):
        ids.append(await make(world, "succeeded"))
        ids.append(await make(world, None))
        await world.advance(minutes=1)

    page = await listed(
        world,
        RunListFilter(
            created_after=NOON + timedelta(minutes=1), created_before=NOON + timedelta(minutes=3)
        ),
    )

    assert [row.id for row in page.rows] == sorted(ids[2:6], reverse=True)


@pytest.mark.parametrize("year", [1, 1969])
async def test_a_time_before_all_runs_bounds_nothing(world: World, year: int) -> None:
    run = await make(world, None)
    early = datetime(year, 1, 1, tzinfo=UTC)

    after = await listed(world, RunListFilter(created_after=early))
    before = await listed(world, RunListFilter(created_before=early))

    assert [row.id for row in after.rows] == [run]
    assert before.rows == []


async def test_executions_are_found_by_worker_and_by_session(world: World) -> None:
    mine, other = await worker(world, "w001"), await worker(world, "w002")
    await world.runs(3)
    (done,) = await world.claim(mine, room=1)
    await finish(world, mine, done.id)
    (held,) = await world.claim(mine, room=1)
    await world.claim(other, room=1)

    by_name = await run_views.list_executions(world.conn, tenant_id=OURS, worker="w001")
    by_session = await run_views.list_executions(world.conn, tenant_id=OURS, worker=str(mine))

    assert [row.id for row in by_name.rows] == [held.id, done.id]
    assert by_session == by_name
    assert {row.worker for row in by_name.rows} == {"w001"}


async def test_executions_of_a_dead_worker_are_found_as_long_as_anybody_knows_it(
    world: World,
) -> None:
    session = await worker(world, "w001")
    await world.run()
    (done,) = await world.claim(session)
    await finish(world, session, done.id)
    await world.advance(days=2)
    await sessions.expire_sessions(world.conn, sight=ALWAYS_SEEN)

    while_known = await run_views.list_executions(world.conn, tenant_id=OURS, worker="w001")
    await sessions.delete_expired(world.conn, after=timedelta(days=1))
    by_name = await run_views.list_executions(world.conn, tenant_id=OURS, worker="w001")
    by_session = await run_views.list_executions(world.conn, tenant_id=OURS, worker=str(session))

    assert [row.id for row in while_known.rows] == [done.id]
    assert by_name.rows == []
    assert [(row.id, row.worker) for row in by_session.rows] == [(done.id, None)]


async def test_nothing_of_another_tenant_is_found(world: World) -> None:
    job = world.new_id()
    alive = await make(world, "running", tenant_id=THEIRS, job_id=job)
    done = await make(world, "dead", tenant_id=THEIRS, job_id=job)
    for run_id in (alive, done):
        await logs.append_pieces(world.conn, [LogPiece(run_id, 1, 0, 1, world.now, b"secret")])
    ours: dict[str, Any] = {"conn": world.conn, "tenant_id": OURS}

    for run_id in (alive, done):
        assert await run_views.get_run(**ours, run_id=run_id) is None
        assert await run_views.read_attempts(**ours, run_id=run_id) == []
        assert await run_views.read_log_lines(**ours, run_id=run_id) == []
        assert await run_views.read_log_lines(world.conn, tenant_id=THEIRS, run_id=run_id)
    for chosen in (
        RunListFilter(),
        RunListFilter(job_id=job),
        RunListFilter(states=DEAD_LETTER_STATES),
    ):
        assert await listed(world, chosen) == RunPage([], None)
    assert await run_views.read_latest_runs(**ours, job_ids=[job]) == {}
    span = bulk_operations.BulkRunFilter(
        since=NOON - timedelta(days=1), until=NOON + timedelta(days=1)
    )
    assert await run_views.list_groups(run_filter=span, **ours) == []


async def test_a_rare_run_is_found_however_far_back_it_is(world: World) -> None:
    old = await make(world, "expired")
    job = world.new_id()
    await world.advance(hours=1)
    await fill_history(world, 2 * SCAN_ROWS_MAX + 10, job_id=job)
    young = await make(world, "expired", job_id=job)
    rare = frozenset({RunState.EXPIRED})

    first = await listed(world, RunListFilter(states=rare))
    seen, pages = await follow(world, RunListFilter(states=rare))
    of_job, _ = await follow(world, RunListFilter(states=rare, job_id=job))

    assert [row.id for row in first.rows] == [young]
    assert first.after is not None
    assert (seen, pages) == ([young, old], 3)
    assert of_job == [young]


async def test_a_look_that_went_past_the_time_asked_for_is_the_last(world: World) -> None:
    await fill_history(world, SCAN_ROWS_MAX + 10)
    await world.advance(hours=1)
    young = await make(world, "succeeded")

    page = await listed(world, RunListFilter(created_after=world.now))

    assert [row.id for row in page.rows] == [young]
    assert page.after is None


async def test_a_living_run_behind_the_look_is_shown_in_its_turn(world: World) -> None:
    waiting = await make(world, None)
    rare = await make(world, "expired")
    await world.advance(hours=1)
    await fill_history(world, SCAN_ROWS_MAX + 10)

    chosen = RunListFilter(states=frozenset({RunState.EXPIRED, RunState.QUEUED}))
    first = await listed(world, chosen)
    seen, _ = await follow(world, chosen)

    assert first.rows == []
    assert seen == [rare, waiting]


def test_a_page_ends_where_the_look_ended() -> None:
    ids = [UUID(int=number) for number in range(10)]
    found = [
        ScannedRun(ids[8], True),
        ScannedRun(ids[2], True),
        ScannedRun(ids[5], False),
        ScannedRun(ids[6], True),
    ]

    assert split_page(found, limit=5) == ([ids[8], ids[6]], ids[5])
    assert split_page(found, limit=1) == ([ids[8]], ids[8])
    assert split_page([], limit=5) == ([], None)


async def listed(
    world: World, chosen: RunListFilter | None = None, *, after: UUID | None = None, limit: int = 50
) -> RunPage:
    return await run_views.list_runs(
        world.conn, tenant_id=OURS, filter=chosen or RunListFilter(), after=after, limit=limit
    )


async def follow(world: World, chosen: RunListFilter, *, limit: int = 50) -> tuple[list[UUID], int]:
    """The ids on all pages, and how many pages there were."""
    page = await listed(world, chosen, limit=limit)
    seen, pages = [row.id for row in page.rows], 1
    while page.after is not None:
        page = await listed(world, chosen, after=page.after, limit=limit)
        seen += [row.id for row in page.rows]
        pages += 1
    return seen, pages
