"""Replay, drop and edit act on exactly the runs of the group that is shown, and on no other."""

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.support.finished import make
from tests.support.world import World

from rota.core.bulk_operations import BulkRunFilter
from rota.core.errors import InvalidInput
from rota.core.limits import JobLimit
from rota.core.submissions import JobSpec
from rota.engine.submission.bulk_actions import BulkAction, BulkResult
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.requeue import (
    DROP_ACTION,
    EDIT_ACTION,
    REQUEUE_ACTION,
    PayloadEdit,
    count_dead_letters,
    drop_dead_letters,
    requeue_dead_letters,
    requeue_edited,
)
from rota.store import interning, requeue, run_views
from rota.store.run_views import RunListFilter as ListFilter

Act = Callable[[World, BulkRunFilter, str], Awaitable[BulkResult]]
MOMENT = timedelta(microseconds=1)


def failure(message: str, *, type_: str = "KeyError", frame: str = "shop.mail:send") -> str:
    return json.dumps({"type": type_, "message": message, "frame": frame})


async def submission(world: World, reason: str, *, kind_id: int | None = None) -> UUID:
    given: dict[str, Any] = {} if kind_id is None else {"kind_id": kind_id}
    run_id = await make(world, "dead", reason=reason, payload='{"to": "a", "n": 1}', **given)
    await world.conn.execute(
        "update rota.runs set job_id = id, name = 'of ana', labels = '{\"team\": \"x\"}',"
        " user_id = 'ana' where id = $1",
        run_id,
    )
    return run_id


async def replayed(world: World, which: BulkRunFilter, token: str) -> BulkResult:
    return await requeue_dead_letters(world.conn, which, tenant_id=1, token=token, by="bob")


async def dropped(world: World, which: BulkRunFilter, token: str) -> BulkResult:
    return await drop_dead_letters(world.conn, which, tenant_id=1, token=token, by="bob")


async def edited(world: World, which: BulkRunFilter, token: str) -> BulkResult:
    edit = PayloadEdit(patch={"to": "b", "n": None}, by="bob", new_id=world.new_id)
    return await requeue_edited(world.conn, which, edit, tenant_id=1, token=token)


async def rows(world: World) -> dict[UUID, str]:
    found = await world.conn.fetch(
        "select id, row_to_json(r)::text from rota.runs as r"
        " union all select id, row_to_json(l)::text from rota.live_runs as l"
    )
    return {row[0]: row[1] for row in found}


@pytest.mark.parametrize(
    ("action", "act"),
    [(REQUEUE_ACTION, replayed), (DROP_ACTION, dropped), (EDIT_ACTION, edited)],
    ids=["replay", "drop", "edit"],
)
async def test_an_action_changes_exactly_the_group_that_was_looked_at(
    world: World, action: BulkAction, act: Act
) -> None:
    job_id = await world.job(name="mails")
    mail = await interning.intern_kind(world.conn, "mail")
    alike = [await submission(world, failure(f"no row {n} for customer {n}")) for n in (1, 22)]
    alike.append(
        await make(world, "dead", job_id=job_id, reason=failure("no row 3 for customer 3"))
    )
    alike.append(
        await make(world, "lost", job_id=job_id, reason=failure("no row 4 for customer 4"))
    )
    await submission(world, failure("no rows 1 for customer 1"))
    await submission(world, failure("no row 1 for customer 1", type_="ValueError"))
    await submission(world, failure("no row 1 for customer 1", frame="shop.mail:render"))
    await submission(world, failure("no row 1 for customer 1"), kind_id=mail)
    await make(world, "dead", tenant_id=2, reason=failure("no row 1 for customer 1"))
    await make(world, "succeeded", job_id=job_id, reason=failure("no row 1 for customer 1"))
    gone = await submission(world, failure("no row 5 for customer 5"))
    await requeue.drop_dead_letters(world.conn, [gone], tenant_id=1, by="eve")
    await world.advance(minutes=1)

    span: dict[str, Any] = {"since": world.now - timedelta(days=1), "until": world.now + MOMENT}
    shown = await run_views.list_groups(world.conn, BulkRunFilter(**span), tenant_id=1)
    group = max(shown, key=lambda each: each.number)
    which = BulkRunFilter(kind=group.kind, fingerprint=group.fingerprint, **span)
    listed = await run_views.list_dead_letters(
        world.conn,
        tenant_id=1,
        filter=ListFilter(
            kind=group.kind,
            fingerprint=group.fingerprint,
            ended_after=which.since,
            ended_before=which.until,
        ),
    )
    counted = await count_dead_letters(world.conn, which, action=action, tenant_id=1, now=world.now)
    await world.advance(minutes=1)
    later = await submission(world, failure("no row 6 for customer 6"))
    before = await rows(world)
    done = await act(world, which, counted.token)
    after = await rows(world)

    changed = {run_id for run_id in before if before[run_id] != after.get(run_id)}
    assert changed == set(alike) == set(done.ids) == {row.id for row in listed.rows}
    assert group.number == counted.found == len(alike)
    assert (done.left, done.token) == (0, None)
    assert later not in changed


