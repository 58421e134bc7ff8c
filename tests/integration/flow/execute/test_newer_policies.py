"""A worker lives with policies that newer code wrote: it runs them, or lets them wait (O4)."""

import json
from typing import Any

import pytest
from tests.support.shop import Shop, until

from rota.core.events import RunSetAside
from rota.core.executor import Context
from rota.core.policy import Policy, to_plain
from rota.core.states import RunState

SUCCEEDED = RunState.SUCCEEDED


async def rewrite(shop: Shop, run_id: object, parts: dict[str, Any]) -> None:
    """Give one run a policy as newer code would have written it."""
    body = json.dumps(to_plain(Policy()) | parts)
    await shop.conn.execute(
        "with made as (insert into rota.policies (digest, body)"
        " values (decode(md5($2), 'hex'), $2::jsonb) returning id)"
        " update rota.live_runs set policy_id = made.id from made where live_runs.id = $1",
        run_id,
        body,
    )


@pytest.mark.parametrize(
    "parts",
    [
        {"colour": "blue"},
        {"retries": {"max": 1, "colour": "blue"}},
        {"retries": {"max": 1, "kind": "fibonacci", "jitter": "pink"}},
    ],
    ids=str,
)
async def test_a_field_or_a_way_to_wait_that_is_not_known_changes_nothing(
    shop: Shop, parts: dict[str, Any]
) -> None:
    @shop.handlers.handler("noop")
    async def noop(_: Context, __: Any) -> None: ...

    run_id = await shop.submit("noop")
    await rewrite(shop, run_id, parts)

    async with shop.worker():
        await shop.reaches(run_id, SUCCEEDED)


@pytest.mark.parametrize(
    "parts", [{"guarantee": "twice"}, {"timeout": {"soft": "PT1S"}}, {"retries": "many"}], ids=str
)
async def test_a_policy_that_is_not_known_keeps_its_run_waiting_and_no_other(
    shop: Shop, parts: dict[str, Any]
) -> None:
    called: list[str] = []

    @shop.handlers.handler("noop")
    async def noop(_: Context, payload: Any) -> None:
        called.append(payload)

    newer = await shop.submit("noop", "newer")
    known = await shop.submit("noop", "known")
    await rewrite(shop, newer, parts)

    async with shop.worker() as crewed:
        await shop.reaches(known, SUCCEEDED)
        await until(lambda: told(shop))
        await until(lambda: waits(shop, newer))
        assert not crewed.node.done()

    assert called == ["known"]
    run = await shop.look(newer)
    assert (run.state, run.failures, run.losses) == (RunState.QUEUED, 0, 0)
    reason = await shop.conn.fetchval("select reason from rota.attempts where run_id = $1", newer)
    assert json.loads(reason)["code"] == "newer_version"

    # A worker that knows the policy comes by, and time passes.
    await shop.conn.execute(
        "update rota.live_runs set ready_at = rota.now(), policy_id = (select policy_id"
        " from rota.runs where id = $2) where id = $1",
        newer,
        known,
    )
    async with shop.worker():
        await shop.reaches(newer, SUCCEEDED)
    assert called == ["known", "newer"]


async def told(shop: Shop) -> bool:
    return any(isinstance(event, RunSetAside) for event in shop.events)


async def waits(shop: Shop, run_id: Any) -> bool:
    return (await shop.look(run_id)).state is RunState.QUEUED
