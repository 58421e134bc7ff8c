"""One-time submissions as lists and pages show them: by id wherever they are, and what fits."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.support.submissions import ended, held, new_submission, scheduled, waiting
from tests.support.world import World

from rota.core.limits import GateLimits
from rota.core.states import JobState
from rota.store import gates, interning, run_views, submission_changes, submission_views
from rota.store.gates import NewGate
from rota.store.job_views import JobActivity, JobFilter, JobRow
from rota.store.ordered_scan import SCAN_ROWS_MAX

OURS, THEIRS = 1, 2


async def test_a_submission_is_found_wherever_it_is(world: World) -> None:
    ids = {
        "scheduled": await scheduled(world, name="greet"),
        "waiting": await waiting(world, priority=7),
        "ended": await ended(world),
        "held": (await held(world))[0],
    }

    rows = {place: await shown(world, id_) for place, id_ in ids.items()}

    assert {place: row.id for place, row in rows.items()} == ids
    assert {place: row.run_id for place, row in rows.items()} == ids
    assert {place: row.state for place, row in rows.items()} == {
        "scheduled": JobState.ACTIVE,
        "waiting": JobState.FINISHED,
        "ended": JobState.FINISHED,
        "held": JobState.FINISHED,
    }
    assert rows["scheduled"].name == "greet"
    # Without a name it is called after its kind.
    assert rows["waiting"].name == "noop"
    assert rows["scheduled"].next_fire_at == world.now + timedelta(hours=1)
    assert rows["waiting"].next_fire_at is None


async def test_a_submission_shows_what_it_carries(world: World) -> None:
    policy_id = await interning.intern_policy(world.conn, '{"guarantee": "at_most_once"}')
    made = await gates.put_gates(
        world.conn, [NewGate(OURS, "key:customer:42", GateLimits(max_running=2))]
    )
    id_ = await scheduled(
        world,
        payload='{"to": "ada"}',
        labels='{"team": "billing"}',
        user_id="u003",
        policy_id=policy_id,
        gates=list(made.values()),
    )

    row = await shown(world, id_)

    assert json.loads(row.payload or "") == {"to": "ada"}
    assert json.loads(row.labels) == {"team": "billing"}
    assert (row.user_id, row.version, row.held) == ("u003", 1, None)
    assert (row.kind, row.queue, row.guarantee) == ("noop", "default", "at_most_once")
    assert json.loads(row.limits or "") == [{"key": "customer:42", "max": 2, "rate": None}]
    assert json.loads(row.schedule or "") == {"at": "2026-07-01T13:00:00Z", "timezone": "UTC"}


async def test_a_submission_that_was_a_job_is_found_by_its_old_id(world: World) -> None:
    """The run of a one-time job of an earlier release has another id than the job."""
    old_id = world.new_id()
    await scheduled(world, job_id=old_id, name="moved")
    done = new_submission(world, job_id=world.new_id(), submitter=None)
    await submission_changes.put_live(world.conn, done, tenant_id=OURS)

    assert (await shown(world, old_id)).name == "moved"
    found = await shown(world, done.job_id)
    assert (found.id, found.run_id) == (done.job_id, done.id)
    assert await listed(world) == [old_id, done.job_id]


async def test_runs_of_a_job_are_no_submissions(world: World) -> None:
    job_id = await world.job(name="nightly")
    run_id = await world.run(job_id=job_id)
    await world.conn.execute("update rota.jobs set state = 'deleted' where id = $1", job_id)

    for id_ in (job_id, run_id):
        assert await submission_views.get_submission(world.conn, tenant_id=OURS, job_id=id_) is None
    assert await listed(world) == []


async def test_another_tenants_submission_is_not_found(world: World) -> None:
    theirs = [
        await scheduled(world, tenant_id=THEIRS, user_id="u003"),
        await waiting(world, tenant_id=THEIRS, user_id="u003"),
    ]

    for id_ in theirs:
        assert await submission_views.get_submission(world.conn, tenant_id=OURS, job_id=id_) is None
    assert await listed(world) == []
    assert await listed(world, user_id="u003") == []


@pytest.mark.parametrize("user_id", [None, "u003"], ids=["of all", "of a user"])
async def test_pages_show_each_submission_once_the_last_due_first(
    world: World, user_id: str | None
) -> None:
    expected = []
    for number in range(4):
        late = timedelta(hours=1 + number)
        expected.append(await scheduled(world, due_at=world.now + late, user_id="u003"))
        expected.append(await waiting(world, user_id="u003"))
        expected.append(await ended(world, user_id="u003"))
        await world.advance(minutes=1)
    job_id = await world.job()
    await world.runs(3, job_id=job_id)

    seen: list[UUID] = []
    after, pages = None, 0
    while pages == 0 or after is not None:
        found = await submission_views.list_submissions(
            world.conn, tenant_id=OURS, filter=JobFilter(user_id=user_id), after=after, limit=5
        )
        seen += [row.id for row in found.rows]
        after, pages = found.after, pages + 1

    assert seen == sorted(expected, reverse=True)
    assert pages == 3


async def test_states_choose_where_to_look(world: World) -> None:
    ahead = await scheduled(world)
    done = await ended(world)
    at_work, _ = await held(world)
    queued = await waiting(world)

    assert await listed(world, states=frozenset({JobState.ACTIVE})) == [ahead]
    assert await listed(world, doing=frozenset({JobActivity.PENDING})) == [ahead, queued]
    assert await listed(world, doing=frozenset({JobActivity.RUNNING})) == [at_work]
    made = sorted([done, at_work, queued], reverse=True)
    assert await listed(world, states=frozenset({JobState.FINISHED})) == made
    assert await listed(world, states=frozenset({JobState.PAUSED})) == []


async def test_filters_find_what_fits(world: World) -> None:
    kind_id = await interning.intern_kind(world.conn, "send_invoice")
    places: list[Any] = [scheduled, waiting, ended]
    for make in places:
        await make(world, labels='{"team": "web"}', user_id="u001")
    billing = [
        await make(
            world,
            kind_id=kind_id if make is not ended else world.kind_id,
            labels='{"team": "billing"}',
            user_id="u003",
            name="invoice of May",
        )
        for make in places
    ]
    billing.sort(reverse=True)

    assert await listed(world, label=("team", "billing")) == billing
    assert await listed(world, q="invoice of") == billing
    assert await listed(world, user_id="u003") == billing
    assert await listed(world, user_id="u003", q="no such") == []
    assert len(await listed(world, kind="send_invoice")) == 2
    assert await listed(world, kind="unknown") == []
    assert await listed(world, created_before=world.now) == []
    assert len(await listed(world, created_after=world.now)) == 6
    assert len(await listed(world, q="noo")) == 3


async def test_a_look_is_bounded_and_goes_on_where_it_ended(world: World) -> None:
    wanted = await waiting(world, name="rare")
    await world.advance(hours=1)
    await world.runs(SCAN_ROWS_MAX + 10, job_id=await world.job())

    first = await submission_views.list_submissions(
        world.conn, tenant_id=OURS, filter=JobFilter(q="rare"), limit=10
    )
    second = await submission_views.list_submissions(
        world.conn, tenant_id=OURS, filter=JobFilter(q="rare"), after=first.after, limit=10
    )

    assert first.rows == []
    assert first.after is not None
    assert [row.id for row in second.rows] == [wanted]


async def test_runs_of_submissions_show_name_labels_user_and_origin(world: World) -> None:
    done = await ended(world, name="greet", labels='{"a": "b"}', user_id="u003", payload='{"x": 1}')
    queued = await waiting(world)

    row = await run_views.get_run(world.conn, tenant_id=OURS, run_id=done)
    nameless = await run_views.get_run(world.conn, tenant_id=OURS, run_id=queued)

    assert row is not None
    assert nameless is not None
    assert (row.job, row.user_id, row.submitter, row.address) == (
        "greet",
        "u003",
        "ada",
        "192.0.2.1",
    )
    assert (json.loads(row.labels), json.loads(row.payload or "")) == ({"a": "b"}, {"x": 1})
    assert nameless.job == "noop"


async def shown(world: World, job_id: UUID) -> JobRow:
    row = await submission_views.get_submission(world.conn, tenant_id=OURS, job_id=job_id)
    assert row is not None
    return row


async def listed(world: World, **filters: Any) -> list[UUID]:
    found = await submission_views.list_submissions(
        world.conn, tenant_id=OURS, filter=JobFilter(**filters), limit=100
    )
    assert found.after is None
    return [row.id for row in found.rows]