async def test_a_token_holds_for_the_group_it_was_given_for(world: World) -> None:
    await submission(world, failure("no row 1"))
    await submission(world, failure("no column"))
    span: dict[str, Any] = {"since": world.now - timedelta(days=1), "until": world.now + MOMENT}
    one, other = await run_views.list_groups(world.conn, BulkRunFilter(**span), tenant_id=1)
    which = BulkRunFilter(kind=one.kind, fingerprint=one.fingerprint, **span)
    counted = await count_dead_letters(
        world.conn, which, action=DROP_ACTION, tenant_id=1, now=world.now
    )

    for wrong in (
        BulkRunFilter(kind=one.kind, fingerprint=other.fingerprint, **span),
        BulkRunFilter(kind=one.kind, **span),
        BulkRunFilter(kind=one.kind, fingerprint=one.fingerprint),
    ):
        with pytest.raises(InvalidInput, match="token"):
            await dropped(world, wrong, counted.token)
    with pytest.raises(InvalidInput, match="token"):
        await edited(world, which, counted.token)


async def test_a_submission_that_is_requeued_keeps_what_it_says(world: World) -> None:
    run_id = await submission(world, failure("no row 1"))
    which = BulkRunFilter(error="KeyError")
    counted = await count_dead_letters(
        world.conn, which, action=REQUEUE_ACTION, tenant_id=1, now=world.now
    )

    await replayed(world, which, counted.token)

    row = await world.conn.fetchrow(
        "select id, job_id, name, labels, user_id, payload from rota.live_runs"
    )
    assert row is not None
    assert tuple(row) == (
        run_id, run_id, "of ana", '{"team": "x"}', "ana", '{"n": 1, "to": "a"}'
    )  # fmt: skip


async def test_an_edit_makes_a_new_run_and_leaves_the_old_one_in_history(world: World) -> None:
    old = await submission(world, failure("no row 1"))
    which = BulkRunFilter(error="KeyError")
    counted = await count_dead_letters(
        world.conn, which, action=EDIT_ACTION, tenant_id=1, now=world.now
    )

    await edited(world, which, counted.token)

    row = await world.conn.fetchrow(
        "select id, job_id, name, labels, user_id, payload, submitter from rota.live_runs"
    )
    assert row is not None
    new = row[0]
    assert tuple(row) == (new, new, "of ana", '{"team": "x"}', "ana", '{"to": "b"}', "bob")
    origin = await requeue.read_origin(world.conn, new, tenant_id=1)
    assert json.loads(origin or "") == {"replay_of": str(old), "by": "bob"}
    kept = await world.conn.fetchrow("select payload, dropped_at from rota.runs where id = $1", old)
    assert kept is not None
    assert tuple(kept) == ('{"n": 1, "to": "a"}', world.now)


async def test_an_edit_passes_the_gates_of_its_payload(world: World) -> None:
    limit = JobLimit(key="customer:{args.id}", max_running=1)
    spec = JobSpec(name="mails", kind="noop", limits=(limit,), payload={"id": 1})
    (made,) = await submit_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
    await make(world, "dead", job_id=made.job_id, reason=failure("no"), payload='{"id": 1}')
    which = BulkRunFilter(error="KeyError")
    counted = await count_dead_letters(
        world.conn, which, action=EDIT_ACTION, tenant_id=1, now=world.now
    )
    edit = PayloadEdit(patch={"id": 7}, by="bob", new_id=world.new_id)

    await requeue_edited(world.conn, which, edit, tenant_id=1, token=counted.token)

    key = await world.conn.fetchval(
        "select g.key from rota.live_runs as l join rota.gates as g on l.gates = array[g.id]"
        " where l.trigger = 'replay'"
    )
    assert key == "key:customer:7"
