"""A worker lives with policies that newer code wrote: it runs them, or lets them wait (O4)."""

import json
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from tests.support import newer
from tests.support.shop import Shop, until

from rota.contract.policy import write_policy
from rota.core.executor import AttemptContext
from rota.core.log_events import RunSetAside
from rota.core.policy import Policy
from rota.core.states import RunState

SUCCEEDED = RunState.SUCCEEDED


async def rewrite(shop: Shop, run_id: object, parts: dict[str, Any]) -> None:
    """Give one run a policy as newer code would have written it."""
    body = json.dumps(write_policy(Policy()) | parts)
    await shop.conn.execute(
        "with made as (insert into rota.policies (digest, body)"
        " values (decode(md5($2), 'hex'), $2::jsonb) returning id)"
        " update rota.live_runs set policy_id = made.id from made where live_runs.id = $1",
        run_id,
        body,
    )


async def test_what_is_not_known_at_any_level_runs_as_usual_or_waits_and_ends_no_worker(
    shop: Shop,
) -> None:
    @shop.handlers.handler("noop")
    async def noop(_: AttemptContext, __: Any) -> None: ...

    runs, waiting = list[UUID](), list[UUID]()
    for each in newer.newer_policies():
        run_id = await shop.submit("noop")
        await rewrite(shop, run_id, each.document)
        is_known = each.path.endswith(newer.FIELD) or each.path in newer.POLICY_FALLBACKS
        (runs if is_known else waiting).append(run_id)

    async with shop.worker() as crewed:
        for run_id in runs:
            await shop.reaches(run_id, SUCCEEDED)
        for run_id in waiting:
            await until(partial(is_set_aside, shop, run_id))
        assert not crewed.node.done()

    states = [(run := await shop.look(each)).state for each in waiting]
    assert (len(runs), states) == (4, [RunState.QUEUED])
    assert run.losses == 0


@pytest.mark.parametrize("parts", [{"timeout": {"soft": "PT1S"}}, {"retries": "many"}], ids=str)
async def test_a_policy_that_is_not_known_keeps_its_run_waiting_and_no_other(
    shop: Shop, parts: dict[str, Any]
) -> None:
    called: list[str] = []

    @shop.handlers.handler("noop")
    async def noop(_: AttemptContext, payload: Any) -> None:
        called.append(payload)

    newest = await shop.submit("noop", "newer")
    known = await shop.submit("noop", "known")
    await rewrite(shop, newest, parts)

    async with shop.worker() as crewed:
        await shop.reaches(known, SUCCEEDED)
        await until(lambda: told(shop))
        await until(lambda: waits(shop, newest))
        assert not crewed.node.done()

    assert called == ["known"]
    run = await shop.look(newest)
    assert (run.state, run.failures, run.losses) == (RunState.QUEUED, 0, 0)
    reason = await shop.conn.fetchval("select reason from rota.attempts where run_id = $1", newest)
    assert json.loads(reason)["code"] == "newer_version"

    # A worker that knows the policy comes by, and time passes.
    await shop.conn.execute(
        "update rota.live_runs set ready_at = rota.now(), policy_id = (select policy_id"
        " from rota.runs where id = $2) where id = $1",
        newest,
        known,
    )
    async with shop.worker():
        await shop.reaches(newest, SUCCEEDED)
    assert called == ["known", "newer"]


async def is_set_aside(shop: Shop, run_id: UUID) -> bool:
    """Whether it was reported which run waits, and it does."""
    reported = {event.run_id for event in shop.events if isinstance(event, RunSetAside)}
    return run_id in reported and await waits(shop, run_id)


async def told(shop: Shop) -> bool:
    return any(isinstance(event, RunSetAside) for event in shop.events)


async def waits(shop: Shop, run_id: Any) -> bool:
    return (await shop.look(run_id)).state is RunState.QUEUED
