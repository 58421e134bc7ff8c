"""Jobs as lists show them: what fits, in order, each once, and never another tenant's (I1)."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.support.world import NOON, World

from rota.core.errors import InvalidInput
from rota.core.overlap import Overlap
from rota.core.states import JobState
from rota.store import interning, job_views, jobs
from rota.store.job_views import JobActivity, JobFilter, JobPage, JobPagePosition
from rota.store.ordered_scan import SCAN_ROWS_MAX

OURS, THEIRS = 1, 2
HOURLY = '{"every": "1h"}'


async def test_jobs_are_listed_newest_first_each_once(world: World) -> None:
    ids = []
    for number in range(7):
        # Two of a moment each, so that the id decides, too.
        ids.append(await world.job())
        if number % 2:
            await world.advance(seconds=1)

    whole = await listed(world)
    seen: list[UUID] = []
    page, pages = await listed(world, limit=3), 1
    seen += [row.id for row in page.rows]
    while page.after is not None:
        page, pages = await listed(world, after=page.after, limit=3), pages + 1
        seen += [row.id for row in page.rows]

    assert [row.id for row in whole.rows] == ids[::-1]
    assert (seen, pages) == (ids[::-1], 3)
    assert whole.after is None


async def test_a_full_last_page_is_the_last(world: World) -> None:
    for _ in range(4):
        await world.job()

    first = await listed(world, limit=2)
    second = await listed(world, after=first.after, limit=2)

    assert len(second.rows) == 2
    assert second.after is None


async def test_a_job_is_told_with_everything_around_it(world: World) -> None:
    policy_id = await interning.intern_policy(world.conn, '{"retries": 3}')
    job_id = await world.job(
        name="nightly",
        policy_id=policy_id,
        priority=7,
        overlap="queue_one",
        schedule=HOURLY,
        payload='{"a": 1}',
        labels='{"team": "billing"}',
        limits='{"max": 2}',
        user_id="u003",
        fire_at=NOON + timedelta(minutes=1),
    )

    row = await job_views.get_job(world.conn, tenant_id=OURS, job_id=job_id)

    assert row is not None
    assert await job_views.get_job_by_name(world.conn, tenant_id=OURS, name="nightly") == row
    assert (await listed(world)).rows == [row]
    assert (row.name, row.state, row.version) == ("nightly", JobState.ACTIVE, 1)
    assert (row.kind, row.queue, row.priority) == ("noop", "default", 7)
    assert (row.overlap, row.keep_first) == (Overlap.QUEUE_ONE, False)
    assert json.loads(row.policy or "") == {"retries": 3}
    assert [json.loads(each or "") for each in (row.schedule, row.payload, row.labels)] == [
        {"every": "1h"},
        {"a": 1},
        {"team": "billing"},
    ]
    assert (json.loads(row.limits or ""), row.user_id, row.held) == ({"max": 2}, "u003", None)
    assert (row.created_at, row.updated_at) == (NOON, NOON)
    assert (row.next_tick_at, row.next_fire_at) == (NOON, NOON + timedelta(minutes=1))


async def test_nothing_of_another_tenant_is_found(world: World) -> None:
    theirs = await world.job(tenant_id=THEIRS, name="theirs", user_id="u003")
    await run_of(world, theirs, tenant_id=THEIRS, held=True)

    assert await job_views.get_job(world.conn, tenant_id=OURS, job_id=theirs) is None
    assert await job_views.get_job_by_name(world.conn, tenant_id=OURS, name="theirs") is None
    for chosen in (
        JobFilter(),
        JobFilter(user_id="u003"),
        JobFilter(doing=frozenset(JobActivity)),
        JobFilter(doing=frozenset({JobActivity.RUNNING})),
    ):
        assert await listed(world, chosen) == JobPage([], None)


async def test_a_job_without_a_tick_to_come_is_finished_in_every_list(world: World) -> None:
    """Whatever rota.shown_state shows, the filters find (migration 0007)."""
    held = {"fire_at": None}
    made = {
        "ticking": await world.job(schedule=HOURLY),
        "ended": await world.job(schedule=HOURLY, tick_at=None, fire_at=None),
        "on demand": await world.job(tick_at=None, fire_at=None),
        "marked": await world.job(state=JobState.FINISHED, tick_at=None, fire_at=None),
        "paused": await world.job(schedule=HOURLY, state=JobState.PAUSED, **held),
        "quarantined": await world.job(schedule=HOURLY, state=JobState.QUARANTINED, **held),
        "deleted": await world.job(),
    }
    await world.conn.execute(
        "update rota.jobs set state = 'deleted' where id = $1", made["deleted"]
    )
    rows = await world.conn.fetch("select j.id, rota.shown_state(j)::text from rota.jobs as j")
    shown: dict[UUID, str] = {row[0]: row[1] for row in rows}

    for state in JobState:
        page = await listed(world, JobFilter(states=frozenset({state})))

        assert {row.state for row in page.rows} <= {state}
        assert {row.id for row in page.rows} == {
            id_ for id_, each in shown.items() if each == state
        }
    assert shown[made["ended"]] == "finished"
    assert {row.id for row in (await listed(world)).rows} == set(shown) - {made["deleted"]}
    assert await job_views.get_job(world.conn, tenant_id=OURS, job_id=made["deleted"]) is None


async def test_pending_has_a_tick_to_come_or_a_run_that_waits(world: World) -> None:
    ticks = await world.job(schedule=HOURLY)
    waits = await world.job(tick_at=None, fire_at=None)
    runs = await world.job(tick_at=None, fire_at=None)
    await world.job(schedule=HOURLY, state=JobState.PAUSED, fire_at=None)
    await world.job(tick_at=None, fire_at=None)
    await run_of(world, waits)
    await run_of(world, runs, held=True)

    pending = await listed(world, JobFilter(doing=frozenset({JobActivity.PENDING})))
    running = await listed(world, JobFilter(doing=frozenset({JobActivity.RUNNING})))
    either = await listed(world, JobFilter(doing=frozenset(JobActivity)))
    mixed = await listed(
        world,
        JobFilter(states=frozenset({JobState.PAUSED}), doing=frozenset({JobActivity.RUNNING})),
    )

    assert [row.id for row in pending.rows] == [waits, ticks]
    assert [row.id for row in running.rows] == [runs]
    assert [row.id for row in either.rows] == [runs, waits, ticks]
    assert [row.state for row in mixed.rows] == [JobState.PAUSED, JobState.ACTIVE]


async def test_running_jobs_have_pages_too(world: World) -> None:
    ids = [await world.job(user_id="u003" if n % 2 else None) for n in range(5)]
    for job_id in ids:
        await run_of(world, job_id, held=True)
        await run_of(world, job_id, held=True)
    running = frozenset({JobActivity.RUNNING})

    first = await listed(world, JobFilter(doing=running), limit=3)
    rest = await listed(world, JobFilter(doing=running), after=first.after, limit=3)
    of_user = await listed(world, JobFilter(doing=running, user_id="u003"))

    assert [row.id for row in (*first.rows, *rest.rows)] == ids[::-1]
    assert rest.after is None
    assert [row.id for row in of_user.rows] == [ids[3], ids[1]]


async def test_the_other_conditions_narrow_the_list(world: World) -> None:
    queue_id = await interning.intern_queue(world.conn, "slow")
    kind_id = await interning.intern_kind(world.conn, "mail")
    made = {
        "user": await world.job(user_id="u003"),
        "queue": await world.job(queue_id=queue_id),
        "kind": await world.job(kind_id=kind_id),
        "label": await world.job(labels='{"team": "billing", "n": 1}'),
        "both": await world.job(queue_id=queue_id, kind_id=kind_id, user_id="u004"),
    }

    for chosen, wanted in (
        (JobFilter(user_id="u003"), {"user"}),
        (JobFilter(user_id="u003", doing=frozenset({JobActivity.PENDING})), {"user"}),
        (JobFilter(user_id="u003", states=frozenset({JobState.PAUSED})), set()),
        (JobFilter(queue="slow"), {"queue", "both"}),
        (JobFilter(kind="mail"), {"kind", "both"}),
        (JobFilter(queue="slow", kind="mail", user_id="u004"), {"both"}),
        (JobFilter(label=("team", "billing")), {"label"}),
        (JobFilter(label=("n", "1")), {"label"}),
        (JobFilter(label=("team", "bill")), set()),
        (JobFilter(queue="nowhere"), set()),
        (JobFilter(kind="nothing"), set()),
        (JobFilter(user_id="nobody"), set()),
    ):
        rows = (await listed(world, chosen)).rows
        assert {row.id for row in rows} == {made[name] for name in wanted}, chosen


@pytest.mark.parametrize(
    ("q", "wanted"),
    [
        ("night", {"Nightly report"}),
        ("REPORT", {"Nightly report"}),
        ("%", {"100% sure"}),
        ("_", {"a_b"}),
        ("\\", {"a\\b"}),
        ("a_b", {"a_b"}),
        ("", {"Nightly report", "100% sure", "a_b", "a\\b", "axb"}),
        ("nothing", set()),
    ],
)
async def test_a_part_of_the_name_is_taken_literally(
    world: World, q: str, wanted: set[str]
) -> None:
    for name in ("Nightly report", "100% sure", "a_b", "a\\b", "axb"):
        await world.job(name=name)

    assert {row.name for row in (await listed(world, JobFilter(q=q))).rows} == wanted


@pytest.mark.parametrize(
    "given",
    [{"q": "a\0"}, {"user_id": "\0"}, {"kind": "x" * 201}, {"queue": "\0"}, {"label": ("a", "\0")}],
)
def test_a_text_that_nothing_can_have_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(given))):
        JobFilter(**given)


async def test_created_bounds_are_from_and_up_to(world: World) -> None:
    ids = []
    for _ in range(4):
        ids.append(await world.job())
        await world.advance(minutes=1)

    page = await listed(
        world,
        JobFilter(
            created_after=NOON + timedelta(minutes=1), created_before=NOON + timedelta(minutes=3)
        ),
    )

    assert [row.id for row in page.rows] == [ids[2], ids[1]]
    everything = JobFilter(
        created_after=datetime(1, 1, 1, tzinfo=UTC), created_before=datetime.max.replace(tzinfo=UTC)
    )
    assert len((await listed(world, everything)).rows) == 4


async def test_a_rare_job_is_found_however_far_back_it_is(world: World) -> None:
    old = await world.job(name="needle")
    await world.advance(seconds=1)
    await world.conn.execute(
        "insert into rota.jobs (id, tenant_id, name, kind_id, queue_id, policy_id)"
        " select gen_random_uuid(), 1, 'straw ' || n, 1, 1, 1 from generate_series(1, $1) as n",
        SCAN_ROWS_MAX + 10,
    )

    first = await listed(world, JobFilter(q="needle"))
    second = await listed(world, JobFilter(q="needle"), after=first.after)

    assert first.rows == []
    assert first.after is not None
    assert [row.id for row in second.rows] == [old]
    assert second.after is None


async def test_a_name_belongs_to_the_job_that_has_it_now(world: World) -> None:
    former = await world.job(name="again")
    await world.conn.execute("update rota.jobs set state = 'deleted' where id = $1", former)
    present = await world.job(name="again")

    row = await job_views.get_job_by_name(world.conn, tenant_id=OURS, name="again")

    assert row is not None
    assert row.id == present
    assert set(await jobs.read_jobs(world.conn, [former, present])) == {present}


async def listed(
    world: World,
    chosen: JobFilter | None = None,
    *,
    after: JobPagePosition | None = None,
    limit: int = 50,
) -> JobPage:
    return await job_views.list_jobs(
        world.conn, tenant_id=OURS, filter=chosen or JobFilter(), after=after, limit=limit
    )


async def run_of(world: World, job_id: UUID, *, held: bool = False, tenant_id: int = OURS) -> None:
    """A run of a job that waits, or that somebody executes."""
    run_id = await world.run(job_id=job_id, tenant_id=tenant_id)
    if held:
        await world.conn.execute(
            "update rota.live_runs set state = 'running', attempt = 1, started_at = $2,"
            " session_id = $3 where id = $1",
            run_id,
            world.now,
            world.new_id(),
        )
