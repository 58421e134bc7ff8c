"""Dead letters by task and failure: what is one group, and what is said of it."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.support.finished import finish, make
from tests.support.world import NOON, World

from rota.core.bulk_operations import BulkRunFilter
from rota.core.states import RunState
from rota.store import interning, run_views
from rota.store.run_views import DeadGroup


def failure(message: str, **more: str) -> str:
    return json.dumps({"type": "KeyError", "message": message} | more)


async def submission(world: World, reason: str, **given: Any) -> UUID:
    """A dead letter that no job made: its id is also that of its job."""
    run_id = await make(world, "dead", reason=reason, **given)
    await world.conn.execute("update rota.runs set job_id = id where id = $1", run_id)
    return run_id


async def groups(world: World, **which: Any) -> list[DeadGroup]:
    span: dict[str, Any] = {
        "since": NOON - timedelta(days=1),
        "until": world.now + timedelta(microseconds=1),
    }
    limit = which.pop("limit", 50)
    return await run_views.list_groups(
        world.conn, BulkRunFilter(**span | which), tenant_id=1, limit=limit
    )


async def test_failures_that_differ_in_numbers_only_are_one_group_across_jobs(
    world: World,
) -> None:
    one, other = await world.job(name="one"), await world.job(name="other")
    alike = [
        "no row 17 in 0xdeadbeef of 3e2c4a5e-0f0e-4c6f-9c39-0a4d55a1b0c4",
        "no row 4 in 0xFF of 11111111-2222-3333-4444-555555555555",
        "no row 123456 in 0xa of aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
    ]
    for job_id in (one, one, other):
        await make(world, "dead", job_id=job_id, reason=failure(alike[0]))
    await submission(world, failure(alike[1]))
    newest = await submission(world, failure(alike[2]))
    await world.advance(minutes=1)
    await make(world, "dead", job_id=one, reason=failure("no column"))
    await make(world, "lost", job_id=other, reason='{"code": "worker_lost"}')
    await make(world, "succeeded", job_id=one)

    found = await groups(world)

    assert {(each.type, each.message, each.number) for each in found} == {
        ("KeyError", alike[2], 5),
        ("KeyError", "no column", 1),
        ("worker_lost", "", 1),
    }
    largest = found[-1]
    assert (largest.sample_id, largest.first_at, largest.last_at) == (newest, NOON, NOON)
    assert (largest.job_count, largest.versions) == (3, [1])
    assert sorted((job["name"] or "", job["count"]) for job in json.loads(largest.jobs)) == [
        ("", 2),
        ("one", 2),
        ("other", 1),
    ]
    assert len(await groups(world, since=NOON + timedelta(seconds=30))) == 2
    assert [each.number for each in await groups(world, until=NOON + timedelta(seconds=30))] == [5]
    assert len(await groups(world, limit=1)) == 1
    assert sum(each.number for each in await groups(world, job_id=one)) == 3


async def test_another_frame_another_type_and_another_task_are_other_groups(world: World) -> None:
    mail = await interning.intern_kind(world.conn, "mail")
    same = failure("no row 1", frame="shop.mail:send")
    await submission(world, same)
    await submission(world, failure("no row 2", frame="shop.mail:send"))
    await submission(world, failure("no row 3", frame="shop.mail:render"))
    await submission(world, failure("no row 4"))
    await submission(world, failure("no row 5", type="ValueError", frame="shop.mail:send"))
    await submission(world, same, kind_id=mail)

    found = await groups(world)
    of_mail = await groups(world, kind="mail")

    told = {(each.kind, each.type, each.frame): each.number for each in found}
    assert len(found) == len(told) == 5
    assert told["mail", "KeyError", "shop.mail:send"] == 1
    (kind,) = {each.kind for each in found} - {"mail"}
    assert told[kind, "KeyError", "shop.mail:send"] == 2
    by_fingerprint = [each for each in found if each.fingerprint == of_mail[0].fingerprint]
    assert {each.kind for each in by_fingerprint} == {kind, "mail"}
    assert await groups(world, kind="no such kind") == []


async def test_runs_of_an_earlier_release_keep_their_fingerprint(world: World) -> None:
    await submission(world, failure("no row 1"))

    (group,) = await groups(world)

    before = "select rota.error_fingerprint(reason) from rota.runs"
    assert group.fingerprint == await world.conn.fetchval(before)
    assert group.frame is None


async def test_a_group_is_counted_by_the_hour(world: World) -> None:
    await submission(world, failure("no row 1"))
    await world.advance(hours=30)
    for hours in (0, 0, 2):
        await submission(world, failure("no row 1"))
        await world.advance(hours=hours)

    (group,) = await groups(world)
    counts = group.counts_per_hour()

    assert (group.number, group.first_at) == (4, NOON)
    assert (len(counts), sum(counts), counts[-3]) == (24, 3, 3)


async def test_one_group_is_read_by_its_task_and_fingerprint(world: World) -> None:
    await submission(world, failure("no row 1"))
    await submission(world, failure("no column"))
    group = (await groups(world))[0]
    span: dict[str, Any] = {
        "since": NOON - timedelta(days=1),
        "until": world.now + timedelta(microseconds=1),
    }
    which = BulkRunFilter(kind=group.kind, fingerprint=group.fingerprint, **span)

    assert await run_views.get_group(world.conn, which, tenant_id=1) == group
    assert await run_views.get_group(world.conn, which, tenant_id=2) is None


async def test_a_dead_letter_counts_when_it_ended_not_when_it_was_due(world: World) -> None:
    session = await world.session()
    run_id = await world.run()
    await world.claim(session)
    await world.advance(days=3)
    await finish(world, session, run_id, state=RunState.DEAD)

    found = await groups(world, since=world.now - timedelta(hours=1))

    assert [each.sample_id for each in found] == [run_id]
